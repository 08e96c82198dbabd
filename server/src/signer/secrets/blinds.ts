/** Blinds of leaves. Each is random and given once; asking for many at a time costs a fraction of asking for each. */
import { randomBytes } from "node:crypto";

const blindLength = 16;
const drawnAtOnce = 256;

/** Gives sixteen new random bytes with each call. */
export function createBlinds(random: (length: number) => Uint8Array = randomBytes): () => Uint8Array {
  let pool = new Uint8Array(0);
  let at = 0;
  return () => {
    if (at === pool.length) {
      // A new pool, not the old one filled again: what was given stays as it is.
      pool = Uint8Array.from(random(blindLength * drawnAtOnce));
      at = 0;
    }
    const blind = pool.subarray(at, at + blindLength);
    at += blindLength;
    return blind;
  };
}
