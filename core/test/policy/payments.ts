/**
 * Random payments on five chains, to allowed recipients and to others that look like them, in forms that are odd, broken or
 * right. They are bytes as somebody would send them to be signed.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { createBase58check } from "@scure/base";
import * as btc from "@scure/btc-signer";
import { RLP } from "micro-eth-signer/core/rlp.js";
import { serialiseWithoutWitnesses } from "../../src/chains/bitcoin_transaction.ts";
import { type SolanaMessage, serialiseSolana } from "../../src/chains/solana.ts";
import { serialiseTron, type TronContract } from "../../src/chains/tron.ts";
import type { Chance } from "./seeded.ts";

const none = new Uint8Array();
const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte);
const concat = (...parts: readonly Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

/** Accounts that every list of these tests allows; 0x70… is the token, everything else is outside. */
const allowedBytes = [0xa1, 0xa2, 0xa3];
export const tokenByte = 0x70;

/** Twenty or thirty-two bytes of somebody: most often allowed, else nearly allowed, or a stranger. */
function somebody(length: number, chance: Chance): Uint8Array {
  const account = filled(length, chance.of(allowedBytes));
  if (!chance.once(4)) return account;
  if (chance.once(2)) return account.with(chance.below(length), chance.below(256));
  return filled(length, chance.of([0x00, 0xb1, 0xff, tokenByte]));
}

export const evmAllowed = allowedBytes.map((byte) => filled(20, byte));
export const solanaAllowed = allowedBytes.map((byte) => filled(32, byte));

const selectors = { transfer: "a9059cbb", transferFrom: "23b872dd", disperse: "2f3cb35b", executeBatch: "34fcd5be" };

export const tokenAbi = JSON.stringify([
  call("transfer", [input("to", "address"), input("amount", "uint256")]),
  call("transferFrom", [input("from", "address"), input("to", "address"), input("amount", "uint256")]),
  call("disperse", [input("recipients", "address[]"), input("amounts", "uint256[]")]),
  call("executeBatch", [
    {
      ...input("calls", "tuple[]"),
      components: [input("target", "address"), input("value", "uint256"), input("data", "bytes")],
    },
  ]),
]);

function input(name: string, type: string) {
  return { name, type, internalType: type };
}

function call(name: string, inputs: readonly object[]) {
  return { type: "function", name, inputs, outputs: [], stateMutability: "nonpayable" };
}

function word(value: bigint | number | Uint8Array): Uint8Array {
  if (value instanceof Uint8Array) return concat(filled(32 - value.length, 0), value);
  return Uint8Array.from(Buffer.from(BigInt(value).toString(16).padStart(64, "0"), "hex"));
}

/** Calldata as a contract's caller would write it. */
function calldata(chance: Chance): Uint8Array {
  const name = chance.of(["transfer", "transfer", "transferFrom", "disperse", "executeBatch"] as const);
  const selector = Uint8Array.from(Buffer.from(selectors[name], "hex"));
  const to = () => word(somebody(20, chance));
  if (name === "transfer") return concat(selector, to(), word(chance.below(1_000)));
  if (name === "transferFrom") return concat(selector, to(), to(), word(5));
  const count = chance.below(4);
  if (name === "disperse") {
    const recipients = Array.from({ length: count }, to);
    const amounts = recipients.map(() => word(7));
    const second = 64 + 32 * (count + 1);
    return concat(selector, word(64), word(second), word(count), ...recipients, word(count), ...amounts);
  }
  const calls = Array.from({ length: count }, () => concat(to(), word(0), word(96), word(4), word(9)));
  const places = calls.map((_, i) => word(32 * count + 160 * i));
  return concat(selector, word(32), word(count), ...places, ...calls);
}

/** Calldata that a careless reader takes for something else. */
function oddCalldata(chance: Chance): Uint8Array {
  const data = calldata(chance);
  switch (chance.below(7)) {
    case 0:
      return data.subarray(0, chance.below(data.length + 1));
    case 1:
      return concat(data, filled(1 + chance.below(40), chance.below(2)));
    case 2:
      // Dirty bytes above an address.
      return data.with(4 + chance.below(12), 1 + chance.below(255));
    case 3:
      // Another offset or count.
      return data.with(Math.min(4 + 31 + 32 * chance.below(3), data.length - 1), 32 * chance.below(12));
    case 4:
      return concat(data.subarray(0, 4), data);
    case 5:
      return data.with(chance.below(data.length), chance.below(256));
    default:
      return data.with(chance.below(4), chance.below(256));
  }
}

const dataOf = (chance: Chance) => (chance.once(3) ? oddCalldata(chance) : calldata(chance));

