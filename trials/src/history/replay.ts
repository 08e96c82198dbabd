/**
 * Executes every organization's log anew, act by act, with the signer's own code: the same stamps over the same bytes, at the
 * time the leaf names, on the state that the act before led to. Each must come to the same decision and the same state, byte for
 * byte up to the last header; and what the database holds in the end must be that state, and tables that show it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { decodeIssuerKey } from "@keystead/core/log/outside_values.ts";
import { makeStatement, type StatementMac } from "@keystead/core/oidc/issuer_statement.ts";
import { readBody, readEnvelope } from "@keystead/server/endpoints/envelope.ts";
import { protocolVersion } from "@keystead/server/frames/frame.ts";
import type { OfferedState, Prepared, Request, StoredRecord } from "@keystead/server/frames/messages.ts";
import { activityForms } from "@keystead/server/generated/activities.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { createOperations, type Operations } from "@keystead/server/signer/operations.ts";
import { type Draws, newTargetKey } from "@keystead/server/signer/secrets/draws.ts";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import { createSealer, type Sealer } from "@keystead/server/signer/secrets/seal.ts";
import { createVerdicts } from "@keystead/server/signer/secrets/verdicts.ts";
import { type Authenticity, withoutMac } from "@keystead/server/state/authenticity.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import type { Drawn, MadeRecord } from "@keystead/server/state/drawn.ts";
import { attemptKey } from "@keystead/server/state/record_wish.ts";
import {
  decodeRecord,
  encodeRecord,
  isKeyRecord,
  type KeyRecord,
  recordIdOf,
  withLeaf,
} from "@keystead/server/state/records.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { type ActivityRow, type Entry, type OrganizationLog, readLog } from "./log.ts";
import { compareProjection } from "./projection.ts";

export type Replay = {
  organizations: number;
  /** Acts that were executed anew. */
  acts: number;
  /** Organizations with imports: their states hold keys that nobody can make again. Only their leaves are counted. */
  skipped: number;
  /** Each names the organization and the act. */
  differences: string[];
};

/** A state as it is stored and offered. */
type State = { version: number; header: Uint8Array; directory: Uint8Array; pages: Map<string, Uint8Array> };

/** One organization that is built anew. */
type Site = {
  state: State | undefined;
  isAtHand: boolean;
  records: StoredRecord[];
  /** What the database holds of keys that are there. */
  stored: ReadonlyMap<string, Uint8Array>;
  executed: Uint8Array[];
};

const maxDifferences = 20;

/** A deployment whose servers have stopped, and the limits it ran under. */
export type Stopped = { source: StoreSource; rootKey: Uint8Array; limits: Readonly<Record<string, number>> };

/** All sub-organizations of the first organization, which itself must be as it was born. */
export async function replay({ source, rootKey, limits }: Stopped): Promise<Replay> {
  const store = await openStore(source);
  const folder = mkdtempSync(join(tmpdir(), "keystead-replay-"));
  const memory = openMemory(folder, rootKey);
  try {
    const { keyring } = await store.db.selectFrom("deployment").select("keyring").executeTakeFirstOrThrow();
    const clock = { nowMs: 0 };
    const told = createTold();
    const birth = { organizationId: "", organizationName: "", userId: "", userName: "", apiPublicKey: "" };
    const orders = { adoptUnknown: true, acceptDatabase: false, reseal: false, vouch: false, limits, birth };
    const operations = createOperations(
      { current: rootKey },
      memory,
      orders,
      () => clock.nowMs,
      () => undefined,
      () => undefined,
      () => told.draws,
    );
    operations.hello({ protocol: protocolVersion, keyring });
    // Organizations are taken one after the other, each from its own beginning: no code is older than this memory.
    memory.codes.begin(1);
    const { authenticity, statementMac } = openKeyring(rootKey, 1, keyring);
    const sealer = createSealer(rootKey, 1);
    return await replayAll(store, { operations, clock, authenticity, statementMac, sealer, tell: told.tell });
  } finally {
    memory.close();
    rmSync(folder, { recursive: true });
    await closeStore(store);
  }
}

