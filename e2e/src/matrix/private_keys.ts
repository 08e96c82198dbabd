/** create_private_keys, delete_private_keys, the tags of private keys, and what reads them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { exhausted, invalid } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { badName, noSuchPrivateKey, noSuchPrivateKeyTag } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { added, type KeyParams, newPrivateKey, newPrivateKeyTag, privateKeyParams } from "./keys.ts";
import { limits } from "./limits.ts";
import { byId } from "./people.ts";

const publicKeys: Readonly<Record<string, RegExp>> = {
  CURVE_SECP256K1: /^04[0-9a-f]{128}$/,
  CURVE_P256: /^04[0-9a-f]{128}$/,
  CURVE_ED25519: /^[0-9a-f]{64}$/,
};

/** A new key as it is shown, against what was asked for and answered. */
export function checkPrivateKey(key: Json, asked: KeyParams, answered: Json, imported: boolean): void {
  const { publicKey, createdAt, updatedAt, ...rest } = key;
  const { privateKeyName, curve, privateKeyTags, addressFormats } = asked;
  assert.deepEqual(rest, { ...answered, privateKeyName, curve, privateKeyTags, exported: false, imported });
  assert.deepEqual(
    key.addresses.map(({ format }: Json) => format),
    addressFormats,
  );
  assert.match(publicKey, publicKeys[curve] ?? /^$/);
  assert.deepEqual(createdAt, updatedAt);
}

/** A second key that is bad; the first is good, and is not made either. */
function badKey(name: string, more: Partial<KeyParams>, refusal: BadInput<Json>["refusal"], kept?: "FAILED") {
  return {
    name,
    bend: () => ({ privateKeys: [privateKeyParams(), privateKeyParams(more)] }),
    refusal,
    ...(kept && { kept }),
  };
}

