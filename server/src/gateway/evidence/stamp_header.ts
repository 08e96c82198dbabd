/** Which stamp a request carries. Exactly one: two kinds, or one twice, are refused whatever they say. */
import { Fault } from "@keystead/core/fault.ts";

const stampHeaders = new Set(["x-stamp", "x-stamp-webauthn", "x-stamp-attested", "x-session"]);

export type RequestKind = "query" | "submit";

const missingTexts: Record<RequestKind, string> = {
  query: "no valid authentication signature found for request",
  submit: "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)",
};

/**
 * The value of `X-Stamp`. It reads the raw header list, because Node joins repeated headers into one value, which would
 * make two stamps look like one.
 */
export function readStampHeader(rawHeaders: readonly string[], kind: RequestKind): string {
  let found: { name: string; value: string } | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? "";
    if (header.length < 7 || header.length > 16) continue;
    const name = header.toLowerCase();
    if (!stampHeaders.has(name)) continue;
    if (found !== undefined)
      throw new Fault("unauthenticated", "malformed activity stamp", { errorCode: "SIGNATURE_INVALID" });
    found = { name, value: rawHeaders[i + 1] ?? "" };
  }
  if (found === undefined) throw new Fault("unauthenticated", missingTexts[kind], { errorCode: "SIGNATURE_MISSING" });
  if (found.name !== "x-stamp")
    throw new Fault("unimplemented", `\`${found.name}\` stamps are not supported yet; use \`x-stamp\``);
  return found.value;
}

export type StampParts = { publicKey: string; scheme: string; signature: string };

/** The parts of a stamp that has been verified, as they were sent. */
export function stampParts(header: string): StampParts {
  return JSON.parse(Buffer.from(header, "base64url").toString("utf8")) as StampParts;
}
