/**
 * Notes every file that this process loads, with the digest of the bytes that are run. The launcher has Node load it before the program
 * (`--import`), and `lockDown` ends it: from then on nothing is loaded at all. It imports nothing of ours, because what is loaded with it
 * would not be noted.
 */
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

/** What `--import` names. */
export const ownUrl = import.meta.url;

/** The folder that holds the code: four above, in `src` and in `build`. */
const root = new URL("../../../../", import.meta.url).href;

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
      throw denied(url);
    }
    digests.set(url, hash("sha256", typeof source === "string" ? source : viewOf(source)));
    if (url.endsWith(wasmLoader)) noteFile(new URL(wasmFile, url));
    return loaded;
  },
});
noteFile(new URL(import.meta.url));

function viewOf(source: ArrayBuffer | NodeJS.ArrayBufferView | SharedArrayBuffer): NodeJS.ArrayBufferView {
  return ArrayBuffer.isView(source) ? source : new Uint8Array(source);
}

function noteFile(url: URL): void {
  digests.set(url.href, hash("sha256", readFileSync(url)));
}

/** As `lockDown` says it. */
function denied(url: string): Error {
  return Object.assign(new Error(`the signer does not allow loading ${url}`), { code: "ERR_ACCESS_DENIED" });
}

/** All that was loaded up to now: paths from the folder of the code, and SHA-256 in hex. */
export function loadedFiles(): { path: string; digest: string }[] {
  return Array.from(digests, ([url, digest]) => ({ path: pathOf(url), digest }));
}

function pathOf(url: string): string {
  return decodeURIComponent(url.startsWith(root) ? url.slice(root.length) : url);
}
