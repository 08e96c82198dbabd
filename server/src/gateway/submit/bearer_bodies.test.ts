/** Bodies with a bearer value, from the request to the end of the value and beyond. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { describe, type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { someToken, tradeCode, useToken } from "../../../test/bearer_endpoints.ts";
import { everyValue } from "../../../test/every_value.ts";
import { type Activity, createGatewayRig, type GatewayRig, inProcess, type Person } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { freshKey, linkTo, signerWith } from "../../../test/rotation_rig.ts";
import { query } from "../../../test/session_rig.ts";
import type { Store } from "../../store/store.ts";
import { openEnded } from "../jobs/open_bodies.ts";
import { rotateKeys } from "../operator/rotate_keys.ts";
import { createCommitter } from "./committer.ts";

const hourMs = 3_600_000;
const forEver = Number.MAX_SAFE_INTEGER;

const sha256Of = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

type UseTokenIntent = { verificationToken: string; note: string; users?: { userName: string; token?: string }[] };

const tokenIn = ({ intent }: Activity) => (intent as { testUseTokenIntent: UseTokenIntent }).testUseTokenIntent;
const resultIn = ({ result }: Activity) => result.testTradeCodeResult as { verificationToken: string };

/** What queries show of one activity, which is the same in both. */
async function shownTo(rig: GatewayRig, person: Person, { id, organizationId }: Activity): Promise<Activity> {
  const { activity } = await query<{ activity: Activity }>(
    rig,
    "get_activity",
    { organizationId, activityId: id },
    person,
  );
  const { activities } = await query<{ activities: Activity[] }>(rig, "list_activities", { organizationId }, person);
  assert.deepEqual(
    activities.find((each) => each.id === id),
    activity,
  );
  return activity;
}

/** Of SQLite the files themselves, with what was deleted and what is in the write-ahead log. */
function filesOf(store: Store): Buffer[] {
  if (store.dialect !== "sqlite") return [];
  const [{ file }] = store.sqlite.database.prepare("pragma database_list").all() as [{ file: string }];
  return [file, `${file}-wal`].filter((path) => existsSync(path)).map((path) => readFileSync(path));
}

async function assertNowhere({ store }: GatewayRig, ...secrets: string[]): Promise<void> {
  const files = filesOf(store);
  assert.equal(files.length > 0, store.dialect === "sqlite");
  for (const value of [...(await everyValue(store)), ...files]) {
    for (const secret of secrets) {
      assert.ok(!value.includes(secret), `a row holds it: ${value.subarray(0, 200)}`);
      assert.ok(!value.includes(secret.slice(-64)), "a row holds its end");
    }
  }
}

function setUp(t: TestContext, dialect: (typeof dialects)[number]) {
  const endsAtMs = Date.now() + hourMs;
  return { rig: createGatewayRig(t, dialect), token: someToken(endsAtMs), endsAtMs };
}

/** The signer's clock goes on, and the job runs. */
async function passTime(rig: GatewayRig, nowMs: number): Promise<void> {
  rig.signer.clock.nowMs = nowMs;
  await openEnded(rig.store, rig.link, nowMs);
}

