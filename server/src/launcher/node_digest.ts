/**
 * The digest of the Node that runs everything, for boot proofs: the signer cannot read it. It is 150 MB, which take 150 ms, so no start
 * waits for it: it is read while the other processes load their code, and kept in the data folder for as long as the file is the same.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { reasonOf } from "./data_folder.ts";
import { replaceFile } from "./durable_file.ts";

/** One buffer for all portions: new ones would cost as much as the hash. */
const portion = 1024 * 1024;

type Options = { say(line: string): void; node?: string; kept: string };

/** Begins when it is first asked for. Gives a copy each time; nothing where Node cannot be read, which is said and stops nobody. */
export function createNodeDigest({ say, node = process.execPath, kept }: Options): () => Promise<Uint8Array> {
  let digest: Promise<string> | undefined;
  return async () => {
    digest ??= keptDigest(node, kept).catch((error) => {
      say(`${node} cannot be read, so boot proofs do not name it: ${reasonOf(error)}`);
      return "";
    });
    return Buffer.from(await digest, "hex");
  };
}

async function keptDigest(node: string, kept: string): Promise<string> {
  const identity = identityOf(node);
  const known = readKept(kept);
  if (known?.identity === identity) return known.digest;
  const digest = await digestOf(node);
  // It changed while it was read: this is nothing to keep.
  if (identityOf(node) !== identity) return digest;
  try {
    replaceFile(kept, Buffer.from(`${JSON.stringify({ identity, digest })}\n`));
  } catch {
    // A full disk: the next start reads it again.
  }
  return digest;
}

/** Nobody but root can change a file and leave its change time as it was. */
function identityOf(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

function readKept(path: string): { identity: string; digest: string } | undefined {
  try {
    const { identity, digest } = JSON.parse(readFileSync(path, "utf8"));
    return /^[0-9a-f]{64}$/.test(digest) ? { identity, digest } : undefined;
  } catch {
    return undefined;
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafeSlow(portion);
  await using file = await open(path);
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, portion, null);
    if (bytesRead === 0) return hash.digest("hex");
    hash.update(buffer.subarray(0, bytesRead));
  }
}
