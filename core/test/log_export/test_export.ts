/** Honest exports in tests: a deployment with several organizations and logs, and its signer's key. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { toHex } from "../../src/encoding/hex.ts";
import { uuidFromBytes } from "../../src/encoding/uuid.ts";
import { logPaths, logsPath, organizationPaths } from "../../src/log/export/export_files.ts";
import { encodeRecords, type LeafRecord } from "../../src/log/export/leaf_record.ts";
import { logOrigin, logVkey } from "../../src/log/log_name.ts";
import { formatLogStatement } from "../../src/log/statement.ts";
import type { LogKey } from "../../src/log/verify/log_key.ts";
import { formatCheckpoint } from "../../src/tlog/checkpoint.ts";
import { entryOf } from "../../src/tlog/entry.ts";
import { formatNote, type NoteSignature, signNote } from "../../src/tlog/note.ts";
import { rootOf } from "../../src/tlog/tree.ts";
import { type Random, seededRandom } from "../seeded_random.ts";
import { sha256 } from "../webauthn/authenticator.ts";
import { actIn, bear, createOrganization, type MadeLeaf, type Scene, type TestOrganization } from "./histories.ts";
import { booted, databaseAccepted, firstBirth, logOpened } from "./operator_leaves.ts";
import { bytesOf, type StampKind } from "./stampers.ts";

/** A log as its signer has it: leaves in the order of positions. */
export type TestLogs = {
  logId: string;
  previous?: { logId: string; size: number; root: string };
  leaves: MadeLeaf[];
}[];

export type TestDeployment = {
  key: LogKey;
  privateKey: KeyObject;
  deploymentId: string;
  logs: TestLogs;
  /** Those that are exported. */
  organizationIds: readonly string[];
  nowMs: number;
};

export type MakeOptions = {
  seed: number;
  /** About as many, of all organizations. */
  leaves: number;
  /** Stamps of the first exported organization. */
  kinds?: readonly StampKind[];
  /** Export the first organization, too. */
  withFirst?: boolean;
};

const hash = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());

export type SmallWorld = { scene: Scene; first: TestOrganization; own: TestOrganization; leaves: MadeLeaf[] };

/** One log and one organization, whose leaves `fill` adds. */
export function makeSmall(fill: (world: SmallWorld) => void, kinds?: readonly StampKind[]): TestDeployment {
  const random = seededRandom(1);
  const scene: Scene = { random, clock: { nowMs: 1_700_000_000_000 }, boot: bytesOf(random, 16), number: 0 };
  const first = createOrganization(random);
  const own = createOrganization(random, first, kinds);
  const logId = bytesOf(random, 16);
  const leaves = [
    firstBirth(scene, first, { logId, previous: undefined }),
    booted(scene, first),
    ...bear(scene, first, own),
  ];
  fill({ scene, first, own, leaves });
  return deploymentOf(scene, [{ logId: toHex(logId), leaves }], [own]);
}

