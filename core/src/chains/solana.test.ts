import assert from "node:assert/strict";
import { test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { toBase58 } from "../encoding/base58.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import {
  getSolanaSlot,
  parseSolana,
  type SolanaMessage,
  type SolanaTransaction,
  serialiseSolana,
  solanaMessage,
  withSolanaSignature,
} from "./solana.ts";
import { addressTableLookup, solanaFacts } from "./solana_facts.ts";

const key = (n: number) => new Uint8Array(32).fill(n);
const system = key(0);
const token = fromHex("06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9");
const token2022 = fromHex("06ddf6e1ee758fde18425dbce46ccddab61afc4d83b90d27febdf928d8a18bfc");

/** Accounts 1 and 2 sign, 3 is written to, 4 is only read, then come the programs. */
const base: SolanaMessage = {
  version: "legacy",
  requiredSignatures: 2,
  readonlySigned: 1,
  readonlyUnsigned: 4,
  accountKeys: [key(1), key(2), key(3), key(4), system, token, token2022],
  recentBlockhash: key(9),
  instructions: [],
  addressTableLookups: [],
};

function transactionOf(change: Partial<SolanaMessage>): SolanaTransaction {
  const message = { ...base, ...change };
  return { message, signatures: Array.from({ length: message.requiredSignatures }, () => new Uint8Array(64)) };
}

const call = (programIndex: number, accounts: number[], data: string) => ({
  programIndex,
  accounts: Uint8Array.from(accounts),
  data: fromHex(data),
});

const table = { tableKey: key(7), writableIndexes: Uint8Array.of(5), readonlyIndexes: Uint8Array.of(8, 9) };

test("bytes as the network lays them out, legacy and version 0", () => {
  const instructions = [call(4, [0, 2], "0200000001")];
  const legacy = serialiseSolana(transactionOf({ instructions }));
  const slots = `02${"00".repeat(128)}`;
  const body = `020104${"07"}${[1, 2, 3, 4, 0].map((n) => toHex(key(n))).join("")}${toHex(token)}${toHex(token2022)}${toHex(key(9))}01${"04"}020002${"05"}0200000001`;
  assert.equal(toHex(legacy), slots + body);
  const lookup = serialiseSolana(transactionOf({ version: 0, instructions, addressTableLookups: [table] }));
  assert.equal(toHex(lookup), `${slots}80${body}01${toHex(key(7))}0105020809`);
  for (const bytes of [legacy, lookup]) assert.deepEqual(serialiseSolana(parseSolana(bytes)), bytes);
  assert.equal(toHex(solanaMessage(parseSolana(lookup))), toHex(lookup).slice(slots.length));
});

test("the slot of a key is filled and no other byte changes", () => {
  const secret = key(0x42);
  const publicKey = ed25519.getPublicKey(secret);
  const accountKeys = base.accountKeys.with(1, publicKey);
  const others = { ...transactionOf({ accountKeys }), signatures: [new Uint8Array(64).fill(5), new Uint8Array(64)] };
  const transaction = parseSolana(serialiseSolana(others));
  assert.equal(getSolanaSlot(transaction, publicKey), 1);
  const signature = ed25519.sign(solanaMessage(transaction), secret);
  const signed = withSolanaSignature(transaction, publicKey, signature);
  const expected = serialiseSolana(others);
  expected.set(signature, 1 + 64);
  assert.deepEqual(signed, expected);
  assert.throws(() => withSolanaSignature(transaction, key(3), signature), /not among its signers/);
  assert.throws(() => withSolanaSignature(transaction, publicKey, signature.subarray(1)), { code: "internal" });
});

test("everything that the runtime would not run is refused, with the reason", () => {
  const good = serialiseSolana(transactionOf({}));
  assert.ok(parseSolana(good));
  const slots = 1 + 128;
  const changed = (at: number, byte: number) => good.map((b, i) => (i === at ? byte : b));
  for (const [why, input] of [
    [/too short/, new Uint8Array()],
    [/too short/, good.subarray(0, -1)],
    [/trailing bytes/, Uint8Array.of(...good, 0)],
    [/not the shortest form/, Uint8Array.of(0x82, 0x00, ...good.subarray(1))],
    [/over three bytes/, Uint8Array.of(0x81, 0x80, 0x80, 0x00)],
    [/over 65535/, Uint8Array.of(0xff, 0xff, 0x04)],
    [/message version 1 is not supported/, changed(slots, 0x81)],
    [/2 signature slots where 3 keys sign/, changed(slots, 3)],
    [/0 signature slots where 2 keys sign/, Uint8Array.of(0, ...good.subarray(slots))],
    [/nobody pays the fee/, changed(slots + 1, 2)],
    [/nobody pays the fee/, serialiseSolana(transactionOf({ requiredSignatures: 0, readonlySigned: 0 }))],
    [/fewer accounts than its header says/, changed(slots + 2, 6)],
    [/an account twice/, serialiseSolana(transactionOf({ accountKeys: base.accountKeys.with(3, key(1)) }))],
    [/a program that is not among/, serialiseSolana(transactionOf({ instructions: [call(0, [], "")] }))],
    [/a program that is not among/, serialiseSolana(transactionOf({ instructions: [call(7, [], "")] }))],
    [
      /a program that is not among/,
      serialiseSolana(transactionOf({ version: 0, addressTableLookups: [table], instructions: [call(7, [], "")] })),
    ],
    [/unknown account/, serialiseSolana(transactionOf({ instructions: [call(4, [7], "")] }))],
    [
      /unknown account/,
      serialiseSolana(transactionOf({ version: 0, addressTableLookups: [table], instructions: [call(4, [10], "")] })),
    ],
    [
      /an address table that is not used/,
      serialiseSolana(
        transactionOf({
          version: 0,
          addressTableLookups: [{ ...table, writableIndexes: new Uint8Array(), readonlyIndexes: new Uint8Array() }],
        }),
      ),
    ],
    [
      /over 256 accounts/,
      serialiseSolana(
        transactionOf({ version: 0, addressTableLookups: [{ ...table, writableIndexes: new Uint8Array(250) }] }),
      ),
    ],
    [/over 4096 bytes/, new Uint8Array(4097)],
  ] as const) {
    assert.throws(() => parseSolana(input), { errorCode: "INVALID_TRANSACTION", message: why });
  }
});

