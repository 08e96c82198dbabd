/** Types that older releases of the clients send to the same paths: each is answered under the key that release reads. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { apiKeyOf, at, foundOrganization, type Person } from "./clients.ts";

/** Before keys had curves. */
const plainKey = () => ({ apiKeyName: "Key", publicKey: createKey().publicKey });
const curvedKey = () => apiKeyOf(createKey());
const bare = { authenticators: [] };
const linked = { ...bare, oauthProviders: [] };

const founding = (rootUser: object) => ({
  subOrganizationName: "Older",
  rootQuorumThreshold: 1,
  rootUsers: [{ userName: "Root", ...rootUser }],
});

type Older = {
  type: string;
  resultKey: string;
  parameters(owner: Person): object;
};

/** All versions but the first, whose only root user has a passkey. */
const organizations: Older[] = [
  {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
    resultKey: "createSubOrganizationResultV7",
    parameters: () => founding({ userPhoneNumber: "+14155550123", apiKeys: [curvedKey()], ...linked }),
  },
  {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6",
    resultKey: "createSubOrganizationResultV6",
    parameters: () => founding({ apiKeys: [curvedKey()], ...linked }),
  },
  {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5",
    resultKey: "createSubOrganizationResultV5",
    parameters: () => founding({ apiKeys: [plainKey()], ...linked }),
  },
  {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4",
    resultKey: "createSubOrganizationResultV4",
    parameters: () => founding({ apiKeys: [plainKey()], ...bare }),
  },
  {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3",
    resultKey: "createSubOrganizationResultV3",
    parameters: () => ({ ...founding({ apiKeys: [plainKey()], ...bare }), privateKeys: [] }),
  },
  {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2",
    resultKey: "createSubOrganizationResult",
    parameters: () => founding({ apiKeys: [plainKey()], ...bare }),
  },
];

const users: Older[] = [
  {
    type: "ACTIVITY_TYPE_CREATE_USERS_V3",
    resultKey: "createUsersResult",
    parameters: () => ({ users: [{ userName: "V3", apiKeys: [curvedKey()], ...linked, userTags: [] }] }),
  },
  {
    type: "ACTIVITY_TYPE_CREATE_USERS_V2",
    resultKey: "createUsersResult",
    parameters: () => ({ users: [{ userName: "V2", apiKeys: [plainKey()], ...bare, userTags: [] }] }),
  },
];

const apiKeys: Older[] = [
  {
    type: "ACTIVITY_TYPE_CREATE_API_KEYS",
    resultKey: "createApiKeysResult",
    parameters: ({ userId }) => ({ userId, apiKeys: [plainKey()] }),
  },
];

const secp256k1 = { curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"], privateKeyTags: [] };

const privateKeys: Older[] = [
  {
    type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS",
    resultKey: "createPrivateKeysResult",
    parameters: () => ({ privateKeys: [{ privateKeyName: "V1", ...secp256k1 }] }),
  },
];

/** Before wallets there were private keys alone, which had to be named by their ids. */
function signatures(privateKeyId: string): Record<"payloads" | "transactions", Older[]> {
  return {
    payloads: [
      {
        type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD",
        resultKey: "signRawPayloadResult",
        parameters: () => ({
          privateKeyId,
          payload: "hello",
          encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
          hashFunction: "HASH_FUNCTION_SHA256",
        }),
      },
    ],
    transactions: [
      {
        type: "ACTIVITY_TYPE_SIGN_TRANSACTION",
        resultKey: "signTransactionResult",
        parameters: () => ({
          privateKeyId,
          // A legacy transaction of six fields, all of them empty but the address.
          unsignedTransaction: `da80808094${"11".repeat(20)}8080`,
          type: "TRANSACTION_TYPE_ETHEREUM",
        }),
      },
    ],
  };
}

export async function olderTypes(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { privateKeys: keys } = await owner.sdk.createPrivateKeys({
    privateKeys: [
      {
        privateKeyName: "Key",
        curve: "CURVE_SECP256K1",
        addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
        privateKeyTags: [],
      },
    ],
  });
  const { payloads, transactions } = signatures(at(keys, 0).privateKeyId ?? "");
  const groups = [
    { person: root, call: root.http.createSubOrganization, forms: organizations },
    { person: owner, call: owner.http.createUsers, forms: users },
    { person: owner, call: owner.http.createApiKeys, forms: apiKeys },
    { person: owner, call: owner.http.createPrivateKeys, forms: privateKeys },
    { person: owner, call: owner.http.signRawPayload, forms: payloads },
    { person: owner, call: owner.http.signTransaction, forms: transactions },
  ];
  for (const { person, call, forms } of groups) {
    for (const { type, resultKey, parameters } of forms) {
      await t.test(`${type} is answered by ${resultKey}`, async () => {
        const { organizationId } = person;
        const body = { type, timestampMs: String(Date.now()), organizationId, parameters: parameters(person) };
        const { activity } = await call(body as never);
        assert.equal(activity.type, type);
        assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
        assert.deepEqual(Object.keys(activity.result), [resultKey]);
        const suffix = /_(V\d)$/.exec(type)?.[1] ?? "";
        assert.deepEqual(Object.values(activity.intent), [body.parameters]);
        assert.match(Object.keys(activity.intent)[0] ?? "", new RegExp(`Intent${suffix}$`));
      });
    }
  }
}
