/** create_session_profile, get_session_profile, get_session_profiles. What a profile's sessions may do is in the server's own tests. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createKey } from "../key_pairs.ts";
import { exhausted, invalid, notFound, policyRefusal } from "../refusals.ts";
import { assertRefused, type Refusal } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { badName } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { added } from "./keys.ts";
import { limits } from "./limits.ts";
import { byId } from "./people.ts";
import type { Place } from "./stage.ts";

export type ProfileParams = { sessionProfileName: string; scope: string; expirationSeconds?: string; notes?: string };

/** In a spelling that must come back byte for byte. */
const scope = "  activity.action ==\n 'SIGN' && activity.type != \"ä 🔑\"";

function profileParams(more: Partial<ProfileParams> = {}): ProfileParams {
  const sessionProfileName = `Profile ${randomUUID()}`;
  return { sessionProfileName, scope, expirationSeconds: "600", notes: "Two\nlines.", ...more };
}

/** A sub-organization has its parent's. */
async function newProfile(
  fixture: Fixture,
  more: Partial<ProfileParams> = {},
  place: Place = fixture.parent,
): Promise<string> {
  return (await fixture.done("create_session_profile", profileParams(more), place.root, place)).sessionProfileId;
}

/** A profile as it is shown, against what was asked for. */
function checkProfile({ sessionProfileId, createdAt, updatedAt, ...shown }: Json, asked: ProfileParams): void {
  assert.deepEqual(shown, { notes: "", ...asked });
  assert.deepEqual(createdAt, updatedAt);
}

/** As a refusal by policies, and with the profile that refused. */
function outsideScope(sessionProfileId: string): Refusal {
  const [detail] = policyRefusal.details as [object];
  const sessionScope = { sessionProfileId, outcome: "OUTCOME_DENY_IMPLICIT" };
  return { ...policyRefusal, errorCode: "REQUEST_NOT_AUTHORIZED", details: [{ ...detail, sessionScope }] };
}

const badSeconds =
  "invalid session profile expiration: expirationSeconds is a whole number of seconds from 1 to 2592000 " +
  "(maxSessionSeconds in KEYSTEAD_LIMITS); leave it out for no bound of its own";

const badScopes: readonly [name: string, scope: string][] = [
  ["a field that is not there", "activity.knd == ''"],
  ["no truth", "activity.type"],
  ["an open bracket", "(true"],
  ["approvers", "approvers.count() > 0"],
  ["the time", "time.now > Timestamp('2001-01-01T00:00:00Z')"],
  ["too much", `'${"x".repeat(5_000)}' == ''`],
];

const noSuchProfile = (sessionProfileId: string, { organizationId }: Place) =>
  notFound(`unable to find session profile ${sessionProfileId} in organization ${organizationId}`);

