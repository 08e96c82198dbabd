/** `eth.tx`, from the transaction that is signed. */
import type { EthereumTransaction } from "../../chains/ethereum.ts";
import type { Abi } from "../interfaces/abi.ts";
import type { EvmText, PolicyMap, Struct, Value } from "../values/values.ts";
import { type DecodedFunction, decodeFunction, functionSignature, toEvmText } from "./evm_call.ts";

/** The facts of a transaction by the account `from`; `abi` is the interface of the contract that it calls. */
export function ethereumStruct(
  transaction: EthereumTransaction,
  from: () => EvmText | undefined,
  abi: Abi | undefined,
): Struct {
  return new EthereumFacts(transaction, from, abi);
}

/** What costs something is computed when it is asked for: a class, because getters of a literal cost more than they save. */
class EthereumFacts {
  readonly [field: string]: Value | undefined;
  readonly type: string;
  readonly to: EvmText;
  readonly value: bigint;
  readonly gas: bigint;
  readonly gas_price: bigint;
  readonly max_fee_per_gas: bigint;
  readonly max_priority_fee_per_gas: bigint;
  readonly max_fee_per_blob_gas: bigint;
  readonly chain_id: bigint | undefined;
  readonly nonce: bigint;
  readonly #transaction: EthereumTransaction;
  readonly #from: () => EvmText | undefined;
  readonly #abi: Abi | undefined;
  #data: EvmText | undefined;
  #call: DecodedFunction | undefined;

  constructor(transaction: EthereumTransaction, from: () => EvmText | undefined, abi: Abi | undefined) {
    const { type, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
    // EIP-1559 treats a transaction with one price as one whose two fees are that price. Were they 0 here, a limit on
    // either fee could be evaded with an older type.
    const hasOnePrice = type === "LEGACY" || type === "TYPE_1";
    this.type = type;
    this.to = toEvmText(transaction.to);
    this.value = transaction.value;
    this.gas = transaction.gas;
    this.gas_price = hasOnePrice ? gasPrice : maxFeePerGas;
    this.max_fee_per_gas = hasOnePrice ? gasPrice : maxFeePerGas;
    this.max_priority_fee_per_gas = hasOnePrice ? gasPrice : maxPriorityFeePerGas;
    this.max_fee_per_blob_gas = transaction.maxFeePerBlobGas;
    // A transaction without one is valid on every chain, so that no number is true of it.
    this.chain_id = transaction.chainId;
    this.nonce = transaction.nonce;
    this.#transaction = transaction;
    this.#from = from;
    this.#abi = abi;
  }

  get from(): EvmText | undefined {
    return this.#from();
  }

  get data(): EvmText {
    this.#data ??= toEvmText(this.#transaction.data);
    return this.#data;
  }

  get function_signature(): EvmText {
    return functionSignature(this.#transaction);
  }

  get function_name(): string | undefined {
    return this.#decoded().name;
  }

  get contract_call_args(): PolicyMap | undefined {
    return this.#decoded().args;
  }

  #decoded(): DecodedFunction {
    this.#call ??= decodeFunction(this.#transaction, this.#abi);
    return this.#call;
  }
}