/** A transaction of any type: a payment, or a call of the token. */
export function ethereumPayment(chance: Chance): Uint8Array {
  const isCall = chance.once(2);
  const to = isCall ? filled(20, tokenByte) : chance.once(12) ? none : somebody(20, chance);
  const data = isCall || chance.once(6) ? dataOf(chance) : none;
  const value = isCall ? 0n : 1_000n;
  const type = chance.below(6);
  const accessList = chance.once(3) ? [[somebody(20, chance), [filled(32, 1)]]] : [];
  const typed = (prefix: number, items: unknown[]) => Uint8Array.of(prefix, ...RLP.encode(items as never));
  if (type === 0) return RLP.encode([5n, 20n, 21_000n, to, value, data] as never);
  if (type === 1) return RLP.encode([5n, 20n, 21_000n, to, value, data, 8453n, none, none] as never);
  if (type === 2) return typed(1, [1n, 5n, 20n, 21_000n, to, value, data, accessList]);
  const dynamic = [1n, 5n, 7n, 900n, 21_000n, to, value, data, accessList];
  if (type === 3) return typed(2, dynamic);
  if (type === 4) return typed(3, [...dynamic, 3n, [filled(32, 1)]]);
  return typed(4, [...dynamic, [[1n, somebody(20, chance), 1n, none, filled(32, 9), filled(32, 8)]]]);
}

export function tempoPayment(chance: Chance): Uint8Array {
  const calls = Array.from({ length: 1 + chance.below(3) }, () => {
    const isCall = chance.once(2);
    const to = isCall ? filled(20, tokenByte) : chance.once(12) ? none : somebody(20, chance);
    return [to, none, isCall || chance.once(6) ? dataOf(chance) : none];
  });
  const feeToken = chance.once(2) ? filled(20, 0x20) : none;
  const authorizations = chance.once(12) ? [[1n, somebody(20, chance), none, filled(65, 1)]] : [];
  const items: unknown[] = [42_431n, 1n, 900n, 100_000n, calls, [], 2n, 3n, none, none, feeToken, none, authorizations];
  if (chance.once(12)) items.push([[1n, none, somebody(20, chance), 9n], filled(65, 6)]);
  return Uint8Array.of(0x76, ...RLP.encode(items as never));
}

const systemProgram = filled(32, 0);
const splToken = Uint8Array.from(
  Buffer.from("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9", "hex"),
);
/** Somebody whom every Solana payment of these tests is from. */
const payer = filled(32, 0x01);

/** Instructions that pay in lamports or in tokens, sometimes with others among them or with accounts from tables. */
export function solanaPayment(chance: Chance): Uint8Array {
  const isVersioned = chance.once(2);
  const people = [somebody(32, chance), somebody(32, chance)];
  const programs = [systemProgram, splToken];
  const names = [payer, ...people, filled(32, 0x55), ...programs].map((key) => Buffer.from(key).toString("hex"));
  const keys = [...new Set(names)].map((name) => Uint8Array.from(Buffer.from(name, "hex")));
  const placeOf = (key: Uint8Array) => keys.findIndex((other) => Buffer.compare(other, key) === 0);
  const system = chance.once(2);
  const target = () => (isVersioned && chance.once(8) ? keys.length : placeOf(chance.of(people)));
  const amount = [1, 0, 0, 0, 0, 0, 0, 0];
  const instructions = Array.from({ length: 1 + chance.below(3) }, () => {
    const isSystem = chance.once(8) ? !system : system;
    const tail = chance.once(8) ? [chance.below(256)] : [];
    if (isSystem) {
      const head = chance.once(10) ? chance.of([0, 1, 3, 8, 11]) : 2;
      return { program: systemProgram, accounts: [0, target()], data: [head, 0, 0, 0, ...amount, ...tail] };
    }
    const form = chance.below(chance.once(10) ? 4 : 3);
    if (form === 0) return { program: splToken, accounts: [3, target(), 0], data: [3, ...amount, ...tail] };
    if (form === 1) return { program: splToken, accounts: [3, 3, target(), 0], data: [12, ...amount, 6, ...tail] };
    if (form === 2)
      return { program: splToken, accounts: [3, 3, target(), 0], data: [26, 1, ...amount, 6, ...amount, ...tail] };
    // Anything else the program can do: approve, set the authority, close.
    return { program: splToken, accounts: [3, target(), 0], data: [chance.of([4, 6, 9, 13, 17]), ...amount] };
  });
  const message: SolanaMessage = {
    version: isVersioned ? 0 : "legacy",
    requiredSignatures: 1,
    readonlySigned: 0,
    readonlyUnsigned: 2,
    accountKeys: keys,
    recentBlockhash: filled(32, 9),
    instructions: instructions.map(({ program, accounts, data }) => ({
      programIndex: placeOf(program),
      accounts: Uint8Array.from(accounts),
      data: Uint8Array.from(data),
    })),
    addressTableLookups: isVersioned
      ? [{ tableKey: filled(32, 7), writableIndexes: Uint8Array.of(5), readonlyIndexes: Uint8Array.of(8) }]
      : [],
  };
  return serialiseSolana({ signatures: [filled(64, 0)], message });
}

const base58check = createBase58check(sha256);
export const tronAllowed = evmAllowed.map((address) => base58check.encode(concat(Uint8Array.of(0x41), address)));

