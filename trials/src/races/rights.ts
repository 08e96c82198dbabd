/** Races between an act and what allows it: policies, limits, and the organization itself. */
import assert from "node:assert/strict";
import { defineRace } from "./race.ts";
import { assertRefusedAs, isDone, type Organization, type Person, type Stage } from "./stage.ts";

const noPermission = /You don't have sufficient permissions/;

function tag(stage: Stage, organization: Organization, person: Person, userTagName: string) {
  return stage.stamped(organization, person, "create_user_tag", { userTagName, userIds: [] });
}

/** A member whom one policy allows to make tags. */
async function allowedMember(stage: Stage) {
  const organization = await stage.found({ users: 1, threshold: 1 });
  const member = await stage.member(organization);
  const consensus = `approvers.any(user, user.id == '${member.userId}')`;
  const policyId = await stage.allow(organization, "ACTIVITY_TYPE_CREATE_USER_TAG", consensus);
  return { organization, member, policyId };
}

type Allowed = Awaited<ReturnType<typeof allowedMember>>;

/** Two acts that a policy allows against whatever ends that: each ran before it, or was refused. */
function endedBy(name: string, ending: (fixture: Allowed, stage: Stage) => ReturnType<Stage["stamped"]>) {
  return defineRace({
    name,
    setUp: allowedMember,
    requests: (fixture, stage) => [
      ending(fixture, stage),
      tag(stage, fixture.organization, fixture.member, "one"),
      tag(stage, fixture.organization, fixture.member, "two"),
    ],
    async check({ organization, member }, [ended, ...acts], stage, requests) {
      const [root] = organization.people;
      assert.ok(isDone(ended), ended.text);
      for (const act of acts) if (!isDone(act)) assertRefusedAs(act, 403, noPermission);
      const done = ["one", "two"].filter((_, index) => isDone(acts[index]));
      assert.deepEqual(await stage.tagNames(organization, root), done.sort());
      assertRefusedAs(await stage.send(tag(stage, organization, member, "late")), 403, noPermission);
      // What was refused stays so: the same bytes never run later.
      for (const [index, act] of acts.entries()) {
        const again = await stage.send(requests[index + 1] as (typeof requests)[number]);
        assert.deepEqual([again.status, again.json], [act.status, act.json]);
      }
      return `${done.length} acts before`;
    },
  });
}

export const deletedPolicy = endedBy(
  "a policy is deleted while it allows: members act before, and never after",
  ({ organization, policyId }, stage) =>
    stage.stamped(organization, organization.people[0], "delete_policy", { policyId }),
);

export const newDenial = endedBy(
  "a denial is created while a policy allows: members act before, and never after",
  ({ organization, member }, stage) =>
    stage.stamped(organization, organization.people[0], "create_policy", {
      policyName: "Never",
      effect: "EFFECT_DENY",
      consensus: `approvers.any(user, user.id == '${member.userId}')`,
      condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
      notes: "",
    }),
);

/** For `KEYSTEAD_LIMITS`: no other race is about tags of private keys. */
export const limits = { privateKeyTagsPerSubOrganization: 5 };
const asked = 8;

export const limit = defineRace({
  name: "more is asked for at once than a limit leaves room for: exactly the room is filled",
  setUp: (stage) => stage.found({ users: 2, threshold: 1 }),
  requests: (organization, stage) =>
    Array.from({ length: asked }, (_, index) =>
      stage.stamped(organization, organization.people[index % 2] as Person, "create_private_key_tag", {
        privateKeyTagName: `tag ${index}`,
        privateKeyIds: [],
      }),
    ),
  async check(organization, answers, stage) {
    const done = answers.flatMap((answer, index) => (isDone(answer) ? `tag ${index}` : []));
    for (const answer of answers) {
      if (!isDone(answer)) assertRefusedAs(answer, 429, /reached its limit of 5 private key tags/);
    }
    assert.equal(done.length, limits.privateKeyTagsPerSubOrganization);
    const { privateKeyTags } = await stage.ask(organization, organization.people[0], "list_private_key_tags");
    const names = privateKeyTags.map(({ tagName }: { tagName: string }) => tagName);
    assert.deepEqual(names.sort(), done.sort());
    return isDone(answers[0]) ? "the first among them" : "without the first";
  },
});

export const deletedOrganization = defineRace({
  name: "a sub-organization is deleted while its users act: they act before, and never after",
  setUp: (stage) => stage.found({ users: 2, threshold: 1, wallet: true }),
  requests: (organization, stage) => {
    const [a, b] = organization.people;
    const signature = {
      signWith: organization.wallet.address,
      payload: "00".repeat(32),
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_NO_OP",
    };
    return [
      stage.stamped(organization, a, "delete_sub_organization", { deleteWithoutExport: true }),
      tag(stage, organization, b, "last"),
      stage.stamped(organization, b, "create_wallet", { walletName: "Last", accounts: [] }),
      stage.stamped(organization, b, "sign_raw_payload", signature),
    ];
  },
  async check(organization, [deletion, ...acts], stage, requests) {
    const [a, b] = organization.people;
    assert.ok(isDone(deletion), deletion.text);
    for (const act of acts) if (!isDone(act)) assertRefusedAs(act, 404, /no organization found with the given ID/);
    for (const late of [tag(stage, organization, a, "late"), tag(stage, organization, b, "late")]) {
      assertRefusedAs(await stage.send(late), 404, /no organization found/);
    }
    assert.equal((await stage.query(organization, a, "whoami")).status, 404);
    // Whoever was answered before the end is answered the same afterwards.
    for (const [index, act] of acts.entries()) {
      const again = await stage.send(requests[index + 1] as (typeof requests)[number]);
      assert.deepEqual([again.status, again.json], [act.status, act.json]);
    }
    return `${acts.filter(isDone).length} acts before`;
  },
});
