import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "@keystead/core/fault.ts";
import { sql } from "kysely";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { maxFrameLength } from "../../frames/frame.ts";
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

test("a state that the first organization has moved on from is read anew", async (t) => {
  const { store, organizationId } = (await createGatewayRig(t, "sqlite")) ?? assert.fail();
  let asked = 0;
  const link = {
    async request() {
      if (++asked === 1) throw new Fault("aborted", "it is older than what was released");
      return { kind: "signed", value: { note: "signed" } } as never;
    },
  };
  const statementOf = createOwnStatements({ store, link, places: { logId: "ab" } });
  assert.equal((await statementOf(organizationId)).statement, "signed");
  assert.equal(asked, 2);
});

const harms = {
  "a directory longer than any message": { directory: new Uint8Array(maxFrameLength + 1) },
  "a directory that is none": { directory: new Uint8Array(3) },
  "a version beyond reading": { version: sql<number>`4611686018427387905` },
} as const;

for (const [harm, columns] of Object.entries(harms)) {
  test(`${harm}, in the first organization: whoever asks for a statement is told whose rows they are`, async (t) => {
    const { store, link, organizationId } = (await createGatewayRig(t, "sqlite")) ?? assert.fail();
    await store.db.updateTable("organizations").set(columns).execute();
    const statementOf = createOwnStatements({ store, link, places: { logId: "ab" } });
    await assert.rejects(statementOf(organizationId), {
      code: "unavailable",
      message: new RegExp(
        `^the list of logs is not to be had: organization ${organizationId}: .+; stop the server and run \`npx keystead check-database\`$`,
      ),
    });
  });
}
