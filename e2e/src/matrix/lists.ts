/** list_activities, list_suborgs, list_verified_suborgs: lists with filters and pages. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { activities } from "../generated/endpoints.ts";
import { invalid } from "../refusals.ts";
import { type BadInput, queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";
import { ethereum, newAccount } from "./keys.ts";
import { keyParams, newTag } from "./people.ts";
import { getActivity } from "./queries.ts";
import type { Place } from "./stage.ts";

export const badPages: BadInput<Json>[] = [
  ...["0", "101", "-1", "1.5", "ten", ""].map((limit) => ({
    name: `a page of ${JSON.stringify(limit)}`,
    bend: () => ({ paginationOptions: { limit } }),
    refusal: invalid(`invalid pagination limit: \`${limit}\` is not a number from 1 to 100`),
  })),
  ...["before", "after"].map((side) => ({
    name: `${side} what is not there`,
    bend: () => ({ paginationOptions: { [side]: "nothing" } }),
    refusal: invalid("invalid pagination cursor: there is no `nothing` in this list"),
  })),
];

/** A cursor of another organization is as unknown as one of nothing. */
export function foreignCursors(of: (place: Place, fixture: Fixture) => Promise<string>): BadInput<Json>[] {
  return ["before", "after"].map((side) => ({
    name: `${side} another organization's`,
    bend: async (_, fixture) => ({ paginationOptions: { [side]: await of(fixture.other, fixture) } }),
    refusal: ({ paginationOptions }) =>
      invalid(`invalid pagination cursor: there is no \`${paginationOptions[side]}\` in this list`),
  }));
}

const completed = "ACTIVITY_STATUS_COMPLETED";

export const listActivities = queryEntry<Json>({
  good: async (fixture, place) => {
    await getActivity.good(fixture, place);
    return {
      filterByStatus: [completed],
      filterByType: [activities.create_user_tag.type],
      paginationOptions: { limit: "10" },
    };
  },
  required: [],
  answer: (_, answer) => {
    assert.deepEqual(Object.keys(answer), ["activities"]);
    assert.deepEqual(
      answer.activities.map(({ type, status }: Json) => [type, status]),
      [["ACTIVITY_TYPE_CREATE_USER_TAG", completed]],
    );
  },
  bad: [
    ...badPages,
    ...foreignCursors(async (place, fixture) => (await getActivity.good(fixture, place)).activityId),
    {
      name: "a status that is none",
      bend: () => ({ filterByStatus: ["ACTIVITY_STATUS_DONE"] }),
      refusal: invalid(/^invalid request body: field `filterByStatus\.0` must be /),
    },
    {
      name: "a type that is none",
      bend: () => ({ filterByType: ["anything"] }),
      refusal: invalid(/^invalid request body: field `filterByType\.0` /),
    },
  ],
  foreign: [],
  also: {
    "newest first, by pages, under every filter": async (fixture) => {
      for (let i = 0; i < 12; i++) await newTag(fixture);
      await fixture.submit("create_user_tag", { userTagName: "", userIds: [] });
      await fixture.submit("delete_user_tags", { userTagIds: [randomUUID()] });
      await fixture.submit("create_user_tag", { userTagName: "no", userIds: [] }, fixture.place.member);
      const list = async (parameters: object): Promise<Json[]> =>
        (await fixture.ask("list_activities", parameters)).activities;
      const ids = (list: Json[]) => list.map(({ id }) => id);
      const all = await list({ paginationOptions: { limit: "100" } });
      assert.deepEqual(ids(all), ids(all).sort().reverse());
      assert.deepEqual(ids(await list({})), ids(all).slice(0, 10));
      assert.deepEqual(ids(await list({ filterByStatus: [], filterByType: [] })), ids(all).slice(0, 10));
      const [, second, third] = ids(all);
      const page = (paginationOptions: object) => list({ paginationOptions }).then(ids);
      assert.deepEqual(await page({ limit: "3", before: third }), ids(all).slice(3, 6));
      assert.deepEqual(await page({ limit: "100", after: third }), ids(all).slice(0, 2));
      assert.deepEqual(await page({ limit: "1", before: second }), [third]);
      assert.deepEqual(await page({ after: all.at(-1)?.id, before: all[3]?.id, limit: "100" }), ids(all).slice(4, -1));
      const filter = async (keep: (activity: Json) => boolean, filters: object) =>
        assert.deepEqual(
          ids(await list({ ...filters, paginationOptions: { limit: "100" } })),
          ids(all.filter(keep)),
          JSON.stringify(filters),
        );
      const ended = ["ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_REJECTED"];
      const type = activities.delete_user_tags.type;
      await filter(({ status }) => ended.includes(status), { filterByStatus: ended });
      await filter((activity) => activity.type === type, { filterByType: [type] });
      await filter((activity) => activity.type === type && activity.status === ended[0], {
        filterByStatus: [ended[0]],
        filterByType: [type],
      });
    },
  },
});

async function newSub(fixture: Fixture, place: Place, more: object = {}): Promise<string> {
  return (await newSubWith(fixture, place, more)).subOrganizationId;
}

function newSubWith(fixture: Fixture, place: Place, more: object, organization: object = {}): Promise<Json> {
  const rootUsers = [{ userName: "Owner", apiKeys: [keyParams()], authenticators: [], oauthProviders: [], ...more }];
  const parameters = { subOrganizationName: `Sub ${randomUUID()}`, rootUsers, rootQuorumThreshold: 1, ...organization };
  return fixture.done("create_sub_organization", parameters, place.root, place);
}

