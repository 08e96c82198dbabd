import assert from "node:assert/strict";
import { test } from "node:test";
import * as bip39 from "@scure/bip39";
import { wordlist as czech } from "@scure/bip39/wordlists/czech.js";
import { wordlist as english } from "@scure/bip39/wordlists/english.js";
import { wordlist as french } from "@scure/bip39/wordlists/french.js";
import { wordlist as italian } from "@scure/bip39/wordlists/italian.js";
import { wordlist as japanese } from "@scure/bip39/wordlists/japanese.js";
import { wordlist as korean } from "@scure/bip39/wordlists/korean.js";
import { wordlist as portuguese } from "@scure/bip39/wordlists/portuguese.js";
import { wordlist as simplifiedChinese } from "@scure/bip39/wordlists/simplified-chinese.js";
import { wordlist as spanish } from "@scure/bip39/wordlists/spanish.js";
import { wordlist as traditionalChinese } from "@scure/bip39/wordlists/traditional-chinese.js";
import fc from "fast-check";
import { samples } from "../../test/samples.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import type { KeyMaths } from "./key_maths.ts";
import { entropyLengths, type Mnemonic, parseSentence, toSeed, toSentence } from "./mnemonic.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";
import { findWord, type MnemonicLanguage, mnemonicLanguages, wordAt, wordListOf } from "./word_lists.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const lists: Record<MnemonicLanguage, string[]> = {
  MNEMONIC_LANGUAGE_ENGLISH: english,
  MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE: simplifiedChinese,
  MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE: traditionalChinese,
  MNEMONIC_LANGUAGE_CZECH: czech,
  MNEMONIC_LANGUAGE_FRENCH: french,
  MNEMONIC_LANGUAGE_ITALIAN: italian,
  MNEMONIC_LANGUAGE_JAPANESE: japanese,
  MNEMONIC_LANGUAGE_KOREAN: korean,
  MNEMONIC_LANGUAGE_SPANISH: spanish,
  MNEMONIC_LANGUAGE_PORTUGUESE: portuguese,
};

const length = fc.constantFrom(16, 20, 24, 28, 32);
const entropy = length.chain((bytes) => fc.uint8Array({ minLength: bytes, maxLength: bytes }));

function textOf(mnemonic: Mnemonic): string {
  return decoder.decode(toSentence(nobleKeyMaths, mnemonic));
}

function parse(text: string): Mnemonic {
  return parseSentence(nobleKeyMaths, encoder.encode(text));
}

test("in every language and length a sentence is another library's, and reads back to its entropy", () => {
  fc.assert(
    fc.property(entropy, fc.constantFrom(...mnemonicLanguages), (entropy, language) => {
      const text = textOf({ entropy, language });
      assert.equal(text, bip39.entropyToMnemonic(entropy, lists[language]));
      const read = parse(text);
      // A sentence of words shared by two lists may read as either; it is the same sentence under both.
      assert.equal(textOf(read).normalize("NFKD"), text.normalize("NFKD"));
      if (read.language === language) assert.deepEqual(read.entropy, entropy);
    }),
    { seed: 49, numRuns: samples.mnemonicSentences },
  );
});

test("in every language the seed is another library's, with a passphrase in any form of Unicode", () => {
  const passphrase = fc.constantFrom(
    "",
    "TREZOR",
    "㍍ガバヴァぱばぐゞちぢ十人十色",
    "naïve café",
    "e\u0301\u0323\u0334",
    "🔑 ﷺ",
  );
  let runs = 0;
  for (const language of mnemonicLanguages) {
    fc.assert(
      fc.property(entropy, passphrase, (entropy, passphrase) => {
        const ours = toSeed(nobleKeyMaths, { entropy, language }, encoder.encode(passphrase));
        const sentence = bip39.entropyToMnemonic(entropy, lists[language]);
        assert.equal(toHex(ours), toHex(bip39.mnemonicToSeedSync(sentence, passphrase)));
        runs++;
      }),
      { seed: 50, numRuns: samples.mnemonicSeedsPerLanguage },
    );
  }
  assert.equal(runs, mnemonicLanguages.length * samples.mnemonicSeedsPerLanguage);
});

test("words are read as people paste them: any case, any spacing, composed or decomposed", () => {
  const spaces = [" ", "  ", "\n", "\r\n", "\t", "\u3000", "\u00a0", " \u2003 "];
  fc.assert(
    fc.property(
      ...([entropy, fc.constantFrom(...mnemonicLanguages), fc.constantFrom(...spaces)] as const),
      fc.constantFrom("NFC", "NFD", "NFKC", "NFKD"),
      fc.constantFrom(0, 1, 2),
      (entropy, language, space, form, style) => {
        const words = bip39.entropyToMnemonic(entropy, lists[language]).normalize("NFKD").split(" ");
        const capital = (word: string) => word.normalize("NFC").replace(/^./u, (first) => first.toUpperCase());
        const styled = words.map((word) => [word, word.toUpperCase(), capital(word)][style] ?? "");
        const text = `${space}${styled.join(space)}${space}`.normalize(form);
        const expected = words.join(" ");
        assert.equal(textOf(parse(text)).normalize("NFKD"), expected);
      },
    ),
    { seed: 51, numRuns: samples.mnemonicSentences },
  );
});

test("the two vectors of the reference: seed prefixes with and without a passphrase", () => {
  const junk = parse("test test test test test test test test test test test junk");
  assert.ok(toHex(toSeed(nobleKeyMaths, junk)).startsWith("9dfc3c64c2f8bede1533b6a79f8570e5"));
  const about = parse(`${"abandon ".repeat(11)}about`);
  const seed = toSeed(nobleKeyMaths, about, encoder.encode("TREZOR"));
  assert.ok(toHex(seed).startsWith("c55257c360c07c72029aebc1b53c05ed"));
});

