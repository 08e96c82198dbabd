/** An organization as its rows tell it: everything that was committed, in the order in which it was. */
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { EvidenceContent } from "@keystead/core/log/leaf_evidence.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { ownStateOf } from "@keystead/server/state/leaf_header.ts";
import type { Store } from "@keystead/server/store/store.ts";
import type { TableName, Tables } from "@keystead/server/store/tables.ts";
import { rowsOf } from "../../../server/test/exported_rows.ts";
import type { Credential } from "./model.ts";

export type ActivityRow = Tables["activities"];

/** One leaf: an act, or a birth. */
export type Entry = {
  leaf: Leaf;
  /** The state it led to; none of what changed no state. */
  version: number | undefined;
  activity: ActivityRow | undefined;
};

export type OrganizationLog = {
  organizationId: string;
  organization: Tables["organizations"];
  /** In the order of states. What changed none comes after the state it was decided on, in any order among its like. */
  entries: Entry[];
  activities: Map<string, ActivityRow>;
  votes: Tables["votes"][];
  pages: Map<string, Uint8Array>;
  /** Leaves that nobody has marked as released. */
  unreleased: number;
};

export async function readLog(store: Store, organizationId: string): Promise<OrganizationLog> {
  const read = <T extends TableName>(table: T) => rowsOf(store, table, organizationId);
  const [[organization], rows, votes, pages, leafRows, unreleased] = await Promise.all([
    read("organizations"),
    read("activities"),
    read("votes"),
    read("pages"),
    read("leaves"),
    read("unreleased"),
  ]);
  if (organization === undefined) throw new Error(`organization ${organizationId} is not in the database`);
  const activities = new Map(rows.map((row) => [row.activity_id, row]));
  const entries = leafRows.map(
    (row): Entry => ({
      leaf: decodeLeaf(Uint8Array.from(withoutMac(row.leaf))),
      version: row.version ?? undefined,
      activity: row.activity_id === null ? undefined : activities.get(row.activity_id),
    }),
  );
  return {
    organizationId,
    organization,
    entries: entries.sort((a, b) => placeOf(a) - placeOf(b) || a.leaf.timeMs - b.leaf.timeMs),
    activities,
    votes,
    pages: new Map(pages.map(({ name, content }) => [name, content])),
    unreleased: unreleased.length,
  };
}

function placeOf({ version, leaf }: Entry): number {
  return version ?? (ownStateOf(leaf)?.version ?? 0) + 0.5;
}

/** What a leaf says its request was stamped with: the public half of a key, or the id of a passkey. */
export function credentialOf(content: EvidenceContent): Credential {
  // No stamp: what came through the auth proxy is known by its configuration.
  if (content.kind === "authProxy") return { kind: "key", id: uuidFromBytes(content.value.configId) };
  if (content.kind !== "webauthn") return { kind: "key", id: toHex(content.value.publicKey) };
  return { kind: "passkey", id: toBase64url(content.value.rawId) };
}
