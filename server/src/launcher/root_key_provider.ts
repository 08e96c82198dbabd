/** What the providers of the root key have in common. */
import { existsSync } from "node:fs";

export const rootKeyLength = 32;

/** Where the root key comes from. `open` gives a fresh copy that the caller wipes; it is asked again for every start of the signer. */
export type RootKeyProvider = {
  describe(): string;
  /** 32 bytes. While a rotation is under way, 64: behind the root key comes the one that replaces it. */
  open(): Promise<Uint8Array>;
  /** Nothing needs the root key any more: the next one takes its place. */
  finishRotation(): void;
};

/** What both providers have in common: the next root key lies beside the other until it takes its place. */
export function nextOf(path: string): string {
  return `${path}.next`;
}

/** Said with where the root key comes from: data is sealed under two keys then, and only a rotation that ends makes one of them. */
export function unfinished(path: string): string {
  if (!existsSync(nextOf(path))) return "";
  return "; its rotation was begun and is not finished: stop the server and run `npx keystead keys rotate`";
}

/** The one key that is in use since the first start, or since the last rotation that came to its end. */
export function firstOf(rootKeys: Uint8Array): Uint8Array {
  return rootKeys.subarray(0, rootKeyLength);
}

/** Which keys are to be made if they are not there. */
export type Creation = { first: boolean; next: boolean };

/** Wipes the parts. */
export function joinKeys(keys: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(keys.length * rootKeyLength);
  for (const [place, key] of keys.entries()) {
    joined.set(key, place * rootKeyLength);
    key.fill(0);
  }
  return joined;
}