test("wrong counts, unknown words and wrong checksums are refused, and no refusal repeats a word", () => {
  const about = `${"abandon ".repeat(11)}about`;
  const count = "invalid mnemonic: expected 12, 15, 18, 21 or 24 words";
  const list = "invalid mnemonic: its words are not all in one BIP-39 word list";
  const checksum = "invalid mnemonic: its checksum does not match";
  for (const [text, message] of [
    ["", count],
    ["   \n", count],
    ["abandon", count],
    [`${about} abandon`, count],
    [about.replace("abandon ", ""), count],
    [`${about} ${about} about`, count],
    [about.replace("about", "abandon"), checksum],
    [about.replace("about", "zoo"), checksum],
    [about.replace("about", "aboutt"), list],
    [about.replace("about", "abou"), list],
    [about.replace("about", "аbout"), list], // a Cyrillic а
    [about.replace("about", "あいこくしん"), list], // two lists in one sentence
    [about.replaceAll(" ", ","), count],
    [about.replaceAll(" ", "\u200b"), count],
    [about.replace("abandon", "\0abandon"), list],
    [`${about} ${"a ".repeat(3000)}`, "invalid mnemonic: too long"],
  ] as const) {
    assert.throws(() => parse(text), { code: "invalid_argument", message }, text.slice(0, 120));
  }
  const notUtf8 = Uint8Array.of(...encoder.encode(about), 0xff);
  assert.throws(() => parseSentence(nobleKeyMaths, notUtf8), { message: "invalid mnemonic: not UTF-8" });
});

test("of all last words, exactly those pass whose checksum holds: one in 16 for 12 words, one in 256 for 24", () => {
  for (const [words, expected] of [
    [12, 128],
    [24, 8],
  ] as const) {
    const start = "legal ".repeat(words - 1);
    const passing = english.filter((last) => {
      try {
        return parse(start + last);
      } catch {
        return false;
      }
    });
    for (const last of passing) assert.ok(bip39.validateMnemonic(start + last, english));
    assert.equal(passing.length, expected);
  }
});

test("passphrases that are not UTF-8 or endless are refused, entropy of other lengths is our own mistake", () => {
  const mnemonic: Mnemonic = { entropy: new Uint8Array(16), language: "MNEMONIC_LANGUAGE_ENGLISH" };
  assert.throws(() => toSeed(nobleKeyMaths, mnemonic, Uint8Array.of(0xff)), {
    code: "invalid_argument",
    message: "invalid passphrase: not UTF-8",
  });
  assert.throws(() => toSeed(nobleKeyMaths, mnemonic, new Uint8Array(4097)), {
    message: "invalid passphrase: too long",
  });
  for (const bytes of [0, 4, 12, 15, 17, 33, 36]) {
    const wrong: Mnemonic = { ...mnemonic, entropy: new Uint8Array(bytes) };
    assert.throws(() => toSentence(nobleKeyMaths, wrong), { code: "internal" });
  }
  assert.deepEqual(Object.values(entropyLengths), [16, 20, 24, 28, 32]);
});

test("every word of every list is found at its place, and nothing one letter away by accident", () => {
  let words = 0;
  for (const language of mnemonicLanguages) {
    const list = wordListOf(language);
    const known = new Set(lists[language].map((word) => word.normalize("NFKD")));
    for (const [place, word] of lists[language].entries()) {
      const bytes = encoder.encode(word.normalize("NFKD"));
      assert.deepEqual(wordAt(list, place), bytes);
      assert.equal(findWord(list, bytes), place);
      const longer = `${word}a`;
      assert.equal(findWord(list, encoder.encode(longer)) !== undefined, known.has(longer));
      words++;
    }
    assert.equal(findWord(list, new Uint8Array()), undefined);
  }
  assert.equal(words, 10 * 2048);
});

test("nothing that makes text of bytes is called on the way, in either direction", (t) => {
  for (const language of mnemonicLanguages) wordListOf(language);
  const sentence = encoder.encode("Legal  WINNER thank year wave sausage worth useful legal winner thank yellow");
  const made = [
    t.mock.method(TextDecoder.prototype, "decode"),
    t.mock.method(String, "fromCharCode"),
    t.mock.method(String, "fromCodePoint"),
    t.mock.method(Uint8Array.prototype, "toString"),
    t.mock.method(Buffer.prototype, "toString"),
  ];
  const mnemonic = parseSentence(nobleKeyMaths, sentence);
  toSeed(nobleKeyMaths, mnemonic, encoder.encode("a passphrase"));
  toSentence(nobleKeyMaths, mnemonic);
  const calls = made.map(({ mock }) => mock.callCount());
  t.mock.restoreAll();
  assert.deepEqual(
    calls,
    made.map(() => 0),
  );
});

test("what held the sentence or passphrase on the way is wiped, and inputs are left alone", () => {
  const seen: Uint8Array[] = [];
  const watching: KeyMaths = {
    ...nobleKeyMaths,
    pbkdf2Sha512(password, salt, rounds, length) {
      seen.push(password, salt);
      return nobleKeyMaths.pbkdf2Sha512(password, salt, rounds, length);
    },
  };
  const entropy = fromHex("7f".repeat(16));
  const passphrase = encoder.encode("a passphrase");
  toSeed(watching, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" }, passphrase);
  assert.equal(seen.length, 2);
  assert.ok(seen.every((bytes) => bytes.every((byte) => byte === 0)));
  assert.equal(decoder.decode(passphrase), "a passphrase");
  assert.equal(toHex(entropy), "7f".repeat(16));
});
