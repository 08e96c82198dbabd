import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { findVectors, type Vectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { fromRlp, fromRlpInteger, type RlpItem, toRlp, toRlpInteger } from "../encoding/rlp.ts";
import {
  type EthereumTransaction,
  ethereumDigest,
  parseEthereum,
  serialiseEthereum,
  withEthereumSignature,
} from "./ethereum.ts";
import type { RecoverableSignature } from "./signature.ts";

const unprefixed = (hex: string) => fromHex(hex.replace(/^0x/, ""));

function padded(hex: string): Uint8Array {
  return fromHex(hex.replace(/^0x/, "").padStart(64, "0"));
}

function sign(transaction: EthereumTransaction, privateKey: Uint8Array): RecoverableSignature {
  const [recovery = 0, ...rs] = secp256k1.sign(ethereumDigest(transaction), privateKey, {
    prehash: false,
    format: "recovered",
  });
  return { r: Uint8Array.from(rs.slice(0, 32)), s: Uint8Array.from(rs.slice(32)), yParity: recovery === 1 ? 1 : 0 };
}

/** The unsigned bytes that a signed transaction must have come from, and the numbers of its signature. */
function takenApart(signed: Uint8Array): { unsigned: Uint8Array; r: Uint8Array; s: Uint8Array } {
  const isTyped = (signed[0] ?? 0) < 0x80;
  const items = fromRlp(isTyped ? signed.subarray(1) : signed);
  assert.ok(!(items instanceof Uint8Array));
  const [v, r, s] = items.slice(-3) as [RlpItem, RlpItem, RlpItem];
  const rest = items.slice(0, -3);
  const [rBytes, sBytes] = [r, s].map((item) => padded(fromRlpInteger(item, 32).toString(16)));
  const numbers = { r: rBytes as Uint8Array, s: sBytes as Uint8Array };
  if (isTyped) return { unsigned: Uint8Array.of(signed[0] ?? 0, ...toRlp(rest)), ...numbers };
  const value = fromRlpInteger(v, 32);
  const bound = value < 35n ? [] : [toRlpInteger((value - 35n) / 2n), new Uint8Array(), new Uint8Array()];
  return { unsigned: toRlp([...rest, ...bound]), ...numbers };
}

/** The transaction inside a signed one, if signing it anew with the same numbers gives the same bytes. */
function verified(signed: Uint8Array): { transaction: EthereumTransaction; signature: RecoverableSignature } {
  const { unsigned, r, s } = takenApart(signed);
  const transaction = parseEthereum(unsigned);
  for (const yParity of [0, 1] as const) {
    const signature = { r, s, yParity };
    if (toHex(withEthereumSignature(transaction, signature)) === toHex(signed)) return { transaction, signature };
  }
  throw new RangeError("no such signature");
}

function senderOf(transaction: EthereumTransaction, { r, s, yParity }: RecoverableSignature): string {
  const point = secp256k1.Signature.fromBytes(Uint8Array.of(yParity, ...r, ...s), "recovered")
    .recoverPublicKey(ethereumDigest(transaction))
    .toBytes(false);
  return `0x${toHex(keccak_256(point.subarray(1)).subarray(12))}`;
}

/** What only one chain can say, by its price list, its limits or its id. The parser must take these. */
const chainsOwnRules: Record<string, string> = {
  "ttData/DataTestNotEnoughGAS": "gas below the fork's price of the data",
  "ttData/dataTx_bcValidBlockTestFrontier": "gas below the fork's price of the data",
  "ttEIP2028/DataTestInsufficientGas2028": "gas below the fork's price of the data",
  "ttEIP3860/DataTestInitCodeTooBig": "contract code beyond the fork's limit",
  "ttEIP3860/DataTestNotEnoughGasInitCode": "gas below the fork's price of the contract code",
};

const forksFromNewest = ["Prague", "Cancun", "Shanghai", "Paris", "London"];

function isOfAnotherChain(signed: Uint8Array): boolean {
  try {
    const { chainId } = verified(signed).transaction;
    return chainId !== undefined && chainId !== 1n;
  } catch {
    return false;
  }
}

type Verdict = { hash?: string; sender?: string; exception?: string };
type SignedCase = { name: string; verdict: Verdict; signed: Uint8Array };

function signedCases(vectors: Vectors): SignedCase[] {
  type File = Record<string, { result: Record<string, Verdict>; txbytes: string }>;
  const root = "ethereum-tests/TransactionTests";
  const files = vectors
    .names(root)
    .flatMap((folder) => vectors.names(`${root}/${folder}`).map((f) => `${folder}/${f}`));
  return files.flatMap((file) =>
    Object.values(vectors.json<File>(`${root}/${file}`)).map(({ result, txbytes }) => ({
      name: file.replace(/\.json$/, ""),
      verdict: result[forksFromNewest.find((fork) => fork in result) ?? ""] as Verdict,
      signed: unprefixed(txbytes),
    })),
  );
}

test("ethereum/tests: signed transactions, put together again or refused", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { accepted: 0, refused: 0, otherChain: 0, excluded: 0 };
  const check = (signed: Uint8Array) => {
    const { transaction, signature } = verified(signed);
    return senderOf(transaction, signature);
  };
  for (const { name, verdict, signed } of signedCases(vectors)) {
    if (chainsOwnRules[name] !== undefined) {
      assert.ok(verdict.exception !== undefined && check(signed), name);
      counts.excluded++;
    } else if (isOfAnotherChain(signed)) {
      // These tests run on chain 1; which chains are allowed is a policy's question.
      assert.equal(verdict.exception, "TransactionException.INVALID_CHAINID", name);
      counts.otherChain++;
    } else if (verdict.exception === undefined) {
      assert.equal(check(signed), verdict.sender?.toLowerCase(), name);
      assert.equal(`0x${toHex(keccak_256(signed))}`, verdict.hash, name);
      counts.accepted++;
    } else {
      assert.throws(() => check(signed), Error, name);
      counts.refused++;
    }
  }
  assert.deepEqual(counts, { accepted: 32, refused: 91, otherChain: 12, excluded: 5 });
});

