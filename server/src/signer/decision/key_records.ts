/** The signer's side of keys: opens what is sealed, seals what is new, and hands both to the activity that is decided. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { maxVerdictIds } from "@keystead/core/log/outside_values.ts";
import { createPace, type Work } from "@keystead/core/work.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import { nodeSigning } from "../../curves/node_signing.ts";
import type { KeyAccess, NewRecord } from "../../endpoints/key_access.ts";
import type { Prepared, Request } from "../../frames/messages.ts";
import type { KnownFacts } from "../../state/entities.ts";
import { findKeyFacts, hasPage, keyFactsPageOf, type PageName } from "../../state/pages.ts";
import { leafWishKey, type RecordWish, wishKey } from "../../state/record_wish.ts";
import {
  type AnyRecord,
  encodeRecord,
  isKeyRecord,
  type KeyRecord,
  recordIdOf,
  type TextRecord,
  withLeaf,
} from "../../state/records.ts";
import { seedOfWallet } from "../../state/wallet_secret.ts";
import type { SealContext } from "../secrets/seal.ts";
import type { Verdicts } from "../secrets/verdicts.ts";
import { changedRows } from "./line.ts";
import { needsLeaves, needsPages, needsRecords } from "./needs_more.ts";
import type { OpenState } from "./open_state.ts";
import type { Signer } from "./signer.ts";

/** What came with a frame beside the state. */
export type Supplied = Pick<Request<"prepare">, "records" | "wishes">;

/** A thousand may come for one deletion: so many are read, or looked for in the state, between two pauses. */
const recordsAtOnce = 100;

/** Reads many records with pauses, before somebody asks for all at once. What is wrong with one is said to whoever needs it. */
export function* readingRecords({ records: cache }: Signer, { records }: Supplied): Work<void> {
  if (records.length <= recordsAtOnce) return;
  const pace = createPace(recordsAtOnce);
  for (const { content } of records) {
    try {
      cache.read(content);
    } catch {
      return;
    }
    if (pace(1)) yield;
  }
}

/** Looks, with pauses, for what became of many keys: those that are asked for together are mostly all changed. */
export function* lookingForFacts({ records, factsOf }: Pick<KeyAccess, "records" | "factsOf">): Work<void> {
  if (records.length <= recordsAtOnce) return;
  const pace = createPace(recordsAtOnce);
  for (const record of records) {
    factsOf(recordIdOf(record));
    if (pace(1)) yield;
  }
}

export function openKeyAccess(signer: Signer, state: OpenState, supplied: Supplied, verdicts: Verdicts): KeyAccess {
  const { keyring, sealer } = signer;
  const { organizationId } = state;
  const sealedOf = new Map<KeyRecord, Uint8Array>();
  const looked = new Set(supplied.wishes);
  /** Leaves of this signer that it has not released, by their wishes. */
  const unseen = new Map<string, NonNullable<KeyRecord["madeIn"]>>();
  const unreleased: string[] = [];
  for (const { content, sealed } of supplied.records) {
    const record = readRecord(signer, organizationId, content);
    if (!isKeyRecord(record)) continue;
    if (isReleased(signer, record)) sealedOf.set(record, sealed);
    else if (record.madeIn !== undefined) {
      unseen.set(leafWishKey(record.madeIn), record.madeIn);
      unreleased.push(recordIdOf(record));
    }
  }
  const toSee = [...unseen].flatMap(([wish, leaf]) => (looked.has(wish) ? [] : [leaf]));
  if (toSee.length > 0) throw needsLeaves(toSee);
  if (unreleased.length > 0) verdicts.note("unreleased", false, { ids: unreleased.slice(0, maxVerdictIds) });
  const records = [...sealedOf.keys()];
  /** Rules ask about one key several times, and each time the ids of many would be looked through. */
  const factsAsked = new Map<string, KnownFacts | undefined>();
  const isAbsent = (name: PageName) =>
    !hasPage(state.pages, name) && state.directory.pages.some((page) => page.name === name);

  /** Whoever asks about one record will ask about the others: a hundred pages are fetched at once, not in a hundred rounds. */
  function absentPages(id: string): PageName[] {
    const ids = [id, ...records.flatMap((record) => [recordIdOf(record), ...walletIdOf(record)])];
    return [...new Set(ids.map(keyFactsPageOf))].filter(isAbsent);
  }

  return {
    signing: nodeSigning,
    hpke: nodeHpke as unknown as KeyAccess["hpke"],
    bundleSigner: keyring.bundleSigner,
    notarizer: keyring.notarizer,
    clientSecretKey: keyring.clientSecretKey,
    isServiceKey: (publicKey) =>
      !verdicts.confirm("serviceKey", () => !Object.values(keyring.publicKeys).includes(publicKey)),
    newSessionKey: () => signer.draws.sessionKey(),
    newTargetKey() {
      const drawn = signer.draws.targetKey();
      verdicts.noteTarget(drawn.publicKey);
      return drawn;
    },
    random: (length) => signer.draws.random(length),
    records,
    factsOf(id) {
      if (factsAsked.has(id)) return factsAsked.get(id);
      if (isAbsent(keyFactsPageOf(id))) throw needsPages(absentPages(id));
      const facts = findKeyFacts(state.pages, id);
      factsAsked.set(id, facts);
      return facts;
    },
    open(record) {
      const sealed = sealedOf.get(record);
      if (sealed === undefined) throw new Fault("internal", "this record did not come with its secret");
      return unsealOf(signer, record, sealed);
    },
    blindIndex: (kind, secret, within = organizationId) => keyring.blindIndex(within, kind, secret),
    tag: (kind, secret, within = organizationId) => signer.draws.tag(within, kind, secret),
    findByBlindIndex(kind, blindIndex) {
      const wish: RecordWish = { by: "blindIndex", kind, blindIndex };
      if (!looked.has(wishKey(wish))) throw needsRecords([wish]);
      // Whether one of the kind has this secret is told by opening it, not by the table that found it.
      return records.find((record) => {
        if (record.kind !== kind) return false;
        const secret = unsealOf(signer, record, sealedOf.get(record) ?? new Uint8Array());
        const compared = comparableSecretOf(record, secret);
        const own = keyring.blindIndex(organizationId, kind, compared);
        for (const each of [secret, compared]) each.fill(0);
        return own === blindIndex;
      });
    },
    sealTarget(targetId, privateKey) {
      return Buffer.from(sealer.seal(targetContext(organizationId, targetId), privateKey)).toString("base64");
    },
    openTarget({ targetId, sealed }) {
      const box = Buffer.from(sealed, "base64");
      return sealer.hasKeyOf(box) ? sealer.unseal(targetContext(organizationId, targetId), box) : undefined;
    },
  };
}

