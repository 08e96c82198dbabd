/**
 * An Ethereum account of the server as viem knows accounts. Only viem's types are imported: those who use this have
 * viem, and others do not install it.
 */
import { fromHexAt, toHex } from "@keystead/core/encoding/hex.ts";
import { joined } from "@keystead/core/encoding/joined.ts";
import type {
  Address,
  Hex,
  LocalAccount,
  SerializeTransactionFn,
  SignableMessage,
  TransactionSerializable,
  TypedDataParameter,
} from "viem";
import type { Client } from "./client.ts";

const utf8 = new TextEncoder();

export type ViemAccountOptions = {
  /** Signs in its organization. */
  client: Pick<Client, "signRawPayload" | "signTransaction">;
  /** The address of a wallet account or of a private key. */
  address: Address;
  /** viem's own. A chain that brings another one is served by that. */
  serializeTransaction: SerializeTransactionFn<TransactionSerializable>;
};

type Payload = { payload: string; encoding: PayloadEncoding; hashFunction?: "HASH_FUNCTION_KECCAK256" };
type PayloadEncoding =
  | "PAYLOAD_ENCODING_HEXADECIMAL"
  | "PAYLOAD_ENCODING_EIP712"
  | "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION";

/**
 * Signs messages, typed data, transactions and EIP-7702 authorizations, for wallet clients and for whatever takes a local
 * account. What needs approvals or is refused rejects with the client's `KeysteadError`.
 */
export function createViemAccount({ client, address, serializeTransaction }: ViemAccountOptions): LocalAccount {
  async function sign({ payload, encoding, hashFunction }: Payload) {
    const { r, s, v } = await client.signRawPayload({
      signWith: address,
      payload,
      encoding,
      hashFunction: hashFunction ?? "HASH_FUNCTION_NO_OP",
    });
    return { r: `0x${r}`, s: `0x${s}`, yParity: Number(v), hex: `0x${r}${s}${v === "00" ? "1b" : "1c"}` } as const;
  }
  const account: Omit<LocalAccount, "publicKey"> = {
    address,
    source: "keystead",
    type: "local",
    async sign({ hash }) {
      return (await sign({ payload: hash, encoding: "PAYLOAD_ENCODING_HEXADECIMAL" })).hex;
    },
    async signMessage({ message }) {
      const payload = personalMessage(message);
      const hashFunction = "HASH_FUNCTION_KECCAK256";
      return (await sign({ payload, encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction })).hex;
    },
    async signTypedData(typedData) {
      const payload = completeTypedData(typedData as unknown as SentTypedData);
      return (await sign({ payload, encoding: "PAYLOAD_ENCODING_EIP712" })).hex;
    },
    async signTransaction(transaction, { serializer } = {}) {
      const unsigned = await (serializer ?? serializeTransaction)(transaction);
      const { signedTransaction } = await client.signTransaction({
        signWith: address,
        type: "TRANSACTION_TYPE_ETHEREUM",
        unsignedTransaction: unsigned.slice(2),
      });
      return `0x${signedTransaction}`;
    },
    async signAuthorization({ chainId, nonce, ...named }) {
      const contract = named.contractAddress ?? named.address;
      const payload = JSON.stringify({ address: contract, chainId, nonce });
      const { r, s, yParity } = await sign({ payload, encoding: "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION" });
      return { address: contract, chainId, nonce, r, s, yParity };
    },
  };
  // As viem's own `toAccount`, which makes accounts without a public key under this type.
  return account as LocalAccount;
}

type SentTypedData = {
  domain?: Readonly<Record<string, unknown>>;
  types: Readonly<Record<string, readonly TypedDataParameter[]>>;
  primaryType: string;
  message?: Readonly<Record<string, unknown>>;
};

/** In the order in which the standard lists them. */
const domainFields: readonly TypedDataParameter[] = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
  { name: "salt", type: "bytes32" },
];

/**
 * As JSON with the domain and its type. Callers of viem's accounts leave the type out, and viem's serializer then drops
 * the domain: the signature would be for no contract.
 */
function completeTypedData({ domain = {}, types, primaryType, message = {} }: SentTypedData): string {
  const complete = { ...types, EIP712Domain: types.EIP712Domain ?? domainTypeOf(domain) };
  return JSON.stringify({ types: complete, primaryType, domain, message }, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

function domainTypeOf(domain: Readonly<Record<string, unknown>>): readonly TypedDataParameter[] {
  const names = Object.keys(domain).filter((name) => domain[name] !== undefined);
  const other = names.find((name) => !domainFields.some((field) => field.name === name));
  if (other === undefined) return domainFields.filter(({ name }) => names.includes(name));
  throw new TypeError(`\`domain\` has the field \`${other}\`, so \`types\` must declare EIP712Domain`);
}

function bytesOf(message: SignableMessage): Uint8Array {
  if (typeof message === "string") return utf8.encode(message);
  return typeof message.raw === "string" ? fromHexAt(message.raw, 2) : message.raw;
}

/** What EIP-191 puts before a message, and the message. */
function personalMessage(message: SignableMessage): Hex {
  const bytes = bytesOf(message);
  const prefix = utf8.encode(`\x19Ethereum Signed Message:\n${bytes.length}`);
  return `0x${toHex(joined([prefix, bytes]))}`;
}