export const createPrivateKeys = activityEntry<{ privateKeys: KeyParams[] }>({
  good: async (fixture) => ({
    privateKeys: [
      privateKeyParams({ privateKeyTags: [await newPrivateKeyTag(fixture)] }),
      privateKeyParams({ curve: "CURVE_P256", addressFormats: [] }),
      privateKeyParams({ curve: "CURVE_ED25519", addressFormats: ["ADDRESS_FORMAT_SOLANA", "ADDRESS_FORMAT_SUI"] }),
    ],
  }),
  required: ["privateKeys", "privateKeys.0.privateKeyName", "privateKeys.0.curve", "privateKeys.0.addressFormats"],
  result: ({ privateKeys }, { after }) => ({
    privateKeys: privateKeys.map(({ privateKeyName }) => {
      const { privateKeyId, addresses } = byId(after.privateKeys, "privateKeyName", privateKeyName);
      return { privateKeyId, addresses };
    }),
  }),
  shows({ privateKeys }, { before, after, result }) {
    assert.equal(added(before.privateKeys, after.privateKeys, "privateKeyId").length, privateKeys.length);
    for (const [index, asked] of privateKeys.entries()) {
      const answered = result.privateKeys[index];
      checkPrivateKey(byId(after.privateKeys, "privateKeyId", answered.privateKeyId), asked, answered, false);
    }
  },
  bad: [
    {
      name: "none",
      bend: () => ({ privateKeys: [] }),
      refusal: invalid("invalid request body: field `parameters.privateKeys` must not have fewer than 1 items"),
    },
    badKey(
      "an empty name",
      { privateKeyName: "" },
      invalid(
        "invalid request body: field `parameters.privateKeys.1.privateKeyName` must not have fewer than 1 characters",
      ),
    ),
    badKey(
      "a name with a line break",
      { privateKeyName: "a\nb" },
      invalid(`invalid request body: field \`parameters.privateKeys.1.privateKeyName\` ${badName}`),
    ),
    badKey(
      "a curve that is none",
      { curve: "CURVE_NONE" },
      invalid(/^invalid curve: field `parameters\.privateKeys\.1\.curve` must be one of /),
    ),
    badKey(
      "an address format that is none",
      { addressFormats: ["ADDRESS_FORMAT_NONE"] },
      invalid(/^invalid address format: field `parameters\.privateKeys\.1\.addressFormats\.0` must be one of /),
    ),
    badKey(
      "an address format of another curve",
      { addressFormats: ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_SOLANA"] },
      invalid("invalid curve: ADDRESS_FORMAT_SOLANA needs CURVE_ED25519"),
      "FAILED",
    ),
    {
      name: "one name twice, in two spellings",
      bend: () => ({
        privateKeys: [privateKeyParams({ privateKeyName: "Twice" }), privateKeyParams({ privateKeyName: "TWICE" })],
      }),
      refusal: invalid("private key label must be unique: `TWICE` exists"),
      kept: "FAILED",
    },
    {
      name: "a name that exists, in other letters",
      bend: async (_, fixture) => {
        const privateKeyName = `taken ${randomUUID()}`;
        await newPrivateKey(fixture, fixture.place, { privateKeyName });
        return { privateKeys: [privateKeyParams({ privateKeyName: privateKeyName.toUpperCase() })] };
      },
      refusal: ({ privateKeys }) =>
        invalid(`private key label must be unique: \`${privateKeys[0].privateKeyName}\` exists`),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "a tag",
      bend: (_, { privateKeyTagId }) => ({ privateKeys: [privateKeyParams({ privateKeyTags: [privateKeyTagId] })] }),
      refusal: noSuchPrivateKeyTag,
    },
  ],
  versions: {
    ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: () => ({ privateKeys: [privateKeyParams(), privateKeyParams()] }),
  },
  also: {
    "without a list of tags it has none": async (fixture) => {
      const { privateKeyTags: _, ...params } = privateKeyParams();
      const { privateKeys } = await fixture.done("create_private_keys", { privateKeys: [params] });
      const { privateKey } = await fixture.ask("get_private_key", { privateKeyId: privateKeys[0].privateKeyId });
      assert.deepEqual(privateKey.privateKeyTags, []);
    },
    "the last that fits, and one more": async (fixture) => {
      const limit = limits.privateKeysPerOrganization;
      const { privateKeys } = await fixture.ask("list_private_keys");
      let missing = limit - privateKeys.length;
      for (; missing > 0; missing -= 100) {
        const some = Array.from({ length: Math.min(missing, 100) }, () => privateKeyParams());
        await fixture.done("create_private_keys", { privateKeys: some });
      }
      const answer = await fixture.submit("create_private_keys", { privateKeys: [privateKeyParams()] });
      assertRefused(answer, exhausted(new RegExp(`^organization has reached its limit of ${limit} private keys; `)));
    },
  },
});

export const deletePrivateKeys = activityEntry<{ privateKeyIds: string[]; deleteWithoutExport?: boolean }>({
  good: async (fixture) => {
    const privateKeyIds = [await newPrivateKey(fixture), await newPrivateKey(fixture)];
    return { privateKeyIds, deleteWithoutExport: true };
  },
  required: ["privateKeyIds"],
  result: ({ privateKeyIds }) => ({ privateKeyIds }),
  shows({ privateKeyIds }, { before, after }) {
    assert.deepEqual(
      after.privateKeys,
      before.privateKeys.filter(({ privateKeyId }) => !privateKeyIds.includes(privateKeyId)),
    );
  },
  bad: [
    {
      name: "none",
      bend: () => ({ privateKeyIds: [] }),
      refusal: invalid("invalid request body: field `parameters.privateKeyIds` must not have fewer than 1 items"),
    },
    {
      name: "what nobody has exported",
      bend: ({ privateKeyIds }) => ({ privateKeyIds }),
      refusal: ({ privateKeyIds }) =>
        invalid(
          `private key has not been exported: \`${privateKeyIds[0]}\`; export it first, or set deleteWithoutExport`,
        ),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "a private key",
      bend: ({ privateKeyIds: [one] }, { privateKeyId }) => ({
        privateKeyIds: [one, privateKeyId],
        deleteWithoutExport: true,
      }),
      refusal: noSuchPrivateKey,
    },
  ],
  also: {
    "what is deleted carries no tag, and its name is free": async (fixture) => {
      const privateKeyName = `Once ${randomUUID()}`;
      const privateKeyId = await newPrivateKey(fixture, fixture.place, { privateKeyName });
      const privateKeyTagId = await newPrivateKeyTag(fixture, [privateKeyId]);
      await fixture.done("delete_private_keys", { privateKeyIds: [privateKeyId], deleteWithoutExport: true });
      const { privateKeyIds } = await fixture.done("delete_private_key_tags", { privateKeyTagIds: [privateKeyTagId] });
      assert.deepEqual(privateKeyIds, []);
      await newPrivateKey(fixture, fixture.place, { privateKeyName });
    },
  },
});

/** Which keys carry the tag. */
function carriers(privateKeys: readonly Json[], tagId: string): string[] {
  return privateKeys.filter(({ privateKeyTags }) => privateKeyTags.includes(tagId)).map((key) => key.privateKeyId);
}

function badTagNames(field: string): BadInput<Json>[] {
  return [
    {
      name: "an empty name",
      bend: (good) => ({ ...good, [field]: "" }),
      refusal: invalid(`invalid request body: field \`parameters.${field}\` must not have fewer than 1 characters`),
    },
    {
      name: "a name with a line break",
      bend: (good) => ({ ...good, [field]: "a\nb" }),
      refusal: invalid(`invalid request body: field \`parameters.${field}\` ${badName}`),
    },
    {
      name: "a name that exists, in other letters",
      bend: async (good, fixture) => {
        const privateKeyTagName = `taken ${randomUUID()}`;
        await fixture.done("create_private_key_tag", { privateKeyTagName, privateKeyIds: [] });
        return { ...good, [field]: privateKeyTagName.toUpperCase() };
      },
      refusal: (sent) => invalid(`private key tag label must be unique: \`${sent[field].toLowerCase()}\` exists`),
      kept: "FAILED",
    },
  ];
}

export const createPrivateKeyTag = activityEntry<{ privateKeyTagName: string; privateKeyIds: string[] }>({
  good: async (fixture) => ({
    privateKeyTagName: `Tag ${randomUUID()}`,
    privateKeyIds: [await newPrivateKey(fixture), await newPrivateKey(fixture)],
  }),
  required: ["privateKeyTagName", "privateKeyIds"],
  result: ({ privateKeyTagName, privateKeyIds }, { after }) => ({
    privateKeyTagId: byId(after.privateKeyTags, "tagName", privateKeyTagName)?.tagId,
    privateKeyIds,
  }),
  shows({ privateKeyTagName, privateKeyIds }, { before, after }) {
    const { tagId, createdAt, updatedAt, ...tag } = byId(after.privateKeyTags, "tagName", privateKeyTagName);
    assert.deepEqual(tag, { tagName: privateKeyTagName, tagType: "TAG_TYPE_PRIVATE_KEY" });
    assert.deepEqual(createdAt, updatedAt);
    assert.equal(after.privateKeyTags.length, before.privateKeyTags.length + 1);
    assert.deepEqual(carriers(after.privateKeys, tagId).sort(), privateKeyIds.toSorted());
  },
  bad: badTagNames("privateKeyTagName"),
  foreign: [
    {
      name: "a private key",
      bend: (good, { privateKeyId }) => ({ ...good, privateKeyIds: [...good.privateKeyIds, privateKeyId] }),
      refusal: noSuchPrivateKey,
    },
  ],
  also: {
    "the last that fits, and one more": async (fixture) => {
      const limit = limits.privateKeyTagsPerOrganization;
      const { privateKeyTags } = await fixture.ask("list_private_key_tags");
      for (let count = privateKeyTags.length; count < limit; count++) await newPrivateKeyTag(fixture);
      const parameters = { privateKeyTagName: randomUUID(), privateKeyIds: [] };
      const answer = await fixture.submit("create_private_key_tag", parameters);
      assertRefused(
        answer,
        exhausted(new RegExp(`^organization has reached its limit of ${limit} private key tags; `)),
      );
    },
  },
});

type TagUpdate = {
  privateKeyTagId: string;
  newPrivateKeyTagName: string;
  addPrivateKeyIds: string[];
  removePrivateKeyIds: string[];
};

export const updatePrivateKeyTag = activityEntry<TagUpdate>({
  good: async (fixture) => {
    const staying = await newPrivateKey(fixture);
    const leaving = await newPrivateKey(fixture);
    return {
      privateKeyTagId: await newPrivateKeyTag(fixture, [staying, leaving]),
      newPrivateKeyTagName: `Renamed ${randomUUID()}`,
      addPrivateKeyIds: [await newPrivateKey(fixture)],
      removePrivateKeyIds: [leaving],
    };
  },
  required: ["privateKeyTagId", "addPrivateKeyIds", "removePrivateKeyIds"],
  result: ({ privateKeyTagId }) => ({ privateKeyTagId }),
  shows({ privateKeyTagId, newPrivateKeyTagName, addPrivateKeyIds, removePrivateKeyIds }, { before, after }) {
    assert.equal(byId(after.privateKeyTags, "tagId", privateKeyTagId).tagName, newPrivateKeyTagName);
    const were = carriers(before.privateKeys, privateKeyTagId);
    const wanted = [...were.filter((id) => !removePrivateKeyIds.includes(id)), ...addPrivateKeyIds];
    assert.deepEqual(carriers(after.privateKeys, privateKeyTagId).sort(), wanted.sort());
  },
  bad: badTagNames("newPrivateKeyTagName"),
  foreign: [
    {
      name: "a tag",
      bend: (good, { privateKeyTagId }) => ({ ...good, privateKeyTagId }),
      refusal: noSuchPrivateKeyTag,
    },
    {
      name: "a key added",
      bend: (good, { privateKeyId }) => ({ ...good, addPrivateKeyIds: [privateKeyId] }),
      refusal: noSuchPrivateKey,
    },
    {
      name: "a key removed",
      bend: (good, { privateKeyId }) => ({ ...good, removePrivateKeyIds: [privateKeyId] }),
      refusal: noSuchPrivateKey,
    },
  ],
  also: {
    "without a new name it keeps its own": async (fixture) => {
      const privateKeyTagId = await newPrivateKeyTag(fixture);
      const tagName = async () =>
        byId((await fixture.ask("list_private_key_tags")).privateKeyTags, "tagId", privateKeyTagId).tagName;
      const before = await tagName();
      const addPrivateKeyIds = [await newPrivateKey(fixture)];
      await fixture.done("update_private_key_tag", { privateKeyTagId, addPrivateKeyIds, removePrivateKeyIds: [] });
      assert.equal(await tagName(), before);
    },
  },
});

export const deletePrivateKeyTags = activityEntry<{ privateKeyTagIds: string[] }>({
  good: async (fixture) => ({
    privateKeyTagIds: [
      await newPrivateKeyTag(fixture, [await newPrivateKey(fixture)]),
      await newPrivateKeyTag(fixture),
    ],
  }),
  required: ["privateKeyTagIds"],
  result({ privateKeyTagIds }, { before, result }) {
    const carried = privateKeyTagIds.flatMap((tagId) => carriers(before.privateKeys, tagId));
    // In no particular order.
    assert.deepEqual(result.privateKeyIds.toSorted(), carried.sort());
    return { privateKeyTagIds, privateKeyIds: result.privateKeyIds };
  },
  shows({ privateKeyTagIds }, { before, after }) {
    assert.deepEqual(
      after.privateKeyTags,
      before.privateKeyTags.filter(({ tagId }) => !privateKeyTagIds.includes(tagId)),
    );
    for (const tagId of privateKeyTagIds) assert.deepEqual(carriers(after.privateKeys, tagId), []);
  },
  bad: [
    {
      name: "none",
      bend: () => ({ privateKeyTagIds: [] }),
      refusal: invalid("invalid request body: field `parameters.privateKeyTagIds` must not have fewer than 1 items"),
    },
  ],
  foreign: [
    {
      name: "a tag",
      bend: ({ privateKeyTagIds: [one] }, { privateKeyTagId }) => ({ privateKeyTagIds: [one, privateKeyTagId] }),
      refusal: noSuchPrivateKeyTag,
    },
  ],
});

export const getPrivateKey = queryEntry<{ privateKeyId: string }>({
  good: async (fixture, place) => ({ privateKeyId: await newPrivateKey(fixture, place) }),
  required: ["privateKeyId"],
  answer: async ({ privateKeyId }, { privateKey, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { privateKeys } = await fixture.ask("list_private_keys");
    assert.deepEqual(privateKey, byId(privateKeys, "privateKeyId", privateKeyId));
    assert.deepEqual([privateKey.exported, privateKey.imported], [false, false]);
  },
  bad: [],
  foreign: [{ name: "a private key", bend: (_, { privateKeyId }) => ({ privateKeyId }), refusal: noSuchPrivateKey }],
});

export const listPrivateKeys = queryEntry<object>({
  good: async (fixture, place) => {
    const privateKeyId = await newPrivateKey(fixture, place, { privateKeyName: "Listed" });
    await newPrivateKeyTag(fixture, [privateKeyId], place);
    return {};
  },
  required: [],
  answer: async (_, { privateKeys, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.equal(privateKeys.length, 1);
    const [key] = privateKeys;
    const asked = privateKeyParams({ privateKeyName: "Listed", privateKeyTags: await tagIds(fixture) });
    const { privateKeyId, addresses } = key;
    // A key that was given a tag was updated by that.
    checkPrivateKey({ ...key, updatedAt: key.createdAt }, asked, { privateKeyId, addresses }, false);
  },
  bad: [],
  foreign: [],
  also: {
    "keys of one activity in the order they were asked for": async (fixture) => {
      const asked = Array.from({ length: 10 }, () => privateKeyParams());
      const made = await fixture.done("create_private_keys", { privateKeys: asked });
      const { privateKeys } = await fixture.ask("list_private_keys");
      const ids = (list: Json[]) => list.map(({ privateKeyId }) => privateKeyId);
      assert.deepEqual(ids(privateKeys).slice(-10), ids(made.privateKeys));
    },
  },
});

async function tagIds(fixture: Fixture): Promise<string[]> {
  return (await fixture.ask("list_private_key_tags")).privateKeyTags.map(({ tagId }: Json) => tagId);
}

export const listPrivateKeyTags = queryEntry<object>({
  good: async (fixture, place) => {
    const parameters = { privateKeyTagName: "listed", privateKeyIds: [] };
    await fixture.done("create_private_key_tag", parameters, place.root, place);
    return {};
  },
  required: [],
  answer: (_, { privateKeyTags, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(
      privateKeyTags.map(({ tagName, tagType }: Json) => ({ tagName, tagType })),
      [{ tagName: "listed", tagType: "TAG_TYPE_PRIVATE_KEY" }],
    );
  },
  bad: [],
  foreign: [],
});
