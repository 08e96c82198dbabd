import assert from "node:assert/strict";
import { test } from "node:test";
import { type ApiKey, type Change, put, remove, type Settings, type User } from "./entities.ts";
import type { MembersPage } from "./members.ts";
import { decodePage, emptyPages, encodePage, type PageName, withPage } from "./pages.ts";
import { withProvenCredential } from "./proven.ts";

const bornAtMs = 1_800_000_000_000;

function key(apiKeyId: string, createdAtMs = bornAtMs): ApiKey {
  const type = "CREDENTIAL_TYPE_API_KEY_P256";
  const names = { apiKeyId, apiKeyName: apiKeyId, curve: "API_KEY_CURVE_P256", publicKey: apiKeyId, type } as const;
  return { ...names, createdAtMs, updatedAtMs: createdAtMs };
}

function user(userId: string, apiKeys: readonly ApiKey[]): User {
  return { userId, userName: userId, userTags: [], apiKeys, createdAtMs: bornAtMs, updatedAtMs: bornAtMs };
}

const members = (...users: readonly User[]): MembersPage => ({
  users: new Map(users.map((each) => [each.userId, each])),
  userTags: new Map(),
  rootQuorum: { threshold: 1, userIds: [] },
});

const settings: Settings = { organizationName: "o", features: [], createdAtMs: bornAtMs, updatedAtMs: bornAtMs };
const provenIn = (apiKeys: readonly ApiKey[] | undefined) =>
  (apiKeys ?? []).flatMap(({ apiKeyId, proven }) => (proven === true ? apiKeyId : []));

test("the key that stamps a change is proven in that change, beside whatever else it does to its user", () => {
  const ann = user("ann", [key("one"), key("two")]);
  const page = members(ann, user("bob", [key("three")]));
  const other = put("settings", settings);
  const prove = (changes: readonly Change[]) => withProvenCredential(page, changes, "ann", "one");
  assert.deepEqual(prove([other]), [other, put("user", user("ann", [{ ...key("one"), proven: true }, key("two")]))]);

  const renamed = { ...ann, userName: "Ann", updatedAtMs: bornAtMs + 1 };
  const [changed, ...more] = prove([put("user", renamed), other]);
  assert.deepEqual(changed, put("user", { ...renamed, apiKeys: [{ ...key("one"), proven: true }, key("two")] }));
  assert.deepEqual(more, [other]);
});

test("a key or a user that the change takes away is not brought back, and a proven key changes nothing", () => {
  const ann = user("ann", [key("one"), key("two")]);
  for (const changes of [[remove("user", "ann")], [put("user", { ...ann, apiKeys: [key("two")] })]]) {
    assert.equal(withProvenCredential(members(ann), changes, "ann", "one"), changes);
  }
  const proven = members(user("ann", [{ ...key("one"), proven: true }]));
  const none: Change[] = [];
  assert.equal(withProvenCredential(proven, none, "ann", "one"), none);
});

/** As it was written before keys were proven. */
function inFormat1(page: MembersPage): Uint8Array {
  const text = Buffer.from(encodePage("members", page)).toString();
  assert.match(text, /^\{"format":2,/);
  return Buffer.from(text.replace('"format":2', '"format":1'));
}

test("in a page of format 1 the keys of the birth are proven, in whichever order the pages come", () => {
  const page = members(
    user("ann", [key("born"), key("added", bornAtMs + 1)]),
    user("bob", [key("later", bornAtMs + 1)]),
  );
  const stored: [PageName, Uint8Array][] = [
    ["members", inFormat1(page)],
    ["settings", encodePage("settings", settings)],
  ];
  for (const order of [stored, stored.toReversed()]) {
    const pages = order.reduce((read, [name, content]) => withPage(read, name, content), emptyPages);
    assert.deepEqual(
      [...pages.members.users.values()].map(({ apiKeys }) => provenIn(apiKeys)),
      [["born"], []],
    );
    const written = decodePage("members", encodePage("members", pages.members));
    assert.deepEqual(written, pages.members, "from then on the page says it itself");
  }
});

test("in a page of format 2 a key that was added in the millisecond of the birth is not taken for one of the birth", () => {
  const content = encodePage("members", members(user("ann", [key("added")])));
  const pages = withPage(withPage(emptyPages, "members", content), "settings", encodePage("settings", settings));
  assert.deepEqual(provenIn(pages.members.users.get("ann")?.apiKeys), []);
});

test("a page of format 1 is never written back before it was read whole, and unknown formats are refused", () => {
  const alone = decodePage("members", inFormat1(members(user("ann", [key("born")]))));
  assert.throws(() => encodePage("members", alone), { code: "internal" });
  for (const format of ["0", "3", '"1"', "1.5", "null"]) {
    const text = `{"format":${format},"users":[],"userTags":[],"rootQuorum":{"threshold":1,"userIds":[]}}`;
    assert.throws(() => decodePage("members", Buffer.from(text)), { code: "failed_precondition" });
  }
});
