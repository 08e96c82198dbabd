/** Rows that somebody has changed under a gateway: the caller may come again, the operator hears whose they are, others go on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Layout } from "@keystead/core/encoding/layout.ts";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { encodeFrame, maxFrameLength } from "../../frames/frame.ts";
import { type MessageKind, messages } from "../../frames/messages.ts";
import { slotOf } from "../../state/journal.ts";
import { createRepeats } from "../bounds/repeats.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { createCommitter } from "./committer.ts";
import { createOrganizations } from "./organization_states.ts";

function linkOf({ signer }: GatewayRig): SignerLink {
  const request = async (kind: MessageKind, message: never) => {
    // As on its way over the socket: what is too long for that never arrives.
    encodeFrame(kind, 1, messages[kind].request as Layout<unknown>, message);
    return signer.operations[kind](message);
  };
  return {
    request: request as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
}

/** What the operator of a rig is told from now on. */
function listen(rig: GatewayRig): string[] {
  const said: string[] = [];
  const hear = (organizationId: string, message: string) => said.push(`${organizationId}: ${message}`);
  Object.assign(rig.dependencies, { organizations: createOrganizations(rig.store, linkOf(rig), hear) });
  return said;
}

const tag = (userTagName: string) => ({ userTagName, userIds: [] });

/** Refused in words that tell a stranger nothing; the operator hears all of it. */
async function assertRefused(
  rig: GatewayRig,
  said: string[],
  work: () => Promise<unknown>,
  what: RegExp,
): Promise<void> {
  const { organizationId } = rig;
  const words = new RegExp(
    `organization ${organizationId}: ${what.source}; stop the server and run \`npx keystead check-database\`$`,
  );
  const message = "the stored state of this organization failed verification; the operator's log says why";
  await assert.rejects(work(), { code: "unavailable", message });
  assert.match(said.at(-1) ?? "", words);
}

onBothDatabases("a version that is not the head's is refused at once, and its neighbour goes on", async (rig) => {
  const { organizationId, people } = await rig.newSubOrganization(1, ["ann"]);
  const said = listen(rig);
  await rig.store.db
    .updateTable("organizations")
    .set({ version: 70 })
    .where("organization_id", "=", rig.organizationId)
    .execute();
  const submit = () => rig.submit(rig.root, "create_user_tag", tag("x"));
  await assertRefused(rig, said, submit, /its row says version 70, its head \d+/);
  const [ann] = people;
  assert.ok(ann);
  const { status } = await rig.submit(ann, "create_user_tag", tag("x"), { organizationId });
  assert.equal(status, "ACTIVITY_STATUS_COMPLETED");
});

onBothDatabases("a page of key facts that is asked for and never right is named", async (rig) => {
  const { result } = await rig.submit(rig.root, "create_wallet", { walletName: "W", accounts: [] });
  const { walletId } = result.createWalletResult as { walletId: string };
  await rig.submit(rig.root, "update_wallet", { walletId, walletName: "Renamed" });
  Object.assign(rig.signer.operations, rig.signer.restart().operations);
  const said = listen(rig);
  await rig.store.db.deleteFrom("pages").where("name", "like", "keyFacts/%").execute();
  const submit = () => rig.submit(rig.root, "update_wallet", { walletId, walletName: "Again" });
  await assertRefused(rig, said, submit, /page `keyFacts\/[0-9a-f]{2}` is missing or was changed/);
});

onBothDatabases("executed activities that do not add up to the journal are named", async (rig) => {
  await rig.submit(rig.root, "create_user_tag", tag("executed"));
  Object.assign(rig.signer.operations, rig.signer.restart().operations);
  const said = listen(rig);
  await rig.store.db
    .updateTable("activities")
    .set({ fingerprint: "00".repeat(32) })
    .where("slot", "is not", null)
    .execute();
  const minute = slotOf(rig.signer.clock.nowMs);
  const submit = () => rig.submit(rig.root, "create_user_tag", tag("next"));
  await assertRefused(
    rig,
    said,
    submit,
    new RegExp(`its executed activities of minute (${minute - 1}|${minute}) are not those that its state knows`),
  );
});

