/** Changes that somebody with the database in hand could make to an organization of the story, and what names them. */
import assert from "node:assert/strict";
import type { Store } from "../src/store/store.ts";
import type { TableName } from "../src/store/tables.ts";
import type { Actor, TargetOrganization } from "./hostile_story.ts";

export type Change = (
  db: Store["db"],
  targetOrganization: TargetOrganization,
  neighbour: TargetOrganization,
) => Promise<unknown>;
export type Named = { change: Change; says: RegExp };

/** One change for each table that follows from others; what the line says. */
export const rebuilt: Readonly<Record<string, Named & { table: TableName }>> = {
  "an organization's name": {
    table: "organizations",
    change: (db, { organizationId }) =>
      db
        .updateTable("organizations")
        .set({ organization_name: "Evil", parent_id: null })
        .where("organization_id", "=", organizationId)
        .execute(),
    says: /organizations: parent_id, organization_name not as in its state/,
  },
  "an organization's version": {
    table: "organizations",
    change: (db, { organizationId }) =>
      db.updateTable("organizations").set({ version: 3 }).where("organization_id", "=", organizationId).execute(),
    says: /organizations: version not as in its state/,
  },
  "a head": {
    table: "organizations",
    change: (db, { organizationId }) =>
      db
        .updateTable("organizations")
        .set({ header: new Uint8Array(40) })
        .where("organization_id", "=", organizationId)
        .execute(),
    says: /organizations: header not as in the newest leaf/,
  },
  "a user": {
    table: "users",
    change: (db, { dave }) =>
      db.updateTable("users").set({ user_email: null }).where("user_id", "=", dave.userId).execute(),
    says: /users [0-9a-f-]{36}: user_email not as in the state/,
  },
  "a user that was removed": {
    table: "users",
    change: (db, { organizationId, eve }) =>
      db
        .insertInto("users")
        .values({
          ...{ organization_id: organizationId, user_id: eve.userId, user_name: "eve", user_tags: "[]" },
          ...{ user_email: null, user_phone_number: null, email_verified: 0, phone_verified: 0 },
          ...{ created_at_ms: 1, updated_at_ms: 1 },
        })
        .execute(),
    says: /users [0-9a-f-]{36}: it is not in the state/,
  },
  "two keys that changed places": {
    table: "credentials",
    change: async (db, { organizationId, ann, bob }) => {
      const key = async ({ userId }: Actor) =>
        db
          .selectFrom("credentials")
          .selectAll()
          .where("organization_id", "=", organizationId)
          .where("user_id", "=", userId)
          .executeTakeFirstOrThrow();
      const [one, other] = [await key(ann), await key(bob)];
      const put = (id: string, public_key: string) =>
        db
          .updateTable("credentials")
          .set({ public_key })
          .where("organization_id", "=", organizationId)
          .where("credential_id", "=", id)
          .execute();
      await put(one.credential_id, "free");
      await put(other.credential_id, one.public_key);
      await put(one.credential_id, other.public_key);
    },
    says: /credentials [0-9a-f-]{36}: public_key not as in the state/,
  },
  "a tag": {
    table: "user_tags",
    change: (db, { userTagId }) => db.deleteFrom("user_tags").where("tag_id", "=", userTagId).execute(),
    says: /user_tags [0-9a-f-]{36}: it is missing/,
  },
  "a policy": {
    table: "policies",
    change: (db, { policyId }) =>
      db.updateTable("policies").set({ effect: "EFFECT_DENY" }).where("policy_id", "=", policyId).execute(),
    says: /policies [0-9a-f-]{36}: effect not as in the state/,
  },
  "an interface": {
    table: "contract_interfaces",
    change: (db, { organizationId }) =>
      db
        .updateTable("contract_interfaces")
        .set({ address: "0x" })
        .where("organization_id", "=", organizationId)
        .execute(),
    says: /contract_interfaces [0-9a-f-]{36}: address not as in the state/,
  },
  "two wallets that changed names": {
    table: "wallets",
    change: async (db, { organizationId }) => {
      const wallets = await db
        .selectFrom("wallets")
        .selectAll()
        .where("organization_id", "=", organizationId)
        .orderBy("wallet_id")
        .execute();
      const [one, other] = wallets;
      assert.ok(one && other);
      const put = (id: string, name_key: string, blind_index: string | null) =>
        db
          .updateTable("wallets")
          .set({ name_key, blind_index })
          .where("organization_id", "=", organizationId)
          .where("wallet_id", "=", id)
          .execute();
      await put(one.wallet_id, "free", null);
      await put(other.wallet_id, one.name_key, one.blind_index);
      await put(one.wallet_id, other.name_key, other.blind_index);
    },
    says: /wallets [0-9a-f-]{36}: name_key, blind_index not as in its record/,
  },
  "an account": {
    table: "wallet_accounts",
    change: (db, { organizationId, address }) =>
      db
        .updateTable("wallet_accounts")
        .set({ address_key: "0xdead", path_key: "m/1", sort_key: "z", curve: "CURVE_P256", account_name: "Mine" })
        .where("organization_id", "=", organizationId)
        .where("address", "=", address)
        .execute(),
    says: /wallet_accounts [0-9a-f-]{36}: curve, path_key, address_key, account_name, sort_key not as in its record/,
  },
  "a private key under another id": {
    table: "private_keys",
    change: (db, { privateKeyId }) =>
      db
        .updateTable("private_keys")
        .set({ private_key_id: "0aa0aa00-0000-4000-8000-00000000000a", exported: 1 })
        .where("private_key_id", "=", privateKeyId)
        .execute(),
    says: /private_keys 0aa0aa00-0000-4000-8000-00000000000a: private_key_id, exported not as in its record/,
  },
  "an address of a private key": {
    table: "private_key_addresses",
    change: (db, { privateKeyId }) =>
      db
        .updateTable("private_key_addresses")
        .set({ address_key: "0x" })
        .where("private_key_id", "=", privateKeyId)
        .execute(),
    says: /private_key_addresses 0x [0-9a-f-]{36}: it is no address of this key/,
  },
  "a tag of private keys": {
    table: "private_key_tags",
    change: (db, { organizationId }) =>
      db.updateTable("private_key_tags").set({ tag_name: "x" }).where("organization_id", "=", organizationId).execute(),
    says: /private_key_tags [0-9a-f-]{36}: tag_name not as in the state/,
  },
  "the versions of two leaves": {
    table: "leaves",
    change: async (db, { organizationId }) => {
      const put = (from: number, to: number) =>
        db
          .updateTable("leaves")
          .set({ version: to })
          .where("organization_id", "=", organizationId)
          .where("version", "=", from)
          .execute();
      await put(5, 999);
      await put(6, 5);
      await put(999, 6);
    },
    says: /leaves [0-9a-f]{32} \d+: version not as in the leaf/,
  },
  "a mark of no leaf": {
    table: "unreleased",
    change: (db, { organizationId }) =>
      db.insertInto("unreleased").values({ organization_id: organizationId, boot: "00", number: 7 }).execute(),
    says: /unreleased 00 7: there is no such leaf/,
  },
  "what became of an activity": {
    table: "activities",
    change: (db, { organizationId }) =>
      db
        .updateTable("activities")
        .set({
          status: "ACTIVITY_STATUS_FAILED",
          type: "x",
          slot: 7,
          state_version: 7,
          created_at_ms: 7,
          updated_at_ms: 7,
        })
        .where("organization_id", "=", organizationId)
        .where("state_version", "=", 6)
        .execute(),
    says: /activities [0-9a-f-]{36}: type, created_at_ms, status, state_version, updated_at_ms, slot not as in the log/,
  },
  "what waits": {
    table: "activities",
    change: (db, { organizationId }) =>
      db
        .updateTable("activities")
        .set({ status: "ACTIVITY_STATUS_COMPLETED", state_version: null })
        .where("organization_id", "=", organizationId)
        .where("status", "=", "ACTIVITY_STATUS_CONSENSUS_NEEDED")
        .execute(),
    says: /activities [0-9a-f-]{36}: status, state_version not as in the state, in which it waits/,
  },
  "a page that the state does not know": {
    table: "pages",
    change: (db, { organizationId }) =>
      db
        .insertInto("pages")
        .values({ organization_id: organizationId, name: "members2", content: new Uint8Array(3) })
        .execute(),
    says: /pages `members2`: its state knows no such page/,
  },
};

