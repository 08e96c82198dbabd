/** An organization as its rows tell it: everything that was committed, in the order in which it was. */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { EvidenceContent } from "@keystead/core/log/leaf_evidence.ts";
import { openBody } from "@keystead/server/signer/decision/body_boxes.ts";
import type { Sealer } from "@keystead/server/signer/secrets/seal.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { decodeMade, type MadeRecord } from "@keystead/server/state/drawn.ts";
import { ownStateOf } from "@keystead/server/state/leaf_header.ts";
import type { Store } from "@keystead/server/store/store.ts";
import type { TableName, Tables } from "@keystead/server/store/tables.ts";
import type { Credential } from "./model.ts";

export type ActivityRow = Tables["activities"];

/** Evidence as it was sent, and the bytes it is over. */
export type Stamped = { userId: string; evidence: SentEvidence; body: Uint8Array };

/** One leaf: an act, or a birth. */
export type Entry = {
  leaf: Leaf;
  /** The state it led to; none of what changed no state. */
  version: number | undefined;
  header: Uint8Array | undefined;
  /** The records that came with it. */
  made: readonly MadeRecord[];
  activity: ActivityRow | undefined;
  /** None of the birth of the first organization, which nobody stamped. */
  stamped: Stamped | undefined;
};

export type OrganizationLog = {
  organizationId: string;
  organization: Tables["organizations"];
  /** In the order of states. What changed none comes after the state it was decided on, in any order among its like. */
  entries: Entry[];
  activities: Map<string, ActivityRow>;
  votes: Tables["votes"][];
  pages: Map<string, Uint8Array>;
  /** The contents of keys that are there, with their MACs, by id. */
  records: Map<string, Uint8Array>;
  /** Leaves that nobody has marked as released. */
  unreleased: number;
};

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

type StoredVote = {
  user: { userId: string };
  message?: string;
  publicKey: string;
  scheme: string;
  signature: string;
};

/** `parent`: the activities of who brought it into the world. */
export async function readLog(
  store: Store,
  organizationId: string,
  parent?: ReadonlyMap<string, ActivityRow>,
  /** Without it, bodies with bearer values that have not ended are as their rows show them. */
  sealer?: Sealer,
): Promise<OrganizationLog> {
  const read = <T extends TableName>(table: T) => rowsOf(store, table, organizationId);
  const [[organization], shown, sealed, votes, pages, leafRows, unreleased, wallets, accounts, keys] =
    await Promise.all([
      read("organizations"),
      read("activities"),
      read("sealed_bodies"),
      read("votes"),
      read("pages"),
      read("leaves"),
      read("unreleased"),
      read("wallets"),
      read("wallet_accounts"),
      read("private_keys"),
    ]);
  if (organization === undefined) throw new Error(`organization ${organizationId} is not in the database`);
  const boxes = new Map(sealed.map((row) => [row.activity_id, row.sealed]));
  const rows = shown.map((row) => {
    const box = boxes.get(row.activity_id);
    if (box === undefined || sealer === undefined) return row;
    const name = { organizationId, fingerprint: fromHex(row.fingerprint) };
    return { ...row, body: openBody({ sealer }, name, box).body };
  });
  const activities = new Map(rows.map((row) => [row.activity_id, row]));
  const leaves = leafRows.map((row) => ({ row, leaf: decodeLeaf(Uint8Array.from(withoutMac(row.leaf))) }));
  const births = leaves.flatMap(({ leaf }) => parent?.get(uuidFromBytes(leaf.activityId)) ?? []);
  const find = createStampFinder([...rows, ...births], votes);
  const entries = leaves.map(
    ({ row, leaf }): Entry => ({
      leaf,
      version: row.version ?? undefined,
      header: row.header ?? undefined,
      made: row.made === null ? [] : decodeMade(row.made),
      activity: row.activity_id === null ? undefined : activities.get(row.activity_id),
      stamped: find(leaf),
    }),
  );
  return {
    organizationId,
    organization,
    entries: entries.sort((a, b) => placeOf(a) - placeOf(b) || a.leaf.timeMs - b.leaf.timeMs),
    activities,
    votes,
    pages: new Map(pages.map(({ name, content }) => [name, content])),
    records: new Map([
      ...wallets.map(({ wallet_id, record }) => [wallet_id, record] as const),
      ...accounts.map(({ wallet_account_id, record }) => [wallet_account_id, record] as const),
      ...keys.map(({ private_key_id, record }) => [private_key_id, record] as const),
    ]),
    unreleased: unreleased.length,
  };
}

function placeOf({ version, leaf }: Entry): number {
  return version ?? (ownStateOf(leaf)?.version ?? 0) + 0.5;
}

/** The stamps of all votes, by what a leaf says of them. */
function createStampFinder(activities: readonly ActivityRow[], votes: readonly Tables["votes"][]) {
  const stamps = new Map<string, Stamped>();
  const bodies = new Map(activities.map(({ activity_id, body }) => [activity_id, body]));
  const add = (activityId: string, { user: { userId }, message, ...shown }: StoredVote) => {
    const body = message === undefined ? bodies.get(activityId) : new Uint8Array(Buffer.from(message));
    if (body === undefined) return;
    const evidence = evidenceOf(shown);
    stamps.set(`${toHex(sha256(body))} ${credentialIn(evidence)}`, { userId, evidence, body });
  };
  for (const row of activities) for (const vote of JSON.parse(row.votes) as StoredVote[]) add(row.activity_id, vote);
  for (const { activity_id, vote } of votes) add(activity_id, JSON.parse(vote) as StoredVote);
  return ({ evidence: [own] }: Leaf) => own && stamps.get(`${toHex(own.body)} ${credentialOf(own.content).id}`);
}

/** What a leaf says its request was stamped with: the public half of a key, or the id of a passkey. */
export function credentialOf(content: EvidenceContent): Credential {
  // No stamp: what came through the auth proxy is known by its configuration.
  if (content.kind === "authProxy") return { kind: "key", id: uuidFromBytes(content.value.configId) };
  if (content.kind !== "webauthn") return { kind: "key", id: toHex(content.value.publicKey) };
  return { kind: "passkey", id: toBase64url(content.value.rawId) };
}

/** A passkey's stamp is shown whole, in the place of the signature. */
function evidenceOf({ publicKey, scheme, signature }: Omit<StoredVote, "user" | "message">): SentEvidence {
  if (scheme === "SIGNATURE_SCHEME_WEBAUTHN") return { kind: "webauthn", value: signature };
  if (scheme === "AUTH_PROXY")
    return { kind: "authProxy", value: (JSON.parse(signature) as { configId: string }).configId };
  return { kind: "apiKey", value: toBase64url(Buffer.from(JSON.stringify({ publicKey, scheme, signature }))) };
}

function credentialIn({ kind, value }: SentEvidence): string {
  if (kind === "webauthn") return (JSON.parse(value) as { credentialId: string }).credentialId;
  if (kind === "authProxy") return value;
  return (JSON.parse(Buffer.from(value, "base64url").toString()) as { publicKey: string }).publicKey;
}