export const createSessionProfile = activityEntry<ProfileParams>({
  good: () => profileParams(),
  required: ["sessionProfileName", "scope"],
  result: ({ sessionProfileName }, { after }) => ({
    sessionProfileId: byId(after.sessionProfiles, "sessionProfileName", sessionProfileName)?.sessionProfileId,
  }),
  shows(asked, { before, after }) {
    const [made, ...others] = added(before.sessionProfiles, after.sessionProfiles, "sessionProfileId");
    assert.deepEqual(others, []);
    checkProfile(made, asked);
  },
  bad: [
    {
      name: "an empty name",
      bend: () => profileParams({ sessionProfileName: "" }),
      refusal: invalid(
        "invalid request body: field `parameters.sessionProfileName` must not have fewer than 1 characters",
      ),
    },
    {
      name: "a name with a line break",
      bend: () => profileParams({ sessionProfileName: "a\nb" }),
      refusal: invalid(`invalid request body: field \`parameters.sessionProfileName\` ${badName}`),
    },
    {
      name: "an empty scope",
      bend: () => profileParams({ scope: "" }),
      refusal: invalid("invalid request body: field `parameters.scope` must not have fewer than 1 characters"),
    },
    {
      name: "the default session's name",
      bend: () => profileParams({ sessionProfileName: "Session_type_read_write" }),
      refusal: invalid("session profile name must be unique: `SESSION_TYPE_READ_WRITE` exists"),
      kept: "FAILED",
    },
    {
      name: "a name that exists, in other letters",
      bend: async (_, fixture) => {
        const sessionProfileName = `taken ${randomUUID()}`;
        await newProfile(fixture, { sessionProfileName });
        return profileParams({ sessionProfileName: sessionProfileName.toUpperCase() });
      },
      refusal: ({ sessionProfileName }) =>
        invalid(`session profile name must be unique: \`${sessionProfileName.toLowerCase()}\` exists`),
      kept: "FAILED",
    },
    ...["0", "", "-1", "1.5", "2592001"].map(
      (expirationSeconds): BadInput<ProfileParams> => ({
        name: `a lifetime of \`${expirationSeconds}\``,
        bend: () => profileParams({ expirationSeconds }),
        refusal: invalid(badSeconds),
        kept: "FAILED",
      }),
    ),
    ...badScopes.map(
      ([name, bent]): BadInput<ProfileParams> => ({
        name: `a scope with ${name}`,
        bend: () => profileParams({ scope: bent }),
        refusal: invalid(/^invalid session profile scope: /),
        kept: "FAILED",
      }),
    ),
    {
      name: "in a sub-organization",
      bend: (good) => good,
      refusal: (_, { parent }) => ({
        status: 400,
        code: 9,
        message: `a sub-organization has the session profiles of its parent: create this one in organization ${parent.organizationId}`,
      }),
      kept: "FAILED",
      at: "sub",
    },
  ],
  foreign: [],
  also: {
    "a login's token and key name it, here and below, and it bounds them": async (fixture) => {
      const { parent, sub } = fixture;
      const sessionProfileName = `Signing ${randomUUID()}`;
      const sessionProfileId = await newProfile(fixture, { sessionProfileName });
      for (const place of [parent, sub]) {
        const key = createKey();
        const params = { publicKey: key.publicKey, sessionProfileId, expirationSeconds: "3600" };
        const { session } = await fixture.done("stamp_login", params, place.root, place);
        const claims = JSON.parse(atob(session.split(".")[1]));
        assert.deepEqual(
          [claims.session_type, claims.session_profile_id, claims.scope, claims.organization_id],
          [sessionProfileName, sessionProfileId, scope, place.organizationId],
        );
        const { userId } = place.root;
        const { apiKeys } = await fixture.ask("get_api_keys", { userId }, place.root, place);
        const { credential, expirationSeconds } = apiKeys.find(
          (each: Json) => each.credential.publicKey === key.publicKey,
        );
        const type = "CREDENTIAL_TYPE_LOGIN";
        assert.deepEqual(credential, { publicKey: key.publicKey, type, sessionProfileId });
        assert.equal(expirationSeconds, "600");
        const bound = { ...place.root, p256: key };
        const tag = { userTagName: randomUUID(), userIds: [] };
        assertRefused(await fixture.submit("create_user_tag", tag, bound, place), outsideScope(sessionProfileId));
        assert.equal((await fixture.ask("whoami", {}, bound, place)).userId, userId);
      }
    },
    "a full organization takes no more, and is not told to delete any": async (fixture) => {
      const most = limits.sessionProfilesPerOrganization;
      const { sessionProfiles } = await fixture.ask("get_session_profiles");
      for (let made = sessionProfiles.length; made < most; made++) await newProfile(fixture);
      assertRefused(
        await fixture.submit("create_session_profile", profileParams()),
        exhausted(
          `organization has reached its limit of ${most} session profiles; have the operator raise sessionProfilesPerOrganization in KEYSTEAD_LIMITS`,
        ),
      );
    },
  },
});

export const getSessionProfile = queryEntry<{ sessionProfileId: string }>({
  good: async (fixture) => ({ sessionProfileId: await newProfile(fixture) }),
  required: ["sessionProfileId"],
  answer: async ({ sessionProfileId }, { sessionProfile: shown, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { sessionProfiles } = await fixture.ask("get_session_profiles");
    assert.deepEqual(shown, byId(sessionProfiles, "sessionProfileId", sessionProfileId));
    checkProfile(shown, profileParams({ sessionProfileName: shown.sessionProfileName }));
  },
  bad: [],
  // A sub-organization may see its parent's: the matrix's own test of foreign ids would not expect that.
  foreign: [],
  also: {
    "one of nobody's, or of an organization that is no parent, is not there": async (fixture) => {
      const { parent, sub, other } = fixture;
      const theirs = await newProfile(fixture, {}, other);
      for (const place of [parent, sub]) {
        for (const sessionProfileId of [theirs, randomUUID()]) {
          const body = { organizationId: place.organizationId, sessionProfileId };
          const answer = await fixture.send({
            kind: "query",
            path: "get_session_profile",
            body,
            key: place.root.p256,
          });
          assertRefused(answer, noSuchProfile(sessionProfileId, place));
        }
      }
    },
  },
});

const listed = { sessionProfileName: "Listed" };

export const getSessionProfiles = queryEntry<object>({
  good: async (fixture) => {
    const { sessionProfiles } = await fixture.ask("get_session_profiles", {}, fixture.parent.root, fixture.parent);
    if (sessionProfiles.length === 0) await newProfile(fixture, listed);
    return {};
  },
  required: [],
  answer: (_, { sessionProfiles, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.equal(sessionProfiles.length, 1);
    checkProfile(sessionProfiles[0], profileParams(listed));
  },
  bad: [],
  foreign: [],
});
