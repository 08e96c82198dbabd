/** An organization's own part of the log, as its members and nobody else are shown it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { parseLogStatement } from "@keystead/core/log/statement.ts";
import { entryOf } from "@keystead/core/tlog/entry.ts";
import { openNote } from "@keystead/core/tlog/note.ts";
import { decodeEntries } from "@keystead/core/tlog/tiles.ts";
import { encodeVkey, parseVkey } from "@keystead/core/tlog/vkey.ts";
import { createGatewayRig, type GatewayRig, type Person } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { query } from "../../test/session_rig.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { createCheckpoints } from "../gateway/log/checkpoints.ts";
import { loadEntries } from "../gateway/log/tile_edge.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import { sha256 } from "../state/digest.ts";
import { findLog } from "../store/public_log.ts";
import type { Store } from "../store/store.ts";

type LogLeaf = { logId: string; position: number; ordinal?: number; leaf: string; bodies: string[] };

const logKeyOf = ({ signer }: GatewayRig) => openKeyring(signer.rootKey, 1, signer.keyring).publicKeys.log;

async function start(t: TestContext, dialect: Store["dialect"]) {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  const { committer } = rig.dependencies;
  const checkpoints = createCheckpoints({
    ...{ ...rig, curves: nodeCurves, committer },
    logKey: () => logKeyOf(rig),
    signerTrouble: () => undefined,
    onSigned: () => undefined,
  });
  const list = async (by: Person, organizationId: string, options: object = {}) =>
    (await query<{ leaves: LogLeaf[] }>(rig, "list_log_leaves", { organizationId, ...options }, by)).leaves;
  return { rig, sign: checkpoints.sign, list };
}

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));
const eventsOf = (leaves: readonly LogLeaf[]) =>
  leaves.map(({ leaf, ordinal }) => `${decodeLeaf(bytesOf(leaf)).event} ${ordinal ?? "-"}`);
const cursorOf = ({ logId, position }: Pick<LogLeaf, "logId" | "position">) => `${logId}:${position}`;

for (const dialect of dialects) {
  test(`on ${dialect} each organization is shown its own leaves, in order, once a checkpoint covers them`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, sign, list } = started;
    const { organizationId: child, people } = await rig.newSubOrganization(1, ["Ann"]);
    const [ann] = people as [Person];
    await rig.submit(ann, "create_user_tag", { userTagName: "x", userIds: [] }, { organizationId: child });
    assert.deepEqual(await list(rig.root, rig.organizationId), [], "nothing is signed yet");
    await sign();
    const own = await list(rig.root, rig.organizationId);
    assert.deepEqual(eventsOf(own), ["BIRTH 1", "COMPLETED 2"]);
    const below = await list(ann, child);
    assert.deepEqual(eventsOf(below), ["BIRTH 1", "COMPLETED 2"]);
    assert.deepEqual(await list(rig.root, child), below, "a parent may read its child's");
    await assert.rejects(list(ann, rig.organizationId), { code: "unauthenticated" });
    const entries = await loadEntries(rig.store, rig.places.logId ?? "", 0, 4);
    for (const { position, ordinal = 0, leaf } of [...own, ...below]) {
      assert.equal(toHex(entries[position] ?? new Uint8Array()), toHex(entryOf(sha256(bytesOf(leaf)), ordinal)));
    }
  });

  test(`on ${dialect} bodies are what a leaf names: the body, the vote and the outcome`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, sign, list } = started;
    const { organizationId, people } = await rig.newSubOrganization(2, ["Ann", "Bob"]);
    const [ann, bob] = people as [Person, Person];
    const within = { organizationId };
    const body = rig.body("create_user_tag", { userTagName: "x", userIds: [] }, within);
    const { fingerprint } = await rig.send(ann, "create_user_tag", body);
    await rig.submit(bob, "approve_activity", { fingerprint }, within);
    await sign();
    const [birth, submitted, completed] = await list(ann, organizationId);
    assert.ok(birth && submitted && completed);
    for (const { leaf, bodies } of [birth, submitted, completed]) {
      const { fingerprint: of, outcome, evidence } = decodeLeaf(bytesOf(leaf));
      const named = [of, outcome, ...evidence.map((each) => each.body)].map(toHex);
      for (const text of bodies) assert.ok(named.includes(toHex(sha256(bytesOf(text)))));
    }
    const texts = ({ bodies }: LogLeaf) => bodies.map((text) => Buffer.from(text, "base64").toString());
    assert.match(texts(birth)[0] ?? "", /CREATE_SUB_ORGANIZATION/, "it begins with the body that created it");
    assert.deepEqual(texts(submitted), [Buffer.from(body).toString()]);
    const [again, vote, result] = texts(completed);
    assert.equal(again, Buffer.from(body).toString());
    assert.match(vote ?? "", /ACTIVITY_TYPE_APPROVE_ACTIVITY/);
    assert.match(result ?? "", /userTagId/);
  });

  test(`on ${dialect} a leaf is withheld while its stamp could bring a session, and what was erased is left out`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, sign, list } = started;
    const { id: activityId } = await rig.submit(rig.root, "create_read_only_session", {});
    await rig.submit(rig.root, "create_user_tag", { userTagName: "x", userIds: [] });
    await sign();
    const [, session, tag] = await list(rig.root, rig.organizationId);
    assert.deepEqual([session?.leaf, session?.bodies, session?.ordinal], ["", [], 2]);
    assert.deepEqual([tag?.bodies.length, tag?.ordinal], [2, 3]);
    const { result } = await rig.store.db
      .selectFrom("activities")
      .select("result")
      .where("activity_id", "=", activityId)
      .executeTakeFirstOrThrow();
    const ended = JSON.stringify({ ...JSON.parse(result ?? ""), sessionExpiry: "1" });
    await rig.store.db.updateTable("activities").set({ result: ended }).where("activity_id", "=", activityId).execute();
    const [, shown] = await list(rig.root, rig.organizationId);
    assert.equal(decodeLeaf(bytesOf(shown?.leaf ?? "")).activityType, "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION");
    await rig.store.db
      .updateTable("activities")
      .set({ body: Buffer.from("{}") })
      .execute();
    const [, , erased] = await list(rig.root, rig.organizationId);
    assert.equal(erased?.bodies.length, 1);
    assert.equal(erased?.leaf, tag?.leaf);
    // A leaf that was erased keeps its place, and every other is as before.
    const before = await list(rig.root, rig.organizationId);
    await rig.store.db.deleteFrom("leaves").where("activity_id", "=", activityId).execute();
    const after = await list(rig.root, rig.organizationId);
    assert.deepEqual(after[1], { ...before[1], leaf: "", bodies: [] });
    assert.deepEqual(after.toSpliced(1, 1), before.toSpliced(1, 1));
  });

  test(`on ${dialect} pages go on from either side, and a cursor of another organization is unknown`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, sign, list } = started;
    for (let n = 0; n < 7; n++) {
      await rig.submit(rig.root, "create_user_tag", { userTagName: `tag ${n}`, userIds: [] });
      if (n === 3) await rig.newSubOrganization(1, ["Ann"]);
    }
    await sign();
    const all = await list(rig.root, rig.organizationId, { paginationOptions: { limit: "100" } });
    assert.equal(all.length, 9);
    const walked: LogLeaf[] = [];
    for (let after: string | undefined; ; ) {
      const page = await list(rig.root, rig.organizationId, {
        paginationOptions: { limit: "2", ...(after !== undefined && { after }) },
      });
      const last = page.at(-1);
      if (last === undefined) break;
      walked.push(...page);
      after = cursorOf(last);
    }
    assert.deepEqual(walked, all);
    const back = await list(rig.root, rig.organizationId, {
      paginationOptions: { limit: "3", before: cursorOf(all[5] as LogLeaf) },
    });
    assert.deepEqual(back, all.slice(2, 5));
    const positions = new Set(all.map(({ position }) => position));
    const foreign = Array.from({ length: 10 }, (_, at) => at).find((position) => !positions.has(position)) ?? 0;
    const { logId = "" } = rig.places;
    for (const cursor of ["x", `${logId}:${foreign}`, `${logId}:999`, `${"0".repeat(32)}:0`, `${logId}:00`]) {
      await assert.rejects(list(rig.root, rig.organizationId, { paginationOptions: { after: cursor } }), {
        code: "invalid_argument",
        message: `invalid pagination cursor: there is no \`${cursor}\` in this list`,
      });
    }
    assert.deepEqual(await list(rig.root, rig.organizationId, { logId, paginationOptions: { limit: "100" } }), all);
    await assert.rejects(list(rig.root, rig.organizationId, { logId: "0".repeat(32) }), {
      code: "not_found",
      message: `unable to find log ${"0".repeat(32)}`,
    });
    await assert.rejects(list(rig.root, rig.organizationId, { logId: "x" }), { code: "invalid_argument" });
  });

  test(`on ${dialect} every member, and nobody else, is shown the checkpoint and tiles, as far as the log is signed`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig, sign } = started;
    const { organizationId: child, people } = await rig.newSubOrganization(1, ["Ann"]);
    const [ann] = people as [Person];
    const { logId = "" } = rig.places;
    const read = async (by: Person, organizationId: string, path: string, of = logId) =>
      bytesOf((await query<{ content: string }>(rig, "get_log_file", { organizationId, logId: of, path }, by)).content);
    const missing = (path: string, of = logId) => ({
      code: "not_found",
      message: `unable to find ${path} of log ${of}`,
    });
    await assert.rejects(read(ann, child, "checkpoint"), missing("checkpoint"));
    await sign();
    const checkpoint = Buffer.from(await read(ann, child, "checkpoint")).toString();
    const log = await findLog(rig.store, logId);
    assert.equal(checkpoint, log?.checkpoint);
    assert.deepEqual(await read(rig.root, rig.organizationId, "checkpoint"), new Uint8Array(Buffer.from(checkpoint)));
    const size = log?.checkpoint_size ?? 0;
    const path = `tile/entries/000.p/${size}`;
    assert.deepEqual(decodeEntries(await read(ann, child, path)), await loadEntries(rig.store, logId, 0, size));
    for (const none of [`tile/entries/000.p/${size + 1}`, "tile/0/000", "tile/1/000.p/1", "../checkpoint", "x"]) {
      await assert.rejects(read(ann, child, none), missing(none));
    }
    const other = "0".repeat(32);
    await assert.rejects(read(ann, child, "checkpoint", other), missing("checkpoint", other));
    await assert.rejects(read(ann, rig.organizationId, "checkpoint"), { code: "unauthenticated" });
  });

  test(`on ${dialect} the signer signs how many leaves an organization has, of its own log`, async (t) => {
    const started = await start(t, dialect);
    if (started === undefined) return;
    const { rig } = started;
    const { organizationId: child, people } = await rig.newSubOrganization(1, ["Ann"]);
    const [ann] = people as [Person];
    const ask = async (by: Person, organizationId: string, logId?: string) =>
      (await query<{ statement: string }>(rig, "get_log_statement", { organizationId, logId }, by)).statement;
    const { logId = "" } = rig.places;
    const [{ origin = "" } = {}] = await rig.store.db.selectFrom("logs").select("origin").execute();
    const vkey = parseVkey(encodeVkey(origin, fromHex(logKeyOf(rig))));
    for (const [by, organizationId, count] of [
      [rig.root, rig.organizationId, 2],
      [ann, child, 1],
      [rig.root, child, 1],
    ] as const) {
      const { text } = openNote(nodeCurves, [vkey], await ask(by, organizationId, logId));
      const { timeMs, logs, ...rest } = parseLogStatement(text);
      assert.deepEqual(rest, { organizationId, logId, count, size: 3 });
    }
    await assert.rejects(ask(ann, rig.organizationId), { code: "unauthenticated" });
    await assert.rejects(ask(rig.root, rig.organizationId, "0".repeat(32)), {
      code: "not_found",
      message: `unable to find log ${"0".repeat(32)}`,
    });
  });
}