/** What nothing else says; how it is named. They come one upon the other, the worst last. */
export const lost: Readonly<Record<string, Named>> = {
  "a secret": {
    change: (db, { walletId }) =>
      db
        .updateTable("wallets")
        .set({ sealed: new Uint8Array(100) })
        .where("wallet_id", "=", walletId)
        .execute(),
    says: /wallets [0-9a-f-]{36}: its sealed secret was changed/,
  },
  "a record": {
    change: (db, { walletId }) =>
      db
        .updateTable("wallets")
        .set({ record: new Uint8Array(100) })
        .where("wallet_id", "=", walletId)
        .execute(),
    says: /wallets [0-9a-f-]{36}: its record was changed/,
  },
  "another's record": {
    change: async (db, { walletId }, neighbour) => {
      const { record, sealed } = await db
        .selectFrom("wallets")
        .selectAll()
        .where("wallet_id", "=", neighbour.walletId)
        .executeTakeFirstOrThrow();
      await db.updateTable("wallets").set({ record, sealed }).where("wallet_id", "=", walletId).execute();
    },
    says: /wallets [0-9a-f-]{36}: it holds a record of organization [0-9a-f-]{36}/,
  },
  "an account's row": {
    change: (db, { organizationId, address }) =>
      db
        .deleteFrom("wallet_accounts")
        .where("organization_id", "=", organizationId)
        .where("address", "=", address)
        .execute(),
    says: /the row of [0-9a-f-]{36} is missing, which activity [0-9a-f-]{36} made/,
  },
  "a wallet's row": {
    change: (db, { walletId }) => db.deleteFrom("wallets").where("wallet_id", "=", walletId).execute(),
    says: /wallets: 1 row\(s\) are missing/,
  },
  "the text of an interface": {
    change: (db, { organizationId }) =>
      db.deleteFrom("contract_interfaces").where("organization_id", "=", organizationId).execute(),
    says: /contract_interfaces [0-9a-f-]{36}: its row and its text are missing/,
  },
  "a leaf": {
    change: (db, { organizationId }) =>
      db
        .updateTable("leaves")
        .set({ leaf: new Uint8Array(300) })
        .where("organization_id", "=", organizationId)
        .where("version", "=", 5)
        .execute(),
    says: /leaves [0-9a-f]{32} \d+: the leaf is not the signer's/,
  },
  "an activity's body": {
    change: (db, { organizationId }) =>
      db
        .updateTable("activities")
        .set({ body: Buffer.from("{}") })
        .where("organization_id", "=", organizationId)
        .where("state_version", "=", 6)
        .execute(),
    says: /activities [0-9a-f-]{36}: its body was changed/,
  },
  "an activity's result": {
    change: (db, { organizationId }) =>
      db
        .updateTable("activities")
        .set({ result: "{}" })
        .where("organization_id", "=", organizationId)
        .where("state_version", "=", 7)
        .execute(),
    says: /activities [0-9a-f-]{36}: result was changed/,
  },
  "an activity that never was": {
    change: async (db, { organizationId }) => {
      const row = await db
        .selectFrom("activities")
        .selectAll()
        .where("organization_id", "=", organizationId)
        .where("state_version", "=", 6)
        .executeTakeFirstOrThrow();
      await db
        .insertInto("activities")
        .values({ ...row, activity_id: "forged", fingerprint: "forged", slot: null })
        .execute();
    },
    says: /activities forged: no leaf tells of it/,
  },
  "a vote": {
    change: (db, { organizationId }) =>
      db.updateTable("votes").set({ vote: "{}" }).where("organization_id", "=", organizationId).execute(),
    says: /votes on [0-9a-f-]{36}: the vote of user [0-9a-f-]{36} is missing or was changed/,
  },
  "a vote that nobody gave": {
    change: async (db, { organizationId }) => {
      const row = await db
        .selectFrom("votes")
        .selectAll()
        .where("organization_id", "=", organizationId)
        .limit(1)
        .executeTakeFirstOrThrow();
      await db
        .insertInto("votes")
        .values({ ...row, vote_id: "forged" })
        .execute();
    },
    says: /votes on [0-9a-f-]{36}: they are not as many as the log tells of/,
  },
  "a page of key facts": {
    change: (db, { organizationId }) =>
      db
        .deleteFrom("pages")
        .where("organization_id", "=", organizationId)
        .where("name", "like", "keyFacts/%")
        .execute(),
    says: /page `keyFacts\/[0-9a-f]{2}` is missing/,
  },
  "a page": {
    change: (db, { organizationId }) =>
      db
        .updateTable("pages")
        .set({ content: Buffer.from("{}") })
        .where("organization_id", "=", organizationId)
        .where("name", "=", "members")
        .execute(),
    says: /page `members` was changed/,
  },
  "a directory": {
    change: (db, { organizationId }) =>
      db
        .updateTable("organizations")
        .set({ directory: new Uint8Array(9) })
        .where("organization_id", "=", organizationId)
        .execute(),
    says: /its directory was changed/,
  },
  "an organization": {
    change: (db, { organizationId }) =>
      db.deleteFrom("organizations").where("organization_id", "=", organizationId).execute(),
    says: /organizations: its row is missing, though there are rows in pages, leaves/,
  },
};
