/** What an export discloses of organizations, read for the replay: leaves, and by their digests the bytes that came with them. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../state/authenticity.ts";
import { sha256 } from "../state/digest.ts";
import { ownHeaderOf, ownStateOf } from "../state/leaf_header.ts";

/** A leaf without its MAC, and what is disclosed of the bytes that it names. */
export type ExportedLeaf = {
  readonly leaf: Uint8Array;
  readonly bodies: readonly Uint8Array[];
  /** What a database has of the records that came with it. Exports have it among the bodies, of leaves that name it. */
  readonly made?: Uint8Array | undefined;
};

export type ExportedOrganization = {
  readonly leaves: readonly ExportedLeaf[];
  /** How many there are besides, which are not shown. */
  readonly undisclosed?: number;
};

export type Exported = { readonly organizations: ReadonlyMap<string, ExportedOrganization> };

/** One leaf of an organization. */
export type Entry = {
  /** Its place in the export's list. */
  index: number;
  leaf: Leaf;
  made: Uint8Array | undefined;
  /** Hex: the state of its own organization that it was decided on, and the one that it led to. */
  before: string | undefined;
  after: { digest: string; version: number } | undefined;
};

export type OrganizationLog = {
  organizationId: string;
  entries: readonly Entry[];
  undisclosed: number;
  /** The bytes with this SHA-256, wherever in the organization they are disclosed: a vote names a body that came with its submission. */
  find(digest: Uint8Array): Uint8Array | undefined;
};

/** Throws `invalid_argument` for a leaf that cannot be read. */
export function readExported(
  organizationId: string,
  { leaves, undisclosed = 0 }: ExportedOrganization,
): OrganizationLog {
  const bodies = new Map<string, Uint8Array>();
  const seen = new Set<string>();
  const entries: Entry[] = [];
  for (const [index, { leaf: bytes, bodies: disclosed, made }] of leaves.entries()) {
    for (const body of disclosed) bodies.set(toHex(sha256(body)), body);
    // One that two hosts have released stands in two logs. Its number would not do: whoever signs the log could give it to two leaves.
    const digest = toHex(sha256(bytes));
    if (seen.has(digest)) continue;
    seen.add(digest);
    entries.push(toEntry(index, decodeLeaf(bytes), made));
  }
  return { organizationId, entries, undisclosed, find: (digest) => bodies.get(toHex(digest)) };
}

function toEntry(index: number, leaf: Leaf, made: Uint8Array | undefined): Entry {
  const before = ownStateOf(leaf);
  const header = ownHeaderOf(leaf);
  const content = header && withoutMac(header);
  return {
    index,
    leaf,
    made,
    before: before && toHex(before.digest),
    after: content && { digest: toHex(sha256(content)), version: decodeHeader(content).version },
  };
}

/** Whether it tells of an act in this organization. Acts of the operator are shown to all, and most decide nothing. */
export function isActIn(organizationId: string, { leaf }: Entry): boolean {
  if (leaf.event === "BOOTED" || leaf.event === "DATABASE_ACCEPTED") return false;
  return uuidFromBytes(leaf.organizationId) === organizationId;
}