/** A record that came with a frame. One of another organization is as authentic as ours, and as little to be decided on as a changed one. */
export function readRecord(signer: Signer, organizationId: string, content: Uint8Array): AnyRecord {
  let record: AnyRecord;
  try {
    record = signer.records.read(content);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw changedRows(organizationId, error.message);
  }
  if (record.organizationId === organizationId) return record;
  throw changedRows(organizationId, "a record belongs to another organization than the body names");
}

/**
 * Whether the activity that made a record was let out. One that was only prepared is no key of the organization, whatever it was shown
 * as. Processes that this memory does not know are other signers', or from before a memory that was lost: those are believed. Its own
 * may have been let out by another host's signer, after a crash of this one: so the leaf is asked for once, and is released here too
 * if it lies on the line.
 */
function isReleased({ memory }: Signer, { madeIn }: KeyRecord): boolean {
  if (madeIn === undefined) return true;
  const boot = fromHex(madeIn.boot);
  return !memory.knowsBoot(boot) || memory.wasReleased(boot, madeIn.number);
}

/** New records with the leaf that they come with. */
export function withLeaves(records: readonly NewRecord[], boot: Uint8Array, number: number): NewRecord[] {
  return records.map((each) => ({ ...each, record: withLeaf(each.record, boot, number) }));
}

function unsealOf(signer: Signer, record: KeyRecord, sealed: Uint8Array): Uint8Array {
  try {
    return openSecret(signer, record, sealed);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw changedRows(record.organizationId, `the sealed secret of ${record.kind} ${recordIdOf(record)} does not open`);
  }
}

/** Opens a record's box. What is inside must be the secret that the record was made with. The caller wipes it. */
export function openSecret({ sealer, draws }: Signer, record: KeyRecord, sealed: Uint8Array): Uint8Array {
  const secret = sealer.unseal(secretContext(record), sealed);
  if (draws.isBound(record, secret)) return secret;
  secret.fill(0);
  throw new Fault("internal", `the sealed secret of ${record.kind} ${recordIdOf(record)} is not the record's own`);
}

/** The secret by which equal keys are found: a wallet's seed, however its words came, and of anything else the secret itself. */
export function comparableSecretOf(record: KeyRecord, secret: Uint8Array): Uint8Array {
  return record.kind === "wallet" ? seedOfWallet(nodeSigning.keys, record.language, secret) : secret;
}

function walletIdOf(record: KeyRecord): string[] {
  return record.kind === "walletAccount" ? [record.walletId] : [];
}

/** The rows of new records: content with its MAC, secrets sealed. The plain secrets are wiped. */
export function sealRecords({ keyring, sealer }: Signer, records: readonly NewRecord[]): Prepared["records"] {
  return records.map(({ record, secret, blindIndex }) => {
    const sealed = sealer.seal(secretContext(record), secret);
    secret.fill(0);
    return { content: keyring.authenticity.mark("record", encodeRecord(record)), sealed, blindIndex };
  });
}

/** The rows of new texts. They are no secrets: they have a MAC, and an empty box. */
export function markTexts({ keyring }: Signer, texts: readonly TextRecord[]): Prepared["records"] {
  return texts.map((record) => ({
    content: keyring.authenticity.mark("record", encodeRecord(record)),
    sealed: new Uint8Array(),
    blindIndex: undefined,
  }));
}

/** A secret opens for its own record only: organization, kind and id are in its key and in what the tag covers. */
export function secretContext(record: KeyRecord): SealContext {
  return {
    purpose: `records.${record.kind}`,
    organizationId: record.organizationId,
    recordId: recordIdOf(record),
  };
}

export function targetContext(organizationId: string, targetId: string): SealContext {
  return { purpose: "importTargets.privateKey", organizationId, recordId: targetId };
}