export function tronPayment(chance: Chance): Uint8Array {
  const account = (bytes: Uint8Array) => concat(Uint8Array.of(0x41), bytes);
  const owner = account(filled(20, 0x01));
  const to = account(somebody(20, chance));
  const contracts: TronContract[] = [
    { type: "TransferContract", value: { ownerAddress: owner, toAddress: to, amount: 5_000n }, permissionId: 0 },
    {
      type: "TriggerSmartContract",
      value: {
        ownerAddress: owner,
        contractAddress: chance.once(6) ? to : account(filled(20, tokenByte)),
        callValue: 0n,
        data: dataOf(chance),
        callTokenValue: 0n,
        tokenId: 0n,
      },
      permissionId: 0,
    },
    {
      type: "TransferAssetContract",
      value: { assetName: filled(4, 0x31), ownerAddress: owner, toAddress: to, amount: 1n },
      permissionId: 0,
    },
    {
      type: "DelegateResourceContract",
      value: { ownerAddress: owner, resource: "ENERGY", balance: 9n, receiverAddress: to, lock: false, lockPeriod: 0n },
      permissionId: 2,
    },
  ];
  const contract = contracts[chance.once(6) ? 2 + chance.below(2) : chance.below(2)] as TronContract;
  return serialiseTron({
    refBlockBytes: Uint8Array.of(0xe9, 0x42),
    refBlockNum: 0n,
    refBlockHash: filled(8, 0x63),
    expiration: 1_752_562_632_000n,
    data: none,
    contract: [contract],
    timestamp: 1_752_562_572_000n,
    feeLimit: 150_000_000n,
  });
}

/** Scripts of one key or script hash each. */
const scriptForms = [
  (hash: Uint8Array) => concat(Uint8Array.of(0x76, 0xa9, 0x14), hash.subarray(0, 20), Uint8Array.of(0x88, 0xac)),
  (hash: Uint8Array) => concat(Uint8Array.of(0xa9, 0x14), hash.subarray(0, 20), Uint8Array.of(0x87)),
  (hash: Uint8Array) => concat(Uint8Array.of(0x00, 0x14), hash.subarray(0, 20)),
  (hash: Uint8Array) => concat(Uint8Array.of(0x00, 0x20), hash),
] as const;

const [payToKeyHash, payToScriptHash, payToWitness, payToWitnessScript] = scriptForms;
/** Each allowed account in one form only: the same hash behind another form is somebody else. */
export const bitcoinAllowed = [
  payToKeyHash(filled(32, 0xa1)),
  payToScriptHash(filled(32, 0xa2)),
  payToWitness(filled(32, 0xa3)),
  payToWitnessScript(filled(32, 0xa3)),
];
export const bitcoinAllowedAddresses = bitcoinAllowed.map((script) =>
  btc.Address().encode(btc.OutScript.decode(script)),
);

function outputScript(chance: Chance): Uint8Array {
  const script = chance.of(bitcoinAllowed);
  if (!chance.once(5)) return script;
  switch (chance.below(6)) {
    case 0:
      return chance.of(scriptForms)(filled(32, chance.of(allowedBytes)));
    case 1:
      return script.with(chance.below(script.length), chance.below(256));
    case 2:
      return concat(script, Uint8Array.of(chance.below(256)));
    case 3:
      return script.subarray(0, script.length - 1);
    case 4:
      return concat(Uint8Array.of(0x6a, 0x04), filled(4, 0x31));
    default:
      // An unknown witness version with an allowed program.
      return concat(Uint8Array.of(0x51 + chance.below(16), 0x20), filled(32, 0xa3));
  }
}

const sized = (bytes: Uint8Array) => concat(Uint8Array.of(bytes.length), bytes);
const longSized = (bytes: Uint8Array) => concat(Uint8Array.of(0xfd, bytes.length & 255, bytes.length >> 8), bytes);

/** A PSBT with one SegWit input, written by hand because libraries do not write strange scripts. */
export function bitcoinPayment(chance: Chance): Uint8Array {
  const input = { previousId: filled(32, 0x11), vout: 0, scriptSig: none, sequence: 0xffffffff, witness: [] };
  const outputs = Array.from({ length: 1 + chance.below(3) }, () => ({
    value: 1_000n,
    scriptPubKey: outputScript(chance),
  }));
  const transaction = serialiseWithoutWitnesses({ version: 2, inputs: [input], outputs, lockTime: 0 });
  const spent = concat(Uint8Array.of(0x40, 0x42, 0x0f, 0, 0, 0, 0, 0), sized(payToWitness(filled(32, 0x01))));
  const end = Uint8Array.of(0);
  return concat(
    Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff, 1, 0),
    transaction.length < 0xfd ? sized(transaction) : longSized(transaction),
    end,
    Uint8Array.of(1, 1),
    sized(spent),
    end,
    ...outputs.map(() => end),
  );
}
