/**
 * A host dies between commit and release, and another host's signer lets the rows out. The first one's signer has prepared them, and was
 * never asked to release them: it must find the keys that they made all the same.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { newKey } from "../../../test/session_rig.ts";

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

/** Whatever is released meanwhile, this host's signer does not hear of it. */
async function releasedElsewhere<T>({ link }: GatewayRig, work: () => Promise<T>): Promise<T> {
  const { request } = link;
  link.request = (async (kind: "prepare", ...rest: [{ rows: readonly unknown[] }, never]) => {
    if ((kind as string) !== "release") return request(kind, ...(rest as unknown as [never, never]));
    return rest[0].rows.map(() => ({ kind: "released", value: { result: undefined } }));
  }) as typeof request;
  try {
    return await work();
  } finally {
    link.request = request;
  }
}

function signed(rig: GatewayRig, signWith: string, organizationId = rig.organizationId, person = rig.root) {
  const payload = { payload: "aa", encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };
  return rig.submit(person, "sign_raw_payload", { signWith, ...payload }, { organizationId });
}

for (const dialect of dialects) {
  test(`a wallet whose making another host released signs here too (${dialect})`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const parameters = { walletName: "Wallet", accounts: [ethereum] };
    const made = await releasedElsewhere(rig, () => rig.submit(rig.root, "create_wallet", parameters));
    const { addresses } = made.result.createWalletResult as { addresses: [string] };
    assert.equal((await signed(rig, addresses[0])).status, "ACTIVITY_STATUS_COMPLETED");
    // From now on it knows.
    assert.equal((await signed(rig, addresses[0])).status, "ACTIVITY_STATUS_COMPLETED");
  });

  test(`so does a wallet that its organization was born with (${dialect})`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { privateKey, publicKey } = newKey();
    const apiKeys = [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }];
    const born = await releasedElsewhere(rig, () =>
      rig.submit(rig.root, "create_sub_organization", {
        subOrganizationName: "Sub",
        rootUsers: [{ userName: "Kim", apiKeys, authenticators: [], oauthProviders: [] }],
        rootQuorumThreshold: 1,
        wallet: { walletName: "Wallet", accounts: [ethereum] },
      }),
    );
    const { subOrganizationId, wallet } = born.result.createSubOrganizationResultV8 as {
      subOrganizationId: string;
      wallet: { addresses: [string] };
    };
    const kim = { userId: "", userName: "Kim", privateKey };
    const { status } = await signed(rig, wallet.addresses[0], subOrganizationId, kim);
    assert.equal(status, "ACTIVITY_STATUS_COMPLETED");
  });
}
