import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeVerifierCurves } from "../../../../server/src/curves/node_verifier_curves.ts";
import {
  type Act,
  actIn,
  actLeaf,
  type MadeLeaf,
  made,
  newActivity,
  newLeaf,
  nextHeader,
  type TestOrganization,
  vote,
} from "../../../test/log_export/histories.ts";
import { databaseAccepted } from "../../../test/log_export/operator_leaves.ts";
import { type StampKind, stampKinds } from "../../../test/log_export/stampers.ts";
import {
  entriesOf,
  exportOf,
  makeDeployment,
  makeSmall,
  type SmallWorld,
  signCheckpoint,
  type TestDeployment,
} from "../../../test/log_export/test_export.ts";
import { keyOf } from "../../../test/tlog/note_keys.ts";
import { cosign } from "../../tlog/cosignature.ts";
import { keyTypes } from "../../tlog/note.ts";
import { encodeVkey, parseVkey } from "../../tlog/vkey.ts";
import { logPaths, organizationPaths } from "../export/export_files.ts";
import { encodeRecords, type LeafRecord, readRecords } from "../export/leaf_record.ts";
import { decodeLeaf, encodeLeaf, type NewLeaf } from "../leaf.ts";
import { logOrigin } from "../log_name.ts";
import { placeText, type Report } from "./finding.ts";
import { parseLogKey } from "./log_key.ts";
import { createVerifier, type VerifyOptions } from "./verify_export.ts";

function verify(
  deployment: TestDeployment,
  files = exportOf(deployment),
  options: Partial<VerifyOptions> = {},
): Report {
  return createVerifier(nodeVerifierCurves).verify(files, { key: deployment.key, ...options });
}

/** Findings as a reader sees them, without ids. */
function said({ findings }: Report): string[] {
  return findings.map(({ kind, place, what }) => {
    const { position, ordinal } = place;
    const at = [position !== undefined && `position ${position}`, ordinal !== undefined && `leaf ${ordinal}`];
    return [kind, ...at.filter((part) => part !== false), what].join(": ");
  });
}

/** The last leaf of a small world, written anew. */
function change(
  { leaves }: SmallWorld,
  edit: (leaf: NewLeaf) => Partial<NewLeaf>,
  bodies = leaves.at(-1)?.bodies ?? [],
): void {
  const last = leaves.pop() as MadeLeaf;
  const leaf = decodeLeaf(last.leaf) as NewLeaf;
  leaves.push({ ...last, leaf: encodeLeaf({ ...leaf, ...edit(leaf) }), bodies });
}

const run: Omit<Act, "user" | "stamped"> = {
  event: "COMPLETED",
  grounds: "POLICY",
  changes: false,
  result: { ok: true },
};

function act({ scene, own, leaves }: SmallWorld, more: Partial<Act> = {}, activity = newActivity(scene, own)) {
  const user = own.users[0];
  if (user === undefined) throw new Error("no user");
  leaves.push(actLeaf(scene, own, activity, { ...run, user, stamped: activity.body, ...more }));
  return activity;
}

test("an honest export of several organizations and logs is good", () => {
  const deployment = makeDeployment({ seed: 1, leaves: 200 });
  const report = verify(deployment);
  assert.deepEqual(report.findings, []);
  assert.equal(report.verdict, "good");
  const { logs, organizations, leaves, stamps } = report.counts;
  assert.deepEqual([logs, organizations, leaves - stamps], [3, 2, 6], "all but the acts of the operator have stamps");
});

test("the key may be the vkey of any log of the deployment, or its public key alone, and no other key will do", () => {
  const deployment = makeDeployment({ seed: 2, leaves: 20 });
  const { publicKey } = deployment.key;
  const name = logOrigin(deployment.deploymentId, "ab".repeat(16));
  for (const text of [encodeVkey(name, publicKey), Buffer.from(publicKey).toString("hex")]) {
    assert.equal(verify(deployment, exportOf(deployment), { key: parseLogKey(text) }).verdict, "good");
  }
  const other = makeDeployment({ seed: 3, leaves: 20 });
  const report = verify(deployment, exportOf(deployment), {
    key: { ...deployment.key, publicKey: other.key.publicKey },
  });
  assert.equal(report.verdict, "bad");
  assert.equal(report.findings[0]?.what, "no signature by a known key");
  const foreign = verify(deployment, exportOf(deployment), { key: { publicKey, deploymentId: other.deploymentId } });
  assert.equal(foreign.verdict, "bad");
});

