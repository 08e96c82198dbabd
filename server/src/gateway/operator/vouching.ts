/** The signer's word on many rows. However long somebody has made them, no frame is too long to be sent. */
import type { Reply, Request, StoredBody, StoredRecord } from "../../frames/messages.ts";
import type { SignerLink } from "../link/signer_link.ts";

type Vouched = Reply<"vouch">;
export type PlacedHead = Vouched["heads"][number];

export type Vouching = {
  /** Whether each is the signer's own. */
  leaves(leaves: readonly Uint8Array[]): Promise<boolean[]>;
  /** How a head stands to what was released, by the headers that lead to it, oldest first. */
  head(marked: Uint8Array, links: readonly Uint8Array[]): Promise<PlacedHead>;
  records(records: readonly StoredRecord[]): Promise<Vouched["records"][number][]>;
  bodies(bodies: readonly StoredBody[]): Promise<Vouched["bodies"][number][]>;
  /** Whether each box opens for the digest that it is stored under. */
  tokens(rows: readonly StoredBody[]): Promise<boolean[]>;
  /** The text of app proofs whose leaves are released; undefined for a box that is not the leaf's. */
  proofs(rows: Request<"openProofs">["rows"]): Promise<(string | undefined)[]>;
};

/** Nothing that the signer writes comes near this length, and a frame carries twice of it. */
const maxBytes = 4 * 1024 * 1024;

export function createVouching(link: SignerLink): Vouching {
  const nothing = { leaves: [], heads: [], records: [], bodies: [] };
  return {
    leaves: (leaves) =>
      inPortions(
        leaves,
        (leaf) => leaf.length,
        false,
        async (portion) => {
          return (await link.request("vouch", { ...nothing, leaves: portion })).leaves;
        },
      ),
    async head(marked, links) {
      const foreign = { standing: "FOREIGN", releasedVersion: undefined } as const;
      if (marked.length > maxBytes) return foreign;
      const { heads } = await link.request("vouch", { ...nothing, heads: [...links, marked] });
      return heads.at(-1) ?? foreign;
    },
    records: (records) =>
      inPortions(
        records,
        ({ content, sealed }) => content.length + sealed.length,
        { own: false, opens: false, blindIndex: undefined },
        async (portion) => (await link.request("vouch", { ...nothing, records: portion })).records,
      ),
    bodies: (bodies) =>
      inPortions(
        bodies,
        ({ sealed }) => sealed.length,
        undefined,
        async (portion) => (await link.request("vouch", { ...nothing, bodies: portion })).bodies,
      ),
    tokens: (rows) =>
      inPortions(
        rows,
        ({ sealed }) => sealed.length,
        false,
        async (portion) =>
          (await link.request("openBodies", { bodies: portion })).map(({ kind }) => kind !== "refused"),
      ),
    proofs: (rows) =>
      inPortions(
        rows,
        ({ leaf, proofs }) => leaf.length + proofs.length,
        undefined,
        async (portion) => {
          const opened = await link.request("openProofs", { rows: portion });
          return opened.map((reply) => (reply.kind === "opened" ? reply.value.proofs : undefined));
        },
      ),
  };
}

/** The verdicts in the order of the items; `foreign` for those that are too long to be anything of ours. */
async function inPortions<T, V>(
  items: readonly T[],
  lengthOf: (item: T) => number,
  foreign: V,
  ask: (portion: readonly T[]) => Promise<readonly V[]>,
): Promise<V[]> {
  const verdicts: V[] = [];
  for (let at = 0; at < items.length; ) {
    const portion: T[] = [];
    let length = 0;
    for (const item of items.slice(at)) {
      length += lengthOf(item);
      if (length > maxBytes) break;
      portion.push(item);
    }
    if (portion.length === 0) verdicts.push(foreign);
    else verdicts.push(...(await ask(portion)));
    at += Math.max(1, portion.length);
  }
  return verdicts;
}
