/** The captcha provider. The secret is here alone: who has it could use up the tokens of others. */
export type CaptchaSettings = { secret: string; verifyUrl: string };

/** Turnstile, which published wallet kits show. */
const builtInUrl = "https://challenges.cloudflare.com/turnstile/v0/siteverify";

/** The launcher has read the setting and found it right. */
export function readCaptcha(setting: string | undefined): CaptchaSettings | undefined {
  if (!setting) return undefined;
  const { secret, verifyUrl = builtInUrl } = JSON.parse(setting) as { secret: string; verifyUrl?: string };
  return { secret, verifyUrl };
}