onBothDatabases("rows that no frame carries are refused, not sent", async (rig) => {
  const said = listen(rig);
  await rig.store.db
    .updateTable("pages")
    .set({ content: new Uint8Array(maxFrameLength + 1) })
    .where("name", "=", "members")
    .execute();
  const submit = () => rig.submit(rig.root, "create_user_tag", tag("x"));
  await assertRefused(rig, said, submit, /its rows are longer than anything that the signer wrote/);
});

for (const dialect of dialects) {
  test(`on ${dialect} a leaf that cannot be released is named, and keeps no other from being`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, store } = rig;
    await rig.submit(rig.root, "create_user_tag", tag("x"));
    await rig.dependencies.committer.settle();
    const leaves = await store.db.selectFrom("leaves").selectAll().orderBy("number").execute();
    for (const { boot, number } of leaves) {
      await store.db.insertInto("unreleased").values({ organization_id: organizationId, boot, number }).execute();
    }
    const [first] = leaves;
    assert.ok(first);
    await store.db
      .updateTable("leaves")
      .set({ leaf: new Uint8Array(maxFrameLength + 1) })
      .where("number", "=", first.number)
      .execute();
    const refusals = await createCommitter(store, linkOf(rig)).releaseLeftovers();
    assert.equal(refusals.length, 1);
    const name = `organization ${organizationId}: leaf ${first.number} of signer boot ${first.boot}`;
    const [refusal = ""] = refusals;
    assert.ok(
      refusal.startsWith(`${name} is not released: it is longer than anything that the signer wrote; `),
      refusal,
    );
    assert.match(refusal, /`npx keystead check-log`/);
    const left = await store.db.selectFrom("unreleased").select("number").execute();
    assert.deepEqual(
      left.map(({ number }) => number),
      [first.number],
    );
  });
}

test("a row that keeps every commit from being taken is for the operator to find", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { organizationId } = rig;
  const dave = await rig.newPerson("dave");
  const [row] = await rig.store.db.selectFrom("credentials").selectAll().where("user_id", "=", dave.userId).execute();
  assert.ok(row);
  // The key that a new user will bring stands in the way, as a user's that does not exist.
  const publicKey = row.public_key;
  await rig.submit(rig.root, "delete_users", { userIds: [dave.userId] });
  await rig.store.db
    .insertInto("credentials")
    .values({ ...row, credential_id: "forged", user_id: "nobody" })
    .execute();
  const apiKeys = [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }];
  const users = [{ userName: "dave", apiKeys, authenticators: [], oauthProviders: [], userTags: [] }];
  await assert.rejects(rig.submit(rig.root, "create_users", { users }), (error: Error) => {
    assert.match(error.message, /^too many concurrent changes to this organization; try again$/);
    assert.match(
      String((error.cause as Error).message),
      new RegExp(`^organization ${organizationId}: no commit was taken .*\`npx keystead check-database\`$`),
    );
    return true;
  });
});

onBothDatabases(
  "a changed leaf that waits for its release is named to the operator by whoever asks for it",
  async (rig) => {
    const body = rig.body("create_user_tag", tag("first"));
    await rig.send(rig.root, "create_user_tag", body);
    await rig.dependencies.committer.settle();
    const { organizationId, store } = rig;
    const { db } = store;
    const leaf = await db
      .selectFrom("leaves")
      .select(["boot", "number"])
      .where("organization_id", "=", organizationId)
      .orderBy("number", "desc")
      .executeTakeFirstOrThrow();
    await db.updateTable("leaves").set({ leaf: new Uint8Array() }).where("number", "=", leaf.number).execute();
    await db
      .insertInto("unreleased")
      .values({ organization_id: organizationId, ...leaf })
      .execute();
    rig.dependencies.repeats = createRepeats();
    await assert.rejects(rig.send(rig.root, "create_user_tag", body), (error: Error) => {
      assert.match(
        String(error.cause),
        new RegExp(`organization ${organizationId}: leaf .*npx keystead check-database`),
      );
      return true;
    });
  },
);