type Workshop = {
  operations: Operations;
  clock: { nowMs: number };
  authenticity: Authenticity;
  statementMac: StatementMac;
  sealer: Sealer;
  /** Says what was drawn when this act was executed first. */
  tell(entry: Entry): void;
};

/**
 * What the log tells of each act's draws: tags and digests of the records that it made, and the digest of its outcome. The secrets
 * behind them are drawn anew, and are nobody's.
 */
function createTold(): { draws: Draws; tell(entry: Entry): void } {
  let tags: string[] = [];
  let drawn: Drawn | undefined;
  let sessionKey: Uint8Array = new Uint8Array(33);
  return {
    tell({ leaf, made, activity }) {
      tags = made.filter(({ kind }) => kind !== "contractInterface").map(({ tag }) => toHex(tag));
      drawn = { outcome: leaf.outcome, records: made };
      sessionKey = publicKeyIn(activity);
    },
    draws: {
      tag: () => tags.shift() ?? "00".repeat(32),
      isBound: () => true,
      sessionKey: () => ({ publicKey: sessionKey, privateKey: new Uint8Array(32).fill(1) }),
      drawn: (own) => drawn ?? own,
      targetKey: newTargetKey,
      pageDigest: (_, content) => sha256(content),
      verdicts: createVerdicts,
    },
  };
}

/** The public half of a session's key, which its activity keeps with the result. */
function publicKeyIn(activity: ActivityRow | undefined): Uint8Array {
  const { publicKey = "" } = JSON.parse(activity?.result ?? "{}") as { publicKey?: string };
  return Uint8Array.from(Buffer.from(publicKey, "hex"));
}

async function replayAll(store: Store, workshop: Workshop): Promise<Replay> {
  const rows = await store.db.selectFrom("organizations").select(["organization_id", "parent_id"]).execute();
  const top = rows.find(({ parent_id }) => parent_id === null);
  if (top === undefined) throw new Error("there is no first organization");
  const found: Replay = { organizations: 0, acts: 0, skipped: 0, differences: [] };
  const parent = await readLog(store, top.organization_id, undefined, workshop.sealer);
  if (parent.organization.version !== 1)
    throw new Error("the first organization was changed: nothing tells how it was born");
  for (const { organization_id: organizationId, parent_id } of rows) {
    if (parent_id === null) continue;
    const log = await readLog(store, organizationId, parent.activities, workshop.sealer);
    const differences = checkLeaves(log);
    if (log.entries.some(isImport)) found.skipped += 1;
    else {
      differences.push(...(await replayOne(store, workshop, parent, log)));
      found.organizations += 1;
      found.acts += log.entries.length;
    }
    for (const difference of differences) found.differences.push(`organization ${organizationId}: ${difference}`);
    // One broken thing tends to break all that follows.
    if (found.differences.length >= maxDifferences) break;
  }
  return found;
}

function isImport({ leaf }: Entry): boolean {
  return leaf.activityType.includes("_INIT_IMPORT_");
}

