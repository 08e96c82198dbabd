/** Bent copies of valid transactions: each is refused with our own code, or gives the same bytes again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import * as btc from "@scure/btc-signer";
import { samples } from "../../test/samples.ts";
import { sameBytes } from "../encoding/bytes.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { type RlpItem, toRlp, toRlpInteger } from "../encoding/rlp.ts";
import { Fault } from "../fault.ts";
import { bitcoinFacts, parseBitcoin } from "./bitcoin.ts";
import { getSigningInputs, type SpendableScript, spendableScripts } from "./bitcoin_signing.ts";
import {
  bitcoinId,
  checkBitcoinTransaction,
  parseBitcoinTransaction,
  serialiseBitcoinTransaction,
  toTxId,
} from "./bitcoin_transaction.ts";
import { ethereumDigest, parseEthereum, serialiseEthereum } from "./ethereum.ts";
import { type Psbt, parsePsbt, serialisePsbt } from "./psbt.ts";
import { parseSolana, serialiseSolana, solanaMessage } from "./solana.ts";
import { solanaFacts } from "./solana_facts.ts";
import { parseTempo, serialiseTempo, tempoDigest } from "./tempo.ts";
import { parseTron, serialiseTron, type TronContract, tronDigest } from "./tron.ts";

const rounds = samples.bentTransactions;

/** A parser, valid inputs to begin from, and what is done with a value that it gave. */
type Target<T> = {
  parse(bytes: Uint8Array): T;
  serialise(value: T): Uint8Array;
  use(value: T): void;
  seeds: readonly Uint8Array[];
};

function target<T>(row: Target<T>): Target<unknown> {
  return row as Target<unknown>;
}

const address = new Uint8Array(20).fill(0x11);
const number = (value: number) => toRlpInteger(BigInt(value));
const none = new Uint8Array();
const typed = (prefix: number, items: readonly RlpItem[]) => Uint8Array.of(prefix, ...toRlp(items));

function ethereumSeeds(): Uint8Array[] {
  const payment = [
    number(5),
    number(20_000_000),
    number(21_000),
    address,
    number(1_000),
    fromHex("a9059cbb".repeat(9)),
  ];
  const accessList: RlpItem = [[address, [new Uint8Array(32).fill(3), new Uint8Array(32)]]];
  const [nonce, , gas, to, value, data] = payment as [RlpItem, RlpItem, RlpItem, RlpItem, RlpItem, RlpItem];
  const dynamic = [number(1), nonce, number(7), number(900), gas, to, value, data, accessList];
  const authorization = [
    number(1),
    address,
    number(1),
    number(1),
    new Uint8Array(32).fill(9),
    new Uint8Array(31).fill(8),
  ];
  return [
    toRlp(payment),
    toRlp([...payment, number(8453), none, none]),
    typed(1, [number(1), ...payment, accessList]),
    typed(2, dynamic),
    typed(3, [...dynamic, number(3), [new Uint8Array(32).fill(1)]]),
    typed(4, [...dynamic, [authorization, authorization]]),
  ];
}

function tempoSeeds(): Uint8Array[] {
  const call = [address, none, fromHex("a9059cbb")];
  const items: RlpItem[] = [
    number(42_431),
    number(1),
    number(900),
    number(100_000),
    [call, call],
    [],
    number(2),
    number(3),
  ];
  const rest: RlpItem[] = [
    number(1_900_000_000),
    none,
    address,
    none,
    [[number(1), address, none, new Uint8Array(65)]],
  ];
  const grant = [[number(1), none, address, number(9), [[address, number(5)]]], new Uint8Array(65).fill(6)];
  const signedFee = [number(1), new Uint8Array(32).fill(4), new Uint8Array(32).fill(5)];
  return [
    typed(0x76, [...items, ...rest]),
    typed(0x76, [...items, ...rest, grant]),
    typed(0x76, [...items, ...rest].with(11, signedFee)),
    typed(0x76, [...items, ...rest].with(10, none).with(11, Uint8Array.of(0))),
  ];
}

