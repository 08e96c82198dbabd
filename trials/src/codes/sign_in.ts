/** Users of sub-organizations who sign in by code, through the server of the parent. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { quickSignature } from "../races/quick_stamp.ts";
import { type ActivityPath, apiKeyOf, resultOf, type Stage } from "../races/stage.ts";
import { encryptAnswer, type Started, tokenOf } from "./answers.ts";
import type { MailboxReader } from "./mailbox_reader.ts";

export type Child = { organizationId: string; userId: string; contact: string; session?: KeyPair };

export async function createChild(stage: Stage): Promise<Child> {
  const contact = `${randomUUID()}@example.com`;
  const user = { userName: "User", userEmail: contact, apiKeys: [apiKeyOf(createKey())] };
  const parameters = { subOrganizationName: "Child", rootUsers: [user], rootQuorumThreshold: 1 };
  const { subOrganizationId, rootUserIds } = await byParent(stage, "create_sub_organization", parameters);
  return { organizationId: subOrganizationId, userId: rootUserIds[0], contact };
}

/** The three requests of a login, each at any of the servers and stamped with the parent's key. */
export async function signIn(stage: Stage, mailbox: MailboxReader, child: Child): Promise<void> {
  const { organizationId, contact } = child;
  const asked = { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example" };
  const started: Started = await byParent(stage, "init_otp", asked);
  const code = await mailbox.code(contact);
  const holder = createKey();
  const encryptedOtpBundle = await encryptAnswer(started, code, holder.publicKey);
  const answer = { otpId: started.otpId, encryptedOtpBundle };
  const request = stage.stamped(stage.first.organizationId, stage.first.root, "verify_otp", answer);
  const verificationToken = tokenOf(await stage.send(request));
  const session = createKey();
  const { publicKey } = session;
  const clientSignature = signatureFor(holder, verificationToken, publicKey);
  await byParent(stage, "otp_login", { verificationToken, publicKey, clientSignature }, organizationId);
  child.session = session;
}

export async function assertSignedIn(stage: Stage, { organizationId, userId, session: key }: Child): Promise<void> {
  assert.ok(key !== undefined);
  const me = await stage.query({ organizationId }, { key }, "whoami");
  assert.deepEqual([me.status, me.json.userId], [200, userId], me.text);
}

function signatureFor(holder: KeyPair, token: string, publicKey: string) {
  const { id } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const message = JSON.stringify({ login: { publicKey }, tokenId: id, type: "USAGE_TYPE_LOGIN" });
  const signature = quickSignature(holder, message);
  return { publicKey: holder.publicKey, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", message, signature };
}

async function byParent(
  stage: Stage,
  path: ActivityPath,
  parameters: object,
  organizationId = stage.first.organizationId,
): Promise<ReturnType<typeof resultOf>> {
  const request = stage.stamped(organizationId, stage.first.root, path, parameters);
  return resultOf(await stage.send(request), request);
}
