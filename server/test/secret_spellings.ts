/** Every spelling under which a secret could have been written down, for tests that search places where none may be. */

export type Spelling = { as: string; bytes: Buffer };

/** Base64 of a secret inside of something longer depends on where in it the secret begins: the middle is the same in all. */
function base64Middles(secret: Buffer, encoding: "base64" | "base64url"): string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), secret])
      .toString(encoding)
      .replaceAll("=", "");
    return text.slice(shift === 0 ? 0 : shift + 1, -2);
  });
}

function utf16(text: string, swap: boolean): Buffer {
  const bytes = Buffer.from(text, "utf16le");
  return swap ? bytes.swap16() : bytes;
}

/** A text as such, and as machines keep it that give each character two bytes. */
function textSpellings(as: string, text: string): Spelling[] {
  return [
    { as, bytes: Buffer.from(text) },
    { as: `${as} in UTF-16LE`, bytes: utf16(text, false) },
    { as: `${as} in UTF-16BE`, bytes: utf16(text, true) },
  ];
}

export function spellings(secret: Uint8Array): Spelling[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  return [
    { as: "raw", bytes },
    { as: "reversed", bytes: Buffer.from(bytes).reverse() },
    ...textSpellings("hex", hex),
    ...textSpellings("upper-case hex", hex.toUpperCase()),
    ...base64Middles(bytes, "base64").flatMap((text) => textSpellings("base64", text)),
    ...base64Middles(bytes, "base64url").flatMap((text) => textSpellings("base64url", text)),
    ...textSpellings("decimal", BigInt(`0x${hex}`).toString()),
    ...textSpellings("a list of numbers", bytes.join(",")),
  ];
}

/**
 * A mnemonic. A few of its words in their order are enough to say that it was written down; `together` is how many, and must be
 * more where a whole word list may lie about.
 */
export function sentenceSpellings(sentence: string, together = 2): Spelling[] {
  const words = sentence.split(" ");
  const runs = words.slice(together - 1).map((_, n) => words.slice(n, n + together));
  const separators = [" ", ",", '","', "\n", "\0"];
  return [
    ...spellings(Buffer.from(sentence)),
    ...textSpellings("upper-case words", sentence.toUpperCase()),
    ...runs.flatMap((run) => separators.flatMap((separator) => textSpellings("words in a row", run.join(separator)))),
  ];
}
