/** A story in which everything that can happen to an organization happens: what a replay must be able to do again. */
import { randomBytes } from "node:crypto";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { Fault } from "@keystead/core/fault.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nodeKeyMaths } from "../src/curves/node_key_maths.ts";
import type { AnyActivity } from "../src/endpoints/define_activity.ts";
import { submit } from "../src/gateway/submit/submit.ts";
import { activities } from "../src/generated/activities.ts";
import { dialectOf } from "../src/views/dialect.ts";
import { enableProxy, noCredentials, signUpKey } from "./auth_proxy_rig.ts";
import { attestedLogin, type Home, loginParams, newHome } from "./code_login_rig.ts";
import { type ActivityPath, type GatewayRig, Refused } from "./gateway_rig.ts";
import { encryptTo, exportClient } from "./imports.ts";
import { codeParams, encryptAnswer, sendType, startCode } from "./one_time_codes.ts";
import { passkeyEvidence, passkeyParams, testPasskey } from "./passkeys.ts";
import { accounts, addAccount, addPolicy, done, hexPayload } from "./policy_rig.ts";
import { newKey } from "./session_rig.ts";
import { identityEvidence, testToken } from "./test_issuers.ts";
import { heldToken } from "./verification_tokens.ts";

export type Story = { home: Home };

export async function tellStory(rig: GatewayRig): Promise<Story> {
  const home = await newHome(rig, { userEmail: "ann@example.com" }, { userEmail: "ben@example.com" });
  await wallets(rig, home);
  await policiesAndVotes(rig, home);
  await importsAndExports(rig);
  await codes(rig, home);
  await identities(rig, home);
  await passkeys(rig);
  await sessions(rig, home);
  await signUp(rig);
  await deletions(rig, home);
  return { home };
}

/** Whatever the signer says about it. */
async function tried(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!(error instanceof Refused) && !(error instanceof Fault)) throw error;
  });
}

async function sendWith(rig: GatewayRig, path: ActivityPath, body: Uint8Array, evidence: SentEvidence): Promise<void> {
  const request = { body, evidence, idempotencyKey: undefined };
  const answer = await submit(rig.dependencies, activities[path] as AnyActivity, request, dialectOf(undefined));
  if ("failure" in answer) throw new Refused(answer.failure);
}

async function wallets(rig: GatewayRig, { organizationId, people: [ann] }: Home): Promise<void> {
  const where = { organizationId };
  const { walletId, address } = await addAccount(rig, { root: ann }, where);
  const more = { walletId, accounts: [accounts.solana] };
  await done(rig, ann, "create_wallet_accounts", more, where);
  await done(rig, ann, "update_wallet", { walletId, walletName: "Renamed" }, where);
  await tried(rig.submit(ann, "create_wallet", { walletName: "renamed", accounts: [] }, where));
  const payload = { signWith: address, payload: "00ff", ...hexPayload };
  await done(rig, ann, "sign_raw_payload", payload, where);
  await tried(rig.submit(ann, "sign_raw_payload", { ...payload, signWith: `0x${"11".repeat(20)}` }, where));
  const key = { privateKeyName: "Key", curve: "CURVE_ED25519", privateKeyTags: [], addressFormats: [] };
  await done(rig, ann, "create_private_keys", { privateKeys: [key] }, where);
}

