/**
 * The honest life of an organization, with everything in it that somebody could want back later: a removed user and a removed key,
 * a policy that was deleted and one that denies, a quorum that was raised, a rejected proposal, deleted keys, something that still
 * waits. Every activity there is happens at least once; the tests that use it say so by the registry. Who carries the requests is
 * the teller's business: a gateway in this process, or HTTP.
 */
import { randomBytes } from "node:crypto";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { p256 } from "@noble/curves/nist.js";
import type { activities } from "../src/generated/activities.ts";
import { sha256 } from "../src/state/digest.ts";
import { encryptTo, exportClient } from "./imports.ts";
import { origin, passkeyParams } from "./passkeys.ts";
import { ethereumVectors, pausable, pauseCall } from "./transactions.ts";

export type ActivityPath = keyof typeof activities;
export type Actor = { userId: string; userName: string; privateKey: Uint8Array };

/** What came of a request: the whole answer's activity, and the bytes that were sent. */
export type Acted = {
  body: Uint8Array;
  status: string;
  // biome-ignore lint/suspicious/noExplicitAny: results are as different as activities.
  result: any;
};

export type Teller = {
  /** Sends a stamped request and returns what came of it; one that is refused throws. */
  act(actor: Actor, path: ActivityPath, parameters: object, organizationId: string): Promise<Acted>;
  /** The same bytes with another's stamp. */
  repeat(actor: Actor, path: ActivityPath, body: Uint8Array): Promise<Acted>;
  /** The id of a wallet's account. No body tells it. */
  accountAt(actor: Actor, organizationId: string, walletId: string, address: string): Promise<string>;
};

/** Whom and what an organization of the story has, had, and must not have again. */
export type TargetOrganization = {
  organizationId: string;
  /** The root quorum: two of these three. Until the end of the story it was one. */
  ann: Actor;
  bob: Actor;
  cleo: Actor;
  /** Policies let dave sign with the wallet, and with keys that are gone, and nothing else; another denies whatever calls `pause()`. */
  dave: Actor;
  /** Removed. */
  eve: Actor;
  /** The policy that let fred sign was deleted. */
  fred: Actor;
  /** Still a user, but this key was deleted. */
  gina: Actor;
  /** Of dave's wallet: an Ethereum address and the key behind it, a Solana address. */
  address: string;
  solanaAddress: string;
  walletId: string;
  policyId: string;
  userTagId: string;
  /** Of a wallet that was deleted, and of a private key that was. */
  goneAddress: string;
  gonePrivateKeyId: string;
  privateKeyId: string;
  /** Bodies: of one that still waits for a second approval, of one that cleo rejected, of a tag that was made and deleted since. */
  waiting: Uint8Array;
  rejected: Uint8Array;
  undone: Uint8Array;
  /** Secrets that the story itself knows, because they came in or went out by it. */
  secrets: { sentences: string[]; keys: Uint8Array[] };
};

const bip32 = { pathFormat: "PATH_FORMAT_BIP32" };
const ethereum = {
  ...{ curve: "CURVE_SECP256K1", path: "m/44'/60'/0'/0/0", addressFormat: "ADDRESS_FORMAT_ETHEREUM" },
  ...bip32,
};
const solana = { curve: "CURVE_ED25519", path: "m/44'/501'/0'/0'", addressFormat: "ADDRESS_FORMAT_SOLANA", ...bip32 };
export const signedPayload = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };

/** Parameters of a user with one key, and who has it. */
export function newActor(userName: string): { user: object; actor: Actor } {
  const privateKey = p256.utils.randomSecretKey();
  const publicKey = toHex(p256.getPublicKey(privateKey));
  const apiKeys = [{ apiKeyName: `${userName}'s key`, publicKey, curveType: "API_KEY_CURVE_P256" }];
  return {
    user: { userName, apiKeys, authenticators: [], oauthProviders: [] },
    actor: { userId: "", userName, privateKey },
  };
}