async function replayOne(
  store: Store,
  workshop: Workshop,
  parent: OrganizationLog,
  log: OrganizationLog,
): Promise<string[]> {
  const found: string[] = [];
  const site: Site = { state: undefined, isAtHand: false, records: [], stored: log.records, executed: [] };
  for (const entry of log.entries) {
    const name = `${entry.leaf.event} ${entry.leaf.activityType} ${uuidFromBytes(entry.leaf.activityId)}`;
    try {
      found.push(...redo(workshop, parent, site, entry).map((difference) => `${name}: ${difference}`));
    } catch (error) {
      found.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    // From here on it is another organization.
    if (found.length > 0) return found;
  }
  const { state } = site;
  if (state === undefined) return ["it was never born"];
  if (!equal(state.header, log.organization.header))
    found.push("the database holds another header than the replay leads to");
  if (!equal(state.directory, log.organization.directory)) found.push("the database holds another directory");
  for (const name of new Set([...state.pages.keys(), ...log.pages.keys()])) {
    if (!equal(state.pages.get(name), log.pages.get(name))) found.push(`the database holds another page \`${name}\``);
  }
  const records = site.records.map(({ content }) => decodeRecord(withoutMac(content)) as KeyRecord);
  return [...found, ...(await compareProjection(store, log, state.pages, records))];
}

/** Executes one act and says in what it differs. */
function redo(workshop: Workshop, parent: OrganizationLog, site: Site, entry: Entry): string[] {
  workshop.clock.nowMs = entry.leaf.timeMs;
  workshop.tell(entry);
  if (entry.leaf.event === "BIRTH") {
    const activity = parent.activities.get(uuidFromBytes(entry.leaf.activityId));
    if (activity === undefined) return ["no activity of the parent brought it into the world"];
    const above = { state: stateOf(parent), isAtHand: false, records: [], stored: parent.records, executed: [] };
    const [, born] = ask(workshop, parent, above, entry, activity);
    if (born === undefined) return ["nothing is born"];
    return take(workshop, site, entry, born, activity);
  }
  if (entry.activity === undefined) return ["its activity is not in the database"];
  const [own] = ask(workshop, parent, site, entry, entry.activity);
  if (own === undefined) return ["the signer prepared nothing"];
  return take(workshop, site, entry, own, entry.activity);
}

/** What the signer makes of the stamped bytes. Whatever it misses it gets, as from a gateway. */
function ask(
  { operations, statementMac }: Workshop,
  parent: OrganizationLog,
  site: Site,
  entry: Entry,
  activity: ActivityRow,
): readonly Prepared[] {
  const { stamped } = entry;
  if (stamped === undefined) throw new Error("its stamp is not in the database");
  const { evidence, body } = stamped;
  const isVote = toHex(entry.leaf.fingerprint) !== toHex(entry.leaf.evidence[0]?.body ?? new Uint8Array());
  const request: Omit<Request<"prepare">, "state" | "journal" | "others" | "wishes" | "statements"> = {
    body,
    evidence,
    subOrganizationId: runsBelow(body, entry) ? uuidFromBytes(entry.leaf.organizationId) : undefined,
    target: isVote ? activity.body : undefined,
    records: wishesFor(activity) ? site.records : [],
    pages: [],
  };
  let journal: Uint8Array | undefined;
  let others: Request<"prepare">["others"] = [];
  const wishes: string[] = [];
  let statements: Request<"prepare">["statements"] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    const state = site.isAtHand && journal === undefined ? undefined : offer(site.state);
    const reply = operations.prepare({ ...request, state, journal, others, wishes, statements });
    if (reply.kind === "prepared") return reply.value;
    site.isAtHand = false;
    // Passkeys are bound by the parent's origins too. The parent is as it was born.
    if (reply.value.some(({ kind }) => kind === "otherState")) others = [offer(stateOf(parent))];
    // The journal of a minute is among all that was executed; the signer believes exactly what runs up to its digest.
    for (const wish of reply.value) if (wish.kind === "journal") journal = journalOf(site, wish.value.slot);
    // The leaf names each key that was looked at.
    if (reply.value.some(({ kind }) => kind === "issuer")) statements = statementsOf(statementMac, entry.leaf);
    // It was among the three then, so it is now.
    for (const wish of reply.value) if (wish.kind === "attempt") wishes.push(attemptKey(wish.value.otpId));
  }
  throw new Error("the signer misses something that the log does not have");
}

/** What the courier said then, as far as it decided anything: of each issuer the keys that the leaf names. */
function statementsOf(mac: StatementMac, { outside }: Leaf): Uint8Array[] {
  const taken = outside.flatMap(({ kind, value }) =>
    kind === "issuerKey" && value.kind === "bytes" ? [decodeIssuerKey(value.value)] : [],
  );
  const byIssuer = Map.groupBy(taken, ({ issuer }) => issuer);
  return [...byIssuer].map(([issuer, of]) => {
    const keys = `{"keys":[${of.map(({ key }) => key).join()}]}`;
    return makeStatement(mac, { issuer, keys, fetchedAtMs: of[0]?.fetchedAtMs ?? 0 });
  });
}

