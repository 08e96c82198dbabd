/**
 * A data folder that the release before wrote, with leaves of format 1: it opens, everything in it works, and its log goes on in
 * format 2. `make_data_folder.ts` says how such a folder is made.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { runOperator } from "@keystead/e2e/operator.ts";
import { activities, type Client, createApiKeyStamper, createClient } from "@keystead/sdk";
import { protocolVersion } from "@keystead/server/frames/frame.ts";
import type { Prepared } from "@keystead/server/frames/messages.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { createOperations, type Operations } from "@keystead/server/signer/operations.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { findFirstOrganization } from "@keystead/server/store/across.ts";
import { migrate, migrations } from "@keystead/server/store/migrations/migrate.ts";
import { loadState } from "@keystead/server/store/organizations.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { type StoredState, stateAfter } from "../../../server/test/signer_rig.ts";
import { replay } from "../history/replay.ts";
import { unpackFolder } from "./packed_folder.ts";
import { type DataFolderStory, payload, type StoryOrganization } from "./story.ts";

const options = { timeout: testTimeoutMs };
const packed = readFileSync(new URL("../../fixtures/data_folder_leaf_format_1.br", import.meta.url));
const olderLeaves = 24;
const hourMs = 3_600_000;

type Unpacked = { dataFolder: string; story: DataFolderStory; source: { kind: "sqlite"; folder: string } };

function unpack(t: TestContext): Unpacked {
  const dataFolder = freshDataFolder(t);
  const story = unpackFolder<DataFolderStory>(packed, dataFolder);
  return { dataFolder, story, source: { kind: "sqlite", folder: join(dataFolder, "database") } };
}

function as({ url }: KeysteadServer, { organizationId, people }: StoryOrganization, index: number): Client {
  const apiPrivateKey = people[index]?.privateKey ?? assert.fail();
  return createClient({ baseUrl: url, organizationId, stamper: createApiKeyStamper({ apiPrivateKey }) });
}

type LeafRow = { name: string; bytes: Uint8Array; leaf: Leaf };

function leavesIn({ source }: Unpacked): LeafRow[] {
  const database = new DatabaseSync(join(source.folder, "keystead.db"), { readOnly: true });
  try {
    const rows = database.prepare("select boot || ' ' || number as name, leaf from leaves").all();
    return rows.map(({ name, leaf }) => {
      const bytes = leaf as Uint8Array;
      return { name: String(name), bytes, leaf: decodeLeaf(withoutMac(bytes)) };
    });
  } finally {
    database.close();
  }
}

const ofFormat = (rows: readonly LeafRow[], format: number) => rows.filter(({ leaf }) => leaf.format === format);

/** The order of the first birth, as the launcher of then wrote it. */
function orderOf({ dataFolder }: Unpacked): Uint8Array {
  const file = JSON.parse(readFileSync(join(dataFolder, "bootstrap.json"), "utf8")) as Record<string, string>;
  const { organizationId, organizationName, userId, apiPublicKey } = file;
  const order = { organizationId, organizationName, userId, userName: "Root user", apiPublicKey };
  return new TextEncoder().encode(JSON.stringify(order));
}

async function assertSound({ dataFolder }: Unpacked, leaves: number): Promise<void> {
  const log = await runOperator("cli", ["check-log"], { dataFolder });
  assert.deepEqual(log, {
    code: 0,
    stdout: `${leaves} leaves in the database, 0 released ones missing\n`,
    stderr: log.stderr,
  });
  const database = await runOperator("cli", ["check-database"], { dataFolder });
  assert.equal(database.code, 0, database.stdout + database.stderr);
}

/** As a crash between commit and release leaves a signature: committed, sealed, and not opened. */
function hideResult({ source, story: { one } }: Unpacked): void {
  const database = new DatabaseSync(join(source.folder, "keystead.db"));
  const { activityId } = one.signing;
  database
    .prepare("insert into unreleased select organization_id, boot, number from leaves where activity_id = ?")
    .run(activityId);
  const { changes } = database.prepare("update activities set result = null where activity_id = ?").run(activityId);
  database.close();
  assert.equal(changes, 1);
}

