/** Sessions as the published package reads them: its own code opens the bundle and checks the token. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decryptCredentialBundle, generateP256KeyPair, getPublicKey, verifySessionJwtSignature } from "@turnkey/crypto";
import { createGatewayRig } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { newKey, query } from "../../test/session_rig.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";

type ReadWrite = { credentialBundle: string; userId: string; apiKeyId: string };

for (const dialect of dialects) {
  describe(`published client on ${dialect}`, () => {
    test("a read-write session's key comes out of its bundle, and acts", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId } = rig;
      const bob = await rig.newPerson("bob");
      const reader = generateP256KeyPair();
      for (const targetPublicKey of [reader.publicKey, reader.publicKeyUncompressed]) {
        const { result } = await rig.submit(bob, "create_read_write_session", { targetPublicKey });
        const { credentialBundle, apiKeyId, ...others } = result.createReadWriteSessionResultV2 as ReadWrite;
        const owner = { organizationId, organizationName: "First", userId: bob.userId, username: "bob" };
        assert.deepEqual(others, owner);
        const privateKey = Buffer.from(decryptCredentialBundle(credentialBundle, reader.privateKey), "hex");
        const session = { ...bob, privateKey: new Uint8Array(privateKey) };
        const asked = { organizationId, userId: bob.userId };
        const { apiKeys }: { apiKeys: Record<string, unknown>[] } = await query(rig, "get_api_keys", asked, session);
        const key = apiKeys.find((each) => each.apiKeyId === apiKeyId);
        assert.deepEqual(key?.credential, {
          publicKey: Buffer.from(getPublicKey(privateKey, true)).toString("hex"),
          type: "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256",
        });
        assert.equal(key?.expirationSeconds, "900");
        assert.match(String(key?.apiKeyName), /^Read Write Session - \d{4}-\d\d-\d\dT/);
        await rig.submit(session, "create_api_keys", {
          userId: bob.userId,
          apiKeys: [{ apiKeyName: "k", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" }],
        });
      }
    });

    test("a login's token verifies under our notarizer key and under no other", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { notarizer, signer } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring).publicKeys;
      const { result } = await rig.submit(rig.root, "stamp_login", { publicKey: newKey().publicKey });
      const { session } = result.stampLoginResult as { session: string };
      assert.equal(await verifySessionJwtSignature(session, notarizer), true);
      assert.equal(await verifySessionJwtSignature(session, signer), false);
      const [header, payload = "", signature] = session.split(".");
      const claims = { ...JSON.parse(atob(payload)), user_id: "other" };
      const bent = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
      assert.equal(await verifySessionJwtSignature(bent, notarizer), false);
    });

    test("the first version is for the caller's own address", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId, root } = rig;
      await rig.submit(root, "update_user_email", { userId: root.userId, userEmail: "root@kiosk.example" });
      const type = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION";
      const send = (email: string) => {
        const parameters = { targetPublicKey: generateP256KeyPair().publicKey, email, apiKeyName: "old" };
        const timestampMs = String(rig.signer.clock.nowMs);
        const body = Buffer.from(JSON.stringify({ type, timestampMs, organizationId, parameters }));
        return rig.send(root, "create_read_write_session", body);
      };
      const { result } = await send("Root@KIOSK.example");
      const { userId, ...others } = result.createReadWriteSessionResult as Record<string, string>;
      assert.equal(userId, root.userId);
      assert.deepEqual(Object.keys(others).sort(), [
        "apiKeyId",
        "credentialBundle",
        "organizationId",
        "organizationName",
        "username",
      ]);
      // The last has the Kelvin sign, which Unicode lower-cases to a k.
      for (const other of ["bob@kiosk.example", "root@\u212aiosk.example"]) {
        await assert.rejects(send(other), /`email` must be that of the user who makes this request/, other);
      }
    });
  });
}
