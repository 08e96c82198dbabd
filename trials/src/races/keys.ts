/** Races over wallets and keys: their names, their end, and what comes in from outside. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { ethereum } from "@keystead/e2e/matrix/keys.ts";
import { encryptWalletToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { defineRace } from "./race.ts";
import {
  type ActivityPath,
  assertRefusedAs,
  isDone,
  type Organization,
  type Person,
  resultOf,
  type Stage,
} from "./stage.ts";

/** What bears a name of its own in an organization: how one is made, and where all are listed. */
const named: Record<
  string,
  { path: ActivityPath; make(name: string): object; list: string; of: string; name: string }
> = {
  wallet: {
    path: "create_wallet",
    make: (walletName) => ({ walletName, accounts: [ethereum] }),
    list: "list_wallets",
    of: "wallets",
    name: "walletName",
  },
  "private key": {
    path: "create_private_keys",
    make: (privateKeyName) => ({
      privateKeys: [{ privateKeyName, curve: "CURVE_ED25519", addressFormats: ["ADDRESS_FORMAT_SOLANA"] }],
    }),
    list: "list_private_keys",
    of: "privateKeys",
    name: "privateKeyName",
  },
  "user tag": {
    path: "create_user_tag",
    make: (userTagName) => ({ userTagName, userIds: [] }),
    list: "list_user_tags",
    of: "userTags",
    name: "tagName",
  },
  policy: {
    path: "create_policy",
    make: (policyName) => ({ policyName, effect: "EFFECT_DENY", condition: "false", notes: "" }),
    list: "list_policies",
    of: "policies",
    name: "policyName",
  },
};

export const sameName = defineRace({
  name: "one name for several wallets, private keys, tags or policies: one of them gets it",
  setUp: async (stage) => ({
    organization: await stage.found({ users: 2, threshold: 1 }),
    kind: stage.random.pick(Object.keys(named)),
  }),
  requests: ({ organization, kind }, stage) => {
    const { path, make } = named[kind] as (typeof named)[string];
    return ["Wanted", "wanted", "WANTED", "Wanted"].map((name, index) =>
      stage.stamped(organization, organization.people[index % 2] as Person, path, make(name)),
    );
  },
  async check({ organization, kind }, answers, stage) {
    const { list, of, name } = named[kind] as (typeof named)[string];
    const winner = answers.findIndex(isDone);
    assert.equal(answers.filter(isDone).length, 1, answers.map(({ text }) => text).join("\n"));
    for (const answer of answers)
      if (!isDone(answer)) assertRefusedAs(answer, 400, /label must be unique: `wanted` exists/i);
    const all = await stage.ask(organization, organization.people[0], list);
    assert.deepEqual(
      all[of].map((each: Record<string, string>) => each[name]?.toLowerCase()),
      ["wanted"],
    );
    return `${kind} ${winner}`;
  },
});

export const renamedWallet = defineRace({
  name: "a wallet takes a name while a new one asks for it: one of them gets it",
  setUp: (stage) => stage.found({ users: 2, threshold: 1, wallet: true }),
  requests: (organization, stage) => {
    const [a, b] = organization.people;
    return [
      stage.stamped(organization, a, "update_wallet", { walletId: organization.wallet.walletId, walletName: "Wanted" }),
      stage.stamped(organization, b, "create_wallet", { walletName: "wanted", accounts: [] }),
    ];
  },
  async check(organization, [renamed, created], stage) {
    assert.notEqual(isDone(renamed), isDone(created), `${renamed.text}\n${created.text}`);
    assertRefusedAs(isDone(renamed) ? created : renamed, 400, /wallet label must be unique/);
    const { wallets } = await stage.ask(organization, organization.people[0], "list_wallets");
    const names = wallets.map(({ walletName }: { walletName: string }) => walletName).sort();
    assert.deepEqual(names, isDone(renamed) ? ["Wanted"] : ["First", "wanted"]);
    return isDone(renamed) ? "the old one" : "the new one";
  },
});

function signature(stage: Stage, organization: Organization, person: Person, payload: string) {
  return stage.stamped(organization, person, "sign_raw_payload", {
    signWith: organization.wallet.address,
    payload,
    encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
    hashFunction: "HASH_FUNCTION_NO_OP",
  });
}

export const deletedWallet = defineRace({
  name: "a wallet is deleted while it signs: it signs before, and never after",
  setUp: (stage) => stage.found({ users: 2, threshold: 1, wallet: true }),
  requests: (organization, stage) => {
    const [a, b] = organization.people;
    const { walletId } = organization.wallet;
    return [
      stage.stamped(organization, a, "delete_wallets", { walletIds: [walletId], deleteWithoutExport: true }),
      ...[a, b, b].map((person) => signature(stage, organization, person, "07".repeat(32))),
    ];
  },
  async check(organization, [deletion, ...signed], stage, requests) {
    const [a] = organization.people;
    assert.ok(isDone(deletion), deletion.text);
    const done = signed.filter(isDone);
    for (const each of signed)
      if (!isDone(each)) assertRefusedAs(each, 404, /Could not find any resource to sign with/);
    const results = done.map((each) => resultOf(each, { path: "sign_raw_payload" }));
    for (const result of results) assert.deepEqual(result, results[0]);
    assert.deepEqual((await stage.ask(organization, a, "list_wallets")).wallets, []);
    const late = await stage.send(signature(stage, organization, a, "07".repeat(32)));
    assertRefusedAs(late, 404, /Could not find any resource to sign with/);
    for (const [index, each] of signed.entries()) {
      const again = await stage.send(requests[index + 1] as (typeof requests)[number]);
      assert.deepEqual([again.status, again.json], [each.status, each.json]);
    }
    return `${done.length} signatures before`;
  },
});

