import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import { addr, Transaction } from "micro-eth-signer";
import { fromHex, toHex } from "../encoding/hex.ts";
import { type RlpItem, toRlp, toRlpInteger } from "../encoding/rlp.ts";
import {
  type EthereumTransaction,
  ethereumDigest,
  parseEthereum,
  serialiseEthereum,
  withEthereumSignature,
} from "./ethereum.ts";
import type { RecoverableSignature } from "./signature.ts";

const privateKey = fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

function sign(digest: Uint8Array): RecoverableSignature {
  const [recovery, ...rs] = secp256k1.sign(digest, privateKey, { prehash: false, format: "recovered" });
  return { r: Uint8Array.from(rs.slice(0, 32)), s: Uint8Array.from(rs.slice(32)), yParity: recovery === 1 ? 1 : 0 };
}

const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(fields, { noNullPrototype: true });
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const below = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
const small = fc.oneof(below(64), fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n));
const chainId = fc.bigInt({ min: 1n, max: 2n ** 32n });
const fees = fc.tuple(below(64), below(64)).map(([a, b]) => ({
  maxFeePerGas: a > b ? a : b,
  maxPriorityFeePerGas: a > b ? b : a,
}));

const none = {
  gasPrice: 0n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  accessList: [],
  maxFeePerBlobGas: 0n,
  blobVersionedHashes: [],
  authorizationList: [],
};
const common = record({
  nonce: fc.bigInt({ min: 0n, max: 2n ** 64n - 2n }),
  gas: below(32),
  value: small,
  data: fc.uint8Array({ maxLength: 100 }),
});
const accessList = fc.array(record({ address: bytes(20), storageKeys: fc.array(bytes(32), { maxLength: 3 }) }), {
  maxLength: 3,
});
const authorizationList = fc.array(
  record({
    chainId: below(60),
    address: bytes(20),
    nonce: below(60),
    yParity: fc.constantFrom(0n, 1n),
    r: fc.bigInt({ min: 1n, max: 2n ** 255n }),
    s: fc.bigInt({ min: 1n, max: 2n ** 254n }),
  }),
  { minLength: 1, maxLength: 3 },
);
const maybeTo = fc.option(bytes(20), { nil: undefined });
const type = <T extends EthereumTransaction["type"]>(name: T) => fc.constant(name);

const transactions: fc.Arbitrary<EthereumTransaction> = fc.oneof(
  fc
    .tuple(
      common,
      record({
        type: type("LEGACY"),
        chainId: fc.option(chainId, { nil: undefined }),
        to: maybeTo,
        gasPrice: below(64),
      }),
    )
    .map(([a, b]) => ({ ...none, ...a, ...b })),
  fc
    .tuple(common, record({ type: type("TYPE_1"), chainId, to: maybeTo, gasPrice: below(64), accessList }))
    .map(([a, b]) => ({ ...none, ...a, ...b })),
  fc
    .tuple(common, fees, record({ type: type("TYPE_2"), chainId, to: maybeTo, accessList }))
    .map(([a, b, c]) => ({ ...none, ...a, ...b, ...c })),
  fc
    .tuple(
      common,
      fees,
      record({
        type: type("TYPE_3"),
        chainId,
        to: bytes(20),
        accessList,
        maxFeePerBlobGas: below(64),
        blobVersionedHashes: fc.array(
          bytes(32).map((hash) => hash.fill(1, 0, 1)),
          { minLength: 1, maxLength: 3 },
        ),
      }),
    )
    .map(([a, b, c]) => ({ ...none, ...a, ...b, ...c })),
  fc
    .tuple(common, fees, record({ type: type("TYPE_4"), chainId, to: bytes(20), accessList, authorizationList }))
    .map(([a, b, c]) => ({ ...none, ...a, ...b, ...c })),
);

test("every transaction survives, and another library reads the signed one alike and finds the signer", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(transactions, (transaction) => {
      const unsigned = serialiseEthereum(transaction);
      const parsed = parseEthereum(unsigned);
      assert.deepEqual(parsed, transaction);
      const signed = withEthereumSignature(parsed, sign(ethereumDigest(parsed)));
      const other = Transaction.fromBytes(signed, false);
      assert.equal(toHex(other.toBytes({ includeSignature: false })), toHex(unsigned));
      assert.equal(other.sender, addr.fromPrivateKey(privateKey));
      assert.throws(() => parseEthereum(signed), { errorCode: "INVALID_TRANSACTION", message: /already signed/ });
      seen.add(`${transaction.type} ${transaction.chainId === undefined}`);
    }),
    { seed: 4, numRuns: 300 },
  );
  assert.equal(seen.size, 6);
});

const to = new Uint8Array(20).fill(0x11);
const integer = toRlpInteger;
const empty = new Uint8Array();
/** chainId, nonce, priority fee, fee, gas, to, value, data, access list */
const dynamic: RlpItem[] = [integer(1n), integer(5n), integer(1n), integer(2n), integer(21_000n), to, empty, empty, []];
const legacy: RlpItem[] = [integer(5n), integer(2n), integer(21_000n), to, empty, empty];
const typed = (prefix: number, items: RlpItem[]) => Uint8Array.of(prefix, ...toRlp(items));
const authorization: RlpItem[] = [integer(1n), to, empty, empty, integer(1n), integer(1n)];

