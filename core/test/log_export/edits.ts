/** Edits of an export, each with the leaf that whoever checks it must name. */
import { generateKeyPairSync } from "node:crypto";
import { logPaths, logsPath, organizationPaths } from "../../src/log/export/export_files.ts";
import { encodeRecords, type LeafRecord, readRecords } from "../../src/log/export/leaf_record.ts";
import { logOrigin } from "../../src/log/log_name.ts";
import type { Place } from "../../src/log/verify/finding.ts";
import { formatNote, parseNote } from "../../src/tlog/note.ts";
import type { Random } from "../seeded_random.ts";
import { bytesOf } from "./stampers.ts";
import { exportOf, signCheckpoint, signText, type TestDeployment } from "./test_export.ts";

/**
 * `leaf`: it must be named, as far as the place goes. `file`: no leaf can be, but the export is bad. `cut`: the file is bad and no leaf is, and
 * the first leaf behind the cut is named as unchecked. `unchecked`: something is not disclosed.
 */
export type Expected =
  | { kind: "leaf"; place: Place }
  | { kind: "file" }
  | { kind: "cut"; file: string; first: Place | undefined }
  | { kind: "unchecked" };

export type Edit = { name: string; files: Map<string, Uint8Array>; expected: Expected; since?: readonly string[] };

type LeafFileName = { path: string; logId: string; organizationId: string | undefined };
type ReadLeafFile = LeafFileName & { records: readonly LeafRecord[] };

/** An honest export, taken apart. */
export type Base = {
  deployment: TestDeployment;
  files: ReadonlyMap<string, Uint8Array>;
  /** All of them. */
  leafFiles: readonly ReadLeafFile[];
  /** Those with two leaves or more, so that something is left beside the one that is edited. */
  editable: readonly ReadLeafFile[];
};

type OwnFile = ReadLeafFile & { organizationId: string };

export function takeApart(deployment: TestDeployment): Base {
  const files = exportOf(deployment);
  const names = deployment.logs.flatMap(({ logId }): LeafFileName[] => [
    { path: logPaths.operator(logId), logId, organizationId: undefined },
    ...deployment.organizationIds.map((organizationId) => {
      return { path: organizationPaths.leaves(organizationId, logId), logId, organizationId };
    }),
  ]);
  const leafFiles = names.map((name) => {
    const read = [...readRecords(files.get(name.path) ?? new Uint8Array())];
    return { ...name, records: read.flatMap((each) => ("record" in each ? [each.record] : [])) };
  });
  return { deployment, files, leafFiles, editable: leafFiles.filter(({ records }) => records.length > 1) };
}

const ownFiles = ({ editable }: Base): OwnFile[] =>
  editable.filter((file): file is OwnFile => file.organizationId !== undefined);

function withFile({ files }: Base, path: string, content: Uint8Array): Map<string, Uint8Array> {
  return new Map(files).set(path, content);
}

function withRecords(base: Base, path: string, records: readonly LeafRecord[]): Map<string, Uint8Array> {
  return withFile(base, path, encodeRecords(records));
}

/** The place of the leaf at an index of a file of leaves. */
function placeAt({ logId, organizationId }: LeafFileName, index: number): Place {
  return organizationId === undefined ? { logId, ordinal: 0 } : { logId, organizationId, ordinal: index + 1 };
}

function leafAt(file: LeafFileName, index: number): Expected {
  return { kind: "leaf", place: placeAt(file, index) };
}

/** Which record a byte of a file lies in. */
function recordAt(records: readonly LeafRecord[], at: number): number {
  let end = 0;
  return records.findIndex((record) => {
    end += encodeRecords([record]).length;
    return at < end;
  });
}

