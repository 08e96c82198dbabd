/**
 * Captchas: whoever asks for a code or signs up shows that it is no robot, where the configuration says so. Asking the provider is an
 * outgoing request, which the gateway never makes: `CaptchaCheck` is where the courier's answer comes in.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { RouteRequest } from "../http/route.ts";
import type { ProxyConfig } from "./proxy_configs.ts";

export type Captcha = {
  /** Public: pages show the provider's widget with it. */
  siteKey: string;
  check: CaptchaCheck;
};

/** Whether the provider has given this token to a person, and not before. */
export type CaptchaCheck = (token: string, address: string | undefined) => Promise<boolean>;

/** Throws where the configuration wants a captcha and this request has none that its provider vouches for. */
export async function checkCaptcha(
  { settings }: ProxyConfig,
  { headers, callerAddress }: Pick<RouteRequest, "headers" | "callerAddress">,
  captcha: Captcha | undefined,
): Promise<void> {
  if (!settings.captchaEnabled) return;
  // The setting may have gone since the configuration was made. Letting everybody in is not what it says.
  if (captcha === undefined) {
    throw new Fault("failed_precondition", "captchaEnabled is on, and the operator has not set KEYSTEAD_CAPTCHA");
  }
  const token = headers["x-captcha-token"];
  if (typeof token === "string" && token !== "" && (await captcha.check(token, callerAddress))) return;
  throw new Fault("permission_denied", "captcha verification failed", { errorCode: "REQUEST_NOT_AUTHORIZED" });
}

/** Until the courier asks the provider: nobody gets past a captcha that nobody checks. */
export async function refuseCaptchas(): Promise<boolean> {
  throw new Fault(
    "unimplemented",
    "captchas are not checked yet: turn captchaEnabled off with update_auth_proxy_config",
  );
}
