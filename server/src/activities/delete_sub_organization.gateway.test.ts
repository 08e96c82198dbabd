/** Keys that are born with an organization, and what becomes of them with it, on both databases. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { createGatewayRig, type Person, Refused } from "../../test/gateway_rig.ts";
import { exportClient } from "../../test/imports.ts";
import { dialects } from "../../test/open_test_store.ts";

const ofThirdVersion = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3";
const ethereum = ["ADDRESS_FORMAT_ETHEREUM"];

for (const dialect of dialects) {
  test(`private keys born with an organization sign in it, and keep it until all are exported (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const privateKey = p256.utils.randomSecretKey();
    const apiKeys = [{ apiKeyName: "key", publicKey: toHex(p256.getPublicKey(privateKey)) }];
    const newest = rig.body("create_sub_organization", {
      subOrganizationName: "Sub",
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: "Kim", apiKeys, authenticators: [] }],
      privateKeys: ["hot", "cold"].map((privateKeyName) => {
        return { privateKeyName, curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: ethereum };
      }),
    });
    const body = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(newest).toString()), type: ofThirdVersion }));
    const created = await rig.send(rig.root, "create_sub_organization", body);
    const { subOrganizationId, rootUserIds, privateKeys } = created.result.createSubOrganizationResultV3 as {
      subOrganizationId: string;
      rootUserIds: [string];
      privateKeys: { privateKeyId: string; addresses: [{ format: string; address: string }] }[];
    };
    assert.equal(privateKeys.length, 2);
    assert.deepEqual((await rig.send(rig.root, "create_sub_organization", body)).result, created.result);

    const kim: Person = { userId: rootUserIds[0], userName: "Kim", privateKey };
    const submit = (path: Parameters<typeof rig.submit>[1], parameters: unknown) =>
      rig.submit(kim, path, parameters, { organizationId: subOrganizationId });
    const refused = (lost: number) => (error: unknown) => {
      assert.ok(error instanceof Refused);
      assert.equal(error.failure.code, 3);
      assert.match(error.failure.message, new RegExp(`^wallet account has not been exported: ${lost} of`));
      return true;
    };
    const { targetPublicKey } = exportClient();
    const what = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" };
    for (const [i, { privateKeyId, addresses }] of privateKeys.entries()) {
      const signWith = addresses[0].address;
      const { result } = await submit("sign_raw_payload", { signWith, payload: "hello", ...what });
      assert.match((result.signRawPayloadResult as { r: string }).r, /^[0-9a-f]{64}$/);
      await assert.rejects(submit("delete_sub_organization", {}), refused(privateKeys.length - i));
      for (let again = 0; again < 2; again++) await submit("export_private_key", { privateKeyId, targetPublicKey });
    }
    await submit("create_wallet", { walletName: "late", accounts: [] });
    await assert.rejects(submit("delete_sub_organization", { deleteWithoutExport: false }), refused(1));
    const [hot] = privateKeys;
    await submit("delete_private_keys", { privateKeyIds: [hot?.privateKeyId] });
    await assert.rejects(submit("delete_sub_organization", {}), refused(1));
    const { result } = await submit("delete_sub_organization", { deleteWithoutExport: true });
    assert.deepEqual(result.deleteSubOrganizationResult, { subOrganizationUuid: subOrganizationId });
  });
}
