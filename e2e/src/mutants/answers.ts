/** Whether an answer refuses a request before it knows who sent it, or shows that the sender was authenticated. */
import type { RawAnswer } from "./raw_client.ts";

/** Refusals that need no stamp to hear. All others tell who hears them that it was let in. */
const refusedUnauthenticated: readonly RegExp[] = [
  /^malformed HTTP request/,
  /^request headers are too large$/,
  /^only `Expect: 100-continue` is understood$/,
  /^this is not a proxy$/,
  /^only POST is accepted here$/,
  /^there is nothing at /,
  /^`[^`]*` is a path of the published API that this server does not serve$/,
  /^bad request body(?!: the body of an activity is not a query$)/,
  /^malformed organization ID provided$/,
  /^invalid request body: missing field `organizationId`$/,
  /^no organization found with the given ID$/,
  /^webauthn authenticator not found in organization/,
  /^Idempotency-Key must be /,
  /^request not authorized: an attested stamp signs in and votes, and opens nothing else/,
  /^request not authorized: a read-only session cannot submit activities$/,
  /^too many (?:large )?requests at once/,
];

export function isLetIn({ status, body }: RawAnswer): boolean {
  // Nobody is let in without a word; HEAD has none.
  if (status === 401 || status === 405 || body === "") return false;
  const { message, status: health } = JSON.parse(body) as { message?: string; status?: string };
  if (status === 200) return health !== "alive";
  return !refusedUnauthenticated.some((pattern) => pattern.test(message ?? ""));
}

/** What is not built yet, word for word, and the endpoints that know of it. Any other 501 is a mistake. */
const unbuilt: Readonly<Record<string, readonly string[]>> = {
  "OTP_TYPE_WHATSAPP is not offered; use OTP_TYPE_EMAIL or OTP_TYPE_SMS": ["init_otp", "init_otp_auth"],
};

/** Whether it is the refusal of something that is not built yet: of a parameter that the endpoint has. */
export function isUnbuilt({ status, body }: RawAnswer, path: string | undefined): boolean {
  if (status !== 501) return false;
  const { code, message = "" } = JSON.parse(body) as { code?: number; message?: string };
  if (code !== 12) return false;
  return path !== undefined && unbuilt[message]?.includes(path) === true;
}
