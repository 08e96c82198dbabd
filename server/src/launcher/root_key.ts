import { randomFillSync } from "node:crypto";
import { existsSync } from "node:fs";
import type { PassphraseSource } from "./config.ts";
import { type DataFolder, holdsData } from "./data_folder.ts";
import { createFile, moveFile } from "./durable_file.ts";
import { passphraseRootKey } from "./passphrase_root_key.ts";
import { Refusal } from "./refusal.ts";
import { readSecretFile } from "./secret_file.ts";

const rootKeyLength = 32;

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

/**
 * Chooses the provider by the settings and by what lies in the data folder, and creates the root key if this is the first start.
 * A root key is never created beside data that an earlier one sealed. With `rotate`, the next one is created beside it, unless an
 * earlier rotation was cut short and has left one.
 */
export async function rootKeyProvider(
  data: DataFolder,
  source: PassphraseSource | undefined,
  rotate = false,
): Promise<RootKeyProvider> {
  const plain = existsSync(data.rootKey);
  const sealed = existsSync(data.sealedRootKey);
  if (plain && sealed) throw new Refusal(`both ${data.rootKey} and ${data.sealedRootKey} exist; move one of them away`);
  if (sealed && !source) {
    throw new Refusal(
      `${data.sealedRootKey} needs its passphrase: set KEYSTEAD_PASSPHRASE_FILE or KEYSTEAD_PASSPHRASE=ask`,
    );
  }
  if (plain && source) {
    throw new Refusal(
      `${data.rootKey} is not sealed, but a passphrase is set, and a root key that exists is not sealed later: ` +
        "set KEYSTEAD_DATA to a new folder, or delete this one if it was never used (a first start that failed leaves its key behind); " +
        "to go on without a passphrase, unset KEYSTEAD_PASSPHRASE and KEYSTEAD_PASSPHRASE_FILE",
    );
  }
  const missing = !plain && !sealed;
  if (missing && holdsData(data)) {
    throw new Refusal(`root key missing, database present: put the root key back into ${data.path}`);
  }
  const create = { first: missing, next: rotate };
  return source ? passphraseRootKey(data.sealedRootKey, source, create) : fileRootKey(data.rootKey, create);
}

/** Which keys are to be made if they are not there. */
export type Creation = { first: boolean; next: boolean };

/** The root key as 32 raw bytes in a file that only its owner may read. Read again at each start of the signer, so the launcher keeps no copy. */
function fileRootKey(path: string, create: Creation): RootKeyProvider {
  const next = nextOf(path);
  if (create.first) createRootKeyFile(path);
  if (create.next && !existsSync(next)) createRootKeyFile(next);
  return {
    describe: () => `file ${path}${unfinished(path)}`,
    open: async () => joinKeys([path, ...(existsSync(next) ? [next] : [])].map(readRootKeyFile)),
    finishRotation: () => moveFile(next, path),
  };
}

function readRootKeyFile(path: string): Uint8Array {
  return readSecretFile(path, "root key", rootKeyLength, rootKeyLength);
}

/** Wipes the parts. */
export function joinKeys(keys: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(keys.length * rootKeyLength);
  for (const [place, key] of keys.entries()) {
    joined.set(key, place * rootKeyLength);
    key.fill(0);
  }
  return joined;
}

function createRootKeyFile(path: string): void {
  const key = randomFillSync(new Uint8Array(rootKeyLength));
  try {
    createFile(path, key);
  } finally {
    key.fill(0);
  }
}
