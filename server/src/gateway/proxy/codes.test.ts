/** Codes of the auth proxy, by mail and by text message, from its routes to the signer, on both databases. */
import assert from "node:assert/strict";
import { enableProxy, noCredentials, openProxy } from "../../../test/auth_proxy_rig.ts";
import { userIn } from "../../../test/code_login_rig.ts";
import { lastMessage } from "../../../test/mail_rig.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { claimsOf, newKey } from "../../../test/session_rig.ts";

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

onBothDatabases("a code by text message signs up and in, and the account is found by its number", async (rig) => {
  const proxy = await enableProxy(rig);
  const contact = "+15551234567";
  const answered = async () => {
    rig.signer.clock.nowMs += 1;
    const { otpId } = await proxy.ok("otp_init", { otpType: "OTP_TYPE_SMS", contact });
    const { code, channel, to } = await lastMessage(rig, rig.organizationId);
    assert.deepEqual([channel, to], ["sms", contact]);
    return (await proxy.ok("otp_verify", { otpId, otpCode: code })).verificationToken;
  };
  const find = () => proxy.ok("account", { filterType: "PHONE_NUMBER", filterValue: contact });
  const verificationToken = await answered();
  assert.deepEqual(await find(), {});
  const made = await proxy.ok("signup", { ...noCredentials, userPhoneNumber: contact, verificationToken });
  const { organizationId = "", userId = "" } = made;
  const user = await userIn(rig, organizationId, userId);
  assert.deepEqual([user.userName, user.userPhoneNumber], [contact, contact]);
  const named = rig.store.db.selectFrom("organizations").select("organization_name");
  const [row] = await named.where("organization_id", "=", organizationId).execute();
  assert.match(row?.organization_name ?? "", /^sub-org-[0-9]{13}$/);
  assert.deepEqual(await find(), { organizationId });
  for (const filterType of ["NAME", "USERNAME"]) {
    assert.deepEqual(await proxy.ok("account", { filterType, filterValue: contact }), {}, filterType);
  }
  const login = { verificationToken: await answered(), publicKey: newKey().publicKey };
  assert.equal(claimsOf(String((await proxy.ok("otp_login", login)).session)).organization_id, organizationId);
});
