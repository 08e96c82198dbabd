import { Fault } from "../fault.ts";

/** The refusal of an identity token. `why` never repeats the token, which is a bearer value. */
export function invalidToken(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `invalid OIDC token: ${why}`, { errorCode: "INVALID_OIDC_TOKEN", cause });
}