for (const dialect of dialects) {
  describe(`bodies with a bearer value on ${dialect}`, () => {
    test("no row has the value and no reader sees it before it ends; then all see body and message", async (t) => {
      const { rig: opening, token, endsAtMs } = setUp(t, dialect);
      const rig = await opening;
      if (rig === undefined) return;
      const ann = await rig.newPerson("Ann");
      const inner = someToken(endsAtMs - 1_000);
      const users = [{ userName: "Kim", token: inner }, { userName: "Lee" }];
      const extra = { unknown: `${token} again` };
      const body = rig.body(useToken, { verificationToken: token, note: `about ${token}`, users, ...extra });
      const text = Buffer.from(body).toString();
      const first = await rig.send(rig.root, useToken, body);
      assert.deepEqual(tokenIn(first), { verificationToken: token, note: `about ${token}`, users });
      assert.equal(first.votes[0]?.message, text, "the answer echoes what was sent");
      await rig.dependencies.committer.settle();

      await assertNowhere(rig, token, inner);
      for (const person of [rig.root, ann]) {
        const shown = await shownTo(rig, person, first);
        assert.deepEqual(tokenIn(shown), {
          verificationToken: sha256Of(token),
          note: `about ${sha256Of(token)}`,
          users: [{ userName: "Kim", token: sha256Of(inner) }, { userName: "Lee" }],
        });
        assert.ok(!("message" in (shown.votes[0] ?? {})));
        assert.deepEqual(shown.result, first.result);
        assert.equal(shown.fingerprint, first.fingerprint);
      }
      assert.deepEqual(await rig.send(rig.root, useToken, body), first, "the same bytes, the same answer");

      await openEnded(rig.store, rig.link, forEver);
      await assertNowhere(rig, token, inner);
      await passTime(rig, endsAtMs - 1);
      assert.equal(tokenIn(await shownTo(rig, ann, first)).verificationToken, sha256Of(token));
      await passTime(rig, endsAtMs);
      assert.deepEqual(await shownTo(rig, ann, first), first);
      assert.deepEqual(await rig.send(rig.root, useToken, body), first);
      assert.deepEqual(await rig.store.db.selectFrom("sealed_bodies").selectAll().execute(), []);
    });

    test("a failure keeps the value to itself, even where its message would say it", async (t) => {
      const { rig: opening, token } = setUp(t, dialect);
      const rig = await opening;
      if (rig === undefined) return;
      const body = rig.body(useToken, { verificationToken: token, note: "fail" });
      const failing = () => rig.send(rig.root, useToken, body);
      await assert.rejects(failing, { message: `bad token \`${sha256Of(token)}\`` });
      await assert.rejects(failing, { message: `bad token \`${sha256Of(token)}\`` }, "the same again");
      await assertNowhere(rig, token);
      const { activities } = await query<{ activities: Activity[] }>(
        rig,
        "list_activities",
        { organizationId: rig.organizationId, filterByStatus: ["ACTIVITY_STATUS_FAILED"] },
        rig.root,
      );
      assert.equal(activities.length, 1);
      assert.ok(!JSON.stringify(activities).includes(token.slice(-64)));
    });

    for (const way of ["a vote", "a second stamp over the body", "a vote after the value has ended"] as const) {
      test(`what waits is done with ${way}, and no parent or approver sees the value before`, async (t) => {
        const { rig: opening, token, endsAtMs } = setUp(t, dialect);
        const rig = await opening;
        if (rig === undefined) return;
        const child = await rig.newSubOrganization(2, ["ann", "bob"]);
        const [ann, bob] = child.people;
        assert.ok(ann && bob);
        const within = { organizationId: child.organizationId };
        const body = rig.body(useToken, { verificationToken: token, note: "" }, within);
        const waiting = await rig.send(ann, useToken, body);
        assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
        await assertNowhere(rig, token);
        for (const person of [ann, bob, rig.root]) {
          const shown = await shownTo(rig, person, waiting);
          assert.equal(tokenIn(shown).verificationToken, sha256Of(token));
          assert.equal(shown.canApprove, person === bob);
        }
        if (way === "a vote after the value has ended") {
          await passTime(rig, endsAtMs);
          assert.equal((await shownTo(rig, bob, waiting)).votes[0]?.message, Buffer.from(body).toString());
        }
        const done =
          way === "a second stamp over the body"
            ? await rig.send(bob, useToken, body)
            : await rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint }, within);
        assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
        assert.deepEqual(done.result, { testUseTokenResult: { length: token.length } });
        const isSeen = way !== "a vote";
        assert.equal(tokenIn(done).verificationToken, isSeen ? token : sha256Of(token));
        if (way !== "a vote after the value has ended") await assertNowhere(rig, token);
        await passTime(rig, endsAtMs);
        const shown = await shownTo(rig, rig.root, waiting);
        assert.equal(tokenIn(shown).verificationToken, token);
        assert.equal(shown.votes.length, 2);
        assert.equal(shown.votes[0]?.message, Buffer.from(body).toString());
      });
    }

    test("a result is given again for the same bytes of its user alone, as long as nobody else can have these", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const ann = await rig.newPerson("Ann");
      const body = rig.body(tradeCode, { otpCode: "ABC123XYZ" });
      const first = await rig.send(rig.root, tradeCode, body);
      const { verificationToken } = resultIn(first);
      assert.match(verificationToken, /^eyJ/);
      await rig.dependencies.committer.settle();
      await assertNowhere(rig, verificationToken, "ABC123XYZ");
      assert.deepEqual(await rig.send(rig.root, tradeCode, body), first);
      for (const person of [rig.root, ann]) {
        const shown = await shownTo(rig, person, first);
        assert.equal(resultIn(shown).verificationToken, "");
        // Nine characters can be searched for by their digest, and the body's time by its fingerprint.
        assert.equal(shown.votes[0]?.signature, "", "the bytes can be made up, so the stamp must not be shown");
      }
      assert.equal(resultIn(await rig.send(ann, tradeCode, body)).verificationToken, "", "her stamp, her bytes");

      // The code has ended, the token has not: body and stamp would still bring it, so both stay closed.
      await passTime(rig, rig.signer.clock.nowMs + 700_000);
      assert.ok(!("message" in ((await shownTo(rig, ann, first)).votes[0] ?? {})));
      assert.deepEqual(await rig.send(rig.root, tradeCode, body), first);
      await assertNowhere(rig, verificationToken, "ABC123XYZ");

      await passTime(rig, rig.signer.clock.nowMs + hourMs);
      assert.equal((await shownTo(rig, ann, first)).votes[0]?.message, Buffer.from(body).toString());
      assert.equal(resultIn(await rig.send(rig.root, tradeCode, body)).verificationToken, "");
      await assertNowhere(rig, verificationToken);
    });

    test("what a crash left between commit and release is released, and still closed", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { request } = rig.link;
      rig.link.request = (async (kind: "prepare", ...rest: [never, never]) => {
        if ((kind as string) === "release") throw new Fault("unavailable", "killed");
        return request(kind, ...rest);
      }) as typeof request;
      const body = rig.body(tradeCode, { otpCode: "ABC123XYZ" });
      await assert.rejects(rig.send(rig.root, tradeCode, body));
      await assertNowhere(rig, "ABC123XYZ");
      const restarted = inProcess(rig.signer.restart());
      const committer = createCommitter(rig.store, restarted);
      assert.deepEqual(await committer.releaseLeftovers(), []);
      await committer.settle();
      Object.assign(rig.dependencies, { committer });
      const again = await rig.send(rig.root, tradeCode, body);
      assert.match(resultIn(again).verificationToken, /^eyJ/);
      await assertNowhere(rig, resultIn(again).verificationToken, "ABC123XYZ");
      assert.equal(resultIn(await shownTo(rig, rig.root, again)).verificationToken, "");
    });

    test("a rotation of the root key leaves bodies and results open to whom they were open", async (t) => {
      const { rig: opening, token, endsAtMs } = setUp(t, dialect);
      const rig = await opening;
      if (rig === undefined) return;
      const used = await rig.submit(rig.root, useToken, { verificationToken: token, note: "" });
      const body = rig.body(tradeCode, { otpCode: "ABC123XYZ" });
      const traded = await rig.send(rig.root, tradeCode, body);
      await rig.dependencies.committer.settle();
      const current = freshKey();
      const rotating = await signerWith(rig, { current, retiring: rig.signer.rootKey }, true);
      assert.match((await rotateKeys(rig.store, linkTo(rotating))).join(), /: 4 secret/);

      const link = inProcess({ operations: await signerWith(rig, { current }, false) });
      Object.assign(rig.dependencies, { committer: createCommitter(rig.store, link) });
      assert.deepEqual(await rig.send(rig.root, tradeCode, body), traded);
      rig.signer.clock.nowMs = endsAtMs;
      await openEnded(rig.store, link, endsAtMs);
      assert.deepEqual(await shownTo(rig, rig.root, used), used);
    });
  });
}
