/**
 * Captchas: whoever asks for a code or signs up shows that it is no robot, where the configuration says so. The courier asks the provider.
 * That somebody did is the gateway's word: the signer makes codes and sub-organizations without it.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type CaptchaRequest, maxCaptchaTokenLength } from "../../frames/courier_messages.ts";
import { sha256 } from "../../state/digest.ts";
import type { RouteRequest } from "../http/route.ts";
import type { ProxyConfig } from "./proxy_configs.ts";

export type Captcha = {
  /** Public: pages show the provider's widget with it. */
  siteKey: string;
  /** Throws unless the provider has given this token to a person, and nobody has used it. */
  check(request: CaptchaRequest): Promise<void>;
};

/** Throws where the configuration wants a captcha and this request has none that its provider vouches for. */
export async function checkCaptcha(
  { settings }: ProxyConfig,
  { headers, url, body }: Pick<RouteRequest, "headers" | "url" | "body">,
  captcha: Captcha | undefined,
  { mayRepeat = false } = {},
): Promise<void> {
  if (!settings.captchaEnabled) return;
  // The setting may have gone since the configuration was made. Letting everybody in is not what it says.
  if (captcha === undefined) {
    throw new Fault("failed_precondition", "captchaEnabled is on, and the operator has not set KEYSTEAD_CAPTCHA");
  }
  const token = headers["x-captcha-token"];
  if (typeof token !== "string" || token === "") throw noCaptcha("the header X-Captcha-Token is missing");
  if (token.length > maxCaptchaTokenLength) throw noCaptcha("the header X-Captcha-Token is too long");
  await captcha.check({ token, attempt: mayRepeat ? attemptOf(url, token, body) : "" });
}

/** A UUID that is the same for the same request alone: the provider then says again what it said. */
function attemptOf(url: string, token: string, body: Uint8Array): string {
  const bytes = sha256(Buffer.concat([Buffer.from(`${url}\n${token}\n`), body])).slice(0, 16);
  // Version 8 of RFC 9562: bits of one's own.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return uuidFromBytes(bytes);
}

function noCaptcha(why: string): Fault {
  return new Fault("permission_denied", `captcha verification failed: ${why}`, { errorCode: "REQUEST_NOT_AUTHORIZED" });
}
