/**
 * Derivation paths, as BIP-32 writes them. Records keep the caller's own spelling; sameness is decided on the parsed
 * path, because `m/44h/60H/0'` and `m/44'/60'/0'` are one key.
 */
import { Fault } from "../fault.ts";
import { type Curve, keyCurves } from "./key_curves.ts";

/** Child indexes from the master key down; the top bit is the hardened mark. */
export type Path = readonly number[];

/** The top bit of an index, set on hardened ones. */
export const hardened = 0x80000000;

/** A depth is one byte in BIP-32's serialised keys. */
const deepest = 255;
/** The deepest path of ten-digit, hardened components: nothing longer is worth reading. */
const longestText = 1 + deepest * 12;

const component = /^(0|[1-9][0-9]{0,9})(['hH]?)$/;

/** Reads `m`, then slash and index as often as needed; an index is below 2^31, and `'`, `h` or `H` marks it hardened. */
export function parsePath(text: string): Path {
  if (text.length > longestText) throw invalid();
  const [root, ...components] = text.split("/");
  if (root !== "m" || components.length > deepest) throw invalid();
  return components.map(parseComponent);
}

function parseComponent(text: string): number {
  const [, digits, mark] = component.exec(text) ?? [];
  const index = Number(digits);
  // A text that did not match gives NaN here, which fails this comparison too.
  if (!(index < hardened)) throw invalid();
  return mark === "" ? index : index + hardened;
}

function invalid(): Fault {
  return new Fault(
    "invalid_argument",
    "invalid path: write it like m/44'/60'/0'/0/0, each number below 2147483648, with ' or h after a hardened one",
  );
}

/**
 * The path that is really derived. SLIP-10 knows only hardened children on Ed25519, while common default paths contain
 * others (`m/44'/501'/0'/0`): there every component counts as hardened.
 */
export function derivedPath(curve: Curve, path: Path): Path {
  return keyCurves[curve].points === undefined ? path.map((index) => (index | hardened) >>> 0) : path;
}

/** One spelling per path, with `'` as the mark. */
export function formatPath(path: Path): string {
  return ["m", ...path.map((index) => (index < hardened ? `${index}` : `${index - hardened}'`))].join("/");
}

/** Equal for two texts exactly when they lead to the same key on this curve. */
export function pathKey(curve: Curve, text: string): string {
  return formatPath(derivedPath(curve, parsePath(text)));
}