/** Approvals count for a day, and the one in the folder may be older by now: then it is given anew. */
async function approve(
  server: KeysteadServer,
  organization: DataFolderStory["two"],
  { given, last }: { given: readonly number[]; last: number },
  madeAtMs: number,
): Promise<void> {
  const { fingerprint, activityId } = organization.waiting;
  if (Date.now() > madeAtMs + 24 * hourMs) {
    for (const index of given) await as(server, organization, index).approveActivity({ fingerprint });
  }
  const waiting = await as(server, organization, 0).getActivity({ activityId });
  assert.equal(waiting.activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  const { activity } = await as(server, organization, last).approveActivity({ fingerprint });
  assert.equal(activity.id, activityId);
  assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
}

test("a data folder of the release before opens, and its log goes on in format 2", options, async (t) => {
  const unpacked = unpack(t);
  const { dataFolder, story } = unpacked;
  const before = leavesIn(unpacked);
  assert.deepEqual([before.length, ofFormat(before, 1).length], [olderLeaves, olderLeaves]);
  await assertSound(unpacked, olderLeaves);
  hideResult(unpacked);

  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  const { one, two, three, madeAtMs } = story;
  const second = as(server, one, 1);
  await t.test("a result that was sealed beside a leaf of format 1 is released", async () => {
    const { activityId, r, s, v } = one.signing;
    const { activity } = await second.getActivity({ activityId });
    assert.deepEqual(activity.result, { signRawPayloadResult: { r, s, v } });
  });
  await t.test("old keys sign as they did, and a deleted one does not", async () => {
    const { activity: _, ...signature } = await second.signRawPayload({ signWith: one.address, ...payload });
    const { r, s, v } = one.signing;
    assert.deepEqual(signature, { r, s, v });
    const raw = { ...payload, hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" } as const;
    const { kept, exported, deleted } = one.privateKeys;
    await second.signRawPayload({ signWith: kept, ...raw });
    await assert.rejects(second.signRawPayload({ signWith: deleted, ...raw }), { status: 404 });
    const { privateKey } = await second.getPrivateKey({ privateKeyId: exported });
    assert.equal(privateKey.exported, true);
  });
  await t.test("what waits is completed by the votes that it lacks", async () => {
    await approve(server, two, { given: [0], last: 1 }, madeAtMs);
    await approve(server, three, { given: [0, 1], last: 2 }, madeAtMs);
    const { userTags } = await as(server, two, 0).listUserTags({});
    assert.ok(userTags.some(({ tagName }) => tagName === "submitted before"));
  });
  await t.test("new wallets, keys and members are made", async () => {
    const owner = as(server, one, 0);
    const { walletId } = await owner.createWallet({ walletName: "New", accounts: [] });
    assert.equal((await owner.getWallet({ walletId })).wallet.walletName, "New");
    await owner.createUserTag({ userTagName: "new", userIds: [] });
  });
  await server.stop();

  const after = leavesIn(unpacked);
  assert.ok(ofFormat(after, 2).length >= 6);
  assert.equal(ofFormat(after, 1).length + ofFormat(after, 2).length, after.length);
  for (const { name, bytes } of before) {
    assert.deepEqual(after.find((each) => each.name === name)?.bytes, bytes, "leaves stay as they were written");
  }
  await assertSound(unpacked, after.length);
  await t.test("the log of both formats, executed anew, leads to the states in the database", async () => {
    const rootKey = readFileSync(join(dataFolder, "root.key"));
    const { organizations, acts, unchecked, differences } = await replay({
      source: unpacked.source,
      rootKey,
      limits: {},
      // The database of then does not have it; the folder does.
      disclosed: [orderOf(unpacked)],
    });
    assert.deepEqual({ organizations, differences }, { organizations: 4, differences: [] });
    // A start is nothing that is decided.
    assert.equal(acts, after.filter(({ leaf }) => leaf.event !== "BOOTED").length);
    const births = after.filter(({ leaf }) => leaf.activityType.includes("CREATE_SUB_ORGANIZATION"));
    assert.equal(births.length, 2 * 3);
    assert.deepEqual(
      unchecked.map((line) => line.replace(/^organization \S+, leaf \d+: (\S+) (\S+) \S+: /, "$1 $2: ")),
      [
        ...births
          .slice(3)
          .map(({ leaf }) => `COMPLETED ${leaf.activityType}: undisclosed: what was said about \`born\``),
        "COMPLETED ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: undisclosed: the content of a key's record",
      ],
    );
  });
  await t.test("the release before refuses the database, and says why", async () => {
    const store = await openStore(unpacked.source);
    try {
      const { "0008_leaf_format_2": _, ...known } = migrations;
      await assert.rejects(migrate(store.db, "sqlite", known), {
        code: "failed_precondition",
        message: "the database was written by a newer release: it has migration `0008_leaf_format_2`",
      });
    } finally {
      await closeStore(store);
    }
  });
});

/** Votes on what waits, in a signer whose clock is this much later than the folder. Returns what each leaf says, and how its release ended. */
async function voteLater(t: TestContext, laterMs: number, voters: readonly number[]): Promise<string[]> {
  const { dataFolder, story, source } = unpack(t);
  const { organizationId, people, waiting } = story.two;
  const nowMs = story.madeAtMs + laterMs;
  const rootKey = readFileSync(join(dataFolder, "root.key"));
  const memory = openMemory(join(dataFolder, "signer"), rootKey);
  const store = await openStore(source);
  try {
    const { keyring } = await store.db.selectFrom("deployment").select("keyring").executeTakeFirstOrThrow();
    const firstId = (await findFirstOrganization(store)) ?? "";
    const birth = { organizationId: firstId, organizationName: "", userId: "", userName: "", apiPublicKey: "" };
    const orders = { adoptUnknown: false, acceptDatabase: false, reseal: false, vouch: false, limits: {}, birth };
    const operations = createOperations(
      { current: rootKey },
      memory,
      orders,
      () => nowMs,
      () => undefined,
    );
    operations.hello({ protocol: protocolVersion, keyring });
    const first = await loadState(store, firstId);
    assert.ok(first !== undefined);
    const opened = operations.openLog({ state: { ...first, links: [] }, checkpoints: [] });
    assert.ok(opened.kind === "prepared");
    operations.release({ rows: [{ leaf: opened.value.leaf, sealed: undefined }], links: [] });
    const { body: target } = await store.db
      .selectFrom("activities")
      .select("body")
      .where("organization_id", "=", organizationId)
      .where("activity_id", "=", waiting.activityId)
      .executeTakeFirstOrThrow();
    let state: StoredState | undefined = await loadState(store, organizationId);
    const events: string[] = [];
    for (const voter of voters) {
      const row = voteOn(operations, state, target, {
        body: { timestampMs: String(nowMs), organizationId, parameters: { fingerprint: waiting.fingerprint } },
        privateKey: people[voter]?.privateKey ?? "",
      });
      const { event, grounds, format } = decodeLeaf(withoutMac(row.leaf));
      const [outcome] = operations.release({ rows: [{ leaf: row.leaf, sealed: undefined }], links: [] });
      events.push(`${event} ${grounds} ${format} ${outcome?.kind}`);
      state = stateAfter(state, row);
    }
    return events;
  } finally {
    memory.close();
    await closeStore(store);
  }
}

function voteOn(
  operations: Operations,
  state: StoredState | undefined,
  target: Uint8Array,
  vote: { body: object; privateKey: string },
): Prepared {
  const body = Buffer.from(JSON.stringify({ type: activities.approve_activity.type, ...vote.body }));
  const value = signStamp(fromHex(vote.privateKey), "SIGNATURE_SCHEME_TK_API_P256", body);
  const lists = { records: [], wishes: [], pages: [], others: [], statements: [], subOrganizationId: undefined };
  const evidence = { kind: "apiKey", value } as const;
  const offered = state && { ...state, links: [] };
  const reply = operations.prepare({ body, evidence, state: offered, journal: undefined, target, ...lists });
  assert.ok(reply.kind === "prepared", JSON.stringify(reply));
  return reply.value[0] ?? assert.fail();
}

test("an approval that a leaf of format 1 tells of counts for its day, and is given anew after it", async (t) => {
  assert.deepEqual(await voteLater(t, hourMs, [1]), ["COMPLETED ROOT_QUORUM 2 released"]);
  assert.deepEqual(await voteLater(t, 1_000 * 24 * hourMs, [0, 1]), [
    "VOTED NONE 2 released",
    "COMPLETED ROOT_QUORUM 2 released",
  ]);
});
