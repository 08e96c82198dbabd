/** What activities give to be signed, by kind: read once, by the same parsers that signing uses, and shown to policies. */
import { parseSolana } from "../../chains/solana.ts";
import {
  fromTransactionHex,
  isTransactionType,
  readingTransaction,
  type Transaction,
  type TransactionRequest,
  type TransactionType,
} from "../../chains/transactions.ts";
import { parseTypedData } from "../../crypto/eip712.ts";
import { parseAuthorization } from "../../crypto/eip7702.ts";
import { checkTotalLength, isPayloadEncoding, type PayloadEncoding } from "../../crypto/payload.ts";
import { Fault } from "../../fault.ts";
import { type Known, keeping, mapWithPauses, recall, type Work } from "../../work.ts";
import type { Abi } from "../interfaces/abi.ts";
import type { InterfaceType, ParsedInterface } from "../interfaces/contract_interface.ts";
import type { EvmText } from "../values/values.ts";
import { bitcoinStruct, networkOf, readyingBitcoin } from "./bitcoin.ts";
import { typedDataStruct } from "./eip712.ts";
import { authorizationStruct } from "./eip7702.ts";
import { ethereumStruct } from "./ethereum.ts";
import { readSending, sentCallStruct } from "./ethereum_send.ts";
import { calledContract, type EvmCall } from "./evm_call.ts";
import type { ConditionFacts } from "./facts.ts";
import { calledPrograms, solanaStruct } from "./solana.ts";
import { tempoStruct } from "./tempo.ts";
import { tronStruct } from "./tron.ts";
import { evmAccount, type KeyView } from "./used_key.ts";

/** A contract or program; an EVM address is in lower case. */
export type Contract = { type: InterfaceType; address: string };

export type FindInterface = (type: InterfaceType, address: string) => ParsedInterface | undefined;

type Namespaces = Pick<ConditionFacts, "eth" | "solana" | "bitcoin" | "tron" | "tempo">;

/** One thing that is signed. */
export type Payload = {
  /** Whose interfaces say more about it. */
  contracts: readonly Contract[];
  /** What takes long to show, made ready with pauses before it is asked for. */
  readying?(key: KeyView | undefined): Work<void>;
  namespaces(key: KeyView | undefined, findInterface: FindInterface): Namespaces;
};

type Params = Readonly<Record<string, unknown>>;

/** A payload that policies see nothing of. */
const opaque: Payload = { contracts: [], namespaces: () => ({}) };

function ethereum(transaction: Transaction<"TRANSACTION_TYPE_ETHEREUM">): Payload {
  return evm(transaction, (from, abi) => ({ eth: { tx: ethereumStruct(transaction, from, abi) } }));
}

function evm(call: EvmCall, show: (from: () => EvmText | undefined, abi: Abi | undefined) => Namespaces): Payload {
  const address = calledContract(call);
  return {
    contracts: address === undefined ? [] : [{ type: "ETHEREUM", address }],
    namespaces(key, findInterface) {
      const found = address === undefined ? undefined : findInterface("ETHEREUM", address);
      return show(accountOf(key), found?.type === "ETHEREUM" ? found.abi : undefined);
    },
  };
}

function accountOf(key: KeyView | undefined): () => EvmText | undefined {
  return key === undefined ? () => undefined : evmAccount(key);
}

function solana({ message }: Transaction<"TRANSACTION_TYPE_SOLANA">): Payload {
  return {
    contracts: calledPrograms(message).map((address) => ({ type: "SOLANA", address })),
    namespaces(_, findInterface) {
      const findIdl = (programKey: string) => {
        const found = findInterface("SOLANA", programKey);
        return found?.type === "SOLANA" ? found.idl : undefined;
      };
      return { solana: { tx: solanaStruct(message, findIdl) } };
    },
  };
}

function bitcoin(psbt: Transaction<"TRANSACTION_TYPE_BITCOIN">): Payload {
  return {
    contracts: [],
    readying: (key) => readyingBitcoin(psbt, networkOf(key?.addressFormat)),
    namespaces: (key) => ({ bitcoin: { tx: bitcoinStruct(psbt, networkOf(key?.addressFormat)) } }),
  };
}

function tron(transaction: Transaction<"TRANSACTION_TYPE_TRON">): Payload {
  return { contracts: [], namespaces: () => ({ tron: { tx: tronStruct(transaction) } }) };
}

function tempo(transaction: Transaction<"TRANSACTION_TYPE_TEMPO">): Payload {
  return { contracts: [], namespaces: (key) => ({ tempo: { tx: tempoStruct(transaction, accountOf(key)) } }) };
}

function shown<T extends TransactionType>(
  type: T,
  show: (transaction: Transaction<T>) => Payload,
): (request: TransactionRequest) => Work<Payload> {
  return function* reading(request) {
    return show(yield* readingTransaction(type, request));
  };
}