const reader = generateP256KeyPair();

export const exportAgainstDelete = defineRace({
  name: "a wallet that only goes when it was exported is exported and deleted at once",
  setUp: (stage) => stage.found({ users: 2, threshold: 1, wallet: true }),
  requests: (organization, stage) => {
    const [a, b] = organization.people;
    const { walletId } = organization.wallet;
    const targetPublicKey = reader.publicKeyUncompressed;
    return [
      stage.stamped(organization, a, "export_wallet", { walletId, targetPublicKey }),
      stage.stamped(organization, b, "delete_wallets", { walletIds: [walletId] }),
    ];
  },
  async check(organization, [exported, deletion], stage) {
    const { wallets } = await stage.ask(organization, organization.people[0], "list_wallets");
    assert.ok(isDone(exported), exported.text);
    if (isDone(deletion)) assert.deepEqual(wallets, []);
    else {
      assertRefusedAs(deletion, 400, /wallet has not been exported/);
      assert.deepEqual([wallets.length, wallets[0].exported], [1, true]);
    }
    return isDone(deletion) ? "exported first" : "asked to delete first";
  },
});

/** Twelve words of nobody's, encrypted to the key of a bundle. */
async function walletBundle(importBundle: string, organizationId: string, userId: string, mnemonic: string) {
  return encryptWalletToBundle({
    mnemonic,
    importBundle,
    userId,
    organizationId,
    dangerouslyOverrideSignerPublicKey: JSON.parse(importBundle).enclaveQuorumPublic,
  });
}

function newWords(): string {
  const entropy = new Uint8Array(randomBytes(16));
  return Buffer.from(toSentence(nobleKeyMaths, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" })).toString();
}

async function startImport(stage: Stage, organization: Organization, person: Person, mnemonic: string) {
  const { userId } = person;
  const { importBundle } = await stage.done(organization, person, "init_import_wallet", { userId });
  return walletBundle(importBundle, organization.organizationId, userId, mnemonic);
}

export const oneTarget = defineRace({
  name: "one import target takes one import, whatever is encrypted to it",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const { userId } = root;
    const { importBundle } = await stage.done(organization, root, "init_import_wallet", { userId });
    const encrypt = () => walletBundle(importBundle, organization.organizationId, userId, newWords());
    return { organization, bundles: [await encrypt(), await encrypt()] };
  },
  requests: ({ organization, bundles }, stage) => {
    const [root] = organization.people;
    return bundles.map((encryptedBundle, index) => {
      const parameters = { userId: root.userId, walletName: `Import ${index}`, encryptedBundle, accounts: [ethereum] };
      return stage.stamped(organization, root, "import_wallet", parameters);
    });
  },
  async check({ organization }, answers, stage) {
    assert.equal(answers.filter(isDone).length, 1, answers.map(({ text }) => text).join("\n"));
    const winner = answers.findIndex(isDone);
    assertRefusedAs(answers[1 - winner], 400, /bundle/);
    const { wallets } = await stage.ask(organization, organization.people[0], "list_wallets");
    assert.deepEqual([wallets.length, wallets[0].walletName], [1, `Import ${winner}`]);
    return `import ${winner}`;
  },
});

export const oneSeed = defineRace({
  name: "two users import the same words at once: the organization has them once",
  async setUp(stage) {
    const organization = await stage.found({ users: 2, threshold: 1 });
    const words = newWords();
    const [a, b] = organization.people;
    const bundles = [
      await startImport(stage, organization, a, words),
      await startImport(stage, organization, b, words),
    ];
    return { organization, bundles };
  },
  requests: ({ organization, bundles }, stage) =>
    bundles.map((encryptedBundle, index) => {
      const person = organization.people[index] as Person;
      const parameters = {
        userId: person.userId,
        walletName: `Import ${index}`,
        encryptedBundle,
        accounts: [ethereum],
      };
      return stage.stamped(organization, person, "import_wallet", parameters);
    }),
  async check({ organization }, answers, stage) {
    assert.equal(answers.filter(isDone).length, 1, answers.map(({ text }) => text).join("\n"));
    const winner = answers.findIndex(isDone);
    assertRefusedAs(answers[1 - winner], 409, /already imported in this organization/);
    const { wallets } = await stage.ask(organization, organization.people[0], "list_wallets");
    assert.deepEqual([wallets.length, wallets[0].walletName], [1, `Import ${winner}`]);
    return `user ${winner + 1}`;
  },
});
