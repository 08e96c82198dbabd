/**
 * How a client may spell an address. Hex is compared without its case, bech32 may come in capitals, TON
 * accounts have three forms; everything else is exact. `toKey` gives the one form that is stored and looked up, so that
 * a look-up needs no knowledge of the format; the forms of different spellings cannot meet.
 */
import { tonAccountKey } from "./addresses/ton.ts";

/** Gives the look-up form of a text of this kind, undefined for any other text. */
export type AddressSpelling = { toKey(text: string): string | undefined };

/** An account, a hash or Ed25519 key, a compressed point, an uncompressed one: no base58 address looks like these. */
const hexDigits = /^(?:(0x[0-9a-f]{40})|(?:0x)?([0-9a-f]{64}|[0-9a-f]{66}|[0-9a-f]{130}))$/i;

/** Ethereum, Sui, Aptos and bare keys: case does not matter, nor does the prefix before anything longer than an account. */
export const hexSpelling: AddressSpelling = {
  toKey(text) {
    const [, account, other] = hexDigits.exec(text) ?? [];
    return (account ?? other)?.toLowerCase();
  },
};

/** Capitals are for QR codes, and allowed only throughout. */
const capitals = /^(?:BC|TB|BCRT|COSMOS|SEI|SPARK|SPARKRT)1[02-9AC-HJ-NP-Z]+$/;

/** All bech32 formats: lower case, or capitals throughout. */
export const bech32Spelling: AddressSpelling = {
  toKey: (text) => (capitals.test(text) ? text.toLowerCase() : undefined),
};

/** TON: bounceable, not bounceable or raw. */
export const tonSpelling: AddressSpelling = { toKey: tonAccountKey };

/** Everything else, base58 above all, where case carries meaning. */
export const exactSpelling: AddressSpelling = { toKey: (text) => text };

const lenientSpellings = [hexSpelling, bech32Spelling, tonSpelling] as const;

/** The form under which an address is stored and looked up, whatever its format. */
export function addressKey(text: string): string {
  for (const spelling of lenientSpellings) {
    const key = spelling.toKey(text);
    if (key !== undefined) return key;
  }
  return text;
}
