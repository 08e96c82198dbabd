/**
 * Makes a data folder to test upgrades with, as the checkout that it runs in leaves it. To make one of an older version, copy this
 * folder into a checkout of that version and run it there:
 *
 *   npx node trials/src/upgrade/make_data_folder.ts trials/fixtures/NAME.br
 */
import assert from "node:assert/strict";
import { createECDH } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { type Activity, type Client, createApiKeyStamper, createClient, KeysteadError } from "@keystead/sdk";
import { packFolder } from "./packed_folder.ts";
import { type DataFolderStory, payload, type StoryOrganization, type StoryPerson } from "./story.ts";

type Draft = { userName: string; key: KeyPair };

const draft = (userName: string): Draft => ({ userName, key: createKey() });

function userOf({ userName, key: { publicKey, curve } }: Draft) {
  return {
    userName,
    apiKeys: [{ apiKeyName: "key", publicKey, curveType: curve }],
    authenticators: [],
    oauthProviders: [],
  };
}

const accounts = [
  {
    curve: "CURVE_SECP256K1",
    pathFormat: "PATH_FORMAT_BIP32",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  },
] as const;

/** The activity of a call that waits for others. */
async function waiting(call: Promise<unknown>): Promise<Activity> {
  const error = await call.then(
    () => assert.fail("it is completed"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof KeysteadError && error.activity !== undefined, String(error));
  assert.equal(error.activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  return error.activity;
}

function as({ url }: KeysteadServer, organizationId: string, { privateKey }: Pick<StoryPerson, "privateKey">): Client {
  return createClient({ baseUrl: url, organizationId, stamper: createApiKeyStamper({ apiPrivateKey: privateKey }) });
}

/** Wallets and keys: used, exported, deleted; a policy, a refusal and a failure. */
async function furnishOne(server: KeysteadServer): Promise<DataFolderStory["one"]> {
  const one = await found(server, 1, ["Owner"]);
  const { organizationId } = one;
  const owner = one.people[0] ?? assert.fail();
  const root = as(server, organizationId, owner);
  const second = draft("Second");
  const { userIds } = await root.createUsers({ users: [{ ...userOf(second), userTags: [] }] });
  const secondId = userIds[0] ?? assert.fail();
  await root.createPolicy({
    policyName: "The second user signs",
    effect: "EFFECT_ALLOW",
    condition: "activity.action == 'SIGN'",
    consensus: `approvers.any(user, user.id == '${secondId}')`,
  });
  const { addresses } = await root.createWallet({ walletName: "Cold", accounts });
  const address = addresses[0] ?? assert.fail();
  const key = { curve: "CURVE_ED25519", addressFormats: ["ADDRESS_FORMAT_SOLANA"], privateKeyTags: [] } as const;
  const names = ["kept", "exported", "deleted"];
  const { privateKeys } = await root.createPrivateKeys({
    privateKeys: names.map((privateKeyName) => ({ privateKeyName, ...key })),
  });
  const [kept, exported, deleted] = privateKeys.map(({ privateKeyId }) => privateKeyId);
  assert.ok(kept !== undefined && exported !== undefined && deleted !== undefined);
  const targetPublicKey = createECDH("prime256v1").generateKeys("hex");
  await root.exportPrivateKey({ privateKeyId: exported, targetPublicKey });
  await root.deletePrivateKeys({ privateKeyIds: [deleted], deleteWithoutExport: true });
  const person = { userId: secondId, privateKey: Buffer.from(second.key.privateKey).toString("hex") };
  const asSecond = as(server, organizationId, person);
  const signed = await asSecond.signRawPayload({ signWith: address, ...payload });
  await assert.rejects(asSecond.createUserTag({ userTagName: "not allowed", userIds: [] }), { status: 403 });
  await root.createUserTag({ userTagName: "twice", userIds: [owner.userId] });
  await assert.rejects(root.createUserTag({ userTagName: "twice", userIds: [] }), KeysteadError);
  const { activity, r, s, v } = signed;
  return {
    organizationId,
    people: [owner, person],
    address,
    privateKeys: { kept, exported, deleted },
    signing: { activityId: activity.id, r, s, v },
  };
}

/** A sub-organization with a wallet, of whose root users so many must agree. */
async function found(server: KeysteadServer, threshold: number, userNames: string[]): Promise<StoryOrganization> {
  const { organizationId: parentId, apiPrivateKey } = server.bootstrap;
  const drafts = userNames.map(draft);
  const born = await as(server, parentId, { privateKey: apiPrivateKey }).createSubOrganization({
    subOrganizationName: `${threshold} of ${userNames.length}`,
    rootUsers: drafts.map(userOf),
    rootQuorumThreshold: threshold,
    wallet: { walletName: "Born with it", accounts: [...accounts] },
  });
  const people = drafts.map(({ key }, index) => ({
    userId: born.rootUserIds?.[index] ?? assert.fail(),
    privateKey: Buffer.from(key.privateKey).toString("hex"),
  }));
  return { organizationId: born.subOrganizationId, people };
}

async function furnish(server: KeysteadServer): Promise<DataFolderStory> {
  const one = await furnishOne(server);
  const names = ["First", "Second", "Third"];
  const two = await found(server, 2, names);
  const three = await found(server, 3, names);
  const client = ({ organizationId: id, people }: StoryOrganization, index: number) =>
    as(server, id, people[index] ?? assert.fail());
  const submit = (organization: StoryOrganization, userTagName: string) =>
    waiting(client(organization, 0).createUserTag({ userTagName, userIds: [] }));

  const agreed = await submit(two, "agreed before");
  await client(two, 1).approveActivity({ fingerprint: agreed.fingerprint });
  const rejected = await submit(two, "voted down");
  await client(two, 1).rejectActivity({ fingerprint: rejected.fingerprint });
  const submitted = await submit(two, "submitted before");
  const voted = await submit(three, "voted on before");
  await client(three, 1).approveActivity({ fingerprint: voted.fingerprint });
  return {
    madeAtMs: Date.now(),
    one,
    two: { ...two, waiting: { activityId: submitted.id, fingerprint: submitted.fingerprint } },
    three: { ...three, waiting: { activityId: voted.id, fingerprint: voted.fingerprint } },
  };
}

const [target] = process.argv.slice(2);
assert.ok(target !== undefined, "say where to write the packed folder");
const top = mkdtempSync(join(tmpdir(), "keystead-upgrade-"));
chmodSync(top, 0o711);
const dataFolder = join(top, "data");
const server = await startKeystead({ dataFolder });
let story: DataFolderStory;
try {
  story = await furnish(server);
} finally {
  await server.stop();
}
const packed = packFolder(dataFolder, story);
writeFileSync(target, packed);
rmSync(top, { recursive: true });
console.log(`${target}: ${packed.length} bytes`);
