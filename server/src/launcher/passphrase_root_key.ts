import { randomFillSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { PassphraseSource } from "./config.ts";
import { createFile, moveFile } from "./durable_file.ts";
import { askPassphrase, askPassphraseTwice } from "./passphrase_terminal.ts";
import { type Creation, joinKeys, nextOf, type RootKeyProvider, unfinished } from "./root_key_provider.ts";
import { openRootKey, sealRootKey } from "./sealed_root_key.ts";
import { readSecretFile } from "./secret_file.ts";

/**
 * The root key sealed under a passphrase. Unlike the file's, this root key stays in the launcher's memory while it runs:
 * a signer that died at night must come back without somebody typing, and the passphrase itself must not be kept for that.
 */
export async function passphraseRootKey(
  path: string,
  source: PassphraseSource,
  create: Creation,
): Promise<RootKeyProvider> {
  const next = nextOf(path);
  const passphrase = await readPassphrase(source, create.first);
  let keys: Uint8Array;
  try {
    if (create.first) createSealed(path, passphrase);
    const first = openRootKey(readFileSync(path), passphrase);
    // Only now: a passphrase that opens the one key may seal the other.
    if (create.next && !existsSync(next)) createSealed(next, passphrase);
    keys = joinKeys([first, ...(existsSync(next) ? [openRootKey(readFileSync(next), passphrase)] : [])]);
  } finally {
    passphrase.fill(0);
  }
  return {
    describe: () => `passphrase over ${path}${unfinished(path)}`,
    open: async () => keys.slice(),
    finishRotation: () => moveFile(next, path),
  };
}

function createSealed(path: string, passphrase: Uint8Array): void {
  const key = randomFillSync(new Uint8Array(32));
  try {
    createFile(path, sealRootKey(key, passphrase));
  } finally {
    key.fill(0);
  }
}

async function readPassphrase(source: PassphraseSource, create: boolean): Promise<Uint8Array> {
  if (source.kind === "terminal") return create ? askPassphraseTwice() : askPassphrase("passphrase of the root key: ");
  // Under separate user ids the gateway could read a file that others may read, so the rule is the root key's own.
  const bytes = readSecretFile(source.path, "passphrase", 1, 1024);
  return withoutLineEnd(bytes);
}

/** Editors and `echo` end the file with a line break that nobody typed at the prompt. */
function withoutLineEnd(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  return bytes.subarray(0, end);
}
