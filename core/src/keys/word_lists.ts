/**
 * The word lists of BIP-39 as bytes. Each list is encoded once, when its language is first met; from then on a word is
 * a range of bytes, so that neither reading nor writing a mnemonic ever makes a string of one.
 */
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

/**
 * In the order of their numbers in stored records: only ever added to at the end. Also the order in which a sentence is
 * tried: one that fits several lists has the same seed under each, because the seed is made of the words themselves.
 */
export const mnemonicLanguages = [
  "MNEMONIC_LANGUAGE_ENGLISH",
  "MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE",
  "MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE",
  "MNEMONIC_LANGUAGE_CZECH",
  "MNEMONIC_LANGUAGE_FRENCH",
  "MNEMONIC_LANGUAGE_ITALIAN",
  "MNEMONIC_LANGUAGE_JAPANESE",
  "MNEMONIC_LANGUAGE_KOREAN",
  "MNEMONIC_LANGUAGE_SPANISH",
  // Not on the published wire: nobody can ask for it, but a wallet imported in it can be exported in it.
  "MNEMONIC_LANGUAGE_PORTUGUESE",
] as const;

export type MnemonicLanguage = (typeof mnemonicLanguages)[number];

const wordCount = 2048;

/** 2048 words, each in the NFKD form that seeds are made of. */
export type WordList = {
  /** All words, each with a line feed behind it; word i begins at `starts[i]`, and there is one start more than words. */
  bytes: Uint8Array;
  starts: Uint32Array;
  /** The words' places in the order of their bytes, for the binary search; only the English list is sorted as it is. */
  order: Uint16Array;
};

const sources = {
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
} as const satisfies Record<MnemonicLanguage, readonly string[]>;

const encoded = new Map<MnemonicLanguage, WordList>();
const utf8 = new TextEncoder();
const newline = 0x0a;

/** The list of a language. */
export function wordListOf(language: MnemonicLanguage): WordList {
  let list = encoded.get(language);
  if (list === undefined) {
    list = encodeWords(sources[language]);
    encoded.set(language, list);
  }
  return list;
}

/** Encodes and sorts the list as a whole: word by word it would hold up the first import by tens of milliseconds. */
function encodeWords(source: readonly string[]): WordList {
  const words = source.map((word) => word.normalize("NFKD"));
  const bytes = utf8.encode(words.map((word) => `${word}\n`).join(""));
  const starts = new Uint32Array(wordCount + 1);
  let place = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === newline) starts[++place] = at + 1;
  // Strings sort by UTF-16 units, which is the order of their UTF-8 bytes as long as no surrogates occur: none do.
  const places = new Map(words.map((word, i) => [word, i]));
  const order = Uint16Array.from(words.toSorted(), (word) => places.get(word) ?? 0);
  return { bytes, starts, order };
}

/** The bytes of a word, as a view into the list. */
export function wordAt(list: WordList, place: number): Uint8Array {
  return list.bytes.subarray(list.starts[place], (list.starts[place + 1] ?? 0) - 1);
}

/** The word's place in the list, or undefined. */
export function findWord(list: WordList, word: Uint8Array): number | undefined {
  let low = 0;
  let high = wordCount;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = list.order[middle] ?? 0;
    const side = compareBytes(wordAt(list, place), word);
    if (side === 0) return place;
    if (side < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
