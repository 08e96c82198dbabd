/** Captchas in tests of the gateway. */
import type { CaptchaProvider } from "../../core/test/captcha_provider.ts";
import { createCaptchaCheck } from "../src/courier/captcha/check_captcha.ts";
import { createFetchJson } from "../src/courier/fetch/fetch_json.ts";
import { createCaptchaChecks } from "../src/gateway/link/captcha_checks.ts";
import type { Captcha } from "../src/gateway/proxy/captcha.ts";

/** The gateway's check, with the courier in this process. */
export function captchaOf(settings: CaptchaProvider["settings"] | undefined): Captcha {
  const answer = createCaptchaCheck({
    fetchJson: createFetchJson({ egress: "loopback" }),
    settings,
    note: () => undefined,
  });
  const courier = {
    isJoined: () => true,
    whenJoined: () => Promise.resolve(),
    request: ((_kind: string, request: never) => answer(request)) as never,
  };
  return { siteKey: "site", check: createCaptchaChecks({ courier, needCourier: () => undefined }).check };
}
