/**
 * A wallet's sentence and passphrase as one text, inside the bundles that carry wallets in and out. The published
 * clients join the two differently in each direction, and with neither can a sentence contain what joins them.
 */

const importJoint = new TextEncoder().encode("\n--PASS--\n");
const exportJoint = new TextEncoder().encode("\n");

/** Both parts are views into the text, so that wiping the text wipes them. */
export type ImportedText = { sentence: Uint8Array; passphrase: Uint8Array | undefined };

/** Splits an import's plaintext at the first mark; without one, all of it is the sentence. */
export function splitImportText(text: Uint8Array): ImportedText {
  const at = findJoint(text);
  if (at === undefined) return { sentence: text, passphrase: undefined };
  const passphrase = text.subarray(at + importJoint.length);
  // BIP-39 has no other word for none than the empty passphrase.
  return { sentence: text.subarray(0, at), passphrase: passphrase.length === 0 ? undefined : passphrase };
}

function findJoint(text: Uint8Array): number | undefined {
  for (let at = 0; at + importJoint.length <= text.length; at++) {
    if (importJoint.every((byte, i) => text[at + i] === byte)) return at;
  }
  return undefined;
}

/** Writes an export's plaintext into a fresh array; the caller wipes it. */
export function joinExportText(sentence: Uint8Array, passphrase: Uint8Array | undefined): Uint8Array {
  if (passphrase === undefined) return Uint8Array.from(sentence);
  const text = new Uint8Array(sentence.length + exportJoint.length + passphrase.length);
  text.set(sentence);
  text.set(exportJoint, sentence.length);
  text.set(passphrase, sentence.length + exportJoint.length);
  return text;
}