/** Of a sign-in that names the parent. A birth is its parent's act. */
function runsBelow(body: Uint8Array, { leaf }: Entry): boolean {
  const { organizationId } = readEnvelope(readBody(body));
  return leaf.event !== "BIRTH" && organizationId !== uuidFromBytes(leaf.organizationId);
}

function offer(state: State | undefined): OfferedState {
  if (state === undefined) throw new Error("it acts before it is born");
  const pages = [...state.pages].map(([name, content]) => ({ name, content }));
  return { header: state.header, directory: state.directory, pages, links: [] };
}

const slotMs = 60_000;

function journalOf({ executed }: Site, slot: number): Uint8Array {
  const own = executed.filter((body) => Math.floor(readEnvelope(readBody(body)).timestampMs / slotMs) === slot);
  return Buffer.concat(own.map((body) => Buffer.from(fingerprints.get(body) ?? "", "hex")));
}

const fingerprints = new WeakMap<Uint8Array, string>();

function wishesFor({ type, body }: ActivityRow): boolean {
  const form = activityForms.get(type);
  if (form?.activity.records === undefined) return false;
  return form.activity.records(form.translate(readEnvelope(readBody(body)).parameters) as never).length > 0;
}

function stateOf({ organization, pages }: OrganizationLog): State {
  const { version, header, directory } = organization;
  return { version, header, directory, pages };
}

/** Moves on to the state that the act leads to, and says in what it is not the one that was committed. */
function take(workshop: Workshop, site: Site, entry: Entry, prepared: Prepared, activity: ActivityRow): string[] {
  const found = compareLeaves(entry, prepared, activity);
  const { next } = prepared;
  if (next?.version !== entry.version) found.push(`led to version ${entry.version}, and now to ${next?.version}`);
  if (!equal(next?.header, entry.header)) found.push("leads to another state");
  if (next !== undefined) {
    const pages = new Map(site.state?.pages);
    for (const { name, content } of next.pages) pages.set(name, content);
    site.state = { version: next.version, header: next.header, directory: next.directory, pages };
    site.isAtHand = entry.leaf.event !== "BIRTH";
    if (prepared.activity?.slot !== undefined) {
      fingerprints.set(activity.body, activity.fingerprint);
      site.executed.push(activity.body);
    }
  }
  for (const { content } of prepared.codes) site.records.push({ content, sealed: new Uint8Array() });
  for (const [index, made] of asTheyWere(workshop, prepared.records, activity, entry).entries()) {
    const stored = site.stored.get(idOf(made));
    if (stored !== undefined) found.push(...compareRecords(stored, made, entry.made[index]));
    site.records.push({ ...made, content: stored ?? made.content });
  }
  return found;
}

/** Results that hold what is drawn at random, or signed with a key that was. */
const unrepeatable = /WALLET|PRIVATE_KEYS|SUB_ORGANIZATION|SIGN_|EXPORT|LOGIN|READ_WRITE_SESSION|OTP|EMAIL_AUTH|OAUTH$/;

function compareLeaves(entry: Entry, prepared: Prepared, activity: ActivityRow): string[] {
  const found: string[] = [];
  const [was, is] = [entry.leaf, decodeLeaf(Uint8Array.from(withoutMac(prepared.leaf)))];
  for (const field of ["event", "grounds", "activityType", "timeMs"] as const) {
    if (was[field] !== is[field]) found.push(`${field} was ${was[field]}, and now is ${is[field]}`);
  }
  for (const field of ["activityId", "fingerprint"] as const) {
    if (!equal(was[field], is[field])) found.push(`another ${field}`);
  }
  if (!isDeepStrictEqual(was.outside, is.outside)) found.push("took other values from outside than now");
  if (!isDeepStrictEqual(was.states, is.states)) found.push("was decided on other states than now");
  if (!isDeepStrictEqual(was.evidence, is.evidence)) found.push("was asked for by other evidence than now");
  const isRandom = was.event === "COMPLETED" && unrepeatable.test(was.activityType);
  if (!isRandom && !equal(was.outcome, outcomeAs(was, is, prepared.activity?.result))) {
    found.push(
      `came to ${activity.result ?? activity.failure}, and now to ${prepared.activity?.result ?? prepared.activity?.failure}`,
    );
  }
  return found;
}

