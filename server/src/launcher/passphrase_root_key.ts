import { randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PassphraseSource } from "./config.ts";
import { createFile } from "./durable_file.ts";
import { askPassphrase, askPassphraseTwice } from "./passphrase_terminal.ts";
import type { RootKeyProvider } from "./root_key.ts";
import { openRootKey, sealRootKey } from "./sealed_root_key.ts";
import { readSecretFile } from "./secret_file.ts";

/**
 * The root key sealed under a passphrase. Unlike the file's, this root key stays in the launcher's memory while it runs:
 * a signer that died at night must come back without somebody typing, and the passphrase itself must not be kept for that.
 */
export async function passphraseRootKey(
  path: string,
  source: PassphraseSource,
  create: boolean,
): Promise<RootKeyProvider> {
  const passphrase = await readPassphrase(source, create);
  let key: Uint8Array;
  try {
    if (create) createSealed(path, passphrase);
    key = openRootKey(readFileSync(path), passphrase);
  } finally {
    passphrase.fill(0);
  }
  return { describe: () => `passphrase over ${path}`, open: async () => key.slice() };
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