for (const kind of stampKinds) {
  test(`a stamp of kind ${kind} is verified: over another body it is bad, whoever signs the tree`, () => {
    const kinds: StampKind[] = [kind, "p256", "p256"];
    const good = makeSmall((world) => void act(world), kinds);
    assert.deepEqual(said(verify(good)), []);
    const bad = makeSmall((world) => {
      act(world);
      const signed = decodeLeaf((world.leaves.at(-1) as MadeLeaf).leaf).evidence[0];
      act(world);
      change(world, ({ evidence: [own] }) => ({
        evidence: own && signed ? [{ ...own, content: signed.content }] : [],
      }));
    }, kinds);
    const why = kind === "es256" || kind === "rs256" ? "the passkey signed another body" : "the stamp does not verify";
    assert.deepEqual(said(verify(bad)), [`bad: position 5: leaf 3: ${why}`]);
  });
}

test("a token that is not disclosed leaves its stamp unchecked, and a bad stamp beside it bad", () => {
  const kinds: StampKind[] = ["attested", "p256", "p256"];
  const report = verify(makeSmall((world) => void act(world), kinds));
  assert.deepEqual(said(report), ["unchecked: position 4: leaf 2: undisclosed: token"]);
  assert.equal(report.verdict, "unchecked");
  const bad = makeSmall((world) => {
    act(world);
    change(world, ({ evidence: [own] }) => {
      if (own?.content.kind !== "attested") throw new Error("not attested");
      const value = { ...own.content.value, signature: new Uint8Array(64).fill(1) };
      return { evidence: [{ ...own, content: { kind: "attested", value } }] };
    });
  }, kinds);
  assert.deepEqual(said(verify(bad)), ["bad: position 4: leaf 2: the stamp does not verify"]);
});

test("what came through the auth proxy has no stamp, and its grounds say so", () => {
  const kinds: StampKind[] = ["authProxy", "p256", "p256"];
  assert.deepEqual(said(verify(makeSmall((world) => void act(world, { grounds: "AUTH_PROXY" }), kinds))), []);
  const stampless = makeSmall((world) => void act(world, { grounds: "POLICY" }), kinds);
  assert.deepEqual(said(verify(stampless)), ["bad: position 4: leaf 2: the grounds POLICY do not fit the evidence"]);
  const stamped = makeSmall((world) => void act(world, { grounds: "AUTH_PROXY" }));
  assert.deepEqual(said(verify(stamped)), ["bad: position 4: leaf 2: the grounds AUTH_PROXY do not fit the evidence"]);
});

test("an act that nobody stamped is bad, unless it is the operator's", () => {
  const bad = makeSmall((world) => {
    act(world);
    change(world, () => ({ evidence: [] }), []);
  });
  assert.deepEqual(said(verify(bad)), ["bad: position 4: leaf 2: COMPLETED without evidence"]);
});

/** A submission by the first user, and votes of the second. */
function voted(world: SmallWorld, selections: readonly { user: number; afterMs: number }[], accept = false): void {
  const { scene, own, leaves, first } = world;
  const activity = act(world, { event: "SUBMITTED", grounds: "NONE", changes: true, result: undefined });
  for (const { user, afterMs } of selections) {
    scene.clock.nowMs += afterMs;
    if (accept) leaves.push(databaseAccepted(scene, first));
    const stamped = vote(scene, own, activity, "APPROVE");
    const voter = own.users[user];
    if (voter === undefined) throw new Error("no such user");
    const more = { user: voter, stamped, event: "VOTED", grounds: "NONE", changes: true, result: undefined } as const;
    act(world, more, activity);
  }
}