const transactions: { readonly [T in TransactionType]: (request: TransactionRequest) => Work<Payload> } = {
  TRANSACTION_TYPE_ETHEREUM: shown("TRANSACTION_TYPE_ETHEREUM", ethereum),
  TRANSACTION_TYPE_SOLANA: shown("TRANSACTION_TYPE_SOLANA", solana),
  TRANSACTION_TYPE_TRON: shown("TRANSACTION_TYPE_TRON", tron),
  TRANSACTION_TYPE_BITCOIN: shown("TRANSACTION_TYPE_BITCOIN", bitcoin),
  TRANSACTION_TYPE_TEMPO: shown("TRANSACTION_TYPE_TEMPO", tempo),
};

function transaction(params: Params): Work<Payload> {
  const type = textOf(params.type);
  if (!isTransactionType(type)) {
    throw new Fault("invalid_argument", "unsupported transaction type", { errorCode: "UNSUPPORTED_TRANSACTION_TYPE" });
  }
  textOf(params.unsignedTransaction);
  return transactions[type](params as TransactionRequest);
}

/** Encodings with parts that policies can name; hexadecimal and text say nothing about what they mean. */
const structured: { readonly [E in PayloadEncoding]?: (payload: string) => Payload } = {
  PAYLOAD_ENCODING_EIP712(payload) {
    const typedData = parseTypedData(payload);
    return { contracts: [], namespaces: () => ({ eth: { eip_712: typedDataStruct(typedData) } }) };
  },
  PAYLOAD_ENCODING_EIP7702_AUTHORIZATION(payload) {
    const authorization = parseAuthorization(payload);
    return {
      contracts: [],
      namespaces: () => ({ eth: { eip_7702_authorization: authorizationStruct(authorization) } }),
    };
  },
};

/** Payloads that nothing is seen of all look the same, so that one stands for any number of them. */
function* rawPayloads(encoding: unknown, payloads: readonly unknown[]): Work<readonly Payload[]> {
  const name = textOf(encoding);
  if (!isPayloadEncoding(name)) throw new Fault("invalid_argument", "invalid payload encoding");
  const read = structured[name];
  if (payloads.length === 0) throw missing();
  checkTotalLength(
    payloads.filter((payload) => typeof payload === "string"),
    name,
  );
  return read === undefined ? [opaque] : yield* mapWithPauses(payloads, (payload) => read(textOf(payload)));
}

function sentCalls(params: Params): readonly Payload[] {
  const sending = readSending(params);
  return sending.calls.map((call) =>
    evm(call, (from, abi) => ({ eth: { tx: sentCallStruct(sending, call, from, abi) } })),
  );
}

/** A message may be sent with a later blockhash than it came with: then it is not known which. */
function sentMessage({ unsignedTransaction, recentBlockhash, sponsor }: Params): readonly Payload[] {
  const own = solana(parseSolana(fromTransactionHex(textOf(unsignedTransaction))));
  if ((recentBlockhash ?? "") === "" && sponsor !== true) return [own];
  const namespaces: Payload["namespaces"] = (key, findInterface) => {
    const { solana: shown } = own.namespaces(key, findInterface);
    return { solana: { tx: { ...shown?.tx, recent_blockhash: undefined } } };
  };
  return [{ ...own, namespaces }];
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw missing();
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw missing();
  return value;
}

/** The schema of an activity refuses this before; test cases that people write come without one. */
function missing(): Fault {
  return new Fault("invalid_argument", "invalid request body: what is to be signed is missing or misshapen");
}

type Read = readonly Payload[];

const readers: Readonly<Record<string, (params: Params) => Work<Read> | Read>> = {
  *SIGN_TRANSACTION(params) {
    return [yield* transaction(params)];
  },
  SIGN_RAW_PAYLOAD: ({ encoding, payload }) => rawPayloads(encoding, [payload]),
  SIGN_RAW_PAYLOADS: ({ encoding, payloads }) => rawPayloads(encoding, listOf(payloads)),
  ETH_SEND_TRANSACTION: sentCalls,
  SOL_SEND_TRANSACTION: sentMessage,
};

// One request is asked about several times: which interfaces it needs, who may vote on it, what becomes of it.
const read = new WeakMap<Params, { kind: string; known: Known<Read> }>();

/** Everything that an activity of this kind signs: never nothing, so that asking about each of them asks something. */
export function* readingPayloads(kind: string, params: Params): Work<Read> {
  const before = read.get(params);
  if (before?.kind === kind) return recall(before.known);
  if (!Object.hasOwn(readers, kind)) return [opaque];
  return yield* keeping(reading(kind, params), (known) => void read.set(params, { kind, known }));
}

function* reading(kind: string, params: Params): Work<Read> {
  const found = readers[kind]?.(params) ?? [opaque];
  return "next" in found ? yield* found : found;
}
