/** Private keys and their tags from HTTP to the tables and back, on both databases. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testCaller } from "../../test/caller.ts";
import { createGatewayRig, type GatewayRig, type Person, Refused } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import type { PrivateKeyParams } from "../fields/private_keys.ts";
import { getPrivateKey } from "../queries/get_private_key.ts";
import { listPrivateKeyTags } from "../queries/list_private_key_tags.ts";
import { listPrivateKeys } from "../queries/list_private_keys.ts";
import type { Store } from "../store/store.ts";
import { dialectOf } from "../views/dialect.ts";

const caller = testCaller();

type Within = { organizationId?: string; by?: Person };

/** Short ways to ask, as the root user of the first organization unless told. */
function asking(rig: GatewayRig) {
  const submit = async (path: Parameters<GatewayRig["submit"]>[1], parameters: unknown, within: Within = {}) => {
    const { organizationId = rig.organizationId, by = rig.root } = within;
    const { result } = await rig.submit(by, path, parameters, { organizationId });
    return Object.values(result)[0] as never;
  };
  const query = async <R>(run: (store: Store, organizationId: string) => R, { organizationId }: Within = {}) =>
    await run(rig.store, organizationId ?? rig.organizationId);
  return {
    submit,
    async create(privateKeys: PrivateKeyParams[], within?: Within) {
      const made: { privateKeys: { privateKeyId: string; addresses: { format: string; address: string }[] }[] } =
        await submit("create_private_keys", { privateKeys }, within);
      return made.privateKeys;
    },
    async createTag(privateKeyTagName: string, privateKeyIds: string[], within?: Within) {
      const { privateKeyTagId }: { privateKeyTagId: string } = await submit(
        "create_private_key_tag",
        { privateKeyTagName, privateKeyIds },
        within,
      );
      return privateKeyTagId;
    },
    key: (privateKeyId: string, within?: Within) =>
      query(
        async (store, organizationId) =>
          (await getPrivateKey.run(store, caller, { organizationId, privateKeyId }, dialectOf(undefined))).privateKey,
        within,
      ),
    keys: (within?: Within) =>
      query(
        async (store, organizationId) =>
          (await listPrivateKeys.run(store, caller, { organizationId }, dialectOf(undefined))).privateKeys,
        within,
      ),
    tags: (within?: Within) =>
      query(
        async (store, organizationId) =>
          (await listPrivateKeyTags.run(store, caller, { organizationId }, dialectOf(undefined))).privateKeyTags,
        within,
      ),
  };
}

function key(privateKeyName: string, changes: Partial<PrivateKeyParams> = {}): PrivateKeyParams {
  return { privateKeyName, curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: [], ...changes };
}

async function refused(work: Promise<unknown>, code: number, message: string): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof Refused);
    assert.deepEqual([error.failure.code, error.failure.message], [code, message]);
    return true;
  });
}

