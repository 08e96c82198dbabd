/**
 * The digest of the Node that runs everything, for boot proofs. The signer cannot read it, and 150 MB take some 150 ms: so the launcher
 * reads it in portions while the other processes load their code, once, and no start waits for it longer than for those.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { reasonOf } from "./data_folder.ts";

const portion = 1024 * 1024;

/** Begins when it is first asked for. Gives a copy each time; nothing where Node cannot be read, which is said and stops nobody. */
export function createNodeDigest(say: (line: string) => void, path = process.execPath): () => Promise<Uint8Array> {
  let digest: Promise<Uint8Array> | undefined;
  return async () => {
    digest ??= digestOf(path).catch((error) => {
      say(`${path} cannot be read, so boot proofs do not name it: ${reasonOf(error)}`);
      return new Uint8Array();
    });
    return Uint8Array.from(await digest);
  };
}

async function digestOf(path: string): Promise<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: portion })) hash.update(chunk);
  return hash.digest();
}