async function policiesAndVotes(rig: GatewayRig, { organizationId, people: [ann, ben] }: Home): Promise<void> {
  const where = { organizationId };
  const users = [
    { userName: "Cid", apiKeys: [signUpKey(newKey())], authenticators: [], oauthProviders: [], userTags: [] },
  ];
  await done(rig, ann, "create_users", { users }, where);
  if (ben === undefined) throw new Error("the home has two people");
  const quorum = { threshold: 2, userIds: [ann.userId, ben.userId] };
  await done(rig, ann, "update_root_quorum", quorum, where);
  const tag = await rig.submit(ann, "create_user_tag", { userTagName: "voted", userIds: [] }, where);
  await rig.submit(ben, "approve_activity", { fingerprint: tag.fingerprint }, where);
  const other = await rig.submit(ann, "create_user_tag", { userTagName: "rejected", userIds: [] }, where);
  await rig.submit(ben, "reject_activity", { fingerprint: other.fingerprint }, where);
  const back = await rig.submit(ann, "update_root_quorum", { ...quorum, threshold: 1 }, where);
  await rig.submit(ben, "approve_activity", { fingerprint: back.fingerprint }, where);
  const cid = await rig.newPerson("Cid");
  const mayTag = `approvers.any(user, user.id == '${cid.userId}')`;
  await addPolicy(rig, { consensus: mayTag, condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'" });
  await done(rig, cid, "create_user_tag", { userTagName: "by policy", userIds: [] });
  await tried(rig.submit(cid, "create_wallet", { walletName: "denied", accounts: [] }));
}

async function importsAndExports(rig: GatewayRig): Promise<void> {
  const { root } = rig;
  const { userId } = root;
  const begin = async (kind: "wallet" | "private_key") =>
    (await done<{ importBundle: string }>(rig, root, `init_import_${kind}`, { userId })).importBundle;
  const sentence = toSentence(nodeKeyMaths, { entropy: randomBytes(16), language: "MNEMONIC_LANGUAGE_SPANISH" });
  const bundles = [await begin("wallet"), await begin("wallet"), await begin("wallet")];
  const wallet = { userId, walletName: "Imported", accounts: [accounts.ethereum] };
  const importWith = (name: string, encryptedBundle: string) =>
    rig.submit(root, "import_wallet", { ...wallet, walletName: name, encryptedBundle });
  const imported = await importWith("Imported", encryptTo(bundles[1] ?? "", sentence));
  await tried(importWith("The same", encryptTo(bundles[0] ?? "", sentence)));
  await tried(importWith("No words", encryptTo(bundles[2] ?? "", "these are no words")));
  await tried(importWith("No bundle", JSON.stringify({ encappedPublic: "04", ciphertext: "00" })));
  const key = {
    userId,
    privateKeyName: "Imported",
    curve: "CURVE_SECP256K1",
    addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
  };
  const encryptedBundle = encryptTo(await begin("private_key"), new Uint8Array(32).fill(7));
  await done(rig, root, "import_private_key", { ...key, encryptedBundle });
  const { walletId } = imported.result.importWalletResult as { walletId: string };
  const { targetPublicKey } = exportClient();
  await done(rig, root, "export_wallet", { walletId, targetPublicKey });
  const ours = rig.dependencies.otpKey?.();
  if (ours !== undefined) {
    await tried(rig.submit(root, "export_wallet", { walletId, targetPublicKey: Buffer.from(ours).toString("hex") }));
  }
}

async function codes(rig: GatewayRig, { organizationId, people: [ann] }: Home): Promise<void> {
  const { root } = rig;
  const started = await startCode(rig, codeParams("ann@example.com"));
  const { publicKey } = newKey();
  const answer = async (typed: string) => {
    const encryptedOtpBundle = await encryptAnswer(rig, started, typed, publicKey);
    return rig.submit(root, "verify_otp", { otpId: started.otpId, encryptedOtpBundle });
  };
  await tried(answer("000000000"));
  await answer(started.code);
  // Used up: the memory says so.
  await tried(answer("111111111"));
  for (let again = 0; again < 3; again++)
    await tried(sendType(rig, "ACTIVITY_TYPE_INIT_OTP_V3", codeParams("x@example.com")));
  await tried(sendType(rig, "ACTIVITY_TYPE_INIT_OTP_V3", codeParams("x@example.com")));
  const held = heldToken(rig.signer);
  await done(rig, ann, "otp_login", loginParams(held), { organizationId });
  const forged = { ...loginParams(held), verificationToken: `${held.token.slice(0, -4)}AAAA` };
  await tried(rig.submit(ann, "otp_login", forged, { organizationId }));
  await attestedLogin(rig, organizationId, heldToken(rig.signer));
  await attestedLogin(rig, rig.organizationId, heldToken(rig.signer));
}

async function identities(rig: GatewayRig, { organizationId, people: [ann] }: Home): Promise<void> {
  const { nowMs } = rig.signer.clock;
  const where = { organizationId };
  const oauthProviders = [{ providerName: "Google", oidcToken: testToken(nowMs, {}) }];
  await done(rig, ann, "create_oauth_providers", { userId: ann.userId, oauthProviders }, where);
  const { publicKey } = newKey();
  await done(rig, ann, "oauth_login", { oidcToken: testToken(nowMs, {}, publicKey), publicKey }, where);
  const key = newKey();
  const body = rig.body("stamp_login", { publicKey: key.publicKey }, where);
  await sendWith(rig, "stamp_login", body, identityEvidence(key, body, nowMs));
}

async function passkeys(rig: GatewayRig): Promise<void> {
  const rootUsers = [{ userName: "Kim", authenticators: [passkeyParams(0)] }];
  const child = {
    subOrganizationName: "Sub",
    rootUsers,
    rootQuorumThreshold: 1,
    wallet: { walletName: "Born", accounts: [accounts.ethereum] },
  };
  const born = await done<{ subOrganizationId: string }>(rig, rig.root, "create_sub_organization", child);
  const where = { organizationId: born.subOrganizationId };
  const body = rig.body("create_user_tag", { userTagName: "by passkey", userIds: [] }, where);
  await sendWith(rig, "create_user_tag", body, passkeyEvidence(testPasskey(0), body));
}

async function sessions(rig: GatewayRig, { organizationId, people: [ann] }: Home): Promise<void> {
  const where = { organizationId };
  const { targetPublicKey } = exportClient();
  await done(rig, ann, "create_read_write_session", { targetPublicKey }, where);
  await done(rig, ann, "create_read_only_session", {}, where);
  await done(rig, ann, "stamp_login", { publicKey: newKey().publicKey }, where);
}

/** Through the auth proxy, and an act of the parent in its sub-organization. */
async function signUp(rig: GatewayRig): Promise<void> {
  const proxy = await enableProxy(rig);
  await proxy.ok("signup_v2", { ...noCredentials, apiKeys: [signUpKey()] });
}

async function deletions(rig: GatewayRig, { organizationId, people: [ann] }: Home): Promise<void> {
  const where = { organizationId };
  const { walletId } = await addAccount(rig, { root: ann }, where);
  await tried(rig.submit(ann, "delete_wallets", { walletIds: [walletId] }, where));
  await done(rig, ann, "delete_wallets", { walletIds: [walletId], deleteWithoutExport: true }, where);
  const gone = await rig.newSubOrganization(1, ["Last"]);
  const [last] = gone.people;
  if (last === undefined) throw new Error("nobody is left");
  await done(
    rig,
    last,
    "delete_sub_organization",
    { deleteWithoutExport: true },
    { organizationId: gone.organizationId },
  );
}