test("roles of accounts follow the header, and table accounts come last, writable ones first", () => {
  const { message } = transactionOf({
    version: 0,
    addressTableLookups: [
      table,
      { tableKey: key(8), writableIndexes: Uint8Array.of(1), readonlyIndexes: new Uint8Array() },
    ],
    instructions: [call(4, [0, 1, 2, 3, 7, 8, 9, 10], "ff"), call(5, [0], "")],
  });
  const facts = solanaFacts(message);
  const [first, second] = facts.instructions;
  assert.deepEqual(
    first?.accounts.map(({ signer, writable }) => `${signer ? "signs" : "-"} ${writable ? "written" : "read"}`),
    ["signs written", "signs read", "- written", "- read", "- written", "- written", "- read", "- read"],
  );
  assert.deepEqual(first?.addressTableLookups, [
    { addressTableKey: toBase58(key(7)), writableIndexes: [5], readonlyIndexes: [8, 9] },
    { addressTableKey: toBase58(key(8)), writableIndexes: [1], readonlyIndexes: [] },
  ]);
  assert.deepEqual(second?.addressTableLookups, []);
  assert.deepEqual(facts.accountKeys.slice(7), Array(4).fill(addressTableLookup));
  assert.deepEqual(facts.programKeys, [toBase58(system), toBase58(token)]);
  assert.equal(first?.instructionDataHex, "ff");
  assert.equal(facts.recentBlockhash, toBase58(key(9)));
  assert.equal(facts.addressTableLookups.length, 2);
});

test("transfers are seen, also with bytes behind them that programs ignore", () => {
  const [a, b, c, d] = [1, 2, 3, 4].map((n) => toBase58(key(n)));
  const amount = "0807060504030201";
  const value = 0x0102030405060708n;
  for (const tail of ["", "00", "ffff"]) {
    const { transfers, splTransfers } = solanaFacts(
      transactionOf({
        instructions: [
          call(4, [0, 2], `02000000${amount}${tail}`),
          call(5, [0, 2, 1], `03${amount}${tail}`),
          call(5, [0, 3, 2, 1, 0, 2], `0c${amount}09${tail}`),
          call(6, [0, 3, 2, 1], `1a01${amount}090000000000000000${tail}`),
          // Neither of these moves anything by itself: Assign, Approve, another extension's instruction.
          call(4, [0], `01000000${toHex(key(5))}`),
          call(5, [0, 2, 1], `04${amount}`),
          call(6, [0, 3, 2, 1], "1a00"),
        ],
      }).message,
    );
    assert.deepEqual(transfers, [{ from: a, to: c, amount: value }]);
    assert.deepEqual(splTransfers, [
      { from: a, to: c, amount: value, owner: b, signers: [], tokenMint: "" },
      { from: a, to: c, amount: value, owner: b, signers: [a, c], tokenMint: d },
      { from: a, to: c, amount: value, owner: b, signers: [], tokenMint: d },
    ]);
  }
  const toTable = solanaFacts(
    transactionOf({
      version: 0,
      addressTableLookups: [table],
      instructions: [call(4, [0, 7], `02000000${amount}`)],
    }).message,
  );
  assert.deepEqual(toTable.transfers, [{ from: a, to: addressTableLookup, amount: value }]);
  for (const [why, instruction] of [
    [/without its accounts/, call(4, [0], `02000000${amount}`)],
    [/without its amount/, call(4, [0, 2], "020000000807060504")],
    [/without its accounts/, call(5, [0, 2], `03${amount}`)],
    [/without its amount/, call(5, [0, 2, 1], "03")],
  ] as const) {
    const { message } = transactionOf({ instructions: [instruction] });
    assert.throws(() => solanaFacts(message), { errorCode: "INVALID_TRANSACTION", message: why });
  }
});

test("any message that is well-formed survives", () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const extra = fc.uniqueArray(fc.integer({ min: 10, max: 250 }), { maxLength: 20 });
  fc.assert(
    fc.property(
      extra,
      fc.array(fc.tuple(fc.nat(5), bytes, bytes), { maxLength: 6 }),
      fc.boolean(),
      (more, calls, isV0) => {
        const accountKeys = [...base.accountKeys, ...more.map(key)];
        const accounts = accountKeys.length + (isV0 ? 3 : 0);
        const transaction = transactionOf({
          version: isV0 ? 0 : "legacy",
          accountKeys,
          instructions: calls.map(([program, indexes, data]) => ({
            programIndex: program + 1,
            accounts: indexes.map((index) => index % accounts),
            data,
          })),
          addressTableLookups: isV0 ? [table] : [],
        });
        assert.deepEqual(parseSolana(serialiseSolana(transaction)), transaction);
      },
    ),
    { seed: 6, numRuns: 300 },
  );
});