function solanaSeeds(): Uint8Array[] {
  const key = (n: number) => new Uint8Array(32).fill(n);
  const token = fromHex("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9");
  const call = (programIndex: number, accounts: number[], data: string) => ({
    programIndex,
    accounts: Uint8Array.from(accounts),
    data: fromHex(data),
  });
  const message = {
    version: "legacy",
    requiredSignatures: 2,
    readonlySigned: 1,
    readonlyUnsigned: 2,
    accountKeys: [key(1), key(2), key(3), key(0), token],
    recentBlockhash: key(9),
    instructions: [
      call(3, [0, 2], "020000004042"),
      call(3, [0, 2], "020000000102030405060708"),
      call(4, [2, 0, 1], `03${"05".repeat(8)}`),
    ],
    addressTableLookups: [],
  } as const;
  const signatures = [new Uint8Array(64), new Uint8Array(64).fill(7)];
  const table = { tableKey: key(7), writableIndexes: Uint8Array.of(5), readonlyIndexes: Uint8Array.of(8, 9) };
  return [
    serialiseSolana({ signatures, message: { ...message, instructions: message.instructions.slice(1) } }),
    serialiseSolana({ signatures, message }),
    serialiseSolana({ signatures, message: { ...message, version: 0, addressTableLookups: [table] } }),
  ];
}

function tronSeeds(): Uint8Array[] {
  const owner = Uint8Array.of(0x41, ...address);
  const permission = {
    type: "Active",
    id: 2,
    permissionName: "trade",
    threshold: 2n,
    parentId: 0,
    operations: new Uint8Array(32).fill(0x7f),
    keys: [{ address: owner, weight: 1n }],
  } as const;
  const contracts: TronContract[] = [
    { type: "TransferContract", value: { ownerAddress: owner, toAddress: owner, amount: 5_000n }, permissionId: 0 },
    {
      type: "TriggerSmartContract",
      value: {
        ownerAddress: owner,
        contractAddress: owner,
        callValue: 1n,
        data: address,
        callTokenValue: 0n,
        tokenId: 0n,
      },
      permissionId: 2,
    },
    {
      type: "AccountPermissionUpdateContract",
      value: { ownerAddress: owner, owner: permission, witness: undefined, actives: [permission] },
      permissionId: 0,
    },
    {
      type: "DelegateResourceContract",
      value: {
        ownerAddress: owner,
        resource: "ENERGY",
        balance: 9n,
        receiverAddress: owner,
        lock: true,
        lockPeriod: 86_400n,
      },
      permissionId: 0,
    },
  ];
  return contracts.map((contract) =>
    serialiseTron({
      refBlockBytes: fromHex("e942"),
      refBlockNum: 0n,
      refBlockHash: fromHex("6394747da9fee421"),
      expiration: 1_752_562_632_000n,
      data: fromHex("6869"),
      contract: [contract],
      timestamp: 1_752_562_572_000n,
      feeLimit: 150_000_000n,
    }),
  );
}

const privateKey = new Uint8Array(32).fill(0x42);
const publicKey = secp256k1.getPublicKey(privateKey, true);

function bitcoinSeeds(): Uint8Array[] {
  const input = { previousId: new Uint8Array(32).fill(7), vout: 1, scriptSig: fromHex("51"), sequence: 3, witness: [] };
  const outputs = [{ value: 100_000n, scriptPubKey: btc.p2pkh(publicKey).script }];
  const plain = { version: 2, inputs: [input], outputs, lockTime: 0 };
  const witness = [fromHex("3045"), publicKey];
  return [
    plain,
    {
      ...plain,
      inputs: [
        { ...input, witness },
        { ...input, vout: 2 },
      ],
    },
  ].map(serialiseBitcoinTransaction);
}