/** The fields of the ethers file, as our facts. */
type EthersTransaction = {
  to?: string;
  nonce?: number;
  gasLimit?: string;
  gasPrice?: string;
  maxFeePerGas?: string;
  maxPriorityFeePerGas?: string;
  maxFeePerBlobGas?: string;
  data?: string;
  value?: string;
  chainId?: string;
  accessList?: { address: string; storageKeys: string[] }[];
  blobVersionedHashes?: string[];
};

const ethersForms = [
  { form: "Legacy", type: "LEGACY" },
  { form: "Eip155", type: "LEGACY" },
  { form: "Berlin", type: "TYPE_1" },
  { form: "London", type: "TYPE_2" },
  { form: "Cancun", type: "TYPE_3" },
] as const;

/** What a transaction of each type has beyond the fields of all. */
const ownFields = {
  LEGACY: ["gasPrice"],
  TYPE_1: ["gasPrice", "accessList"],
  TYPE_2: ["maxFeePerGas", "maxPriorityFeePerGas", "accessList"],
  TYPE_3: ["maxFeePerGas", "maxPriorityFeePerGas", "accessList", "maxFeePerBlobGas", "blobVersionedHashes"],
} as const;

function expectedFacts(given: EthersTransaction, type: keyof typeof ownFields, chainId: bigint | undefined) {
  const own = ownFields[type] as readonly string[];
  const number = (name: keyof EthersTransaction, isThere = own.includes(name)) =>
    isThere ? BigInt((given[name] as string | undefined) ?? 0) : 0n;
  const bytes = (hex: string) => unprefixed(hex.toLowerCase());
  return {
    type,
    chainId,
    nonce: BigInt(given.nonce ?? 0),
    gas: number("gasLimit", true),
    gasPrice: number("gasPrice"),
    maxFeePerGas: number("maxFeePerGas"),
    maxPriorityFeePerGas: number("maxPriorityFeePerGas"),
    to: given.to === undefined ? undefined : bytes(given.to),
    value: number("value", true),
    data: bytes(given.data ?? "0x"),
    accessList: own.includes("accessList")
      ? (given.accessList ?? []).map(({ address, storageKeys }) => ({
          address: bytes(address),
          storageKeys: storageKeys.map(bytes),
        }))
      : [],
    maxFeePerBlobGas: number("maxFeePerBlobGas"),
    blobVersionedHashes: own.includes("blobVersionedHashes") ? (given.blobVersionedHashes ?? []).map(bytes) : [],
    authorizationList: [],
  };
}