for (const dialect of dialects) {
  const withRig = (name: string, run: (rig: GatewayRig, ask: ReturnType<typeof asking>) => Promise<void>) =>
    test(`${name} (${dialect})`, async (t: TestContext) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig !== undefined) await run(rig, asking(rig));
    });

  withRig("keys are made as asked, and shown so by both queries", async (_rig, ask) => {
    const tagId = await ask.createTag("hot", []);
    const [eth, escrow, sol] = await ask.create([
      key("eth", { addressFormats: ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_TRON"], privateKeyTags: [tagId] }),
      key("escrow", { curve: "CURVE_P256" }),
      key("sol", { curve: "CURVE_ED25519", addressFormats: ["ADDRESS_FORMAT_SOLANA"] }),
    ]);
    assert.ok(eth && escrow && sol);
    const shown = await ask.key(eth.privateKeyId);
    assert.match(shown.publicKey, /^04[0-9a-f]{128}$/);
    assert.deepEqual(
      { ...shown, publicKey: "", createdAt: "", updatedAt: "" },
      {
        privateKeyId: eth.privateKeyId,
        publicKey: "",
        privateKeyName: "eth",
        curve: "CURVE_SECP256K1",
        addresses: eth.addresses,
        privateKeyTags: [tagId],
        createdAt: "",
        updatedAt: "",
        exported: false,
        imported: false,
      },
    );
    assert.deepEqual(
      eth.addresses.map(({ format }) => format),
      ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_TRON"],
    );
    assert.deepEqual(escrow.addresses, []);
    assert.match((await ask.key(escrow.privateKeyId)).publicKey, /^04[0-9a-f]{128}$/);
    assert.match((await ask.key(sol.privateKeyId)).publicKey, /^[0-9a-f]{64}$/);
    const all = await ask.keys();
    assert.deepEqual(all.map(({ privateKeyName }) => privateKeyName).sort(), ["escrow", "eth", "sol"]);
    assert.deepEqual(
      (await ask.tags()).map(({ tagName, tagType }) => [tagName, tagType]),
      [["hot", "TAG_TYPE_PRIVATE_KEY"]],
    );
  });

  withRig("tags come and go with the keys they are on", async (_rig, ask) => {
    const made = await ask.create([key("a"), key("b"), key("c")]);
    const [a, b, c] = made.map(({ privateKeyId }) => privateKeyId) as [string, string, string];
    const hot = await ask.createTag("hot", [a, b]);
    const cold = await ask.createTag("cold", [b]);
    const update = {
      privateKeyTagId: hot,
      newPrivateKeyTagName: "warm",
      addPrivateKeyIds: [c],
      removePrivateKeyIds: [a],
    };
    await ask.submit("update_private_key_tag", update);
    const tagsOf = async (id: string) => (await ask.key(id)).privateKeyTags;
    assert.deepEqual([await tagsOf(a), await tagsOf(b), await tagsOf(c)], [[], [hot, cold], [hot]]);
    assert.deepEqual((await ask.tags()).map(({ tagName }) => tagName).sort(), ["cold", "warm"]);

    await ask.submit("delete_private_keys", { privateKeyIds: [c], deleteWithoutExport: true });
    await assert.rejects(ask.key(c), { code: "not_found" });
    const gone = await ask.submit("delete_private_key_tags", { privateKeyTagIds: [hot] });
    assert.deepEqual(gone, { privateKeyTagIds: [hot], privateKeyIds: [b] });
    assert.deepEqual([await tagsOf(a), await tagsOf(b)], [[], [cold]]);
    assert.deepEqual(
      (await ask.tags()).map(({ tagName }) => tagName),
      ["cold"],
    );
  });

  withRig("what is refused leaves nothing behind", async (rig, ask) => {
    const [kept] = await ask.create([key("kept")]);
    assert.ok(kept);
    const within = ` in organization ${rig.organizationId}`;
    const nobody = "11111111-1111-4111-8111-111111111111";
    await refused(ask.create([key("x"), key("KEPT")]), 3, "private key label must be unique: `KEPT` exists");
    await refused(ask.create([key("x"), key("X")]), 3, "private key label must be unique: `X` exists");
    const wrong = key("x", { curve: "CURVE_P256", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] });
    await refused(ask.create([key("y"), wrong]), 3, "invalid curve: ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1");
    const tagged = key("x", { privateKeyTags: [nobody] });
    await refused(ask.create([tagged]), 5, `unable to find private key tag ${nobody}${within}`);
    await refused(ask.createTag("t", [nobody]), 5, `unable to find private key ${nobody}${within}`);
    const notExported = `private key has not been exported: \`${kept.privateKeyId}\`; export it first, or set deleteWithoutExport`;
    await refused(ask.submit("delete_private_keys", { privateKeyIds: [kept.privateKeyId] }), 3, notExported);
    const both = { privateKeyIds: [kept.privateKeyId, nobody], deleteWithoutExport: true };
    await refused(ask.submit("delete_private_keys", both), 5, `unable to find private key ${nobody}${within}`);
    for (const bad of [
      { ...key("x"), curve: "CURVE_BLS" },
      { ...key("x"), addressFormats: ["ADDRESS_FORMAT_X"] },
    ]) {
      await assert.rejects(ask.create([bad as never]), { code: "invalid_argument" });
    }
    assert.deepEqual(
      (await ask.keys()).map(({ privateKeyName }) => privateKeyName),
      ["kept"],
    );
    assert.deepEqual(await ask.tags(), []);
  });

  withRig(
    "names may be given again once their key is deleted, and the same body makes no second key",
    async (rig, ask) => {
      const body = rig.body("create_private_keys", { privateKeys: [key("once")] });
      const first = await rig.send(rig.root, "create_private_keys", body);
      assert.deepEqual(await rig.send(rig.root, "create_private_keys", body), first);
      const [only, ...others] = await ask.keys();
      assert.ok(only && others.length === 0);
      await ask.submit("delete_private_keys", { privateKeyIds: [only.privateKeyId], deleteWithoutExport: true });
      const again = { privateKeyIds: [only.privateKeyId], deleteWithoutExport: true };
      const message = `unable to find private key ${only.privateKeyId} in organization ${rig.organizationId}`;
      await refused(ask.submit("delete_private_keys", again), 5, message);
      const [second] = await ask.create([key("once")]);
      assert.notEqual(second?.privateKeyId, only.privateKeyId);
    },
  );

  withRig(
    "other organizations' keys and tags are as good as none, and members without a policy may do nothing",
    async (rig, ask) => {
      const sub = await rig.newSubOrganization(1, ["sue"]);
      const [sue] = sub.people;
      assert.ok(sue);
      const there = { organizationId: sub.organizationId, by: sue };
      const [foreign] = await ask.create([key("theirs")], there);
      const foreignTag = await ask.createTag("theirs", [], there);
      assert.ok(foreign);
      const { privateKeyId } = foreign;
      const missing = `unable to find private key ${privateKeyId} in organization ${rig.organizationId}`;
      const deletion = { privateKeyIds: [privateKeyId], deleteWithoutExport: true };
      await refused(ask.submit("delete_private_keys", deletion), 5, missing);
      await refused(ask.createTag("mine", [privateKeyId]), 5, missing);
      const tagMissing = `unable to find private key tag ${foreignTag} in organization ${rig.organizationId}`;
      await refused(ask.submit("delete_private_key_tags", { privateKeyTagIds: [foreignTag] }), 5, tagMissing);
      await assert.rejects(ask.key(privateKeyId), { code: "not_found", message: missing });
      assert.deepEqual(await ask.keys(), []);
      // The same name is free elsewhere.
      await ask.create([key("theirs")]);

      const bob = await rig.newPerson("bob");
      for (const [path, parameters] of [
        ["create_private_keys", { privateKeys: [key("b")] }],
        ["delete_private_keys", { privateKeyIds: [privateKeyId] }],
        ["create_private_key_tag", { privateKeyTagName: "b", privateKeyIds: [] }],
        ["update_private_key_tag", { privateKeyTagId: "b", addPrivateKeyIds: [], removePrivateKeyIds: [] }],
        ["delete_private_key_tags", { privateKeyTagIds: ["b"] }],
      ] as const) {
        await assert.rejects(ask.submit(path, parameters, { by: bob }), (error: unknown) => {
          assert.ok(error instanceof Refused);
          assert.equal(error.failure.code, 7);
          return true;
        });
      }
    },
  );

  withRig("of several requests for one name at once, one gets it", async (_rig, ask) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => ask.create([key("contested")])));
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    assert.equal((await ask.keys()).length, 1);
  });

  withRig(
    "changes of one key that are committed together all count, and a deleted key keeps no tag",
    async (_rig, ask) => {
      const made = await ask.create([key("a"), key("b")]);
      const [a, b] = made.map(({ privateKeyId }) => privateKeyId) as [string, string];
      const tagIds = await Promise.all(Array.from({ length: 6 }, (_, n) => ask.createTag(`tag ${n}`, [a, b])));
      assert.deepEqual((await ask.key(a)).privateKeyTags.sort(), tagIds.sort());
      const [first = "", second = ""] = tagIds;
      await Promise.all([
        ask.submit("update_private_key_tag", {
          privateKeyTagId: first,
          addPrivateKeyIds: [],
          removePrivateKeyIds: [a],
        }),
        ask.submit("delete_private_keys", { privateKeyIds: [b], deleteWithoutExport: true }),
        ask.submit("delete_private_key_tags", { privateKeyTagIds: [second] }),
      ]);
      assert.deepEqual((await ask.key(a)).privateKeyTags.sort(), tagIds.slice(2).sort());
      const rest: { privateKeyIds: string[] } = await ask.submit("delete_private_key_tags", {
        privateKeyTagIds: [first, ...tagIds.slice(2)],
      });
      assert.deepEqual(rest.privateKeyIds, [a]);
    },
  );

  withRig("many keys are tagged, stripped and deleted in one request each", async (_rig, ask) => {
    const ids: string[] = [];
    for (const batch of [0, 1, 2]) {
      const made = await ask.create(Array.from({ length: 100 }, (_, n) => key(`key ${batch} ${n}`)));
      ids.push(...made.map(({ privateKeyId }) => privateKeyId));
    }
    const tagId = await ask.createTag("all", ids);
    assert.ok((await ask.keys()).every(({ privateKeyTags }) => privateKeyTags[0] === tagId));
    const stripped: { privateKeyIds: string[] } = await ask.submit("delete_private_key_tags", {
      privateKeyTagIds: [tagId],
    });
    assert.deepEqual(stripped.privateKeyIds.sort(), [...ids].sort());
    assert.ok((await ask.keys()).every(({ privateKeyTags }) => privateKeyTags.length === 0));
    await ask.submit("delete_private_keys", { privateKeyIds: ids.slice(0, 200), deleteWithoutExport: true });
    await ask.submit("delete_private_keys", { privateKeyIds: ids.slice(200), deleteWithoutExport: true });
    assert.deepEqual(await ask.keys(), []);
  });
}
