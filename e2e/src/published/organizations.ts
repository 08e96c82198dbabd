/** Organizations and their sub-organizations, by the published server client's methods. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import {
  apiKeyOf,
  asPerson,
  at,
  createMember,
  foundOrganization,
  namedError,
  type Person,
  refusalOf,
  wording,
} from "./clients.ts";

const loginFeatures = [
  "FEATURE_NAME_EMAIL_AUTH",
  "FEATURE_NAME_EMAIL_RECOVERY",
  "FEATURE_NAME_OTP_EMAIL_AUTH",
  "FEATURE_NAME_SMS_AUTH",
];

export async function organizations(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const { organizationId: parentId } = root;
  const { organizationName } = server.bootstrap;

  await t.test("getWhoami of the first user is what bootstrap.json says", async () => {
    const itself = { organizationId: parentId, organizationName, userId: root.userId, username: "Root user" };
    assert.deepEqual(await root.sdk.getWhoami(), itself);
    assert.deepEqual(await root.http.getWhoami({ organizationId: parentId }), itself);
  });

  await t.test("createSubOrganization founds one with its root users, whose keys work at once", async () => {
    const [first, second] = [createKey(), createKey()];
    const { activity, subOrganizationId, rootUserIds } = await root.sdk.createSubOrganization({
      subOrganizationName: "Workshop",
      rootQuorumThreshold: 1,
      rootUsers: [
        { userName: "First", apiKeys: [apiKeyOf(first)], authenticators: [], oauthProviders: [] },
        { userName: "Second", apiKeys: [apiKeyOf(second)], authenticators: [], oauthProviders: [] },
      ],
      disableEmailRecovery: true,
    });
    assert.equal(activity.type, "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8");
    assert.equal(activity.organizationId, parentId);
    assert.equal(rootUserIds?.length, 2);
    const person = asPerson(server, {
      organizationId: subOrganizationId,
      userId: at(rootUserIds ?? [], 1),
      userName: "Second",
      key: second,
    });
    const itself = {
      organizationId: subOrganizationId,
      organizationName: "Workshop",
      userId: person.userId,
      username: "Second",
    };
    assert.deepEqual(await person.sdk.getWhoami(), itself);
    assert.deepEqual(await person.sdk.getWhoami({ organizationId: parentId }), itself);
    const { configs } = await root.sdk.getOrganizationConfigs({ organizationId: subOrganizationId });
    assert.deepEqual(configs.quorum, { threshold: 1, userIds: rootUserIds });
    assert.deepEqual(
      configs.features?.map(({ name }) => name).sort(),
      loginFeatures.filter((name) => name !== "FEATURE_NAME_EMAIL_RECOVERY"),
    );
  });

  await t.test("updateOrganizationName is what whoami says next", async () => {
    const [owner] = await foundOrganization(server, root, ["Namer"]);
    const answer = await owner?.sdk.updateOrganizationName({ organizationName: "Renamed" });
    assert.equal(answer?.organizationName, "Renamed");
    assert.equal(answer?.organizationId, owner?.organizationId);
    assert.equal((await owner?.sdk.getWhoami())?.organizationName, "Renamed");
  });

  await t.test("setOrganizationFeature and removeOrganizationFeature answer, and leave, all features", async () => {
    const [owner] = await foundOrganization(server, root, ["Switcher"]);
    assert.ok(owner !== undefined);
    const stored = async () =>
      (await owner.sdk.getOrganizationConfigs({ organizationId: owner.organizationId })).configs.features;
    const value = "https://example.com";
    const set = await owner.sdk.setOrganizationFeature({ name: "FEATURE_NAME_WEBAUTHN_ORIGINS", value });
    assert.ok(set.features.some((each) => each.name === "FEATURE_NAME_WEBAUTHN_ORIGINS" && each.value === value));
    assert.deepEqual(await stored(), set.features);
    const removed = await owner.sdk.removeOrganizationFeature({ name: "FEATURE_NAME_WEBAUTHN_ORIGINS" });
    assert.deepEqual(removed.features.map(({ name }) => name).sort(), loginFeatures);
    assert.deepEqual(await stored(), removed.features);
  });

  await t.test("updateRootQuorum makes a member of the quorum, and an ordinary user of who is left out", async () => {
    const [owner, partner] = await foundOrganization(server, root, ["Owner", "Partner"]);
    assert.ok(owner !== undefined && partner !== undefined);
    const { activity } = await owner.sdk.updateRootQuorum({ threshold: 1, userIds: [partner.userId] });
    assert.deepEqual(activity.result, { updateRootQuorumResult: {} });
    const { configs } = await partner.sdk.getOrganizationConfigs({ organizationId: partner.organizationId });
    assert.deepEqual(configs.quorum, { threshold: 1, userIds: [partner.userId] });
    assert.equal((await refusalOf(owner.sdk.createUserTag({ userTagName: "no more", userIds: [] }))).code, 7);
    await partner.sdk.createUserTag({ userTagName: "still", userIds: [] });

    const none = await refusalOf(partner.sdk.updateRootQuorum({ threshold: 0, userIds: [partner.userId] }));
    assert.equal(
      none.message,
      wording(3, "quorum threshold must be non-zero integer: how many of its users must approve, at least 1"),
    );
    const missing = await refusalOf(partner.sdk.updateRootQuorum({ threshold: 1, userIds: [] }));
    assert.match(missing.message, /^Turnkey error 3: quorum users missing: /);
  });

  await t.test("a parent reads its sub-organization and does not write there", async () => {
    const [owner] = await foundOrganization(server, root, ["Child"]);
    assert.ok(owner !== undefined);
    const { organizationId } = owner;
    assert.equal((await root.sdk.getUser({ organizationId, userId: owner.userId })).user.userName, "Child");
    const mismatch = await refusalOf(root.sdk.createUserTag({ organizationId, userTagName: "theirs", userIds: [] }));
    assert.equal(
      mismatch.message,
      wording(
        3,
        `organization mismatch: request is targeting organization ("${organizationId}"), but voters are in organization ("${parentId}")`,
        [namedError("ORGANIZATION_MISMATCH")],
      ),
    );
    assert.equal((await refusalOf(owner.sdk.getUsers({ organizationId: parentId }))).code, 16);
    const nested = await refusalOf(foundOrganization(server, owner, ["Grandchild"]));
    assert.equal(nested.code, 7);
    assert.deepEqual(nested.details, [namedError("INVALID_ACTIVITY_CALLER")]);
  });

  await t.test("getSubOrgIds finds by each filter, and only what matches", async () => {
    const key = createKey();
    const { subOrganizationId } = await root.sdk.createSubOrganization({
      subOrganizationName: "Needle Ltd",
      rootQuorumThreshold: 1,
      rootUsers: [
        {
          userName: "Needle",
          userEmail: "needle@example.com",
          userPhoneNumber: "+14155550177",
          apiKeys: [apiKeyOf(key)],
          authenticators: [],
          oauthProviders: [],
        },
      ],
    });
    const filters = [
      ["NAME", "Needle Ltd", "Needle"],
      ["USERNAME", "Needle", "Needle Ltd"],
      ["EMAIL", "needle@example.com", "noodle@example.com"],
      ["PHONE_NUMBER", "+14155550177", "+14155550178"],
      ["PUBLIC_KEY", key.publicKey, createKey().publicKey],
    ] as const;
    for (const [filterType, filterValue, other] of filters) {
      const { organizationIds } = await root.sdk.getSubOrgIds({ filterType, filterValue });
      assert.deepEqual(organizationIds, [subOrganizationId], filterType);
      const missed = await root.sdk.getSubOrgIds({ filterType, filterValue: other });
      assert.deepEqual(missed.organizationIds, [], filterType);
    }
    // Nobody here has a passkey or a wallet, and what is no token is told so.
    for (const filterType of ["CREDENTIAL_ID", "WALLET_ACCOUNT_ADDRESS"]) {
      const none = await root.sdk.getSubOrgIds({ filterType, filterValue: "absent" });
      assert.deepEqual(none.organizationIds, [], filterType);
    }
    const noToken = await refusalOf(root.sdk.getSubOrgIds({ filterType: "OIDC_TOKEN", filterValue: "absent" }));
    assert.equal(noToken.code, 3);
  });

  await t.test("getSubOrgIds without a filter pages through all of them", async () => {
    const [newest] = await foundOrganization(server, root, ["Last of all"]);
    const pages: string[][] = [];
    for (let cursor: string | undefined; ; ) {
      const paginationOptions = { limit: "2", ...(cursor !== undefined && { after: cursor }) };
      const { organizationIds } = await root.sdk.getSubOrgIds({ paginationOptions });
      if (organizationIds.length === 0) break;
      pages.push(organizationIds);
      cursor = organizationIds.at(-1);
    }
    const { organizationIds: all } = await root.sdk.getSubOrgIds({ paginationOptions: { limit: "100" } });
    assert.deepEqual(pages.flat(), all);
    assert.equal(new Set(all).size, all.length);
    assert.ok(all.includes(newest?.organizationId ?? ""));
    assert.ok(pages.length > 2 && pages.slice(0, -1).every((page) => page.length === 2));
  });

  await t.test("deleteSubOrganization is its root users' alone, and leaves nothing to call", async () => {
    const [owner] = await foundOrganization(server, root, ["Doomed"]);
    assert.ok(owner !== undefined);
    const { organizationId } = owner;
    const member = await createMember(server, owner, "Member");
    const input = { organizationId, deleteWithoutExport: true };
    assert.equal((await refusalOf(root.sdk.deleteSubOrganization(input))).code, 3);
    assert.equal((await refusalOf(member.sdk.deleteSubOrganization(input))).code, 7);
    const { subOrganizationUuid, activity } = await owner.sdk.deleteSubOrganization(input);
    assert.equal(subOrganizationUuid, organizationId);
    assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");

    const gone = wording(5, "no organization found with the given ID", [namedError("ORGANIZATION_NOT_FOUND")]);
    for (const client of [owner.sdk, member.sdk, root.sdk]) {
      assert.equal((await refusalOf(client.getWhoami({ organizationId }))).message, gone);
      assert.equal(
        (await refusalOf(client.createUserTag({ organizationId, userTagName: "x", userIds: [] }))).message,
        gone,
      );
    }
    assert.equal((await refusalOf(owner.sdk.getWhoami({ organizationId: parentId }))).code, 16);
    for (const filter of [
      {},
      { filterType: "NAME", filterValue: "Doomed" },
      { filterType: "USERNAME", filterValue: "Doomed" },
    ]) {
      const { organizationIds } = await root.sdk.getSubOrgIds({ ...filter, paginationOptions: { limit: "100" } });
      assert.ok(!organizationIds.includes(organizationId));
    }
    // The root of all is no sub-organization.
    assert.equal((await refusalOf(root.sdk.deleteSubOrganization({}))).code, 7);
  });
}