function deploymentOf({ random, clock }: Scene, logs: TestLogs, exported: readonly TestOrganization[]): TestDeployment {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = Uint8Array.from(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"));
  const deploymentId = uuidFromBytes(bytesOf(random, 16));
  return {
    key: { publicKey: raw, deploymentId },
    ...{ privateKey, deploymentId, logs },
    organizationIds: exported.map(({ uuid }) => uuid).sort(),
    nowMs: clock.nowMs,
  };
}

/** Two hosts, a third log after a restore, a parent and a child that are exported, and others that are not. */
export function makeDeployment({ seed, leaves, kinds, withFirst = false }: MakeOptions): TestDeployment {
  const random = seededRandom(seed);
  const scene: Scene = { random, clock: { nowMs: 1_700_000_000_000 }, boot: bytesOf(random, 16), number: 0 };
  const first = createOrganization(random);
  const parent = createOrganization(random, first, kinds);
  const child = createOrganization(random, parent);
  const stranger = createOrganization(random, first);
  const ids = [0, 1, 2].map(() => bytesOf(random, 16));
  const [one, two, three] = ids.map((id) => ({ logId: toHex(id), leaves: [] as MadeLeaf[] })) as [
    TestLogs[0],
    TestLogs[0],
    TestLogs[0],
  ];
  const idOf = (at: number): Uint8Array => ids[at] ?? new Uint8Array();
  one.leaves.push(firstBirth(scene, first, { logId: idOf(0), previous: undefined }), booted(scene, first));
  release(
    [...bear(scene, first, parent), ...bear(scene, first, stranger), ...bear(scene, parent, child)],
    [one],
    random,
  );
  two.leaves.push(logOpened(scene, first, { logId: idOf(1), previous: undefined }), booted(scene, first));
  const organizations = [parent, parent, parent, child, child, stranger, first];
  act(scene, organizations, [one, two], leaves * 0.8);
  const head = { size: one.leaves.length, root: rootOf(entriesOf(one), hash) };
  three.previous = { logId: one.logId, size: head.size, root: toHex(head.root) };
  three.leaves.push(logOpened(scene, first, { logId: idOf(2), previous: { logId: idOf(0), ...head } }));
  three.leaves.push(databaseAccepted(scene, first), booted(scene, first));
  act(scene, organizations, [two, three], leaves * 0.2);
  return deploymentOf(scene, [one, two, three], [...(withFirst ? [first] : []), parent, child]);
}

function act(scene: Scene, organizations: readonly TestOrganization[], logs: TestLogs, count: number): void {
  const batch: MadeLeaf[] = [];
  while (batch.length < count) batch.push(...actIn(scene, scene.random.pick(organizations)));
  release(batch, logs, scene.random);
}

/** Not quite in the order in which they were prepared, each in one log, and a few in two. */
function release(leaves: readonly MadeLeaf[], logs: TestLogs, random: Random): void {
  const waiting = [...leaves];
  while (waiting.length > 0) {
    const [leaf] = waiting.splice(random.below(Math.min(3, waiting.length)), 1);
    if (leaf === undefined) return;
    const log = random.pick(logs);
    log.leaves.push(leaf);
    if (random.below(50) > 0) continue;
    for (const other of logs) if (other !== log) other.leaves.push(leaf);
  }
}

/** The ordinals of a log's leaves. */
export function ordinalsOf({ leaves }: TestLogs[0]): number[] {
  const counts = new Map<string, number>();
  return leaves.map(({ organizationId, isOperators }) => {
    if (isOperators) return 0;
    const ordinal = (counts.get(organizationId) ?? 0) + 1;
    counts.set(organizationId, ordinal);
    return ordinal;
  });
}

export function entriesOf(log: TestLogs[0]): Uint8Array[] {
  const ordinals = ordinalsOf(log);
  return log.leaves.map(({ leaf }, position) => entryOf(hash(leaf), ordinals[position] ?? 0, hash));
}

export function signText(
  { privateKey, key: { publicKey } }: Pick<TestDeployment, "privateKey" | "key">,
  name: string,
  text: string,
): NoteSignature {
  return signNote(text, { name, publicKey }, (message) => new Uint8Array(sign(null, message, privateKey)));
}

/** The signed checkpoint over entries, and any further signatures. */
export function signCheckpoint(
  deployment: TestDeployment,
  logId: string,
  entries: readonly Uint8Array[],
  cosign: (text: string) => readonly NoteSignature[] = () => [],
): Uint8Array {
  const origin = logOrigin(deployment.deploymentId, logId);
  const text = formatCheckpoint({ origin, size: entries.length, root: rootOf(entries, hash) });
  return Buffer.from(formatNote({ text, signatures: [signText(deployment, origin, text), ...cosign(text)] }));
}

export function logsPage(logs: TestLogs): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      format: 1,
      logs: logs.map(({ logId, previous }) => ({ logId, openedAtMs: 1, ...(previous && { previous }) })),
    }),
  );
}

/** What an honest server gives out of it. */
export function exportOf(
  deployment: TestDeployment,
  cosign?: (text: string) => readonly NoteSignature[],
): Map<string, Uint8Array> {
  const { logs, organizationIds, deploymentId, nowMs, key } = deployment;
  const files = new Map<string, Uint8Array>([[logsPath, logsPage(logs)]]);
  const digest = toHex(sha256(logsPage(logs)));
  for (const log of logs) {
    const { logId, leaves } = log;
    const ordinals = ordinalsOf(log);
    const entries = entriesOf(log);
    const recordsOf = (isOwn: (leaf: MadeLeaf) => boolean): LeafRecord[] =>
      leaves.flatMap((each, position) =>
        isOwn(each) ? [{ position, ordinal: ordinals[position] ?? 0, leaf: each.leaf, bodies: each.bodies }] : [],
      );
    files.set(logPaths.checkpoint(logId), signCheckpoint(deployment, logId, entries, cosign));
    files.set(logPaths.entries(logId), Buffer.concat(entries));
    files.set(logPaths.operator(logId), encodeRecords(recordsOf(({ isOperators }) => isOperators)));
    for (const id of organizationIds) {
      const own = recordsOf(({ organizationId, isOperators }) => !isOperators && organizationId === id);
      const text = formatLogStatement({
        organizationId: id,
        ...{ logId, timeMs: nowMs, logs: digest },
        count: own.length,
        size: leaves.length,
      });
      const { name } = logVkey(deploymentId, logId, key.publicKey);
      files.set(
        organizationPaths.statement(id, logId),
        Buffer.from(formatNote({ text, signatures: [signText(deployment, name, text)] })),
      );
      files.set(organizationPaths.leaves(id, logId), encodeRecords(own));
    }
  }
  return files;
}
