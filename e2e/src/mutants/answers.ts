/** What an answer says about the door: refused there, or let in, whatever came of it then. */
import type { RawAnswer } from "./raw_client.ts";

/** Refusals that need no stamp to hear. All others tell who hears them that it was let in. */
const atTheDoor: readonly RegExp[] = [
  /^malformed HTTP request/,
  /^request headers are too large$/,
  /^only `Expect: 100-continue` is understood$/,
  /^this is not a proxy$/,
  /^only POST is accepted here$/,
  /^there is nothing at /,
  /^bad request body(?!: the body of an activity is not a query$)/,
  /^malformed organization ID provided$/,
  /^invalid request body: missing field `organizationId`$/,
  /^no organization found with the given ID$/,
  /^Idempotency-Key must be /,
  /^`x-[a-z-]+` stamps are not supported yet/,
  /^too many (?:large )?requests at once/,
];

export function isLetIn({ status, body }: RawAnswer): boolean {
  // Nobody is let in without a word; HEAD has none.
  if (status === 401 || status === 405 || body === "") return false;
  const { message, status: health } = JSON.parse(body) as { message?: string; status?: string };
  if (status === 200) return health !== "alive";
  return !atTheDoor.some((pattern) => pattern.test(message ?? ""));
}
