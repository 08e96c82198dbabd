/**
 * Clients of the older versions answer codes as they were typed, and need no target bundle. Translated to the newest parameters, theirs
 * say so under a name that no JSON can have: a body of the newest version cannot pass for one of them, whatever fields it has.
 */
import type { OtpAnswer } from "./one_time_codes.ts";

const inThePlain: unique symbol = Symbol("in the plain");

type PlainAnswer = Pick<Extract<OtpAnswer, { kind: "plain" }>, "otpCode" | "publicKey">;

/** Parameters of a code that is answered in the plain. */
export function answeredInThePlain<P extends object>(params: P): P {
  return { ...params, [inThePlain]: true };
}

export function isAnsweredInThePlain(params: object): boolean {
  return inThePlain in params;
}

/** Parameters that bring such an answer. */
export function withPlainAnswer<P extends object>(params: P, answer: PlainAnswer): P {
  return { ...params, [inThePlain]: answer };
}

export function findPlainAnswer(params: object): OtpAnswer | undefined {
  const found = (params as { [inThePlain]?: PlainAnswer })[inThePlain];
  return found && { kind: "plain", ...found };
}
