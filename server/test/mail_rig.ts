/** Sign-in by mail through gateway and signer: messages as the courier would open them, and the keys that they bring. */
import assert from "node:assert/strict";
import { decryptCredentialBundle, generateP256KeyPair } from "@turnkey/crypto";
import type { TimedMessage } from "../src/outbox/sealed_message.ts";
import { openMessage } from "../src/outbox/sealed_message.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import type { GatewayRig, Person } from "./gateway_rig.ts";

/** All messages of an organization that were committed and not sent, the newest last. */
export async function messagesOf({ store, signer }: GatewayRig, organizationId: string): Promise<TimedMessage[]> {
  const { courierKey } = openKeyring(signer.rootKey, 1, signer.keyring);
  const rows = await store.db.selectFrom("outbox").selectAll().where("organization_id", "=", organizationId).execute();
  const messages = rows.map(({ message_id: messageId, sealed }) => {
    assert.ok(sealed);
    return openMessage(courierKey, { organizationId, messageId }, sealed) ?? assert.fail("a message does not open");
  });
  return messages.sort((one, other) => one.createdAtMs - other.createdAtMs);
}

export async function lastMessage(rig: GatewayRig, organizationId: string): Promise<TimedMessage> {
  return (await messagesOf(rig, organizationId)).at(-1) ?? assert.fail("nothing was sent");
}

/** A client's key pair that bundles are encrypted to; opens them as the published package does. */
export function bundleReader() {
  const { privateKey, publicKeyUncompressed: targetPublicKey } = generateP256KeyPair();
  const open = (bundle: string) => new Uint8Array(Buffer.from(decryptCredentialBundle(bundle, privateKey), "hex"));
  return { targetPublicKey, open };
}

export const emailCustomization = { appName: "App" };

/** A sub-organization of two root users, either of whom is enough. Ann has an e-mail address and a phone number. */
export async function createFamily(rig: GatewayRig) {
  const { organizationId, people } = await rig.newSubOrganization(1, ["ann", "bob"]);
  const [ann, bob] = people;
  assert.ok(ann && bob);
  const within = { organizationId };
  const { userId } = ann;
  const email = `Ann.${userId.slice(0, 8)}@example.com`;
  await rig.submit(ann, "update_user_email", { userId, userEmail: email }, within);
  await rig.submit(ann, "update_user_phone_number", { userId, userPhoneNumber: "+15551234567" }, within);
  return { organizationId, within, ann, bob, email };
}

/** Has a recovery key mailed, which the person then speaks with. */
export async function recoveryKeyOf(
  rig: GatewayRig,
  person: Person,
  email: string,
  where: { organizationId: string },
  by: Person = rig.root,
): Promise<Person> {
  const { targetPublicKey, open } = bundleReader();
  // Messages are told apart by their time.
  rig.signer.clock.nowMs += 1;
  await rig.submit(by, "init_user_email_recovery", { email, targetPublicKey, emailCustomization }, where);
  const { code } = await lastMessage(rig, where.organizationId);
  return { ...person, privateKey: open(code) };
}
