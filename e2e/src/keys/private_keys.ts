/** Private keys outside wallets and their tags, by the published server client's methods. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { KeysteadServer } from "../keystead_server.ts";
import { assertTimestamp, at, foundOrganization, type Person, refusalOf } from "../published/clients.ts";

export async function privateKeys(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;

  const named = async (name: string) => {
    const { privateKeys } = await sdk.getPrivateKeys();
    return privateKeys.find(({ privateKeyName }) => privateKeyName === name) ?? assert.fail(`there is no key ${name}`);
  };

  await t.test("createPrivateKeys answers addresses, and getPrivateKey shows the rest", async () => {
    const { privateKeyTagId } = await sdk.createPrivateKeyTag({ privateKeyTagName: "hot", privateKeyIds: [] });
    const { privateKeys } = await sdk.createPrivateKeys({
      privateKeys: [
        {
          privateKeyName: "One",
          curve: "CURVE_SECP256K1",
          privateKeyTags: [privateKeyTagId],
          addressFormats: ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_COSMOS"],
        },
        {
          privateKeyName: "Two",
          curve: "CURVE_ED25519",
          privateKeyTags: [],
          addressFormats: ["ADDRESS_FORMAT_SOLANA"],
        },
        { privateKeyName: "Three", curve: "CURVE_P256", privateKeyTags: [], addressFormats: [] },
      ],
    });
    const shapes = [/^04[0-9a-f]{128}$/, /^[0-9a-f]{64}$/, /^04[0-9a-f]{128}$/];
    for (const [index, { privateKeyId = "", addresses = [] }] of privateKeys.entries()) {
      const { privateKey } = await sdk.getPrivateKey({ privateKeyId });
      const { createdAt, updatedAt, publicKey, ...rest } = privateKey;
      for (const time of [createdAt, updatedAt]) assertTimestamp(time);
      assert.match(publicKey, at(shapes, index));
      assert.deepEqual(rest, {
        privateKeyId,
        privateKeyName: at(["One", "Two", "Three"], index),
        curve: at(["CURVE_SECP256K1", "CURVE_ED25519", "CURVE_P256"], index),
        addresses,
        privateKeyTags: index === 0 ? [privateKeyTagId] : [],
        exported: false,
        imported: false,
      });
      assert.deepEqual(await http.getPrivateKey({ organizationId, privateKeyId }), { privateKey });
    }
    assert.deepEqual(
      at(privateKeys, 0).addresses?.map(({ format }) => format),
      ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_COSMOS"],
    );
    const { privateKeys: listed } = await sdk.getPrivateKeys();
    // Those of one activity are of one moment, and in the order they were asked for.
    assert.deepEqual(
      listed.map(({ privateKeyName }) => privateKeyName),
      ["One", "Two", "Three"],
    );
  });

  await t.test("a key signs under its id and under its addresses alike", async () => {
    const one = await named("One");
    const sign = (signWith: string) =>
      sdk.signRawPayload({
        signWith,
        payload: "hello",
        encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
        hashFunction: "HASH_FUNCTION_SHA256",
      });
    const { r, s, v } = await sign(one.privateKeyId);
    for (const { address = "" } of one.addresses) {
      const other = await sign(address);
      assert.deepEqual([other.r, other.s, other.v], [r, s, v]);
    }
  });

  await t.test("tags are renamed, moved and deleted", async () => {
    const [one, two] = [await named("One"), await named("Two")];
    const { privateKeyTagId } = await sdk.createPrivateKeyTag({
      privateKeyTagName: "cold",
      privateKeyIds: [one.privateKeyId],
    });
    await sdk.updatePrivateKeyTag({
      privateKeyTagId,
      newPrivateKeyTagName: "colder",
      addPrivateKeyIds: [two.privateKeyId],
      removePrivateKeyIds: [one.privateKeyId],
    });
    const tagsOf = async (privateKeyId: string) =>
      (await sdk.getPrivateKey({ privateKeyId })).privateKey.privateKeyTags;
    assert.ok(!(await tagsOf(one.privateKeyId)).includes(privateKeyTagId));
    assert.deepEqual(await tagsOf(two.privateKeyId), [privateKeyTagId]);
    const { privateKeyTags } = await sdk.listPrivateKeyTags({ organizationId });
    const tag = privateKeyTags.find(({ tagId }) => tagId === privateKeyTagId);
    assert.deepEqual([tag?.tagName, tag?.tagType], ["colder", "TAG_TYPE_PRIVATE_KEY"]);

    const deleted = await sdk.deletePrivateKeyTags({ privateKeyTagIds: [privateKeyTagId] });
    assert.deepEqual(deleted.privateKeyTagIds, [privateKeyTagId]);
    assert.deepEqual(deleted.privateKeyIds, [two.privateKeyId]);
    assert.deepEqual(await tagsOf(two.privateKeyId), []);
  });

  await t.test("deletePrivateKeys takes what it is told to take", async () => {
    const three = await named("Three");
    const privateKeyIds = [three.privateKeyId];
    assert.equal((await refusalOf(sdk.deletePrivateKeys({ privateKeyIds }))).code, 3);
    const deleted = await sdk.deletePrivateKeys({ privateKeyIds, deleteWithoutExport: true });
    assert.deepEqual(deleted.privateKeyIds, privateKeyIds);
    assert.equal((await refusalOf(sdk.getPrivateKey({ privateKeyId: three.privateKeyId }))).code, 5);
    assert.equal((await sdk.getPrivateKeys()).privateKeys.length, 2);
  });

  await t.test("a name belongs to one key, and a format to its curves", async () => {
    const create = (privateKeyName: string, addressFormat: "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA") =>
      sdk.createPrivateKeys({
        privateKeys: [
          { privateKeyName, curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: [addressFormat] },
        ],
      });
    const taken = await refusalOf(create("One", "ADDRESS_FORMAT_ETHEREUM"));
    assert.match(taken.message, /^Turnkey error 3: private key label must be unique/);
    const misfit = await refusalOf(create("Four", "ADDRESS_FORMAT_SOLANA"));
    assert.match(misfit.message, /^Turnkey error 3: invalid curve/);
  });
}
