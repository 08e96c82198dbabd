/** Bent copies of valid paths, sentences and addresses: each is refused with our own code, or says what it reads as. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { samples } from "../../test/samples.ts";
import { fromBase58check, toBase58check } from "../encoding/base58.ts";
import { fromBech32, toBech32 } from "../encoding/bech32.ts";
import { Fault } from "../fault.ts";
import { bitcoinAddress, parseBitcoinAddress } from "./addresses/bitcoin.ts";
import { tonAccountKey } from "./addresses/ton.ts";
import { parseSentence, toSentence } from "./mnemonic.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";
import { formatPath, parsePath } from "./path.ts";

const rounds = samples.bentKeyTexts;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

type Target = {
  valid: readonly string[];
  /** Throws, or returns the text that its value is written as and the text that this must equal. */
  read(text: string): [written: string, expected: string];
};

const lower = (text: string): string => text.toLowerCase();
const plainWords = (text: string): string => text.normalize("NFKD").trim().split(/\s+/).map(lower).join(" ");

const targets: Record<string, Target> = {
  path: {
    valid: ["m", "m/44'/60'/0'/0/0", "m/8797555'/0'/0'", "m/2147483647h/0H"],
    read: (text) => [formatPath(parsePath(text)), text.replaceAll(/[hH]/g, "'")],
  },
  sentence: {
    valid: [
      `${"abandon ".repeat(11)}about`,
      "legal winner thank year wave sausage worth useful legal winner thank yellow",
      `${"zoo ".repeat(23)}vote`,
      decoder.decode(
        toSentence(nobleKeyMaths, { entropy: new Uint8Array(16), language: "MNEMONIC_LANGUAGE_JAPANESE" }),
      ),
    ],
    read: (text) => {
      const written = toSentence(nobleKeyMaths, parseSentence(nobleKeyMaths, encoder.encode(text)));
      return [plainWords(decoder.decode(written)), plainWords(text)];
    },
  },
  bitcoin: {
    valid: [
      "1Ei9UmLQv4o4UJTy5r5mnGFeC9auM3W5P1",
      "39sr5B8UAdxeoXbnpdw4frfxXwWwEChwzp",
      "bc1q4qw42stdzjqs59xvlrlxr8526e3nunw7mp73te",
      "BC1PFZHX49QE6S5EXPPE5HQLJG3N6587XK0W75XQR70PGDT7YGNFKSSQXQJD9L",
    ],
    read: (text) => {
      const written = bitcoinAddress("mainnet", parseBitcoinAddress("mainnet", text)) ?? "";
      return [written, /^bc1/i.test(text) ? lower(text) : text];
    },
  },
  base58check: {
    valid: ["TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6", "DT6SkrdLDPUAhjV8gbEJFouEMM9vZx686g", "3QJmnh"],
    read: (text) => [toBase58check(fromBase58check(text)), text],
  },
  bech32: {
    valid: ["cosmos15yk64u7zc9g9k2yr2wmzeva5qgwxps6yxj00e7", "COSMOS15YK64U7ZC9G9K2YR2WMZEVA5QGWXPS6YXJ00E7"],
    read: (text) => [toBech32("bech32", "cosmos", fromBech32("bech32", "cosmos", text)), lower(text)],
  },
  ton: {
    valid: ["EQBT75PVOzaIQxHnXsn8W79LuNqmD2arTD20u4pk_bGiODPk", `0:${"53ef".repeat(16)}`],
    read: (text) => {
      const key = tonAccountKey(text);
      if (key === undefined) throw new Fault("invalid_argument", "not a TON account");
      return [tonAccountKey(key) ?? "", key];
    },
  },
};

const odd = [
  "",
  "0",
  "1",
  "9",
  "/",
  "'",
  "h",
  " ",
  "\n",
  "\0",
  "a",
  "Z",
  "é",
  "e\u0301",
  "\u3000",
  "\ud800",
  "🔑",
  "-",
  "_",
];

function bend(random: () => number, text: string): string {
  const below = (limit: number): number => Math.floor(random() * limit);
  let bent = text;
  for (let changes = 1 + below(3); changes > 0; changes--) {
    const at = below(bent.length + 1);
    const piece = random() < 0.5 ? (odd[below(odd.length)] ?? "") : bent.slice(at, at + 1 + below(8));
    const removed = random() < 0.7 ? below(3) : 0;
    bent = bent.slice(0, at) + piece + bent.slice(at + removed);
    if (random() < 0.05) bent = random() < 0.5 ? bent.toUpperCase() : bent.toLowerCase();
  }
  return bent;
}

test(`${rounds} bent texts: refused with our own code, or read as exactly what they say`, (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const names = Object.keys(targets);
  const outcomes: Record<string, { read: number; refused: number }> = {};
  for (const name of names) outcomes[name] = { read: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const name = names[round % names.length] ?? "";
    const target = targets[name];
    const outcome = outcomes[name];
    if (target === undefined || outcome === undefined) assert.fail(name);
    const original = target.valid[Math.floor(random() * target.valid.length)] ?? "";
    const text = round < names.length ? original : bend(random, original);
    try {
      const [written, expected] = target.read(text);
      assert.equal(written, expected, `seed ${seed}, ${name}: ${JSON.stringify(text)}`);
      outcome.read++;
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "invalid_argument") throw error;
      outcome.refused++;
    }
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(outcomes)}`);
  for (const name of names) assert.ok((outcomes[name]?.read ?? 0) > 0 && (outcomes[name]?.refused ?? 0) > 0, name);
});
