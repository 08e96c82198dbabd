import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { codeParams, sendType, startCode } from "../../../test/one_time_codes.ts";
import type { Store } from "../../store/store.ts";
import { expiryJobs } from "./expiry_jobs.ts";

const dayMs = 86_400_000;

async function countKeys({ db }: Store): Promise<number> {
  return (await db.selectFrom("idempotency_keys").select("idempotency_key").execute()).length;
}

for (const dialect of ["sqlite", "postgres"] as const) {
  test(`on ${dialect}: old idempotency keys are deleted, unless the process is stopping`, async (t) => {
    const rig = await createGatewayRig(t, dialect, Date.now() - 2 * dayMs);
    if (rig === undefined) return;
    for (const key of ["a", "b"]) {
      const body = rig.body("create_user_tag", { userTagName: key, userIds: [] });
      await rig.send(rig.root, "create_user_tag", body, key);
    }
    const runAll = async (signal: AbortSignal) => {
      for (const { run } of expiryJobs(rig.store, 30)) await run(signal);
    };
    await runAll(AbortSignal.abort());
    assert.equal(await countKeys(rig.store), 2);
    await runAll(new AbortController().signal);
    assert.equal(await countKeys(rig.store), 0);
  });

  test(`on ${dialect}: codes, attempts and messages go after as many days as contacts are kept`, async (t) => {
    const rig = await createGatewayRig(t, dialect, Date.now() - 2 * dayMs);
    if (rig === undefined) return;
    const { otpId } = await startCode(rig, codeParams(), { type: "ACTIVITY_TYPE_INIT_OTP_V2" });
    await assert.rejects(sendType(rig, "ACTIVITY_TYPE_VERIFY_OTP", { otpId, otpCode: "wrong" }));
    // The gateway notes attempts by its own clock.
    await rig.store.db.updateTable("otp_attempts").set({ created_at_ms: rig.signer.clock.nowMs }).execute();
    const runAll = async (contactDays: number) => {
      for (const { run } of expiryJobs(rig.store, contactDays)) await run(new AbortController().signal);
    };
    const counts = async () => {
      const tables = ["otp_codes", "otp_attempts", "outbox"] as const;
      const rows = tables.map((table) => rig.store.db.selectFrom(table).select("organization_id").execute());
      return (await Promise.all(rows)).map(({ length }) => length);
    };
    await runAll(3);
    assert.deepEqual(await counts(), [1, 1, 1]);
    await runAll(1);
    assert.deepEqual(await counts(), [0, 0, 0]);
  });
}
