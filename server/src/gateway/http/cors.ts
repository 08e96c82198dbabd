/** What browsers are told: any page may call the API and read its answers, the limits included. Stamps authenticate, not origins. */
import type { FastifyReply } from "fastify";
import { evidenceHeaders } from "../../evidence/evidence.ts";

/** On every answer but a preflight's. */
export const corsHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "ratelimit-limit, ratelimit-remaining",
} as const;

const allowedHeaders = [
  "content-type",
  ...evidenceHeaders,
  "x-client-version",
  "x-auth-proxy-config-id",
  "x-captcha-token",
  "idempotency-key",
].join(", ");

export function sendPreflight(reply: FastifyReply): void {
  reply
    .code(204)
    .header("access-control-allow-origin", "*")
    .header("access-control-allow-methods", "POST, GET, OPTIONS")
    .header("access-control-allow-headers", allowedHeaders)
    .header("access-control-max-age", "86400")
    .send();
}