/** An input of a script without witness: it shows the whole transaction that it spends from. */
function legacyInput({ script, redeemScript }: { script: Uint8Array; redeemScript?: Uint8Array }) {
  const [first = none] = bitcoinSeeds();
  const previous = { ...parseBitcoinTransaction(first), outputs: [{ value: 100_000n, scriptPubKey: script }] };
  const txid = toTxId(bitcoinId(previous));
  const nonWitnessUtxo = serialiseBitcoinTransaction(previous);
  return { txid, index: 0, nonWitnessUtxo, ...(redeemScript && { redeemScript }) };
}

/** Every script that a key can spend is an input of one of them. */
function psbtSeeds(): Uint8Array[] {
  const legacy = legacyInput(btc.p2pkh(publicKey));
  const wrapped = [btc.p2sh(btc.p2pkh(publicKey)), btc.p2sh(btc.p2pk(publicKey))].map(legacyInput);
  const payments = [
    btc.p2wpkh(publicKey),
    btc.p2sh(btc.p2wpkh(publicKey)),
    btc.p2wsh(btc.p2pk(publicKey)),
    btc.p2tr(publicKey.subarray(1)),
  ];
  const segwit = payments.map((payment, i) => ({
    ...payment,
    txid: toHex(new Uint8Array(32).fill(i + 1)),
    index: i,
    witnessUtxo: { script: payment.script, amount: 50_000n },
  }));
  return [[legacy], wrapped, segwit.slice(0, 2), segwit.slice(2), [legacy, ...segwit]].flatMap((inputs) => {
    const transaction = new btc.Transaction();
    for (const one of inputs) transaction.addInput(one);
    transaction.addOutput({ script: btc.p2wpkh(publicKey).script, amount: 10_000n });
    const unsigned = transaction.toPSBT(0);
    transaction.sign(privateKey, undefined, new Uint8Array(32));
    return [unsigned, transaction.toPSBT(0)];
  });
}

const targets = {
  ethereum: target({ parse: parseEthereum, serialise: serialiseEthereum, use: ethereumDigest, seeds: ethereumSeeds() }),
  tempo: target({ parse: parseTempo, serialise: serialiseTempo, use: tempoDigest, seeds: tempoSeeds() }),
  solana: target({
    parse: parseSolana,
    serialise: serialiseSolana,
    use(value) {
      solanaMessage(value);
      solanaFacts(value.message);
    },
    seeds: solanaSeeds(),
  }),
  tron: target({ parse: parseTron, serialise: serialiseTron, use: tronDigest, seeds: tronSeeds() }),
  bitcoin: target({
    parse: parseBitcoinTransaction,
    serialise: serialiseBitcoinTransaction,
    use: checkBitcoinTransaction,
    seeds: bitcoinSeeds(),
  }),
  psbt: target({
    parse: parsePsbt,
    serialise: serialisePsbt,
    use(value) {
      const checked = parseBitcoin(serialisePsbt(value));
      bitcoinFacts(checked, "mainnet");
      getSigningInputs(checked, publicKey, spendableScripts);
    },
    seeds: psbtSeeds(),
  }),
};

type Name = keyof typeof targets;
const names = Object.keys(targets) as Name[];

