/** Whom no secret is sent to, by a signer with a keyring of its own. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig, Refused } from "../../test/gateway_rig.ts";
import { exportClient } from "../../test/imports.ts";
import { openKeyring, serviceKeys } from "../signer/secrets/keyring.ts";
import { findDeployment } from "../store/across.ts";

test("an export to any P-256 service key of the deployment is refused, to a client's own it is made", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const key = { privateKeyName: "key", curve: "CURVE_ED25519", privateKeyTags: [], addressFormats: [] };
  const made = await rig.submit(rig.root, "create_private_keys", { privateKeys: [key] });
  const { privateKeys } = made.result.createPrivateKeysResultV2 as { privateKeys: [{ privateKeyId: string }] };
  const [{ privateKeyId }] = privateKeys;
  const exportTo = (targetPublicKey: string) =>
    rig.submit(rig.root, "export_private_key", { privateKeyId, targetPublicKey });
  const sealed = await findDeployment(rig.store);
  assert.ok(sealed);
  const { publicKeys } = openKeyring(rig.signer.rootKey, 1, sealed);
  const names = (Object.keys(serviceKeys) as (keyof typeof serviceKeys)[]).filter(
    (name) => serviceKeys[name] === "p256",
  );
  assert.equal(names.length, 4);
  for (const name of names) {
    await assert.rejects(exportTo(publicKeys[name]), (error) => {
      assert.ok(error instanceof Refused, name);
      assert.equal(error.failure.message, "invalid target public key: this is a key of the server itself");
      return true;
    });
  }
  assert.equal((await exportTo(exportClient().targetPublicKey)).status, "ACTIVITY_STATUS_COMPLETED");
});