test("a user has one vote a day, unless the operator accepted a database in between", () => {
  const dayMs = 24 * 3_600_000;
  const twice = [
    { user: 1, afterMs: 0 },
    { user: 1, afterMs: dayMs / 2 },
  ];
  assert.deepEqual(said(verify(makeSmall((world) => voted(world, twice)))), [
    "bad: position 6: leaf 4: a second vote of one user within a day",
  ]);
  const own = [{ user: 0, afterMs: 1 }];
  assert.deepEqual(said(verify(makeSmall((world) => voted(world, own)))), [
    "bad: position 5: leaf 3: a second vote of one user within a day",
  ]);
  const later = [
    { user: 1, afterMs: 0 },
    { user: 1, afterMs: dayMs },
  ];
  assert.deepEqual(said(verify(makeSmall((world) => voted(world, later)))), []);
  assert.deepEqual(said(verify(makeSmall((world) => voted(world, own, true)))), []);
});

test("a vote that names another activity is bad, and so is one that rejects what then runs", () => {
  const other = makeSmall((world) => {
    const { scene, own } = world;
    const activity = act(world, { event: "SUBMITTED", grounds: "NONE", changes: true, result: undefined });
    const [, user] = own.users;
    if (user === undefined) throw new Error("no user");
    act(world, { user, stamped: vote(scene, own, newActivity(scene, own), "APPROVE"), changes: true }, activity);
  });
  assert.deepEqual(said(verify(other)), ["bad: position 5: leaf 3: the vote does not name the activity's fingerprint"]);
  const rejected = makeSmall((world) => {
    const { scene, own } = world;
    const activity = act(world, { event: "SUBMITTED", grounds: "NONE", changes: true, result: undefined });
    const [, user] = own.users;
    if (user === undefined) throw new Error("no user");
    act(world, { user, stamped: vote(scene, own, activity, "REJECT"), changes: true }, activity);
  });
  assert.deepEqual(said(verify(rejected)), ["bad: position 5: leaf 3: COMPLETED by a vote that rejects"]);
});

test("an activity ends once, and its body is of the type that the leaf says", () => {
  const twice = makeSmall((world) => {
    const activity = act(world);
    world.scene.clock.nowMs += 24 * 3_600_000;
    act(world, {}, activity);
  });
  assert.deepEqual(said(verify(twice)), ["bad: position 5: leaf 3: the activity has ended before"]);
  const typed = makeSmall((world) => {
    act(world);
    change(world, () => ({ activityType: "ACTIVITY_TYPE_EXPORT_WALLET" }));
  });
  assert.deepEqual(said(verify(typed)), ["bad: position 4: leaf 2: the body is of another type than the leaf says"]);
});

test("no two leaves have one number: the signer gives each its own, and a replay knows leaves by them", () => {
  const twin = makeSmall((world) => {
    act(world);
    const { boot, number } = decodeLeaf((world.leaves.at(-1) as MadeLeaf).leaf);
    act(world);
    change(world, () => ({ boot, number }));
  });
  assert.deepEqual(said(verify(twin)), ["bad: position 5: leaf 3: another leaf has the same number"]);
  const started = makeSmall(({ scene, first, leaves }) => {
    leaves.push(made(first, newLeaf(scene, first, { event: "BOOTED", grounds: "OPERATOR" }), [], true));
  });
  assert.deepEqual(said(verify(started)), ["bad: position 4: leaf 0: the same start of the signer has another leaf"]);
});

/** A state that nobody logs. */
function skip({ scene }: SmallWorld, organization: TestOrganization): void {
  nextHeader(scene, organization);
}

test("a header that is missing is noticed, although all ordinals are there", () => {
  const gap = makeSmall((world) => {
    act(world, { changes: true });
    skip(world, world.own);
    act(world, { changes: true });
  });
  assert.deepEqual(said(verify(gap)), [
    "bad: position 5: leaf 3: the header of version 4 follows none that is here: 1 before it are missing",
  ]);
});

