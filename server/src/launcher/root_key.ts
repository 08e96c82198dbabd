import { randomFillSync } from "node:crypto";
import { existsSync } from "node:fs";
import type { PassphraseSource } from "./config.ts";
import { type DataFolder, holdsData } from "./data_folder.ts";
import { createFile, moveFile } from "./durable_file.ts";
import { passphraseRootKey } from "./passphrase_root_key.ts";
import { Refusal } from "./refusal.ts";
import {
  type Creation,
  joinKeys,
  nextOf,
  type RootKeyProvider,
  rootKeyLength,
  unfinished,
} from "./root_key_provider.ts";
import { readSecretFile } from "./secret_file.ts";

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
    throw new Refusal(`root key missing, database present: put the root key back into ${data.path}${whichOne(data)}`);
  }
  const create = { first: missing, next: rotate };
  return source ? passphraseRootKey(data.sealedRootKey, source, create) : fileRootKey(data.rootKey, create);
}

/** Of several copies that an operator may have after a rotation, the one that opens the data. */
function whichOne(data: DataFolder): string {
  const next = [data.rootKey, data.sealedRootKey].map(nextOf).find((path) => existsSync(path));
  if (next !== undefined) {
    return `; its rotation is not finished: put back the old key, whose copy you saved before, and leave ${next} where it is`;
  }
  if (!existsSync(data.rootKeyIds)) return "";
  return "; a rotation has replaced it: only a copy made after that rotation opens this database";
}

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

function createRootKeyFile(path: string): void {
  const key = randomFillSync(new Uint8Array(rootKeyLength));
  try {
    createFile(path, key);
  } finally {
    key.fill(0);
  }
}
