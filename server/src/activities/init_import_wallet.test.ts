import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { signedPart } from "../../test/imports.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { after, organization, person } from "../../test/members.ts";
import { maxPendingTargets, targetLifeMs } from "../rules/imports.ts";
import type { Pages } from "../state/pages.ts";
import { initImportPrivateKey } from "./init_import_private_key.ts";
import { initImportWallet } from "./init_import_wallet.ts";

const pages = organization({ users: [person("ann"), person("bob")] });
const keys = testKeyAccess();
let targets = 0;

/** Each call is an activity of its own, and so are its ids. */
function init(from: Pages, userId = "ann", context: ContextChanges = {}, activity = initImportWallet) {
  const newId = () => `target ${targets++}`;
  const outcome = runActivity(activity, from, { userId }, { userId, keys, newId, ...context });
  return { ...outcome, pages: after(from, outcome) };
}

const publicKeysOf = ({ importTargets }: Pages) => [...importTargets.values()].map(({ publicKey }) => publicKey);

test("the bundle names the target, the organization and the user, and the target waits for exactly that user and kind", () => {
  const { result, pages: next } = init(pages);
  const said = signedPart(result.importBundle);
  const [target] = next.importTargets.values();
  assert.ok(target);
  assert.deepEqual(said, { targetPublic: target.publicKey, organizationId: "acme", userId: "ann" });
  assert.deepEqual(Object.keys(said), ["targetPublic", "organizationId", "userId"]);
  assert.equal(next.importTargets.size, 1);
  assert.deepEqual([target.userId, target.kind, target.createdAtMs], ["ann", "wallet", nowMs]);
  const privateKey = keys.openTarget(target);
  assert.ok(privateKey);
  const publicKey = keys.hpke.publicKey(keys.hpke.importKey(privateKey));
  assert.deepEqual(publicKey, fromHex(target.publicKey));
  const other = init(pages, "bob", {}, initImportPrivateKey);
  assert.deepEqual(
    [...other.pages.importTargets.values()].map(({ userId, kind }) => [userId, kind]),
    [["bob", "privateKey"]],
  );
});

test("a sixth target takes the place of the oldest; other users and kinds keep theirs", () => {
  let current = init(pages, "bob").pages;
  current = init(current, "ann", {}, initImportPrivateKey).pages;
  const others = publicKeysOf(current);
  const own: string[] = [];
  for (let n = 0; n <= maxPendingTargets; n++) {
    current = init(current, "ann", { nowMs: nowMs + n }).pages;
    own.push(publicKeysOf(current).at(-1) ?? "");
  }
  assert.deepEqual(publicKeysOf(current), [...others, ...own.slice(1)]);
  const together = init(init(pages).pages);
  assert.equal(together.pages.importTargets.size, 2, "two of one millisecond are two");
});

test("of several made in one millisecond, the first made goes first", () => {
  let current = pages;
  for (let n = 0; n < maxPendingTargets; n++) current = init(current).pages;
  const before = publicKeysOf(current);
  assert.deepEqual(publicKeysOf(init(current).pages).slice(0, -1), before.slice(1));
});

test("after their hour, targets are dropped by the next one, whoever's they were", () => {
  const old = init(init(pages, "bob").pages).pages;
  const oneLeft = init(old, "ann", { nowMs: nowMs + targetLifeMs - 1 }).pages;
  assert.equal(oneLeft.importTargets.size, 3);
  const fresh = init(old, "ann", { nowMs: nowMs + targetLifeMs });
  assert.equal(fresh.pages.importTargets.size, 1);
  assert.equal(fresh.changes.length, 3);
});

test("a user who is gone by the time is named", () => {
  assert.throws(() => init(pages, "eve"), {
    code: "not_found",
    message: "unable to find user eve in organization acme",
  });
});

test("it is the caller's own act", () => {
  assert.equal(initImportWallet.ownActOf?.({ userId: "bob" }, "ann"), "bob");
  assert.equal(initImportPrivateKey.ownActOf?.({ userId: "bob" }, "ann"), "bob");
});
