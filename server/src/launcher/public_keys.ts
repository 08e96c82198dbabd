/**
 * The deployment's public keys in a file beside the others, so that an operator can hand them to clients who pin them. They come
 * from the signer to the launcher; the gateway, which serves them too, is the one that a pin is meant to guard against.
 */
import { existsSync, readFileSync } from "node:fs";
import type { DataFolder } from "./data_folder.ts";
import { replaceFile } from "./durable_file.ts";

export type PublicKeys = Readonly<Record<string, string>>;

/** Writes them down; whether there were others before. */
export function writePublicKeys(
  data: DataFolder,
  publicKeys: PublicKeys,
  attestationRoot: string,
): { replacesOthers: boolean } {
  const text = textOf({ publicKeys, attestationRoot });
  const before = existsSync(data.publicKeys) ? readFileSync(data.publicKeys, "utf8") : undefined;
  if (before === text) return { replacesOthers: false };
  replaceFile(data.publicKeys, Buffer.from(text));
  // Releases before the attestation root wrote the keys alone.
  return { replacesOthers: before !== undefined && before !== textOf({ publicKeys }) };
}

function textOf(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}
