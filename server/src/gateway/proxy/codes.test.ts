/** Codes of the auth proxy, by mail and by text message, from its routes to the signer, on both databases. */
import assert from "node:assert/strict";
import { enableProxy, openProxy } from "../../../test/auth_proxy_rig.ts";
import { lastMessage } from "../../../test/mail_rig.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";

onBothDatabases("a code that was answered leaves its place to the next, from one address too", async (rig) => {
  const proxy = await enableProxy(rig);
  const other = openProxy(rig, proxy.configId, proxy.userId);
  const start = (gateway = proxy) => {
    // Messages are told apart by their time.
    rig.signer.clock.nowMs += 1;
    return gateway.call("otp_init", { otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" });
  };
  const answer = async (otpId: unknown, gateway = proxy) => {
    const { code } = await lastMessage(rig, rig.organizationId);
    assert.equal((await gateway.call("otp_verify", { otpId, otpCode: code })).status, 200);
  };
  for (let count = 0; count < 4; count++) await answer((await start()).body.otpId);
  await start();
  const last = await start();
  assert.equal((await proxy.call("otp_verify", { otpId: last.body.otpId, otpCode: "AAAAAAAAA" })).status, 400);
  assert.equal((await start()).status, 429, "a wrong answer is none");
  // Another gateway answers it: the place here stays, and nothing of its own is given back.
  await answer(last.body.otpId, other);
  assert.equal((await start()).status, 429);
  assert.equal((await start(other)).status, 200);
});
