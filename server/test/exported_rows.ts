/**
 * Organizations as an export discloses them, read from a database's rows: leaves without their MACs, and with each what it names by digest.
 * With a sealer also bodies whose bearer values have not ended, and tokens.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { Exported, ExportedLeaf } from "../src/replay/exported.ts";
import { openBody } from "../src/signer/decision/body_boxes.ts";
import type { Sealer } from "../src/signer/secrets/seal.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { sha256 } from "../src/state/digest.ts";
import { decodeMade } from "../src/state/drawn.ts";
import type { Store } from "../src/store/store.ts";
import type { TableName, Tables } from "../src/store/tables.ts";

/** The rows of one organization in one table. */
export async function rowsOf<T extends TableName>(
  { db }: Store,
  table: T,
  organizationId: string,
): Promise<Tables[T][]> {
  const rows = await db
    .selectFrom(table as "leaves")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .execute();
  return rows.map((row) => ({ ...row })) as unknown as Tables[T][];
}

/** Bytes by digest. */
type Bytes = Map<string, Uint8Array>;

/** All organizations, or those with these ids. Bytes that only a parent's rows have are found there, as for a query. */
export async function exportedRows(store: Store, sealer?: Sealer, ids?: readonly string[]): Promise<Exported> {
  const all = await store.db.selectFrom("organizations").select(["organization_id", "parent_id"]).execute();
  const known = new Map<string, Promise<Bytes>>();
  const bytesOf = (id: string) => {
    const bytes = known.get(id) ?? readBytes(store, id, sealer);
    known.set(id, bytes);
    return bytes;
  };
  const organizations = new Map<string, { leaves: ExportedLeaf[] }>();
  for (const { organization_id: id, parent_id } of all) {
    if (ids !== undefined && !ids.includes(id)) continue;
    const found = [await bytesOf(id), ...(parent_id === null ? [] : [await bytesOf(parent_id)])];
    const rows = await rowsOf(store, "leaves", id);
    organizations.set(id, { leaves: rows.map((row) => toExported(row, found)) });
  }
  return { organizations };
}

/** A leaf from before leaves named what was made gets what lies beside it, and the contents of its keys that are still there. */
function toExported({ leaf: marked, made }: Tables["leaves"], found: readonly Bytes[]): ExportedLeaf {
  const bytes = Uint8Array.from(withoutMac(marked));
  const leaf = decodeLeaf(bytes);
  const bodies = digestsIn(leaf).flatMap((digest) => {
    if (made !== null && toHex(sha256(made)) === digest) return [made];
    return found.flatMap((bytesByDigest) => bytesByDigest.get(digest) ?? []).slice(0, 1);
  });
  if (made === null || leaf.outside.some(({ kind }) => kind === "made")) return { leaf: bytes, bodies };
  const contents = decodeMade(made).flatMap(({ digest }) => found[0]?.get(toHex(digest)) ?? []);
  return { leaf: bytes, bodies: [...bodies, ...contents], made };
}

function digestsIn({ fingerprint, evidence, outside, outcome }: Leaf): string[] {
  const tokens = evidence.flatMap(({ content }) => ("tokenDigest" in content.value ? [content.value.tokenDigest] : []));
  const values = outside.flatMap(({ value }) => (value.kind === "digest" ? [value.value] : []));
  return [...new Set([fingerprint, ...evidence.map(({ body }) => body), ...tokens, ...values, outcome].map(toHex))];
}

async function readBytes(store: Store, organizationId: string, sealer: Sealer | undefined): Promise<Bytes> {
  const [activities, sealed, votes, disclosures, tokens, ...keys] = await Promise.all([
    rowsOf(store, "activities", organizationId),
    rowsOf(store, "sealed_bodies", organizationId),
    rowsOf(store, "votes", organizationId),
    rowsOf(store, "disclosures", organizationId),
    rowsOf(store, "sealed_disclosures", organizationId),
    rowsOf(store, "wallets", organizationId),
    rowsOf(store, "wallet_accounts", organizationId),
    rowsOf(store, "private_keys", organizationId),
  ]);
  const boxes = new Map(sealed.map((row) => [row.activity_id, row.sealed]));
  const bytes: Bytes = new Map(disclosures.map(({ digest, content }) => [digest, content]));
  const add = (content: Uint8Array | string | null | undefined): void => {
    if (content === null || content === undefined) return;
    const body = typeof content === "string" ? new Uint8Array(Buffer.from(content)) : content;
    bytes.set(toHex(sha256(body)), body);
  };
  for (const { activity_id, fingerprint, body, result, failure } of activities) {
    const box = boxes.get(activity_id);
    const name = { organizationId, fingerprint: fromHex(fingerprint) };
    add(box === undefined || sealer === undefined ? body : openBody({ sealer }, name, box).body);
    add(result);
    add(failure);
  }
  for (const { digest, sealed: box } of tokens) {
    if (sealer === undefined) break;
    add(openBody({ sealer }, { organizationId, fingerprint: fromHex(digest) }, box).body);
  }
  for (const { record } of keys.flat()) add(Uint8Array.from(withoutMac(record)));
  for (const { vote } of votes) add((JSON.parse(vote) as { message?: string }).message);
  return bytes;
}
