import assert from "node:assert/strict";
import { test } from "node:test";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { findVectors } from "../../test/vectors.ts";
import { toHex } from "../encoding/hex.ts";
import { authorizationDigest, parseAuthorization } from "./eip7702.ts";
import { nobleCurves } from "./noble_curves.ts";
import { nobleSigning } from "./noble_signing.ts";
import { signBytes } from "./signing.ts";

const address = `0x${"12".repeat(20)}`;
const digestOf = (value: unknown) => toHex(authorizationDigest(nobleCurves, parseAuthorization(JSON.stringify(value))));

test("an authorization has the published digest, however its numbers are written", () => {
  const digest = "fe69d951b1b0bf41a31e61fb663a5ffbb68c742fd496a95c3f97096e10f2b5d4";
  assert.equal(digestOf({ address, chainId: 1, nonce: 5 }), digest);
  assert.equal(digestOf({ address, chainId: "1", nonce: "0x5" }), digest);
  assert.equal(digestOf({ address, chainId: 1, nonce: 5, r: "ignored" }), digest);
});

test("what policies see is typed and in one spelling", () => {
  const text = JSON.stringify({ address: `0x${"Ab".repeat(20)}`, chainId: "0x2105", nonce: 0 });
  assert.deepEqual(parseAuthorization(text), { address: `0x${"ab".repeat(20)}`, chainId: 8453n, nonce: 0n });
});

test("a chain id of 32 bytes makes a list with a long header", () => {
  const chainId = 2n ** 256n - 1n;
  const expected = nobleCurves.keccak256(
    Buffer.from(`05f83fa0${"ff".repeat(32)}94${"12".repeat(20)}88fffffffffffffffe`, "hex"),
  );
  assert.equal(digestOf({ address, chainId: chainId.toString(), nonce: (2n ** 64n - 2n).toString() }), toHex(expected));
});

test("everything else is refused", () => {
  const good = { address, chainId: 1, nonce: 5 };
  const bad: unknown[] = [
    ...[null, [], "x", 1, {}],
    ...[
      { ...good, address: undefined },
      { ...good, address: address.slice(0, -1) },
      { ...good, address: "0x" },
    ],
    ...[
      { ...good, chainId: -1 },
      { ...good, chainId: 1.5 },
      { ...good, chainId: (2n ** 256n).toString() },
    ],
    ...[
      { ...good, chainId: "" },
      { ...good, chainId: null },
      { ...good, chainId: undefined },
    ],
    ...[
      { ...good, nonce: -1 },
      { ...good, nonce: (2n ** 64n - 1n).toString() },
      { ...good, nonce: undefined },
    ],
  ];
  for (const value of bad) {
    assert.throws(
      () => parseAuthorization(JSON.stringify(value)),
      { code: "invalid_argument", message: /^invalid EIP-7702 authorization: / },
      JSON.stringify(value),
    );
  }
  for (const text of ["", "{", `{"address":"${address}","chainId":1,"chainId":2,"nonce":5}`, " ".repeat(5000)]) {
    assert.throws(() => parseAuthorization(text), { code: "invalid_argument" }, text.slice(0, 80));
  }
});

test("every authorization of the Trezor fixtures has its signature", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = {
    setup: { mnemonic: string };
    tests: {
      parameters: { path: string; delegate: string; tuple_nonce: number; chain_id: number };
      result: { sig_v: number; sig_r: string; sig_s: string };
    }[];
  };
  const { setup, tests } = vectors.json<File>("trezor-fixtures/ethereum/sign_auth_eip7702.json");
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(setup.mnemonic));
  for (const { parameters, result } of tests) {
    const { path, delegate, tuple_nonce: nonce, chain_id: chainId } = parameters;
    const authorization = parseAuthorization(JSON.stringify({ address: delegate, chainId, nonce }));
    const privateKey = root.derive(path).privateKey ?? new Uint8Array();
    const digest = authorizationDigest(nobleCurves, authorization);
    const { r, s, yParity } = signBytes(nobleSigning, "ecdsa", "CURVE_SECP256K1", privateKey, digest);
    assert.deepEqual(
      { sig_v: yParity, sig_r: toHex(r), sig_s: toHex(s) },
      { sig_v: result.sig_v, sig_r: result.sig_r, sig_s: result.sig_s },
    );
  }
  assert.equal(tests.length, 6);
});
