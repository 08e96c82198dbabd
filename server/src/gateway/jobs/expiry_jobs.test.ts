import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
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
}