/** A result that names its own leaf names another one now. */
function outcomeAs(was: Leaf, is: Leaf, result: string | undefined): Uint8Array {
  const { leaf, ...others } = JSON.parse(result ?? "{}");
  if (leaf === undefined) return is.outcome;
  return sha256(JSON.stringify({ ...others, leaf: { boot: toHex(was.boot), number: was.number } }));
}

function idOf({ content }: StoredRecord): string {
  const record = decodeRecord(withoutMac(content));
  return isKeyRecord(record) ? recordIdOf(record) : "";
}

/** A key's record as it is stored, against the one made now, whose public key is another secret's. */
function compareRecords(stored: Uint8Array, made: StoredRecord, told: MadeRecord | undefined): string[] {
  const content = withoutMac(stored);
  if (!equal(told?.digest, sha256(content))) return ["a record that is there is not the one that its leaf tells of"];
  const [was, is] = [decodeRecord(content), decodeRecord(withoutMac(made.content))].map((record) => {
    return { ...record, publicKey: "" };
  });
  return isDeepStrictEqual(was, is) ? [] : [`made ${JSON.stringify(was)}, and now ${JSON.stringify(is)}`];
}

/** The records of keys, with the addresses that they had: their secrets are drawn anew, and sign nothing that anybody compares. */
function asTheyWere(
  { authenticity }: Workshop,
  records: Prepared["records"],
  activity: ActivityRow,
  { leaf }: Entry,
): StoredRecord[] {
  const addresses = addressesIn(JSON.parse(activity.result ?? "{}"));
  return records.map(({ content, sealed }) => {
    const record = decodeRecord(withoutMac(content));
    if (record.kind === "walletAccount") record.address = addresses.shift() ?? "";
    if (record.kind === "privateKey") {
      record.addresses = record.addresses.map(({ format }) => ({ format, address: addresses.shift() ?? "" }));
    }
    const told = isKeyRecord(record) ? withLeaf(record, leaf.boot, leaf.number) : record;
    return { content: authenticity.mark("record", encodeRecord(told)), sealed };
  });
}

type Made = { addresses?: (string | { address: string })[]; wallet?: Made; privateKeys?: Made[] };

/** In the order in which they were asked for, which is that of the records. */
function addressesIn({ addresses = [], wallet, privateKeys = [] }: Made): string[] {
  const own = addresses.map((each) => (typeof each === "string" ? each : each.address));
  return [...own, ...(wallet === undefined ? [] : addressesIn(wallet)), ...privateKeys.flatMap(addressesIn)];
}

function equal(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
}

/** One leaf per terminal activity, one per waiting submission and vote; each version once; everything released. */
function checkLeaves({ entries, activities, votes, organization, unreleased }: OrganizationLog): string[] {
  const found: string[] = [];
  const versions = entries.flatMap(({ version }) => version ?? []);
  if (versions.some((version, index) => version !== index + 1)) found.push(`its versions are ${versions.join(" ")}`);
  if (organization.version !== versions.length)
    found.push(`it stands at ${organization.version} of ${versions.length}`);
  if (unreleased > 0) found.push(`${unreleased} leaves are not marked as released`);
  const leaves = Map.groupBy(entries, ({ activity }) => activity?.activity_id);
  const later = Map.groupBy(votes, ({ activity_id }: Tables["votes"]) => activity_id);
  for (const [activityId, { status }] of activities) {
    const events = (leaves.get(activityId) ?? []).map(({ leaf }) => leaf.event);
    const [last, ...before] = events.reverse();
    const waits = status === "ACTIVITY_STATUS_CONSENSUS_NEEDED";
    const isEnded = waits ? last === "SUBMITTED" || last === "VOTED" : `ACTIVITY_STATUS_${last}` === status;
    const isWaited = before.every((event, index) => event === (index === before.length - 1 ? "SUBMITTED" : "VOTED"));
    const isCounted = events.length === 1 + (later.get(activityId)?.length ?? 0);
    if (!isEnded || !isWaited || !isCounted)
      found.push(`activity ${activityId} is ${status}, with leaves ${events.reverse()}`);
  }
  return found;
}
