/** That the search for secrets knows the tokens and codes which can still be used, and would find one that a row has. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { someToken, tradeCode, useToken } from "../../../server/test/bearer_endpoints.ts";
import { everyValue } from "../../../server/test/every_value.ts";
import { createGatewayRig } from "../../../server/test/gateway_rig.ts";
import { firstSealer, openBearerValues } from "./known_secrets.ts";
import { createScanner } from "./scanner.ts";

test("values in closed bodies and their results are known, are in no row, and would be found in one", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const verificationToken = someToken(Date.now() + 3_600_000);
  await rig.submit(rig.root, useToken, { verificationToken, note: "" });
  const traded = await rig.submit(rig.root, tradeCode, { otpCode: "123456" });
  await rig.dependencies.committer.settle();
  const given = traded.result.testTradeCodeResult as { verificationToken: string };

  const values = await openBearerValues(rig.store, firstSealer(rig.signer.rootKey));
  const texts = values.map(({ text }) => text);
  assert.deepEqual(texts.sort(), ['"otpCode":"123456"', verificationToken, given.verificationToken].sort());
  const { scan } = createScanner(values.map(({ name, text }) => ({ name, bytes: Buffer.from(text) })));
  const found = async () => new Set((await everyValue(rig.store)).flatMap((value) => [...scan(value)]));
  assert.deepEqual(await found(), new Set());

  const planted = Buffer.from(JSON.stringify({ otpCode: "123456", verificationToken }));
  await rig.store.db.updateTable("activities").set({ body: planted }).where("activity_id", "=", traded.id).execute();
  assert.equal((await found()).size, 2);
});
