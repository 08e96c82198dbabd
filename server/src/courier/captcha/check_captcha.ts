/**
 * Asks the captcha provider whether it gave a token to a person: one POST, as Turnstile's `siteverify` takes it and others do. Nothing is
 * remembered: the provider lets a token count once. The address of whoever solved it is not sent; the provider has seen it itself.
 */
import type { CaptchaError, CaptchaReply, CaptchaRequest } from "../../frames/courier_messages.ts";
import { FetchFailure } from "../fetch/fetch_failure.ts";
import type { FetchedJson, FetchJson } from "../fetch/fetch_json.ts";
import type { CaptchaSettings } from "./captcha_settings.ts";

export type CaptchaDependencies = {
  fetchJson: FetchJson;
  settings: CaptchaSettings | undefined;
  /** A failure, in words for the operator. */
  note(message: string): void;
};

export type CheckCaptcha = (request: CaptchaRequest) => Promise<CaptchaReply>;

/** Statuses by which providers also say no. */
const statuses: readonly number[] = [200, 400, 401, 403];

export function createCaptchaCheck({ fetchJson, settings, note }: CaptchaDependencies): CheckCaptcha {
  return async ({ token, attempt }) => {
    if (settings === undefined) return failed("unconfigured", "captchas are not checked without KEYSTEAD_CAPTCHA");
    const { secret, verifyUrl: url } = settings;
    const { host } = new URL(url);
    const form = new URLSearchParams({ secret, response: token, ...(attempt !== "" && { idempotency_key: attempt }) });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    try {
      const reply = read(await fetchJson({ url, method: "POST", headers, body: form.toString(), statuses }), host);
      if (reply.kind === "failed" && reply.value.error !== "refused") note(reply.value.reason);
      return reply;
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error;
      note(`the captcha provider ${error.message}`);
      const word = error.kind === "busy" ? "busy" : "unreachable";
      return failed(word, `captcha verification failed: the captcha provider ${error.message}`);
    }
  };
}

/** Codes that several providers have in common. */
const ourSecret = ["missing-input-secret", "invalid-input-secret", "sitekey-secret-mismatch"];
const theirTrouble = ["internal-error"];

/** Only an own `success` that is true counts. Whatever else the answer has is not passed on. */
function read({ value }: FetchedJson, host: string): CaptchaReply {
  const { success, "error-codes": codes } = membersOf(value);
  if (success === true) return { kind: "passed", value: {} };
  const has = (words: readonly string[]) => Array.isArray(codes) && codes.some((code) => words.includes(String(code)));
  if (has(ourSecret)) {
    return failed("unconfigured", `the captcha provider ${host} does not take the secret of KEYSTEAD_CAPTCHA`);
  }
  if (success !== false || has(theirTrouble)) {
    return failed("unreachable", `captcha verification failed: the captcha provider ${host} has not answered`);
  }
  return failed("refused", "captcha verification failed: it is not solved, used before, or too old");
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function failed(error: CaptchaError, reason: string): CaptchaReply {
  return { kind: "failed", value: { error, reason } };
}
