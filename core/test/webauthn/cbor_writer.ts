/** Writes CBOR for tests, also as no authenticator would: with keys twice, long or open lengths, and tags. */

/** A map is a list of pairs here, so that a key can stand in it twice; `raw` goes out as it is. */
export type CborNode =
  | number
  | bigint
  | string
  | boolean
  | null
  | Uint8Array
  | readonly CborNode[]
  | { readonly pairs: readonly (readonly [CborNode, CborNode])[] }
  | { readonly raw: Uint8Array };

/** The value whose number this is, in the order of writing, is written otherwise. */
export type CborBend = { at: number; how: "long" | "open" | "tagged" };

export function writeCbor(node: CborNode, bend?: CborBend): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(write(node, { count: 0, bend }));
}

/** How many values there are to bend. */
export function countValues(node: CborNode): number {
  const state = { count: 0, bend: undefined };
  write(node, state);
  return state.count;
}

type State = { count: number; bend: CborBend | undefined };

function write(node: CborNode, state: State): number[] {
  const how = state.bend?.at === state.count ? state.bend.how : undefined;
  state.count++;
  const tag = how === "tagged" ? [0xc1] : [];
  if (node === null) return [...tag, 0xf6];
  if (typeof node === "boolean") return [...tag, node ? 0xf5 : 0xf4];
  if (typeof node === "number" || typeof node === "bigint") {
    const value = BigInt(node);
    return [...tag, ...(value < 0n ? head(1, -1n - value, how) : head(0, value, how))];
  }
  if (typeof node === "string") return [...tag, ...string(3, new TextEncoder().encode(node), how)];
  if (node instanceof Uint8Array) return [...tag, ...string(2, node, how)];
  if ("raw" in node) return [...tag, ...node.raw];
  const [major, entries] = "pairs" in node ? [5, node.pairs] : [4, node.map((item) => [item])];
  const content = entries.flatMap((entry) => entry.flatMap((item) => write(item, state)));
  if (how === "open") return [(major << 5) | 31, ...content, 0xff];
  return [...tag, ...head(major, BigInt(entries.length), how), ...content];
}

function string(major: number, bytes: Uint8Array, how: CborBend["how"] | undefined): number[] {
  const whole = [...head(major, BigInt(bytes.length), how), ...bytes];
  return how === "open" ? [(major << 5) | 31, ...whole, 0xff] : whole;
}

const forms = [
  { info: 24, length: 1, end: 1n << 8n },
  { info: 25, length: 2, end: 1n << 16n },
  { info: 26, length: 4, end: 1n << 32n },
  { info: 27, length: 8, end: 1n << 64n },
];

function head(major: number, value: bigint, how: CborBend["how"] | undefined): number[] {
  const fitting = value < 24n ? -1 : forms.findIndex(({ end }) => value < end);
  const form = forms[how === "long" ? Math.min(fitting + 1, 3) : fitting];
  if (form === undefined) return [(major << 5) | Number(value)];
  const hex = value.toString(16).padStart(2 * form.length, "0");
  return [(major << 5) | form.info, ...Uint8Array.fromHex(hex)];
}