function flipped(content: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = Uint8Array.from(content);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

/** The first exported leaf of a log from a position on. */
function firstFrom({ leafFiles }: Base, logId: string, from: number): (Place & { position: number }) | undefined {
  let first: (Place & { position: number }) | undefined;
  for (const file of leafFiles) {
    if (file.logId !== logId) continue;
    const index = file.records.findIndex(({ position }) => position >= from);
    const position = file.records[index]?.position;
    if (position === undefined || (first !== undefined && first.position < position)) continue;
    first = { ...placeAt(file, index), position };
  }
  return first;
}

/** Entries of leaves that are not exported belong to nobody here. */
function leafOr(place: Place | undefined): Expected {
  return place === undefined ? { kind: "file" } : { kind: "leaf", place };
}

type Maker = (base: Base, random: Random) => Omit<Edit, "name">;

const makers: Record<string, Maker> = {
  flipInLeaves(base, random) {
    const file = random.pick(base.editable);
    const content = base.files.get(file.path) ?? new Uint8Array();
    const at = random.below(content.length);
    const files = withFile(base, file.path, flipped(content, at, random.below(8)));
    return { files, expected: leafAt(file, recordAt(file.records, at)) };
  },
  flipInEntries(base, random) {
    const { logId } = random.pick(base.deployment.logs);
    const path = logPaths.entries(logId);
    const content = base.files.get(path) ?? new Uint8Array();
    const at = random.below(content.length);
    const files = withFile(base, path, flipped(content, at, random.below(8)));
    const position = Math.floor(at / 32);
    const first = firstFrom(base, logId, position);
    return { files, expected: leafOr(first?.position === position ? first : undefined) };
  },
  flipElsewhere(base, random) {
    const { logId } = random.pick(base.deployment.logs);
    const organizationId = random.pick(base.deployment.organizationIds);
    const path = random.pick([
      logsPath,
      logPaths.checkpoint(logId),
      organizationPaths.statement(organizationId, logId),
    ]);
    const content = base.files.get(path) ?? new Uint8Array();
    const files = withFile(base, path, flipped(content, random.below(content.length), random.below(8)));
    return { files, expected: { kind: "file" } };
  },
  delete(base, random) {
    const file = random.pick(ownFiles(base));
    const index = random.below(file.records.length);
    return { files: withRecords(base, file.path, file.records.toSpliced(index, 1)), expected: leafAt(file, index) };
  },
  deleteStart(base, random) {
    const logIds = base.deployment.logs.map(({ logId }) => logPaths.operator(logId));
    const file = random.pick(base.editable.filter(({ path }) => logIds.includes(path)));
    return { files: withRecords(base, file.path, file.records.slice(0, -1)), expected: { kind: "unchecked" } };
  },
  insert(base, random) {
    const file = random.pick(ownFiles(base));
    const index = random.below(file.records.length);
    const model = random.pick(file.records);
    // As a leaf of its own, with another blind.
    const leaf = Uint8Array.from(model.leaf ?? []);
    leaf.set(bytesOf(random, 16), 25);
    const position = (file.records[index]?.position ?? 0) - random.below(2);
    const record = { ...model, leaf, position, ordinal: random.pick([index + 1, model.ordinal]) };
    return {
      files: withRecords(base, file.path, file.records.toSpliced(index, 0, record)),
      expected: leafAt(file, index),
    };
  },
  swap(base, random) {
    const file = random.pick(ownFiles(base));
    const [one, other] = twoOf(random, file.records.length);
    const records = [...file.records];
    const whole = random.below(2) === 0;
    const [a, b] = [records[one] as LeafRecord, records[other] as LeafRecord];
    // Whole records, or what stands in two places.
    records[one] = whole ? b : { ...a, leaf: b.leaf, bodies: b.bodies };
    records[other] = whole ? a : { ...b, leaf: a.leaf, bodies: a.bodies };
    return { files: withRecords(base, file.path, records), expected: leafAt(file, one) };
  },
  duplicate(base, random) {
    const file = random.pick(ownFiles(base));
    const from = random.below(file.records.length);
    const to = from + 1 + random.below(file.records.length - from);
    const records = file.records.toSpliced(to, 0, file.records[from] as LeafRecord);
    return { files: withRecords(base, file.path, records), expected: leafAt(file, to) };
  },
  truncateLeaves(base, random) {
    const file = random.pick(ownFiles(base));
    const content = base.files.get(file.path) ?? new Uint8Array();
    const at = random.below(content.length);
    return {
      files: withFile(base, file.path, content.slice(0, at)),
      expected: leafAt(file, recordAt(file.records, at)),
    };
  },
  truncateEntries(base, random) {
    const { logId } = random.pick(base.deployment.logs);
    const path = logPaths.entries(logId);
    const content = base.files.get(path) ?? new Uint8Array();
    const at = random.below(content.length);
    const first = firstFrom(base, logId, Math.floor(at / 32));
    return { files: withFile(base, path, content.slice(0, at)), expected: { kind: "cut", file: path, first } };
  },
  /** Other entries from a position on, in a tree that the log's own key has signed. */
  fork(base, random) {
    const { logId, leaves } = random.pick(base.deployment.logs);
    const from = random.below(leaves.length);
    const before = base.files.get(logPaths.entries(logId)) ?? new Uint8Array();
    const entries = leaves.map((_, at) => (at < from ? before.slice(at * 32, at * 32 + 32) : bytesOf(random, 32)));
    const files = withFile(base, logPaths.entries(logId), Buffer.concat(entries));
    files.set(logPaths.checkpoint(logId), signCheckpoint(base.deployment, logId, entries));
    return { files, expected: leafOr(firstFrom(base, logId, from)) };
  },
  /** A whole other history under the same key, which only an older checkpoint shows. */
  forkSince(base, random) {
    const { deployment } = base;
    const at = random.below(deployment.logs.length);
    const log = deployment.logs[at] as TestDeployment["logs"][number];
    const kept = deployment.logs.length > 1 ? log.leaves.slice(0, -1 - random.below(5)) : log.leaves;
    const logs = deployment.logs.with(at, { ...log, leaves: kept });
    const since = Buffer.from(base.files.get(logPaths.checkpoint(log.logId)) ?? []).toString();
    return { files: exportOf({ ...deployment, logs }), expected: { kind: "file" }, since: [since] };
  },
  renumber(base, random) {
    const file = random.pick(ownFiles(base));
    const index = random.below(file.records.length);
    const by = random.pick([1, 2, 5, 1_000]) * random.pick(index > 0 ? [1, -1] : [1]);
    const isAll = random.below(2) === 0;
    const records = file.records.map((record, at) => {
      const isMoved = isAll ? at >= index : at === index;
      return isMoved ? { ...record, ordinal: Math.max(0, record.ordinal + by) } : record;
    });
    return { files: withRecords(base, file.path, records), expected: leafAt(file, index) };
  },
  move(base, random) {
    const file = random.pick(base.editable);
    const index = random.below(file.records.length);
    const records = file.records.map((record, at) =>
      at === index ? { ...record, position: record.position + 1 + random.below(3) } : record,
    );
    return { files: withRecords(base, file.path, records), expected: leafAt(file, index) };
  },
  resign(base, random) {
    const { logId } = random.pick(base.deployment.logs);
    const path = random.pick([
      logPaths.checkpoint(logId),
      organizationPaths.statement(random.pick(base.deployment.organizationIds), logId),
    ]);
    const { text, signatures } = parseNote(Buffer.from(base.files.get(path) ?? []).toString());
    const { privateKey } = generateKeyPairSync("ed25519");
    const forged = signText({ ...base.deployment, privateKey }, logOrigin(base.deployment.deploymentId, logId), text);
    const lines = random.below(2) === 0 ? [forged] : [...signatures, forged];
    return {
      files: withFile(base, path, Buffer.from(formatNote({ text, signatures: lines }))),
      expected: { kind: "file" },
    };
  },
  anothersLeaf(base, random) {
    const file = random.pick(ownFiles(base));
    const others = ownFiles(base).filter(({ path, logId }) => path !== file.path && logId === file.logId);
    if (others.length === 0) return makers.delete?.(base, random) as Omit<Edit, "name">;
    const index = random.below(file.records.length);
    const own = file.records[index] as LeafRecord;
    const foreign = random.pick(random.pick(others).records);
    const record = random.pick([foreign, { ...own, leaf: foreign.leaf, bodies: foreign.bodies }]);
    return { files: withRecords(base, file.path, file.records.with(index, record)), expected: leafAt(file, index) };
  },
  anothersBody(base, random) {
    const file = random.pick(ownFiles(base));
    const index = random.below(file.records.length);
    const own = file.records[index] as LeafRecord;
    const foreign = bytesOf(random, 40);
    const bodies = random.pick([[...own.bodies, foreign], [foreign], [...own.bodies, ...own.bodies.slice(-1)]]);
    return {
      files: withRecords(base, file.path, file.records.with(index, { ...own, bodies })),
      expected: leafAt(file, index),
    };
  },
  extraFile(base, random) {
    const path = random.pick([
      "extra",
      `${base.deployment.logs[0]?.logId}/extra`,
      "README",
      `${base.deployment.organizationIds[0]}/x.leaves`,
    ]);
    return { files: withFile(base, path, new Uint8Array()), expected: { kind: "file" } };
  },
  missingFile(base, random) {
    const files = new Map(base.files);
    files.delete(random.pick([...files.keys()].filter((path) => !path.endsWith(".statement"))));
    return { files, expected: { kind: "file" } };
  },
};

function twoOf(random: Random, length: number): [number, number] {
  const one = random.below(length - 1);
  return [one, one + 1 + random.below(length - one - 1)];
}

export const editNames = Object.keys(makers);

export function editExport(base: Base, name: string, random: Random): Edit {
  const maker = makers[name];
  if (maker === undefined) throw new Error(`there is no edit ${name}`);
  return { name, ...maker(base, random) };
}
