/** Bytes that leaves name by their SHA-256 and that no other table keeps: for whoever checks or executes the log. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { sha256 } from "../state/digest.ts";
import { read } from "./read.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export function disclosureRow(organizationId: string, content: Uint8Array): Tables["disclosures"] {
  return { organization_id: organizationId, digest: toHex(sha256(content)), content };
}

/** Few enough for one statement of either database. */
const digestsAtOnce = 1_000;

/** The contents that are there of these digests (hex), by digest. What was erased is missing. */
export async function findDisclosures(
  store: Store,
  organizationId: string,
  digests: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (let at = 0; at < digests.length; at += digestsAtOnce) {
    const rows = await read(
      store.db
        .selectFrom("disclosures")
        .select(["digest", "content"])
        .where("organization_id", "=", organizationId)
        .where("digest", "in", digests.slice(at, at + digestsAtOnce)),
    );
    for (const { digest, content } of rows) found.set(digest, content);
  }
  return found;
}