/** Numbers below `bound` from a seed that can be given again. */
function seeded(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

type Random = ReturnType<typeof seeded>;

/** Bytes at which one of the formats changes its mind. */
const turningPoints = [
  0x00, 0x01, 0x37, 0x38, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xbf, 0xc0, 0xf7, 0xf8, 0xfc, 0xfd, 0xfe, 0xff,
];

const cut = (bytes: Uint8Array, at: number, length: number, insert: Uint8Array = none) => {
  const result = new Uint8Array(bytes.length - length + insert.length);
  result.set(bytes.subarray(0, at));
  result.set(insert, at);
  result.set(bytes.subarray(at + length), at + insert.length);
  return result;
};

const changes: readonly ((bytes: Uint8Array, at: number, random: Random, other: Uint8Array) => Uint8Array)[] = [
  (bytes, at, random) => bytes.with(at, random(256)),
  (bytes, at, random) => bytes.with(at, (bytes[at] ?? 0) ^ (1 << random(8))),
  (bytes, at, random) => bytes.with(at, (bytes[at] ?? 0) + (random(2) === 0 ? 1 : -1)),
  (bytes, at, random) => bytes.with(at, turningPoints[random(turningPoints.length)] ?? 0),
  (bytes, at, random) => cut(bytes, at, 0, new Uint8Array(1 + random(4)).fill(random(256))),
  (bytes, at, random) => cut(bytes, at, Math.min(1 + random(8), bytes.length - at)),
  (bytes, at, random) => cut(bytes, at, 0, bytes.subarray(at, at + 1 + random(64))),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at, random, other) => cut(bytes, at, 0, other.subarray(random(other.length)).subarray(0, 1 + random(40))),
  (bytes, at, random, other) => cut(bytes, at, bytes.length - at, other.subarray(random(other.length))),
];

/** The input with a few changes, most often one: with many, everything is refused at the first. */
function bent(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  let bytes = input;
  for (let left = 1 + random(6) * random(2) * random(2); left > 0 && bytes.length > 0; left--) {
    bytes = changes[random(changes.length)]?.(bytes, random(bytes.length), random, other) ?? bytes;
  }
  return bytes;
}

function isRefusal(error: unknown): boolean {
  return error instanceof Fault && error.code === "invalid_argument" && error.errorCode === "INVALID_TRANSACTION";
}

test("every script that a key can spend is among the inputs that the bent PSBTs come from", () => {
  const seeds = psbtSeeds().map((bytes) => parseBitcoin(bytes));
  const found = spendableScripts.filter((type) => seeds.some((psbt) => hasInput(psbt, type)));
  assert.deepEqual(found, spendableScripts);
});

function hasInput(psbt: Psbt, type: SpendableScript): boolean {
  try {
    return getSigningInputs(psbt, publicKey, [type]).length > 0;
  } catch {
    return false;
  }
}

test(`${rounds} bent transactions: only refusals, or the same bytes again`, (t) => {
  for (const { parse, serialise, seeds } of Object.values(targets)) {
    for (const bytes of seeds) assert.deepEqual(serialise(parse(bytes)), bytes);
  }
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const traces = Error.stackTraceLimit;
  // Stacks of refusals would take most of the time.
  Error.stackTraceLimit = 0;
  t.after(() => {
    Error.stackTraceLimit = traces;
  });
  const counts = Object.fromEntries(names.map((name) => [name, { refused: 0, accepted: 0, unusable: 0 }]));
  for (let round = 0; round < rounds; round++) {
    const name = names[round % names.length] as Name;
    const { parse, serialise, use, seeds } = targets[name];
    const pick = <T>(list: readonly T[]) => list[random(list.length)] as T;
    // Now and then another chain's transaction, which must not pass for one of this.
    const input = random(50) === 0 ? pick(targets[pick(names)].seeds) : bent(pick(seeds), random, pick(seeds));
    const count = counts[name] as { refused: number; accepted: number; unusable: number };
    let step: keyof typeof count = "refused";
    try {
      const value = parse(input);
      step = "accepted";
      assert.ok(sameBytes(serialise(value), input), `seed ${seed}, round ${round}, ${name}: ${toHex(input)}`);
      step = "unusable";
      use(value);
      step = "accepted";
    } catch (error) {
      assert.ok(
        step !== "accepted" && isRefusal(error),
        `seed ${seed}, round ${round}, ${name}: ${toHex(input)}: ${error}`,
      );
    }
    count[step]++;
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(counts)}`);
  for (const name of names) {
    assert.ok((counts[name]?.accepted ?? 0) > rounds / 1_000, `${name} is not reached`);
    assert.ok((counts[name]?.refused ?? 0) > rounds / 100, `${name} refuses too little`);
  }
});
