/**
 * Has the signer seal everything anew under the next root key, on the operator's order. Portion by portion, each committed: cut
 * short anywhere, it is started again and finds what is left by the versions that boxes name.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Request } from "../../frames/messages.ts";
import type { KeyRecordKind } from "../../state/records.ts";
import { findDeployment } from "../../store/across.ts";
import {
  listLeavesOf,
  listSealedBodies,
  listSealedDisclosures,
  listSealedLeaves,
  listSealedProofs,
  listSealedRecords,
  type Replaced,
  replaceBodies,
  replaceDisclosures,
  replaceKeyring,
  replaceLeaves,
  replaceProofs,
  replaceRecords,
  type SealedLeaf,
} from "../../store/sealed_boxes.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";

const recordsAtOnce = 200;
/** A result may be long: these stay well below the longest frame. */
const leavesAtOnce = 10;

/** Rows may come while it walks, if another gateway was not stopped: then it walks again, but not for ever. */
const maxPasses = 10;

const kinds: readonly KeyRecordKind[] = ["wallet", "walletAccount", "privateKey"];

type Box = Request<"reseal">["boxes"][number];

export async function rotateKeys(store: Store, link: SignerLink): Promise<string[]> {
  let count = 0;
  for (let pass = 0; pass < maxPasses; pass++) {
    const changed = await walk(store, link);
    count += changed;
    if (changed === 0) return [`sealed anew under the next root key: ${count} secret(s)`];
  }
  throw new Fault("aborted", "the database changes meanwhile; stop every gateway first");
}

/** Once over everything; the number of boxes that were not new yet. The keyring comes last: it says how far the rotation got. */
async function walk(store: Store, link: SignerLink): Promise<number> {
  let count = 0;
  for (const kind of kinds) count += await walkRecords(store, link, kind);
  count += await walkLeaves(store, link);
  count += await walkBodies(store, link);
  count += await walkDisclosures(store, link);
  count += await walkProofs(store, link);
  const keyring = await findDeployment(store);
  if (keyring === undefined) throw new Fault("failed_precondition", "the database holds no deployment");
  const [replaced] = await reseal(link, [{ sealed: keyring }], ({ sealed }) => ({
    kind: "keyring",
    value: { sealed },
  }));
  if (replaced !== undefined) await replaceKeyring(store, keyring, replaced.sealed);
  return count + (replaced === undefined ? 0 : 1);
}

async function walkRecords(store: Store, link: SignerLink, kind: KeyRecordKind): Promise<number> {
  let count = 0;
  let rows = await listSealedRecords(store, kind, undefined, recordsAtOnce);
  while (rows.length > 0) {
    const replaced = await reseal(link, rows, ({ content, sealed }) => ({
      kind: "record",
      value: { content, sealed },
    }));
    if (replaced.length > 0) await replaceRecords(store, kind, replaced);
    count += replaced.length;
    rows = await listSealedRecords(store, kind, rows.at(-1), recordsAtOnce);
  }
  return count;
}

async function walkLeaves(store: Store, link: SignerLink): Promise<number> {
  let count = 0;
  for (let offset = 0; ; offset += leavesAtOnce) {
    const rows = await listSealedLeaves(store, leavesAtOnce, offset);
    const replaced = await reseal(link, rows, toLeafBox);
    if (replaced.length > 0) await replaceLeaves(store, replaced);
    count += replaced.length;
    if (rows.length < leavesAtOnce) return count;
  }
}

/** Bodies with bearer values, and the results that they are still exchanged for. */
async function walkBodies(store: Store, link: SignerLink): Promise<number> {
  let count = 0;
  let rows = await listSealedBodies(store, undefined, leavesAtOnce);
  while (rows.length > 0) {
    const leaves = await reseal(link, await listLeavesOf(store, rows), toLeafBox);
    if (leaves.length > 0) await replaceLeaves(store, leaves);
    const bodies = await reseal(link, rows, ({ organizationId, fingerprint, sealed }) => ({
      kind: "body",
      value: { organizationId, fingerprint: fromHex(fingerprint), sealed },
    }));
    if (bodies.length > 0) await replaceBodies(store, bodies);
    count += leaves.length + bodies.length;
    rows = await listSealedBodies(store, rows.at(-1), leavesAtOnce);
  }
  return count;
}

/** Tokens that stamps came with, until they have ended. */
async function walkDisclosures(store: Store, link: SignerLink): Promise<number> {
  let count = 0;
  let rows = await listSealedDisclosures(store, undefined, recordsAtOnce);
  while (rows.length > 0) {
    const replaced = await reseal(link, rows, ({ organizationId, id, sealed }) => ({
      kind: "body",
      value: { organizationId, fingerprint: fromHex(id), sealed },
    }));
    if (replaced.length > 0) await replaceDisclosures(store, replaced);
    count += replaced.length;
    rows = await listSealedDisclosures(store, rows.at(-1), recordsAtOnce);
  }
  return count;
}

async function walkProofs(store: Store, link: SignerLink): Promise<number> {
  let count = 0;
  let rows = await listSealedProofs(store, undefined, recordsAtOnce);
  while (rows.length > 0) {
    const replaced = await reseal(link, rows, ({ leaf, sealed }) => ({ kind: "proofs", value: { leaf, sealed } }));
    if (replaced.length > 0) await replaceProofs(store, replaced);
    count += replaced.length;
    rows = await listSealedProofs(store, rows.at(-1), recordsAtOnce);
  }
  return count;
}

const toLeafBox = ({ leaf, sealed }: SealedLeaf): Box => ({ kind: "leaf", value: { leaf, sealed } });

/** Those whose boxes the signer has replaced; what is new already comes back as it was. */
async function reseal<Row extends { sealed: Uint8Array }>(
  link: SignerLink,
  rows: readonly Row[],
  toBox: (row: Row) => Box,
): Promise<Replaced<Row>[]> {
  if (rows.length === 0) return [];
  const boxes = await link.request("reseal", { boxes: rows.map(toBox) });
  if (boxes.length !== rows.length) throw new Fault("internal", "the signer answered another number of boxes");
  return rows.flatMap((row, index) => {
    const sealed = boxes[index];
    return sealed === undefined || Buffer.compare(sealed, row.sealed) === 0 ? [] : [{ row, sealed }];
  });
}
