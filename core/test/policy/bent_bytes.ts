/** Bytes with a few changes, most often one: with many, everything is refused at the first. */
import type { Chance } from "./seeded.ts";

/** Bytes at which one of the formats changes its mind. */
const turningPoints = [
  0x00, 0x01, 0x37, 0x38, 0x7f, 0x80, 0x81, 0xb7, 0xb8, 0xbf, 0xc0, 0xf7, 0xf8, 0xfc, 0xfd, 0xfe, 0xff,
];

export function bentBytes(bytes: Uint8Array, other: Uint8Array, chance: Chance): Uint8Array {
  let result = bytes;
  for (let left = 1 + (chance.once(4) ? chance.below(4) : 0); left > 0 && result.length > 0; left--) {
    result = bend(result, other, chance);
  }
  return result;
}

function bend(bytes: Uint8Array, other: Uint8Array, chance: Chance): Uint8Array {
  const at = chance.below(bytes.length);
  const byte = bytes[at] ?? 0;
  const spliced = (remove: number, insert: Uint8Array) =>
    Uint8Array.from([...bytes.subarray(0, at), ...insert, ...bytes.subarray(at + remove)]);
  switch (chance.below(9)) {
    case 0:
    case 1:
      return bytes.with(at, chance.below(256));
    case 2:
      return bytes.with(at, byte ^ (1 << chance.below(8)));
    case 3:
      return bytes.with(at, byte + (chance.once(2) ? 1 : -1));
    case 4:
      return bytes.with(at, chance.of(turningPoints));
    case 5:
      return spliced(0, Uint8Array.of(chance.below(256)));
    case 6:
      return spliced(1 + chance.below(8), new Uint8Array());
    case 7:
      return spliced(0, bytes.subarray(at, at + 1 + chance.below(64)));
    default: {
      // The same stretch from another payment: a recipient, if they are alike.
      const length = 1 + chance.below(40);
      return spliced(length, other.subarray(at, at + length));
    }
  }
}