test("a header that does not follow the state it was decided on is bad, and so is a state that never was", () => {
  const loose = makeSmall((world) => {
    act(world, { changes: true });
    change(world, ({ states: [state] }) => ({
      states: state ? [{ ...state, digest: new Uint8Array(32).fill(7) }] : [],
    }));
  });
  const follows = "the header does not follow the state that was decided on";
  assert.deepEqual(said(verify(loose)), [`bad: position 4: leaf 2: ${follows}`]);
  const invented = makeSmall((world) => {
    act(world);
    change(world, ({ states: [state] }) => ({
      states: state ? [{ ...state, digest: new Uint8Array(32).fill(7) }] : [],
    }));
  });
  assert.deepEqual(said(verify(invented)), [
    "bad: position 4: leaf 2: it was decided on a state that the organization did not have",
  ]);
  const ahead = makeSmall((world) => {
    act(world);
    change(world, ({ states: [state] }) => ({ states: state ? [{ ...state, version: 99 }] : [] }));
  });
  assert.deepEqual(said(verify(ahead)), [
    "unchecked: position 4: leaf 2: it was decided on version 99, whose header is not here",
  ]);
});

test("two states of one version are a fork, unless the operator has accepted an older database", () => {
  const fork = (isAccepted: boolean) =>
    makeSmall((world) => {
      const { own, scene, first, leaves } = world;
      act(world, { changes: true });
      const { state } = own;
      act(world, { changes: true });
      own.state = state;
      if (isAccepted) leaves.push(databaseAccepted(scene, first));
      act(world, { changes: true });
    });
  assert.deepEqual(said(verify(fork(false))), ["bad: position 6: leaf 4: version 3 is there twice, and both differ"]);
  const accepted = verify(fork(true));
  assert.deepEqual(said(accepted), [
    "note: position 7: leaf 4: the operator accepted an older database: version 3 is there twice",
  ]);
  assert.equal(accepted.verdict, "good");
});

function withRecords(
  deployment: TestDeployment,
  edit: (records: LeafRecord[]) => readonly LeafRecord[],
): Map<string, Uint8Array> {
  const files = exportOf(deployment);
  const path = organizationPaths.leaves(deployment.organizationIds[0] ?? "", deployment.logs[0]?.logId ?? "");
  const read = [...readRecords(files.get(path) ?? new Uint8Array())].flatMap((each) =>
    "record" in each ? [each.record] : [],
  );
  return files.set(path, encodeRecords(edit(read)));
}

test("an erased body or leaf is undisclosed, never right, and everything else stays as it was", () => {
  const deployment = makeSmall((world) => {
    for (let i = 0; i < 4; i++) act(world, { changes: true });
  });
  const withoutBody = withRecords(deployment, (records) =>
    records.map((record) => (record.ordinal === 3 ? { ...record, bodies: record.bodies.slice(1) } : record)),
  );
  const body = verify(deployment, withoutBody);
  assert.deepEqual(said(body), ["unchecked: position 5: leaf 3: undisclosed: stamped body"]);
  assert.equal(body.verdict, "unchecked");
  const withoutResult = withRecords(deployment, (records) =>
    records.map((record) => (record.ordinal === 3 ? { ...record, bodies: record.bodies.slice(0, 1) } : record)),
  );
  assert.deepEqual(said(verify(deployment, withoutResult)), ["unchecked: position 5: leaf 3: undisclosed: outcome"]);
  const withoutLeaf = withRecords(deployment, (records) =>
    records.map((record) => (record.ordinal === 3 ? { ...record, leaf: undefined, bodies: [] } : record)),
  );
  assert.deepEqual(said(verify(deployment, withoutLeaf)), [
    "unchecked: position 5: leaf 3: undisclosed: the leaf",
    "unchecked: position 6: leaf 4: undisclosed: 1 headers before version 4",
  ]);
});

test("there may be as many findings as leaves, more than fit on a stack", () => {
  const deployment = makeSmall((world) => void act(world));
  const [log] = deployment.logs;
  const [organizationId = ""] = deployment.organizationIds;
  if (log === undefined) throw new Error("no log");
  const count = 130_000;
  const entries = [...entriesOf(log), ...Array.from({ length: count }, () => new Uint8Array(32))];
  const files = withRecords(deployment, (records) => [
    ...records,
    ...Array.from({ length: count }, (_, at): LeafRecord => {
      return { position: log.leaves.length + at, ordinal: records.length + 1 + at, leaf: undefined, bodies: [] };
    }),
  ]);
  files.set(logPaths.entries(log.logId), Buffer.concat(entries));
  files.set(logPaths.checkpoint(log.logId), signCheckpoint(deployment, log.logId, entries));
  files.delete(organizationPaths.statement(organizationId, log.logId));
  const report = verify(deployment, files);
  assert.deepEqual([report.verdict, report.findings.length], ["unchecked", count + 1]);
});

