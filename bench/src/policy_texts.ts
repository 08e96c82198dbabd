/** Policies as organizations have them: many alike, of which one is about the request. */
import { randomBytes, randomUUID } from "node:crypto";
import type { PolicyText } from "@keystead/core/policy/decision/compiled_policy.ts";
import { token } from "./erc20.ts";

/** What a condition says about what is asked, given the address that the policy is about. */
export type Condition = (address: string) => string;

/** Transfers of a token up to an amount. */
export const transfers: Condition = (address) =>
  `activity.action == 'SIGN' && eth.tx.to == '${address}' && eth.tx.contract_call_args['amount'] <= 1000`;

/** Payloads, signed with one account. */
export const payloads: Condition = (address) =>
  `activity.action == 'SIGN' && wallet_account.address == '${address}' && ` +
  "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL'";

/**
 * The last one allows `userId` what is asked. The others are about another address, or allow somebody else the same: nothing
 * tells them from the one that allows before they are evaluated.
 */
export function policyTexts(count: number, condition: Condition, userId: string, address = token): PolicyText[] {
  return Array.from({ length: count }, (_, index) => {
    const isAsked = index === count - 1;
    const isOwn = isAsked || index % 2 === 0;
    const isHere = isAsked || !isOwn;
    return {
      effect: "EFFECT_ALLOW",
      consensus: `approvers.any(user, user.id == '${isOwn ? userId : randomUUID()}')`,
      condition: condition(isHere ? address : `0x${randomBytes(20).toString("hex")}`),
      time: "",
    };
  });
}
