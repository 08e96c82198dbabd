import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { findVectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { parseTron, serialiseTron, tronDigest, withTronSignature } from "./tron.ts";

type Facts = { [name: string]: string | number | boolean | Facts[] };
type File = {
  setup: { mnemonic: string; passphrase: string };
  tests: {
    name: string;
    parameters: {
      address_n: string;
      raw_data_hex: string;
      raw: {
        txID: string;
        raw_data: Facts & { contract: { type: string; parameter: { value: Facts }; Permission_id?: number }[] };
      };
    };
    result: { signature?: string };
  }[];
};

/** Two fields that the fixtures call otherwise than the chain's own protobuf. */
const fixtureNames: Record<string, string> = { frozen_balance: "balance", unfreeze_balance: "balance" };

/** Our facts in the node's spelling: snake case, bytes as hex, defaults left out. */
function spelled(value: object): Facts {
  const entries = Object.entries(value).flatMap(([name, fact]): [string, Facts[string]][] => {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const key = fixtureNames[snake] ?? snake;
    if (Array.isArray(fact)) return [[key, fact.map(spelled)]];
    if (fact instanceof Uint8Array) return fact.length === 0 ? [] : [[key, toHex(fact)]];
    if (typeof fact === "bigint") return fact === 0n ? [] : [[key, Number(fact)]];
    if (fact === "BANDWIDTH" || fact === false || fact === undefined || fact === 0) return [];
    return [[key, fact]];
  });
  return Object.fromEntries(entries);
}

test("trezor: facts, ids and signatures of Tron transactions", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { setup, tests }: File = vectors.json("trezor-fixtures/tron/sign_tx.json");
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(setup.mnemonic, setup.passphrase));
  const types = new Set<string>();
  const counts = { exact: 0, signatures: 0, devicesOwnLimits: 0 };
  for (const { name, parameters, result } of tests) {
    const raw = fromHex(parameters.raw_data_hex);
    const transaction = parseTron(raw);
    assert.deepEqual(serialiseTron(transaction), raw, name);
    assert.equal(toHex(tronDigest(transaction)), parameters.raw.txID, name);
    const { contract, ...rest } = transaction;
    const { contract: expected, ...expectedRest } = parameters.raw.raw_data;
    assert.deepEqual(spelled(rest), expectedRest, name);
    assert.deepEqual(
      contract.map(({ type, value }) => ({ type, value: spelled(value) })),
      expected.map(({ type, parameter }) => ({ type, value: parameter.value })),
      name,
    );
    types.add(contract[0].type);
    counts.exact++;
    if (result.signature === undefined) {
      // Refused by the device for its fee or its number of votes, which is a matter of policy here.
      counts.devicesOwnLimits++;
      continue;
    }
    const { privateKey } = root.derive(parameters.address_n);
    const [recovery, ...rs] = secp256k1.sign(tronDigest(transaction), privateKey as Uint8Array, {
      prehash: false,
      format: "recovered",
    });
    const signature = {
      r: Uint8Array.from(rs.slice(0, 32)),
      s: Uint8Array.from(rs.slice(32)),
      yParity: recovery as 0 | 1,
    };
    assert.equal(toHex(withTronSignature(transaction, signature)).slice(-130), result.signature.toLowerCase(), name);
    counts.signatures++;
  }
  assert.deepEqual(counts, { exact: 16, signatures: 14, devicesOwnLimits: 2 });
  assert.equal(types.size, 7);
});