test("the examples of the next test are read when nothing is wrong with them", () => {
  for (const good of [
    toRlp(legacy),
    toRlp([...legacy, integer(1n), empty, empty]),
    typed(2, dynamic),
    typed(3, [...dynamic, integer(1n), [new Uint8Array(32)]]),
    typed(4, [...dynamic, [authorization]]),
  ]) {
    assert.deepEqual(serialiseEthereum(parseEthereum(good)), good);
  }
});

test("everything else is refused, with the reason", () => {
  const signature = [integer(1n), integer(2n), integer(3n)];
  const blobs = [...dynamic, integer(1n), [new Uint8Array(32)]];
  for (const [why, input] of [
    [/unknown transaction type 0/, empty],
    [/unknown transaction type 5/, typed(5, dynamic)],
    [/unknown transaction type 118/, typed(0x76, dynamic)],
    [/a string where a list belongs/, toRlp(to)],
    [/trailing bytes/, Uint8Array.of(...toRlp(legacy), 0)],
    [/7 fields where 6 or 9 belong/, toRlp([...legacy, empty])],
    [/8 fields where 9 belong/, typed(2, dynamic.slice(1))],
    [/already signed/, toRlp([...legacy, integer(37n), integer(2n), integer(3n)])],
    [/already signed/, toRlp([...legacy, integer(1n), empty, integer(3n)])],
    [/already signed/, typed(2, [...dynamic, ...signature])],
    [/already signed/, typed(3, [...blobs, ...signature])],
    [/it carries its blobs/, typed(3, [[...blobs, ...signature], [], [], []])],
    [/it carries its blobs/, typed(3, [blobs, integer(1n), [], [], []])],
    [/chain id 0/, toRlp([...legacy, empty, empty, empty])],
    [/leading zero/, toRlp(legacy.with(0, Uint8Array.of(0)))],
    [/leading zero/, typed(2, dynamic.with(3, Uint8Array.of(0, 9)))],
    [/an integer over 8 bytes/, typed(2, dynamic.with(1, integer(2n ** 64n)))],
    [/beyond 2\^64 - 2/, typed(2, dynamic.with(1, integer(2n ** 64n - 1n)))],
    [/an integer over 32 bytes/, typed(2, dynamic.with(6, integer(2n ** 256n)))],
    [/19 bytes where 20 belong/, typed(2, dynamic.with(5, to.subarray(1)))],
    [/0 bytes where 20 belong/, typed(3, blobs.with(5, empty))],
    [/0 bytes where 20 belong/, typed(4, [...dynamic, [authorization]].with(5, empty))],
    [/a list where a string belongs/, typed(2, dynamic.with(7, []))],
    [/a list where an integer belongs/, typed(2, dynamic.with(1, []))],
    [/a string where a list belongs/, typed(2, dynamic.with(8, empty))],
    [/31 bytes where 32 belong/, typed(2, dynamic.with(8, [[to, [new Uint8Array(31)]]]))],
    [/1 items where 2 belong/, typed(2, dynamic.with(8, [[to]]))],
    [/20 bytes where 32 belong/, typed(3, [...dynamic, integer(1n), [to]])],
    [/5 items where 6 belong/, typed(4, [...dynamic, [authorization.slice(1)]])],
    [/the priority fee is beyond/, typed(2, dynamic.with(2, integer(3n)))],
    [/does not fit in 256 bits/, typed(2, dynamic.with(3, integer(2n ** 256n - 1n)))],
    [/over 1048576 bytes/, new Uint8Array(1024 * 1024 + 1)],
  ] as const) {
    assert.throws(
      () => parseEthereum(input),
      (error: Error & { code?: string; errorCode?: string }) => {
        assert.match(error.message, why);
        assert.match(error.message, /^failed to parse transaction: /);
        assert.deepEqual([error.code, error.errorCode], ["invalid_argument", "INVALID_TRANSACTION"]);
        return true;
      },
    );
  }
});

test("a signature that nodes would refuse is not spliced in", () => {
  const transaction = parseEthereum(typed(2, dynamic));
  const good = sign(ethereumDigest(transaction));
  const order = secp256k1.Point.Fn;
  const highS = order.toBytes(order.neg(order.fromBytes(good.s)));
  for (const bad of [
    { ...good, s: highS },
    { ...good, r: new Uint8Array(32) },
    { ...good, s: new Uint8Array(32) },
    { ...good, r: new Uint8Array(32).fill(0xff) },
    { ...good, r: good.r.subarray(1) },
    { ...good, yParity: 27 as 0 },
  ]) {
    assert.throws(() => withEthereumSignature(transaction, bad), { code: "internal" });
  }
});

test("a parsed transaction does not change when the caller's buffer does", () => {
  const buffer = typed(2, dynamic.with(7, Uint8Array.of(1, 2, 3)));
  const transaction = parseEthereum(buffer);
  const before = ethereumDigest(transaction);
  buffer.fill(0);
  assert.deepEqual(transaction.data, Uint8Array.of(1, 2, 3));
  assert.deepEqual(ethereumDigest(transaction), before);
});