/** A sub-organization with ann, bob and cleo, of whom one suffices as yet. */
export async function found(
  teller: Teller,
  root: Actor,
  parentId: string,
  name: string,
): Promise<{ organizationId: string; people: [Actor, Actor, Actor] }> {
  const drafts = ["ann", "bob", "cleo"].map(newActor);
  const { result } = await teller.act(
    root,
    "create_sub_organization",
    { subOrganizationName: name, rootUsers: drafts.map(({ user }) => user), rootQuorumThreshold: 1 },
    parentId,
  );
  const people = drafts.map(({ actor }, index) => ({ ...actor, userId: result.rootUserIds[index] as string }));
  return { organizationId: result.subOrganizationId, people: people as [Actor, Actor, Actor] };
}

/** Everything an organization goes through. `pause` is called now and then, for whoever wants a look at it in between. */
export async function furnishHouse(
  teller: Teller,
  { organizationId, people }: Awaited<ReturnType<typeof found>>,
  pause: (when: string) => Promise<void> = async () => undefined,
): Promise<TargetOrganization> {
  const [ann, bob, cleo] = people;
  const act = (path: ActivityPath, parameters: object, actor = ann) =>
    teller.act(actor, path, parameters, organizationId);
  const done = async (path: ActivityPath, parameters: object, actor = ann) => {
    const { status, result } = await act(path, parameters, actor);
    if (status !== "ACTIVITY_STATUS_COMPLETED") throw new Error(`${path} is ${status}`);
    return result;
  };
  const secrets: TargetOrganization["secrets"] = { sentences: [], keys: [] };

  // People, their keys and tags.
  const drafts = ["dave", "eve", "fred", "gina"].map(newActor);
  const users = drafts.map(({ user }) => ({ ...user, userTags: [] }));
  const { userIds } = await done("create_users", { users });
  const [dave, eve, fred, gina] = drafts.map(({ actor }, index) => ({ ...actor, userId: userIds[index] })) as [
    Actor,
    Actor,
    Actor,
    Actor,
  ];
  const { apiKeys } = newActor("hal").user as { apiKeys: { apiKeyName: string; publicKey: string }[] };
  const hals = apiKeys.map(({ apiKeyName, publicKey }) => ({ apiKeyName, publicKey }));
  await done("create_api_only_users", { apiOnlyUsers: [{ userName: "hal", userTags: [], apiKeys: hals }] });
  const tagged = { userTagName: "Signers", userIds: [dave.userId, eve.userId] };
  const { userTagId } = await done("create_user_tag", tagged);
  const { body: undone, result: shortLived } = await act("create_user_tag", {
    userTagName: "Short-lived",
    userIds: [],
  });
  await done("delete_user_tags", { userTagIds: [shortLived.userTagId] });
  await done("update_user_tag", {
    userTagId,
    newUserTagName: "Those who sign",
    addUserIds: [fred.userId],
    removeUserIds: [eve.userId],
  });
  await done("update_user", { userId: dave.userId, userEmail: "dave@example.com", userTagIds: [userTagId] });
  await done("update_user_name", { userId: fred.userId, userName: "Fred the former" });
  await done("update_user_email", { userId: fred.userId, userEmail: "fred@example.com" });
  await done("update_user_phone_number", { userId: fred.userId, userPhoneNumber: "+15557654321" });
  const second = newActor("gina");
  const { apiKeyIds } = await done("create_api_keys", {
    userId: gina.userId,
    apiKeys: (second.user as { apiKeys: object[] }).apiKeys,
  });
  const { authenticatorIds } = await done("create_authenticators", {
    userId: gina.userId,
    authenticators: [passkeyParams(0), passkeyParams(1)],
  });
  const lostKey: Actor = { ...gina, privateKey: second.actor.privateKey };

  // Sessions.
  await done("stamp_login", { publicKey: toHex(p256.getPublicKey(p256.utils.randomSecretKey())) });
  await done("create_read_write_session", { targetPublicKey: exportClient().targetPublicKey });
  await done("create_read_only_session", {});

  // Keys.
  const { walletId, addresses } = await done("create_wallet", { walletName: "Cold", accounts: [ethereum, solana] });
  const [address, solanaAddress] = addresses as [string, string];
  const further = await done("create_wallet_accounts", {
    walletId,
    accounts: [1, 2].map((n) => ({ ...ethereum, path: `m/44'/60'/${n}'/0/0`, name: `Account ${n}` })),
  });
  await done("update_wallet", { walletId, walletName: "Treasury" });
  const gone = await done("create_wallet", { walletName: "Gone", accounts: [ethereum] });
  const { privateKeyTagId } = await done("create_private_key_tag", { privateKeyTagName: "Hot", privateKeyIds: [] });
  const { privateKeyTagId: otherTagId } = await done("create_private_key_tag", {
    privateKeyTagName: "Cool",
    privateKeyIds: [],
  });
  const { privateKeys } = await done("create_private_keys", {
    privateKeys: ["CURVE_SECP256K1", "CURVE_ED25519"].map((curve, index) => ({
      privateKeyName: `Key ${index}`,
      curve,
      addressFormats: [index === 0 ? "ADDRESS_FORMAT_ETHEREUM" : "ADDRESS_FORMAT_SOLANA"],
      privateKeyTags: [privateKeyTagId, otherTagId],
    })),
  });
  const [privateKeyId, gonePrivateKeyId] = privateKeys.map((key: { privateKeyId: string }) => key.privateKeyId);
  await done("update_private_key_tag", {
    privateKeyTagId,
    newPrivateKeyTagName: "Warm",
    addPrivateKeyIds: [],
    removePrivateKeyIds: [gonePrivateKeyId],
  });
  await done("delete_private_key_tags", { privateKeyTagIds: [otherTagId] });

  // In and out.
  const sentence = Buffer.from(
    toSentence(nobleKeyMaths, { entropy: randomBytes(16), language: "MNEMONIC_LANGUAGE_ENGLISH" }),
  ).toString();
  const importedKey = new Uint8Array(randomBytes(32));
  secrets.sentences.push(sentence);
  secrets.keys.push(importedKey);
  const own = { userId: ann.userId };
  const walletTarget = await done("init_import_wallet", own);
  await done("import_wallet", {
    ...own,
    walletName: "Imported",
    encryptedBundle: encryptTo(walletTarget.importBundle, sentence),
    accounts: [ethereum],
  });
  const keyTarget = await done("init_import_private_key", own);
  await done("import_private_key", {
    ...own,
    privateKeyName: "Imported key",
    encryptedBundle: encryptTo(keyTarget.importBundle, importedKey),
    curve: "CURVE_SECP256K1",
    addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
  });
  await done("init_import_wallet", own);
  for (const [path, name] of [
    ["export_wallet", { walletId: gone.walletId }],
    ["export_wallet_account", { address: gone.addresses[0] }],
    ["export_private_key", { privateKeyId: gonePrivateKeyId }],
  ] as const) {
    const client = exportClient();
    const { exportBundle } = await done(path, { ...name, targetPublicKey: client.targetPublicKey });
    const secret = client.read(exportBundle);
    if (path === "export_wallet") secrets.sentences.push(Buffer.from(secret).toString("utf8"));
    else secrets.keys.push(secret);
  }

  // Policies and interfaces.
  const mayBe = (actor: Actor) => `approvers.any(user, user.id == '${actor.userId}')`;
  const { policyId } = await done("create_policy", {
    policyName: "Dave signs",
    effect: "EFFECT_ALLOW",
    consensus: mayBe(dave),
    condition: `wallet.id == '${walletId}' || wallet.id == '${gone.walletId}'`,
    notes: "",
  });
  const fredSigns = {
    effect: "EFFECT_ALLOW",
    consensus: mayBe(fred),
    condition: "activity.action == 'SIGN'",
    notes: "",
  };
  const { policyIds } = await done("create_policies", {
    policies: [
      {
        policyName: "Nobody pauses",
        effect: "EFFECT_DENY",
        condition: "eth.tx.function_name == 'pause'",
        notes: "",
      },
      { ...fredSigns, policyName: "Fred signs" },
      { ...fredSigns, policyName: "Fred signs, too" },
      {
        policyName: "Dave signs with a key",
        effect: "EFFECT_ALLOW",
        consensus: mayBe(dave),
        condition: `private_key.id == '${gonePrivateKeyId}'`,
        notes: "",
      },
    ],
  });
  await done("update_policy", { policyId: policyIds[0], policyNotes: "It costs us a day." });
  const contract = { type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", label: "Pausable" };
  const smartContractInterface = JSON.stringify([{ type: "function", name: "pause", inputs: [], outputs: [] }]);
  await done("create_smart_contract_interface", {
    ...contract,
    smartContractAddress: pausable,
    smartContractInterface,
  });
  const { smartContractInterfaceId } = await done("create_smart_contract_interface", {
    ...contract,
    smartContractAddress: `0x${"11".repeat(20)}`,
    smartContractInterface,
  });
  await pause("when everything is there");

  // Signatures, by whoever may at this time.
  const payload = { signWith: address, payload: "aa", ...signedPayload };
  for (const actor of [ann, dave, fred]) await done("sign_raw_payload", payload, actor);
  await done("sign_raw_payloads", { signWith: address, payloads: ["bb", "cc"], ...signedPayload }, dave);
  await done(
    "sign_transaction",
    { signWith: address, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: ethereumVectors.eip1559.unsigned },
    dave,
  );

  // What must not come back.
  await done("delete_smart_contract_interface", { smartContractInterfaceId });
  await done("delete_policy", { policyId: policyIds[1] });
  await done("delete_policies", { policyIds: [policyIds[2]] });
  await done("delete_users", { userIds: [eve.userId] });
  await done("delete_api_keys", { userId: gina.userId, apiKeyIds });
  await done("delete_authenticators", { userId: gina.userId, authenticatorIds: authenticatorIds.slice(1) });
  await done("update_allowed_origins", { allowedOrigins: [origin] });
  await done("delete_wallets", { walletIds: [gone.walletId] });
  await done("delete_private_keys", { privateKeyIds: [gonePrivateKeyId] });
  const goneAccount = await teller.accountAt(ann, organizationId, walletId, further.addresses[1]);
  await done("delete_wallet_accounts", { walletAccountIds: [goneAccount], deleteWithoutExport: true });
  await done("set_organization_feature", { name: "FEATURE_NAME_SMS_AUTH", value: "on" });
  await done("remove_organization_feature", { name: "FEATURE_NAME_SMS_AUTH" });
  await done("update_organization_name", { organizationName: "A targetOrganization in order" });
  await pause("before the quorum is raised");

  // From now on two of three.
  const members = [ann, bob, cleo].map(({ userId }) => userId);
  await done("update_root_quorum", { threshold: 2, userIds: members });
  const propose = (userTagName: string, actor = ann) => act("create_user_tag", { userTagName, userIds: [] }, actor);
  const fingerprintOf = (body: Uint8Array) => `sha256:${toHex(sha256(body))}`;
  const approved = await propose("Approved");
  await act("approve_activity", { fingerprint: fingerprintOf(approved.body) }, bob);
  const stampedTwice = await propose("Stamped twice");
  await teller.repeat(bob, "create_user_tag", stampedTwice.body);
  const { body: rejected } = await propose("Rejected");
  await act("reject_activity", { fingerprint: fingerprintOf(rejected) }, cleo);
  await pause("before the last change");
  const { body: waiting } = await propose("Waiting");
  // Refused on record: it changes nothing.
  const call = { signWith: address, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: pauseCall };
  await act("sign_transaction", call, dave).catch(() => undefined);

  return {
    ...{ organizationId, ann, bob, cleo, dave, eve, fred, gina: lostKey },
    ...{ address, solanaAddress, walletId, policyId, userTagId, privateKeyId },
    goneAddress: gone.addresses[0],
    gonePrivateKeyId,
    ...{ waiting, rejected, undone, secrets },
  };
}

/** A targetOrganization that its owners gave up, so that this has happened as well. */
export async function foundAndDelete(teller: Teller, root: Actor, parentId: string): Promise<string> {
  const { organizationId, people } = await found(teller, root, parentId, "Ruin");
  const [ann] = people;
  await teller.act(ann, "create_wallet", { walletName: "Lost", accounts: [ethereum] }, organizationId);
  await teller.act(ann, "delete_sub_organization", { deleteWithoutExport: true }, organizationId);
  return organizationId;
}