test("ethers: facts, unsigned bytes and signed bytes of five forms", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Case = { name: string; transaction: EthersTransaction; privateKey: string } & Record<string, unknown>;
  const cases = vectors.json<Case[]>("ethers/transactions.sample.json");
  const counts = { exact: 0, absent: 0 };
  for (const { name, transaction: given, privateKey, ...rest } of cases) {
    const givenChainId = BigInt(given.chainId ?? 0);
    for (const { form, type } of ethersForms) {
      const label = `${name} ${form}`;
      if (rest[`unsigned${form}`] === "") {
        // There is no form with a chain id for chain 0, and none with blobs for the creation of a contract.
        assert.ok(form === "Eip155" ? givenChainId === 0n : form === "Cancun" && given.to === undefined, label);
        counts.absent++;
        continue;
      }
      const unsigned = unprefixed(rest[`unsigned${form}`] as string);
      const transaction = parseEthereum(unsigned);
      const chainId = form === "Legacy" ? undefined : givenChainId;
      assert.deepEqual(transaction, expectedFacts(given, type, chainId), label);
      assert.equal(toHex(serialiseEthereum(transaction)), toHex(unsigned), label);
      const signed = withEthereumSignature(transaction, sign(transaction, unprefixed(privateKey)));
      assert.equal(`0x${toHex(signed)}`, rest[`signed${form}`], label);
      assert.throws(() => parseEthereum(signed), /already signed/, label);
      counts.exact++;
    }
  }
  assert.deepEqual(counts, { exact: 834, absent: 166 });
});

type TrezorFile = {
  setup: { mnemonic: string; passphrase: string };
  tests: {
    name: string;
    parameters: Record<string, string | number | null | undefined> & { path: string };
    result: { sig_v?: number; sig_r?: string; sig_s?: string; auth7702_list_hex?: string[][]; tx_bytes_hex?: string };
  }[];
};

/** A ledger with a transaction format of its own. */
const notEthereum: Record<string, string> = {
  wanchain: "Wanchain's transactions begin with a field for their type",
  "Hoodi Testnet, mainnet path": "written in Wanchain's form",
};

test("trezor: from mnemonic to signature, legacy, EIP-155, EIP-1559 and EIP-7702", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { exact: 0, excluded: 0 };
  for (const file of ["sign_tx", "sign_tx_eip155", "sign_tx_eip1559", "sign_tx_eip7702_mainnet"]) {
    const { setup, tests }: TrezorFile = vectors.json(`trezor-fixtures/ethereum/${file}.json`);
    const root = HDKey.fromMasterSeed(mnemonicToSeedSync(setup.mnemonic, setup.passphrase));
    for (const { name, parameters, result } of tests) {
      if (notEthereum[name] !== undefined) {
        counts.excluded++;
        continue;
      }
      const number = (field: string) => BigInt(parameters[field] ?? 0);
      const text = (field: string) => String(parameters[field] ?? "");
      const authorizations = (result.auth7702_list_hex ?? []).map((fields) => {
        const [chainId, , nonce, yParity, r, s] = fields.map((field) => BigInt(`0x0${field}`)) as bigint[];
        return { chainId, address: fromHex(fields[1] ?? ""), nonce, yParity, r, s };
      });
      const isDynamic = "max_gas_fee" in parameters;
      const unsigned = serialiseEthereum({
        type: authorizations.length > 0 ? "TYPE_4" : isDynamic ? "TYPE_2" : "LEGACY",
        // JSON's reader rounds this one number.
        chainId: name === "max_uint64" ? 2n ** 64n - 1n : number("chain_id"),
        nonce: number("nonce"),
        gas: number("gas_limit"),
        gasPrice: number("gas_price"),
        maxFeePerGas: number("max_gas_fee"),
        maxPriorityFeePerGas: number("max_priority_fee"),
        to: text("to_address") === "" ? undefined : unprefixed(text("to_address").toLowerCase()),
        value: number("value"),
        data: fromHex(text("data")),
        accessList: [],
        maxFeePerBlobGas: 0n,
        blobVersionedHashes: [],
        authorizationList: authorizations as EthereumTransaction["authorizationList"],
      });
      const transaction = parseEthereum(unsigned);
      const signature = sign(transaction, root.derive(parameters.path).privateKey as Uint8Array);
      if (result.tx_bytes_hex !== undefined) {
        assert.equal(toHex(withEthereumSignature(transaction, signature)), result.tx_bytes_hex, name);
      } else {
        assert.equal(toHex(signature.r), result.sig_r, name);
        assert.equal(toHex(signature.s), result.sig_s, name);
        const offset = isDynamic ? 0 : 35 + 2 * Number(parameters.chain_id);
        assert.equal(offset + signature.yParity, result.sig_v, name);
      }
      counts.exact++;
    }
  }
  assert.deepEqual(counts, { exact: 32, excluded: 2 });
});
