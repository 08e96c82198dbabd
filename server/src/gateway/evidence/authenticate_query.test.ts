/** Whose stamps are looked at twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig } from "../../../test/gateway_rig.ts";
import { authenticateQuery } from "./authenticate_query.ts";
import { createRefusedCredentials } from "./refused_credentials.ts";

test("a false stamp puts its key in doubt until a right one, and a key that nobody has is not even remembered", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { store, dependencies, organizationId, root } = rig;
  const refusedCredentials = createRefusedCredentials({ places: 1, waiting: 10, keys: 10, keptMs: 60_000 });
  const body = Buffer.from(JSON.stringify({ organizationId }));
  const ask = (privateKey: Uint8Array, signed: Uint8Array) => {
    const evidence = stampEvidence(signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", signed));
    return authenticateQuery(
      { store, curves: dependencies.curves, refusedCredentials },
      organizationId,
      evidence,
      body,
      "named",
    );
  };
  const stranger = new Uint8Array(32).fill(3);
  await assert.rejects(ask(stranger, body), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.equal(refusedCredentials.areNone(), true);
  await assert.rejects(ask(root.privateKey, Buffer.from("x")), { errorCode: "SIGNATURE_INVALID" });
  assert.equal(refusedCredentials.areNone(), false);

  // From now on it is verified under a limit, where somebody else has the only place.
  assert.equal(
    refusedCredentials.verifyLimit.enter(() => false),
    undefined,
  );
  let asked = 0;
  const count = () => asked++;
  const waiting = [ask(root.privateKey, body), ask(root.privateKey, Buffer.from("x"))];
  for (const each of waiting) each.then(count, count);
  // A key without a doubt does not wait for them.
  await assert.rejects(ask(stranger, body), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.equal(asked, 0);
  refusedCredentials.verifyLimit.leave(0);
  assert.equal((await waiting[0])?.userId, root.userId);
  await assert.rejects(waiting[1] ?? Promise.resolve(), { errorCode: "SIGNATURE_INVALID" });
  assert.equal((await ask(root.privateKey, body)).userId, root.userId);
  assert.equal(refusedCredentials.areNone(), true);
  assert.equal(
    refusedCredentials.verifyLimit.enter(() => false),
    undefined,
    "the place was given back",
  );
});