test("where the entries are cut the file is bad, and the leaves behind the cut are unchecked and not bad", () => {
  const deployment = makeSmall((world) => {
    act(world);
    act(world);
  });
  const [log] = deployment.logs;
  const path = logPaths.entries(log?.logId ?? "");
  const cutAt = (length: number) => {
    const files = exportOf(deployment);
    return verify(deployment, files.set(path, (files.get(path) ?? new Uint8Array()).slice(0, length)));
  };
  // The operator acted at position 1, and the organization from position 3 on. The others are not exported.
  const firsts = { 0: [1, 0], 63: [1, 0], 64: [3, 1], 127: [3, 1], 128: [4, 2], 160: [5, 3], 191: [5, 3] } as const;
  for (const [length, [position, ordinal]] of Object.entries(firsts)) {
    const report = cutAt(Number(length));
    const why = "the entries end before this leaf: nothing shows that the log has it";
    assert.deepEqual(
      said(report),
      ["bad: not 6 entries of 32 bytes", `unchecked: position ${position}: leaf ${ordinal}: ${why}`],
      length,
    );
    assert.deepEqual([report.verdict, report.firstBadLeaf], ["bad", undefined], length);
  }
  assert.deepEqual(said(cutAt(192)), []);
});

test("a leaf behind a cut of the entries is still checked by itself", () => {
  const deployment = makeSmall((world) => {
    act(world);
    act(world);
    change(world, () => ({ evidence: [] }), []);
  });
  const path = logPaths.entries(deployment.logs[0]?.logId ?? "");
  assert.deepEqual(said(verify(deployment, exportOf(deployment).set(path, new Uint8Array()))).slice(2), [
    "bad: position 5: leaf 3: COMPLETED without evidence",
  ]);
});

test("without the signer's statement nobody says that all leaves are there", () => {
  const deployment = makeSmall((world) => void act(world));
  const files = exportOf(deployment);
  files.delete(organizationPaths.statement(deployment.organizationIds[0] ?? "", deployment.logs[0]?.logId ?? ""));
  assert.deepEqual(said(verify(deployment, files)), [
    "unchecked: no statement of the signer says how many leaves there are",
  ]);
});

test("an old statement beside a new checkpoint says until when all leaves are there, and a witness shows that it is old", () => {
  const now = makeSmall((world) => {
    for (let i = 0; i < 4; i++) act(world, { changes: true });
  });
  const [log] = now.logs;
  if (log === undefined) throw new Error("no log");
  const then = { ...now, logs: [{ ...log, leaves: log.leaves.slice(0, 5) }], nowMs: 1_700_000_000_000 };
  const witness = keyOf("w.example", keyTypes.cosignature);
  const witnesses = [parseVkey(encodeVkey(witness.name, witness.publicKey, keyTypes.cosignature))];
  const hiding = (seconds: number) => {
    const files = exportOf(now, (text) => [cosign(text, witness, seconds, witness.sign)]);
    const [id = ""] = now.organizationIds;
    for (const path of [organizationPaths.statement(id, log.logId), organizationPaths.leaves(id, log.logId)]) {
      files.set(path, exportOf(then).get(path) ?? new Uint8Array());
    }
    return verify(now, files, { witnesses });
  };
  const soon = hiding(1_700_000_060);
  assert.equal(soon.upToMs, 1_700_000_000_000);
  assert.deepEqual(said(soon), ["note: 3 entries came after the statement of how many leaves there are"]);
  assert.equal(soon.verdict, "good");
  const late = hiding(1_700_003_601);
  assert.deepEqual(said(late), [
    "note: 3 entries came after the statement of how many leaves there are",
    "unchecked: the statement is older than what the witness `w.example` has seen: leaves may be left out since",
  ]);
  assert.equal(late.verdict, "unchecked");
});

