/**
 * Mnemonics of BIP-39: 128 to 256 bits of entropy as 12 to 24 words, and the seed they stand for. A sentence is UTF-8
 * bytes from end to end, never a JavaScript string: strings cannot be wiped, and the engine copies them at will. What is
 * stored is entropy and language, which give back the sentence; intermediate buffers are wiped before returning.
 */
import { toNfkd } from "../encoding/nfkd.ts";
import { Fault } from "../fault.ts";
import type { KeyMaths } from "./key_maths.ts";
import { findWord, type MnemonicLanguage, mnemonicLanguages, type WordList, wordAt, wordListOf } from "./word_lists.ts";

/** Everything a sentence says. */
export type Mnemonic = { entropy: Uint8Array; language: MnemonicLanguage };

/** The bytes of entropy for each number of words: a word carries 11 bits, of which one in 33 is checksum. */
export const entropyLengths: Readonly<Record<number, number>> = { 12: 16, 15: 20, 18: 24, 21: 28, 24: 32 };

const bitsPerWord = 11;
const seedRounds = 2048;
const seedLength = 64;

/** Several times the longest sentence there is (24 Korean words): whatever is longer is not read at all. */
const longestSentence = 4096;
/** Ours: BIP-39 sets no bound, but normalising an endless passphrase must not keep the signer busy. */
const longestPassphrase = 4096;

const space = Uint8Array.of(0x20);
/** U+3000, which Japanese sentences are written with; NFKD makes a plain space of it. */
const ideographicSpace = Uint8Array.of(0xe3, 0x80, 0x80);

const saltPrefix = new TextEncoder().encode("mnemonic");

function invalid(why: string): Fault {
  return new Fault("invalid_argument", `invalid mnemonic: ${why}`);
}

/** Writes the sentence as wallets of that language show it, in list spelling. The caller wipes it. */
export function toSentence(maths: KeyMaths, { entropy, language }: Mnemonic): Uint8Array {
  const separator = language === "MNEMONIC_LANGUAGE_JAPANESE" ? ideographicSpace : space;
  return joinWords(maths, entropy, wordListOf(language), separator);
}

/**
 * Reads a sentence of any list: any case, any spacing, composed or decomposed characters, as people paste them.
 * A wrong number of words, an unknown word or a wrong checksum is refused, and the refusal repeats no word.
 */
export function parseSentence(maths: KeyMaths, sentence: Uint8Array): Mnemonic {
  if (sentence.length > longestSentence) throw invalid("too long");
  const plain = normalise(sentence, "invalid mnemonic");
  try {
    lowerCase(plain);
    const words = splitWords(plain);
    if (entropyLengths[words.length] === undefined) throw invalid("expected 12, 15, 18, 21 or 24 words");
    return findMnemonic(maths, words);
  } finally {
    plain.fill(0);
  }
}

/** The seed of BIP-39, 64 bytes, under a passphrase in UTF-8. The caller wipes it. */
export function toSeed(
  maths: KeyMaths,
  { entropy, language }: Mnemonic,
  passphrase: Uint8Array = new Uint8Array(),
): Uint8Array {
  const salt = toSalt(passphrase);
  const sentence = joinWords(maths, entropy, wordListOf(language), space);
  try {
    return maths.pbkdf2Sha512(sentence, salt, seedRounds, seedLength);
  } finally {
    for (const secret of [salt, sentence]) secret.fill(0);
  }
}

function toSalt(passphrase: Uint8Array): Uint8Array {
  if (passphrase.length > longestPassphrase) throw new Fault("invalid_argument", "invalid passphrase: too long");
  const plain = normalise(passphrase, "invalid passphrase");
  const salt = new Uint8Array(saltPrefix.length + plain.length);
  salt.set(saltPrefix);
  salt.set(plain, saltPrefix.length);
  plain.fill(0);
  return salt;
}

function normalise(text: Uint8Array, refusal: string): Uint8Array {
  try {
    return toNfkd(text);
  } catch (cause) {
    throw new Fault("invalid_argument", `${refusal}: not UTF-8`, { cause });
  }
}

