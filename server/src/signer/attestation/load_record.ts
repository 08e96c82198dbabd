/**
 * Notes every file that this process loads, with the digest of the bytes that are run. The launcher has Node load it before the program
 * (`--import`), and `lockDown` ends it: from then on nothing is loaded at all. It imports nothing of ours, because what is loaded with it
 * would not be noted.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** The folder that holds the code: four above, in `src` and in `build`. */
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Files that a module reads by itself instead of importing them: its name, and theirs beside it. */
const readBeside: Readonly<Record<string, string>> = {
  "/tiny-secp256k1/lib/wasm_loader.js": "secp256k1.wasm",
};

const digests = new Map<string, string>();

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url.startsWith("node:")) return loaded;
    const { source } = loaded;
    if (!url.startsWith("file:") || source === undefined || source === null) {
      throw new Error(`the signer does not load ${url}: its bytes are not known`);
    }
    note(url, typeof source === "string" ? source : new Uint8Array(source as ArrayBuffer));
    for (const [module, file] of Object.entries(readBeside))
      if (url.endsWith(module)) noteFile(new URL(file, url).href);
    return loaded;
  },
});
noteFile(import.meta.url);

function noteFile(url: string): void {
  note(url, readFileSync(fileURLToPath(url)));
}

function note(url: string, bytes: Uint8Array | string): void {
  const path = fileURLToPath(url) + new URL(url).search;
  digests.set(path.startsWith(root) ? path.slice(root.length) : path, hash("sha256", bytes));
}

/** All that was loaded up to now: paths from the folder of the code, and SHA-256 in hex. Nothing, where Node did not load this first. */
export function loadedFiles(): { path: string; digest: string }[] {
  return Array.from(digests, ([path, digest]) => ({ path, digest }));
}
