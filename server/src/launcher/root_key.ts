import { randomFillSync } from "node:crypto";
import { existsSync } from "node:fs";
import type { PassphraseSource } from "./config.ts";
import { type DataFolder, holdsData } from "./data_folder.ts";
import { createFile } from "./durable_file.ts";
import { passphraseRootKey } from "./passphrase_root_key.ts";
import { Refusal } from "./refusal.ts";
import { readSecretFile } from "./secret_file.ts";

const rootKeyLength = 32;

/** Where the root key comes from. `open` gives a fresh copy that the caller wipes; it is asked again for every start of the signer. */
export type RootKeyProvider = {
  describe(): string;
  open(): Promise<Uint8Array>;
};

/**
 * Chooses the provider by the settings and by what lies in the data folder, and creates the root key if this is the first start.
 * A root key is never created beside data that an earlier one sealed.
 */
export async function rootKeyProvider(
  data: DataFolder,
  source: PassphraseSource | undefined,
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
      `${data.rootKey} is not sealed, but a passphrase is set; unset KEYSTEAD_PASSPHRASE and KEYSTEAD_PASSPHRASE_FILE`,
    );
  }
  const missing = !plain && !sealed;
  if (missing && holdsData(data)) {
    throw new Refusal(`root key missing, database present: put the root key back into ${data.path}`);
  }
  return source ? passphraseRootKey(data.sealedRootKey, source, missing) : fileRootKey(data.rootKey, missing);
}

/** The root key as 32 raw bytes in a file that only its owner may read. Read again at each start of the signer, so the launcher keeps no copy. */
function fileRootKey(path: string, create: boolean): RootKeyProvider {
  if (create) createRootKeyFile(path);
  return {
    describe: () => `file ${path}`,
    open: async () => readSecretFile(path, "root key", rootKeyLength, rootKeyLength),
  };
}

function createRootKeyFile(path: string): void {
  const key = randomFillSync(new Uint8Array(rootKeyLength));
  try {
    createFile(path, key);
  } finally {
    key.fill(0);
  }
}