test("each witness that is named must have cosigned, and signatures of others are unchecked", () => {
  const deployment = makeSmall((world) => void act(world));
  const [one, two] = ["w1.example", "w2.example"].map((name) => keyOf(name, keyTypes.cosignature));
  if (one === undefined || two === undefined) throw new Error("no keys");
  const vkeys = [one, two].map(({ name, publicKey }) => parseVkey(encodeVkey(name, publicKey, keyTypes.cosignature)));
  const files = exportOf(deployment, (text) => [cosign(text, one, 1_700_000_000, one.sign)]);
  assert.deepEqual(said(verify(deployment, files, { witnesses: vkeys.slice(0, 1) })), []);
  assert.deepEqual(said(verify(deployment, files, { witnesses: vkeys })), [
    "bad: the witness `w2.example` has not cosigned the checkpoint",
  ]);
  const unasked = verify(deployment, files);
  assert.deepEqual(said(unasked), ["unchecked: the signature of `w1.example`: pass its key with --witness"]);
  assert.equal(unasked.verdict, "unchecked", "no byte of an export is without meaning");
  const forged = exportOf(deployment, (text) => [{ ...cosign(text, one, 1, two.sign) }]);
  assert.deepEqual(said(verify(deployment, forged, { witnesses: vkeys.slice(0, 1) })), [
    "bad: the cosignature of `w1.example` does not verify",
  ]);
});

test("an export continues an older checkpoint of its own logs, and nothing else", () => {
  const deployment = makeSmall((world) => {
    for (let i = 0; i < 5; i++) world.leaves.push(...actIn(world.scene, world.own));
  });
  const [log] = deployment.logs;
  if (log === undefined) throw new Error("no log");
  const entries = entriesOf(log);
  const noteOf = (size: number, from = deployment, of = entries): string =>
    Buffer.from(signCheckpoint(from, log.logId, of.slice(0, size))).toString();
  const since = (...texts: string[]) => said(verify(deployment, exportOf(deployment), { since: texts }));
  assert.deepEqual(since(noteOf(3), noteOf(entries.length)), []);
  assert.deepEqual(since(noteOf(3, deployment, entries.toReversed())), [
    "bad: the log does not continue the checkpoint to start from: its history was changed",
  ]);
  const longer = [...entries, new Uint8Array(32)];
  assert.deepEqual(since(noteOf(longer.length, deployment, longer)), [
    `bad: the checkpoint to start from has ${longer.length} entries, this export ${entries.length}: the others are lost or withheld`,
  ]);
  const { privateKey, key } = makeSmall(() => undefined);
  assert.deepEqual(since(noteOf(3, { ...deployment, privateKey, key })), [
    "bad: the checkpoint to start from: no signature by a known key",
  ]);
});

test("a leaf that opens a log says so, and acts of the operator are the first organization's", () => {
  const deployment = makeDeployment({ seed: 5, leaves: 30, withFirst: true });
  const files = exportOf(deployment);
  const [, two] = deployment.logs;
  const path = logPaths.operator(two?.logId ?? "");
  const [opened, ...rest] = [...readRecords(files.get(path) ?? new Uint8Array())].flatMap((each) =>
    "record" in each ? [each.record] : [],
  );
  assert.equal(opened?.position, 0);
  // The first organization is exported, so its line has a gap too.
  const report = verify(deployment, files.set(path, encodeRecords(rest)));
  assert.equal(report.verdict, "bad");
  const stranger = makeSmall(({ scene, own, leaves }) => {
    const fields = { event: "BOOTED", grounds: "OPERATOR", boot: new Uint8Array(16) } as const;
    leaves.push(made(own, newLeaf(scene, own, fields), [], true));
  });
  assert.deepEqual(said(verify(stranger)), ["bad: position 4: leaf 0: an act of the operator in another organization"]);
  const foreign = makeDeployment({ seed: 6, leaves: 30 });
  const [, log] = foreign.logs;
  const leaf = decodeLeaf(log?.leaves[1]?.leaf ?? new Uint8Array()) as NewLeaf;
  const changed = {
    ...(log?.leaves[1] as MadeLeaf),
    leaf: encodeLeaf({ ...leaf, organizationId: new Uint8Array(16) }),
  };
  const logs = foreign.logs.with(1, {
    ...(log as TestDeployment["logs"][0]),
    leaves: log?.leaves.with(1, changed) ?? [],
  });
  assert.deepEqual(said(verify({ ...foreign, logs })), [
    "bad: position 1: leaf 0: an act of the operator in another organization",
  ]);
});

