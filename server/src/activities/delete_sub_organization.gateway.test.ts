/** Keys that are born with an organization, and what becomes of them with it, on both databases. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { createGatewayRig, type Person, Refused } from "../../test/gateway_rig.ts";
import { exportClient } from "../../test/imports.ts";
import { dialects } from "../../test/open_test_store.ts";
import { decodePage } from "../state/pages.ts";

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

  test(`with an organization its sealed secrets go, and no other's (${dialect})`, async (t: TestContext) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(1, ["Kim"]);
    const [kim] = people;
    assert.ok(kim);
    const [path, addressFormat] = ["m/44'/60'/0'/0/0", ethereum[0]];
    const accounts = [{ curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path, addressFormat }];
    const key = { privateKeyName: "key", curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: ethereum };
    for (const [person, within] of [
      [kim, organizationId],
      [rig.root, rig.organizationId],
    ] as const) {
      const submit = (to: Parameters<typeof rig.submit>[1], parameters: unknown) =>
        rig.submit(person, to, parameters, { organizationId: within });
      await submit("create_wallet", { walletName: "wallet", accounts });
      await submit("create_private_keys", { privateKeys: [key] });
      await submit("init_import_wallet", { userId: person.userId });
      await submit("init_import_private_key", { userId: person.userId });
    }
    const { db } = rig.store;
    /** How many rows of each table, and targets that wait. */
    const left = async (within: string) => {
      const counts: number[] = [];
      for (const table of ["wallets", "wallet_accounts", "private_keys", "private_key_addresses"] as const) {
        const rows = await db
          .selectFrom(table)
          .select("organization_id")
          .where("organization_id", "=", within)
          .execute();
        counts.push(rows.length);
      }
      const pages = await db.selectFrom("pages").selectAll().where("organization_id", "=", within).execute();
      const targets = pages.find(({ name }) => name === "importTargets");
      assert.ok(targets);
      return [...counts, decodePage("importTargets", targets.content).size];
    };
    assert.deepEqual(await left(organizationId), [1, 1, 1, 1, 2]);
    await rig.submit(kim, "delete_sub_organization", { deleteWithoutExport: true }, { organizationId });
    assert.deepEqual(await left(organizationId), [0, 0, 0, 0, 0]);
    assert.deepEqual(await left(rig.organizationId), [1, 1, 1, 1, 2]);
  });
}
