import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { createOwnStatements } from "./log_statements.ts";

test("the signer is asked for one statement at a time: each has it wait for the disk", async (t) => {
  const { store, organizationId } = (await createGatewayRig(t, "sqlite")) ?? assert.fail();
  let [underWay, most] = [0, 0];
  const link = {
    async request() {
      most = Math.max(most, ++underWay);
      await pause(2);
      underWay--;
      return { kind: "signed", value: { note: "signed" } } as never;
    },
  };
  const statementOf = createOwnStatements({ store, link, places: { logId: "ab" } });
  const all = await Promise.all(Array.from({ length: 10 }, () => statementOf(organizationId)));
  assert.deepEqual([all.length, all[0]?.statement, most], [10, "signed", 1]);
});