export const listSuborgs = queryEntry<Json>({
  good: () => ({ filterType: "NAME", filterValue: "Sub", paginationOptions: { limit: "10" } }),
  required: [],
  answer: (_, answer, { sub }) => {
    assert.deepEqual(answer, { organizationIds: [sub.organizationId] });
  },
  bad: [
    ...badPages,
    ...foreignCursors((place, fixture) => newSub(fixture, place)),
    {
      name: "a filter that is none",
      bend: () => ({ filterType: "COLOUR", filterValue: "red" }),
      refusal: invalid(/^invalid filter type: `COLOUR` is none of /),
    },
    {
      name: "a filter without a value",
      bend: () => ({ filterType: "NAME" }),
      refusal: invalid("invalid request body: missing field `filterValue`"),
    },
    {
      name: "a value without a filter",
      bend: () => ({ filterValue: "Sub" }),
      refusal: invalid("invalid request body: missing field `filterType`"),
    },
    {
      name: "a token that is none",
      bend: () => ({ filterType: "OIDC_TOKEN", filterValue: "e30.e30.AA" }),
      refusal: invalid("invalid OIDC token: its header has no `alg`", "INVALID_OIDC_TOKEN"),
    },
  ],
  foreign: [],
  also: {
    "every filter finds its own, and no one else's": async (fixture) => {
      const { parent, other } = fixture;
      const key = keyParams();
      const userName = `Owner ${randomUUID()}`;
      const contact = { userName, userEmail: "Owner@Example.com", userPhoneNumber: "+4915112345678", apiKeys: [key] };
      const wallet = { walletName: "Wallet", accounts: [ethereum] };
      const { subOrganizationId: organizationId, wallet: made } = await newSubWith(fixture, parent, contact, {
        wallet,
      });
      await newSub(fixture, other, contact);
      const at = { ...parent, organizationId };
      const { users } = await fixture.ask("list_users", {}, parent.root, at);
      const find = async (filterType: string, filterValue: string) =>
        (await fixture.ask("list_suborgs", { filterType, filterValue })).organizationIds;
      for (const [type, value] of [
        ["USERNAME", userName],
        ["EMAIL", "Owner@Example.com"],
        ["PHONE_NUMBER", "+4915112345678"],
        ["PUBLIC_KEY", key.publicKey],
        ["PUBLIC_KEY", key.publicKey.toUpperCase()],
        ["CREDENTIAL_ID", users[0].apiKeys[0].apiKeyId],
        ["WALLET_ACCOUNT_ADDRESS", made.addresses[0]],
        ["WALLET_ACCOUNT_ADDRESS", made.addresses[0].toLowerCase()],
      ] as const) {
        assert.deepEqual(await find(type, value), [organizationId], `${type} ${value}`);
      }
      for (const type of ["NAME", "USERNAME", "CREDENTIAL_ID"]) assert.deepEqual(await find(type, "nobody"), []);
      assert.deepEqual(await find("EMAIL", "nobody@example.com"), []);
      assert.deepEqual(await find("WALLET_ACCOUNT_ADDRESS", "0x"), []);
      // The parent's own accounts are in none of its sub-organizations.
      const own = await newAccount(fixture, parent);
      assert.deepEqual(await find("WALLET_ACCOUNT_ADDRESS", own.address), []);
    },
    "all of them, by pages": async (fixture) => {
      for (let i = 0; i < 11; i++) await newSub(fixture, fixture.parent);
      const list = async (paginationOptions?: object): Promise<string[]> =>
        (await fixture.ask("list_suborgs", paginationOptions && { paginationOptions })).organizationIds;
      const all = await list({ limit: "100" });
      assert.ok(all.length >= 12 && new Set(all).size === all.length);
      assert.deepEqual(await list(), all.slice(0, 10));
      assert.deepEqual(await list({ limit: "5", after: all[4] }), all.slice(5, 10));
      assert.deepEqual(await list({ limit: "100", before: all[4] }), all.slice(0, 4));
    },
  },
});

/** Contacts are verified by tokens: the entry of otp_login has a sub-organization that is found. */
export const listVerifiedSuborgs = queryEntry<Json>({
  good: () => ({ filterType: "EMAIL", filterValue: "nobody@example.com", paginationOptions: { limit: "10" } }),
  required: [],
  answer: (_, answer) => {
    assert.deepEqual(answer, { organizationIds: [] });
  },
  bad: [
    ...badPages,
    ...foreignCursors((place, fixture) => newSub(fixture, place)),
    {
      name: "a filter that is none",
      bend: () => ({ filterType: "NAME", filterValue: "Sub" }),
      refusal: invalid("invalid filter type: `NAME` is none of EMAIL, PHONE_NUMBER"),
    },
    {
      name: "a filter without a value",
      bend: () => ({ filterType: "EMAIL" }),
      refusal: invalid("invalid request body: missing field `filterValue`"),
    },
    {
      name: "a value without a filter",
      bend: () => ({ filterValue: "ann@example.com" }),
      refusal: invalid("invalid request body: missing field `filterType`"),
    },
    {
      name: "what is no address",
      bend: () => ({ filterType: "EMAIL", filterValue: "ann" }),
      refusal: { status: 400, code: 3, errorCode: "INVALID_EMAIL", message: /^invalid email address: `ann`/ },
    },
  ],
  foreign: [],
  also: {
    "a contact that was only written down is not verified": async (fixture) => {
      await newSubWith(fixture, fixture.parent, {
        userName: "Ann",
        userEmail: "ann@example.com",
        apiKeys: [keyParams()],
      });
      const found = await fixture.ask("list_verified_suborgs", { filterType: "EMAIL", filterValue: "ann@example.com" });
      assert.deepEqual(found, { organizationIds: [] });
      assert.deepEqual(await fixture.ask("list_verified_suborgs"), { organizationIds: [] });
    },
  },
});
