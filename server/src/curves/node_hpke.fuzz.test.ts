/** Bent copies of valid encrypted bundles. None opens, and every one gets the same answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openImportBundle } from "@keystead/core/crypto/bundles.ts";
import { sealMessage } from "@keystead/core/crypto/hpke.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { samples } from "../../../core/test/samples.ts";
import { nodeHpke } from "./node_hpke.ts";

const bundles = samples.bentBundles;

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test(`${bundles} bent bundles: none opens, and there is one answer`, (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const pick = (limit: number) => Math.floor(random() * limit);
  const target = nodeHpke.generateKey();
  const { enc, ciphertext } = sealMessage(nodeHpke, nodeHpke.publicKey(target), new Uint8Array(32).fill(9));
  const good = { encappedPublic: toHex(enc), ciphertext: toHex(ciphertext) };
  const text = JSON.stringify(good);
  assert.equal(openImportBundle(nodeHpke, [target], text).plaintext.length, 32);
  const alphabet = '0123456789abcdefABCDEF{}[]":,\\ux \u0000é';
  const answers = new Set<string>();
  let [tried, same, opened] = [0, 0, 0];
  while (tried < bundles) {
    let bent = text;
    for (let bends = 1 + pick(3); bends > 0; bends--) {
      const at = pick(bent.length);
      const put = alphabet[pick(alphabet.length)] ?? "";
      const kind = pick(4);
      // Mostly one character for another, so that the JSON survives and the curve and the tag have their say.
      const [cut, insert] = kind === 0 ? [0, put] : kind === 1 ? [1 + pick(3), ""] : [1, put];
      bent = bent.slice(0, at) + insert + bent.slice(at + cut);
    }
    // Another case of a digit, or a blank between tokens, is the same bundle in another spelling.
    if (isSameBundle(bent, good)) {
      same += 1;
      continue;
    }
    tried += 1;
    try {
      openImportBundle(nodeHpke, [target], bent);
      opened += 1;
    } catch (error) {
      assert.ok(error instanceof Fault, `${bent}: ${error}`);
      answers.add(`${error.code}: ${error.message}`);
    }
  }
  t.diagnostic(`seed ${seed}: ${tried} bent bundles, ${opened} opened; ${same} more were only respelled`);
  assert.equal(opened, 0);
  assert.equal(answers.size, 1);
});

function isSameBundle(text: string, good: { encappedPublic: string; ciphertext: string }): boolean {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof typeof good, unknown>> | null;
    return (
      String(value?.encappedPublic).toLowerCase() === good.encappedPublic &&
      String(value?.ciphertext).toLowerCase() === good.ciphertext
    );
  } catch {
    return false;
  }
}
