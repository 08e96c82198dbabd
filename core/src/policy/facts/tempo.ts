/** `tempo.tx`, from the transaction that is signed. */
import { unparsable } from "../../chains/strict_parsing.ts";
import type { TempoTransaction } from "../../chains/tempo.ts";
import type { EvmText, Struct } from "../values/values.ts";
import { functionSignature, toEvmText } from "./evm_call.ts";

/** The facts of a transaction by the account `from`. */
export function tempoStruct(transaction: TempoTransaction, from: () => EvmText | undefined): Struct {
  refuseInvisible(transaction);
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, validBefore, validAfter, calls } = transaction;
  return {
    chain_id: chainId,
    nonce,
    gas_limit: gas,
    max_fee_per_gas: maxFeePerGas,
    max_priority_fee_per_gas: maxPriorityFeePerGas,
    valid_before: validBefore,
    valid_after: validAfter,
    get from() {
      return from();
    },
    // A sender whose fee somebody else pays does not sign for the token, so that whatever stands there is not its choice.
    fee_token: toEvmText(transaction.feePayer.kind === "sender" ? transaction.feeToken : undefined),
    calls: calls.map((call) => ({
      to: toEvmText(call.to),
      input: toEvmText(call.data),
      function_signature: functionSignature(call),
    })),
  };
}

/**
 * What a policy has no name for must not ride along with what it allows. A key authorization gives another key the whole
 * account. Values exist only in the encoding, as the chain has no coin of its own.
 */
function refuseInvisible({ keyAuthorization, calls }: TempoTransaction): void {
  if (keyAuthorization !== undefined) throw unparsable("it authorizes a key, which no policy can see");
  if (calls.some(({ value }) => value !== 0n)) throw unparsable("a call with a value, which no policy can see");
}