/** In place, and ASCII only: after NFKD no list has a letter with case outside it. */
function lowerCase(plain: Uint8Array): void {
  for (const [i, byte] of plain.entries()) if (byte >= 0x41 && byte <= 0x5a) plain[i] = byte | 0x20;
}

/** Views of the stretches between white space; NFKD has made plain spaces of all others that people type. */
function splitWords(plain: Uint8Array): Uint8Array[] {
  const words: Uint8Array[] = [];
  let start = 0;
  for (let at = 0; at <= plain.length; at++) {
    if (at < plain.length && !isSpace(plain[at] ?? 0)) continue;
    if (at > start) words.push(plain.subarray(start, at));
    start = at + 1;
  }
  return words;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}

function findMnemonic(maths: KeyMaths, words: readonly Uint8Array[]): Mnemonic {
  const places = new Uint16Array(words.length);
  let fitsAList = false;
  try {
    for (const language of mnemonicLanguages) {
      if (!findPlaces(wordListOf(language), words, places)) continue;
      fitsAList = true;
      const entropy = toEntropy(maths, places);
      if (entropy !== undefined) return { entropy, language };
    }
  } finally {
    places.fill(0);
  }
  throw invalid(fitsAList ? "its checksum does not match" : "its words are not all in one BIP-39 word list");
}

function findPlaces(list: WordList, words: readonly Uint8Array[], places: Uint16Array): boolean {
  for (const [i, word] of words.entries()) {
    const place = findWord(list, word);
    if (place === undefined) return false;
    places[i] = place;
  }
  return true;
}

/** Packs the words' places into entropy; undefined when the checksum behind it is another's. */
function toEntropy(maths: KeyMaths, places: Uint16Array): Uint8Array | undefined {
  const entropyLength = entropyLengths[places.length] ?? 0;
  const packed = new Uint8Array(entropyLength + 1);
  for (let bit = 0; bit < places.length * bitsPerWord; bit++) {
    const place = places[Math.floor(bit / bitsPerWord)] ?? 0;
    const value = (place >> (bitsPerWord - 1 - (bit % bitsPerWord))) & 1;
    packed[bit >> 3] = (packed[bit >> 3] ?? 0) | (value << (7 - (bit & 7)));
  }
  const entropy = packed.slice(0, entropyLength);
  const holds = packed[entropyLength] === checksumOf(maths, entropy);
  packed.fill(0);
  if (holds) return entropy;
  entropy.fill(0);
  return undefined;
}

/** One bit for every four bytes of entropy, at the top of a byte whose other bits are zero. */
function checksumOf(maths: KeyMaths, entropy: Uint8Array): number {
  const digest = maths.sha256(entropy);
  const checksum = (digest[0] ?? 0) & (0xff00 >> (entropy.length / 4));
  digest.fill(0);
  return checksum;
}

function joinWords(maths: KeyMaths, entropy: Uint8Array, list: WordList, separator: Uint8Array): Uint8Array {
  const places = toPlaces(maths, entropy);
  let length = (places.length - 1) * separator.length;
  for (const place of places) length += wordAt(list, place).length;
  const sentence = new Uint8Array(length);
  let at = 0;
  for (const place of places) {
    if (at > 0) {
      sentence.set(separator, at);
      at += separator.length;
    }
    const word = wordAt(list, place);
    sentence.set(word, at);
    at += word.length;
  }
  places.fill(0);
  return sentence;
}

/** Cuts entropy and checksum into the words' places. */
function toPlaces(maths: KeyMaths, entropy: Uint8Array): Uint16Array {
  const count = (entropy.length * 3) / 4;
  if (entropyLengths[count] !== entropy.length) throw new Fault("internal", "entropy has 16, 20, 24, 28 or 32 bytes");
  const packed = new Uint8Array(entropy.length + 1);
  packed.set(entropy);
  packed[entropy.length] = checksumOf(maths, entropy);
  const places = new Uint16Array(count);
  for (let bit = 0; bit < count * bitsPerWord; bit++) {
    const word = Math.floor(bit / bitsPerWord);
    const value = ((packed[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    places[word] = ((places[word] ?? 0) << 1) | value;
  }
  packed.fill(0);
  return places;
}