test("what a restored database has lost of an ended log is unchecked, and so is the gap that it leaves", () => {
  const { logs, ...deployment } = makeDeployment({ seed: 8, leaves: 100, withFirst: true });
  const [one, ...others] = logs;
  if (one === undefined) throw new Error("no log");
  const lost = { ...deployment, logs: [{ ...one, leaves: one.leaves.slice(0, 12) }, ...others] };
  const report = verify(lost);
  assert.equal(report.verdict, "unchecked");
  assert.match(said(report)[0] ?? "", /^unchecked: the head that log .* follows has \d+ entries, this export 12: /);
  const gap = /^unchecked: .*undisclosed: \d+ headers before version/;
  assert.ok(said(report).some((line) => gap.test(line)));
  const all = exportOf({ ...deployment, logs: [{ ...one, leaves: [] }, ...others] });
  all.set(logPaths.checkpoint(one.logId), new Uint8Array());
  for (const key of [deployment.key, { ...deployment.key, deploymentId: undefined }]) {
    assert.equal(verify(lost, all, { key }).verdict, "unchecked");
  }
  const open = verify(lost, exportOf(lost).set(logPaths.checkpoint(others[0]?.logId ?? ""), new Uint8Array()));
  assert.equal(open.verdict, "bad");
});

test("a sub-organization that an act has made and that is not here is named, if the export says to have them all", () => {
  const whole = makeDeployment({ seed: 4, leaves: 50 });
  const withSubOrganizations = true;
  assert.deepEqual(verify(whole, exportOf(whole), { withSubOrganizations }).findings, []);
  const verdicts = whole.organizationIds.map((left) => {
    const part = { ...whole, organizationIds: whole.organizationIds.filter((id) => id !== left) };
    assert.equal(verify(part).verdict, "good", "an export of one organization says nothing about others");
    const { verdict, findings } = verify(part, exportOf(part), { withSubOrganizations });
    const isNamed = `it made sub-organization ${left}, which is not here: deleted, or left out`;
    assert.deepEqual(
      findings.map(({ what }) => what),
      verdict === "good" ? [] : [isNamed],
    );
    return verdict;
  });
  assert.deepEqual(
    verdicts.sort(),
    ["good", "unchecked"],
    "of the parent, which the child has not made, and of the child",
  );
});

test("an act that also changed its own organization names whom it made in its result", () => {
  const child = "5b2c6f0e-8d4e-4b7c-9a53-0c1f7a2e9d10";
  const made = (type: string, more: Partial<Act>) =>
    makeSmall((world) => {
      const { body, ...activity } = newActivity(world.scene, world.own);
      const typed = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body).toString()), type }));
      const fingerprint = nodeVerifierCurves.sha256(typed);
      act(world, { changes: true, stamped: typed, ...more }, { ...activity, body: typed, type, fingerprint });
    });
  const saidOf = (deployment: TestDeployment) =>
    said(verify(deployment, exportOf(deployment), { withSubOrganizations: true }));
  const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
  const named = [
    `unchecked: position 4: leaf 2: it made sub-organization ${child}, which is not here: deleted, or left out`,
  ];
  assert.deepEqual(saidOf(made(type, { result: { subOrganizationId: child } })), named);
  assert.deepEqual(saidOf(made("ACTIVITY_TYPE_CREATE_USER_TAG", { result: { subOrganizationId: child } })), []);
  assert.deepEqual(saidOf(made(type, { result: { subOrganizationId: 7 } })), []);
  const failed = { event: "FAILED", grounds: "NONE", result: { subOrganizationId: child } } as const;
  assert.deepEqual(saidOf(made(type, { ...failed, changes: false })), []);
});

test("a place reads like a sentence", () => {
  const place = { logId: "ab", position: 4, organizationId: "id", ordinal: 2 };
  assert.equal(placeText(place), "log ab, position 4, organization id, leaf 2");
  assert.equal(placeText({ logId: "ab", position: 4, ordinal: 0 }), "log ab, position 4, an act of the operator");
});
