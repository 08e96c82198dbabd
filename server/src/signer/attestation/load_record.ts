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

/** The one module that reads a file by itself instead of importing it, and the file beside it. */
const wasmLoader = "/tiny-secp256k1/lib/wasm_loader.js";
const wasmFile = "secp256k1.wasm";

/** By URL. */
const digests = new Map<string, string>();

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url.startsWith("node:")) return loaded;
    const { source } = loaded;
    if (!url.startsWith("file:") || source === undefined || source === null) {
      throw new Error(`the signer does not load ${url}: its bytes are not known`);
    }
    digests.set(url, hash("sha256", typeof source === "string" ? source : viewOf(source)));
    if (url.endsWith(wasmLoader)) noteFile(new URL(wasmFile, url).href);
    return loaded;
  },
});
noteFile(import.meta.url);

function viewOf(source: ArrayBuffer | NodeJS.ArrayBufferView | SharedArrayBuffer): NodeJS.ArrayBufferView {
  return ArrayBuffer.isView(source) ? source : new Uint8Array(source);
}

function noteFile(url: string): void {
  digests.set(url, hash("sha256", readFileSync(fileURLToPath(url))));
}

/** All that was loaded up to now: paths from the folder of the code, and SHA-256 in hex. */
export function loadedFiles(): { path: string; digest: string }[] {
  return Array.from(digests, ([url, digest]) => ({ path: pathOf(url), digest }));
}

function pathOf(url: string): string {
  const path = fileURLToPath(url) + (url.includes("?") ? new URL(url).search : "");
  return path.startsWith(root) ? path.slice(root.length) : path;
}
