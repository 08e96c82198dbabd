import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, newActivity, nowMs, signing } from "../../test/store_items.ts";
import { forgetCodes } from "./across_ended.ts";
import { findActivity } from "./activities.ts";
import { commitGroup } from "./commit.ts";
import type { CommitItem } from "./commit_item.ts";
import { claimAttempt } from "./otp_codes.ts";
import { findRecords } from "./records.ts";
import type { Store } from "./store.ts";

async function commit(store: Store, ...items: CommitItem[]): Promise<boolean[]> {
  return (await commitGroup(store, items, [])).committed;
}

const fingerprint = () => randomBytes(32).toString("hex");

for (const dialect of dialects) {
  const withOrganization = (name: string, run: (store: Store, organizationId: string) => Promise<void>) =>
    test(name, async (t) => {
      const store = await openTestStore(t, dialect);
      if (store === undefined) return;
      const organizationId = randomUUID();
      assert.deepEqual(await commit(store, birth(organizationId)), [true]);
      await run(store, organizationId);
    });

  describe(`one-time codes on ${dialect}`, () => {
    withOrganization(
      "a code's record comes with its activity, which changes no state, and is found by its id",
      async (store, id) => {
        const code = { otpId: randomUUID(), content: new Uint8Array(randomBytes(300)) };
        assert.deepEqual(await commit(store, { ...signing(id, 1), codes: [code] }), [true]);
        const wish = { by: "id", kind: "otpCode", id: code.otpId } as const;
        const [found, ...others] = await findRecords(store, id, wish);
        assert.deepEqual(Uint8Array.from(found?.content ?? []), code.content);
        assert.deepEqual([found?.sealed.length, others], [0, []]);
        assert.deepEqual(await findRecords(store, randomUUID(), wish), [], "another organization's");
      },
    );

    withOrganization(
      "of a hundred bodies at once three claim an attempt, each as often as it comes",
      async (store, id) => {
        const otpId = randomUUID();
        const bodies = Array.from({ length: 100 }, fingerprint);
        const claim = (body: string) => claimAttempt(store, { organizationId: id, otpId, fingerprint: body }, nowMs);
        const claims = await Promise.all(bodies.map(claim));
        assert.equal(claims.filter((each) => each === "claimed").length, 3);
        assert.equal(claims.filter((each) => each === "none left").length, 97);
        assert.deepEqual(await Promise.all(bodies.map(claim)), claims, "the same body is the same attempt");
        const other = await claimAttempt(
          store,
          { organizationId: id, otpId: randomUUID(), fingerprint: fingerprint() },
          nowMs,
        );
        assert.equal(other, "claimed", "another code's attempts are its own");
      },
    );

    withOrganization("a body that comes many times at once takes one place", async (store, id) => {
      const attempt = { organizationId: id, otpId: randomUUID(), fingerprint: fingerprint() };
      const claims = await Promise.all(Array.from({ length: 20 }, () => claimAttempt(store, attempt, nowMs)));
      assert.deepEqual(new Set(claims), new Set(["claimed"]));
      const rows = await store.db.selectFrom("otp_attempts").select("place").execute();
      assert.deepEqual(
        rows.map(({ place }) => Number(place)),
        [1],
      );
    });

    withOrganization("one body is given the token of a code; another leaves nothing behind", async (store, id) => {
      const otpId = randomUUID();
      const [first, second] = [newActivity(), newActivity()];
      const spending = (activity: typeof first) => ({ ...signing(id, 1), activity, spentCode: { otpId } });
      assert.deepEqual(await commit(store, spending(first), spending(second)), [true, false], "in one group");
      assert.deepEqual(await commit(store, spending(second)), [false], "in another");
      assert.equal(await findActivity(store, id, second.activityId), undefined);
      const claim = (body: string) => claimAttempt(store, { organizationId: id, otpId, fingerprint: body }, nowMs);
      assert.equal(await claim(first.fingerprint), "claimed");
      assert.equal(await claim(second.fingerprint), "spent");
      assert.deepEqual(await commit(store, { ...signing(id, 1), spentCode: { otpId: randomUUID() } }), [true]);
    });

    withOrganization("codes and attempts of before are forgotten, and later ones are not", async (store, id) => {
      const code = { otpId: randomUUID(), content: new Uint8Array(randomBytes(30)) };
      assert.deepEqual(await commit(store, { ...signing(id, 1), codes: [code] }), [true]);
      const attempt = { organizationId: id, otpId: code.otpId, fingerprint: fingerprint() };
      await claimAttempt(store, attempt, nowMs);
      const rows = async () =>
        (await store.db.selectFrom("otp_codes").select("otp_id").execute()).length +
        (await store.db.selectFrom("otp_attempts").select("otp_id").execute()).length;
      await forgetCodes(store, nowMs);
      assert.equal(await rows(), 2);
      await forgetCodes(store, nowMs + 1);
      assert.equal(await rows(), 0);
    });
  });
}
