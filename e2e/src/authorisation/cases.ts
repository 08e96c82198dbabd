/**
 * Who sends, and what the answer is: one rule per case, for every endpoint alike. What an endpoint does otherwise is listed beside the rule
 * by its path, so an endpoint that is not listed is held to the rule without a word about it here.
 */
import type { KeyPair } from "../key_pairs.ts";
import type { Kept } from "../matrix/entry.ts";
import { notOwnAct } from "../matrix/faults.ts";
import type { Json, Kind } from "../matrix/fixture.ts";
import type { Stage } from "../matrix/stage.ts";
import {
  expiredKey,
  invalid,
  malformed,
  notFound,
  organizationMismatch,
  recoversOnly,
  unknownKey,
  unstamped,
} from "../refusals.ts";
import type { Refusal } from "../wire.ts";
import { byKey, byPasskey, bySession, type Credentials, type Stamping, together } from "./credentials.ts";
import type { Endpoint } from "./endpoints.ts";

/** The whole refusal; or that it is done. */
export type Expected = Refusal | "accepted";

type Rule = (endpoint: Endpoint) => Expected;

export type Case = {
  name: string;
  /** What is sent to an endpoint, and with which headers. */
  body(endpoint: Endpoint): Json;
  stamping(endpoint: Endpoint): Stamping;
  rule: Rule;
  /** By path. */
  exceptions?: Readonly<Record<string, Rule>>;
  /** Those that are refused or fail where they run, and are kept there as such. */
  keeps?: readonly (readonly [path: string, Kept])[];
};

export function expectedOf({ rule, exceptions = {} }: Case, endpoint: Endpoint): Expected {
  return (exceptions[endpoint.path] ?? rule)(endpoint);
}

const noSubmit: Refusal = {
  status: 403,
  code: 7,
  errorCode: "REQUEST_NOT_AUTHORIZED",
  message: "request not authorized: a read-only session cannot submit activities",
};

const noSuchUser: Refusal = {
  status: 401,
  code: 16,
  errorCode: "CREDENTIAL_NOT_FOUND",
  message: "could not find the user of this read-only session in organization or its parent",
};

/** Where an organization was named. */
const unknownPasskey: Refusal = {
  ...notFound("webauthn authenticator not found in organization or parent organization"),
  errorCode: "CREDENTIAL_NOT_FOUND",
};

/** Where a sub-organization was to be found by its parent's id. */
const passkeyNowhere: Refusal = {
  status: 401,
  code: 16,
  errorCode: "CREDENTIAL_NOT_FOUND",
  message: "credential ID could not be found in organization or its parent organization",
};

/** Those that take the parent's id from a member of a sub-organization, and run there. */
const takeParentsId = [
  "create_read_only_session",
  "create_read_write_session",
  "get_activity",
  "stamp_login",
  "whoami",
] as const;

const whereParentsIdIsTaken = (rule: Rule) => Object.fromEntries(takeParentsId.map((path) => [path, rule]));

const passkeyIsUnknown: Pick<Case, "rule" | "exceptions"> = {
  rule: () => unknownPasskey,
  exceptions: whereParentsIdIsTaken(() => passkeyNowhere),
};

const byKind =
  (expected: Record<Kind, Expected>): Rule =>
  ({ kind }) =>
    expected[kind];

const own = ({ body }: Endpoint) => body;

export function authorisationCases(stage: Stage, credentials: Record<keyof Stage, Credentials>): Case[] {
  /** Those of the organization where the endpoint runs. */
  const at = ({ place }: Endpoint) => credentials[place.organizationId === stage.sub.organizationId ? "sub" : "parent"];
  const of = (stamping: (own: Credentials) => Stamping) => (endpoint: Endpoint) => stamping(at(endpoint));
  return [
    { name: "no stamp", body: own, stamping: () => () => [], rule: byKind(unstamped) },
    ...strangers(stage, credentials.other),
    ...relatives(stage, credentials),
    {
      name: "expired session",
      body: own,
      stamping: of(({ expiredSessionKey }) => byKey(expiredSessionKey)),
      rule: (endpoint) => expiredKey(at(endpoint).expiredSessionKey),
    },
    ...ofDeletedUser(at),
    {
      name: "deleted passkey",
      body: own,
      stamping: of(({ deletedPasskey }) => byPasskey(deletedPasskey)),
      ...passkeyIsUnknown,
    },
    {
      name: "read-only session",
      body: own,
      stamping: of(({ good }) => bySession(good.readOnly)),
      rule: byKind({ query: "accepted", submit: noSubmit }),
    },
    {
      name: "recovery key",
      body: own,
      stamping: of(({ recoveryKey }) => byKey(recoveryKey)),
      rule: () => recoversOnly,
      exceptions: { whoami: () => "accepted", recover_user: () => notOwnAct },
      keeps: [["recover_user", "REJECTED"]],
    },
    ...twoStamps(at),
  ];
}

function unknownHere(key: KeyPair, { place }: Endpoint): Refusal {
  return unknownKey(key, place.organizationId, place.parentId);
}

function strangers({ other }: Stage, { good }: Credentials): Case[] {
  const { p256 } = other.root;
  const name = "wrong organization";
  return [
    { name, body: own, stamping: () => byKey(p256), rule: (endpoint) => unknownHere(p256, endpoint) },
    { name: `${name}, passkey`, body: own, stamping: () => byPasskey(good.passkey), ...passkeyIsUnknown },
    {
      name: `${name}, read-only session`,
      body: own,
      stamping: () => bySession(good.readOnly),
      rule: byKind({ query: noSuchUser, submit: noSubmit }),
    },
  ];
}

/** A parent reads its sub-organizations and writes in none. A child sees nothing of its parent, and may name it to find itself. */
function relatives({ parent, sub }: Stage, credentials: Record<"parent" | "sub", Credentials>): Case[] {
  const mismatch = organizationMismatch(sub.organizationId, parent.organizationId);
  /** The parent may sign users of its sub-organization in; this one wants no codes. */
  const isOff = (name: string): Rule => {
    const where = `in organization ${sub.organizationId}; turn it on with set_organization_feature`;
    return () => ({ ...noSubmit, message: `request not authorized: FEATURE_NAME_${name} is off ${where}` });
  };
  const nobodysAddress: Rule = ({ below }) =>
    notFound(`no user of organization ${sub.organizationId} has the e-mail address \`${below.parameters.email}\``);
  const noSuchUserBelow: Rule = ({ below }) =>
    notFound(`unable to find user ${below.parameters.userId} in organization ${sub.organizationId}`);
  // It is one of the parent's own users.
  const nobodysIdentity: Rule = () => ({
    ...{ status: 401, code: 16, errorCode: "CREDENTIAL_NOT_FOUND" },
    message: "could not find a user with the identity of this OIDC token in organization",
  });
  const open = {
    email_auth: nobodysAddress,
    init_otp_auth: isOff("OTP_EMAIL_AUTH"),
    init_user_email_recovery: nobodysAddress,
    // Its code is the parent's.
    otp_auth: () => invalid("Invalid OTP code"),
    otp_login: isOff("OTP_EMAIL_AUTH"),
    create_oauth_providers: noSuchUserBelow,
    oauth: nobodysIdentity,
    oauth_login: nobodysIdentity,
  };
  const downwards = {
    body: ({ below }: Endpoint) => below,
    rule: byKind({ query: "accepted", submit: mismatch }),
    exceptions: open,
  };
  const exceptions = {
    ...whereParentsIdIsTaken(() => "accepted"),
    get_activity: ({ above }: Endpoint) =>
      notFound(`unable to find activity ${above.activityId} in organization ${sub.organizationId}`),
  };
  const { p256 } = sub.root;
  return [
    { name: "parent", ...downwards, stamping: () => byKey(parent.root.p256), keeps: Object.keys(open).map(asFailed) },
    // The same bytes once more: the failure is repeated.
    { name: "parent, passkey", ...downwards, stamping: () => byPasskey(credentials.parent.good.passkey) },
    {
      name: "child",
      body: ({ above }) => above,
      stamping: () => byKey(p256),
      rule: () => unknownKey(p256, parent.organizationId),
      exceptions,
    },
    {
      name: "child, passkey",
      body: ({ aboveAgain }) => aboveAgain,
      exceptions,
      stamping: () => byPasskey(credentials.sub.good.passkey),
      rule: () => unknownPasskey,
    },
  ];
}

const asFailed = (path: string) => [path, "FAILED"] as const;

type Place = (endpoint: Endpoint) => Credentials;

function ofDeletedUser(at: Place): Case[] {
  const name = "deleted user";
  const gone = (endpoint: Endpoint) => at(endpoint).ofDeletedUser;
  return [
    {
      name,
      body: own,
      stamping: (endpoint) => byKey(gone(endpoint).key),
      rule: (endpoint) => unknownHere(gone(endpoint).key, endpoint),
    },
    {
      name: `${name}, session`,
      body: own,
      stamping: (endpoint) => byKey(gone(endpoint).sessionKey),
      rule: (endpoint) => unknownHere(gone(endpoint).sessionKey, endpoint),
    },
    {
      name: `${name}, passkey`,
      body: own,
      stamping: (endpoint) => byPasskey(gone(endpoint).passkey),
      ...passkeyIsUnknown,
    },
    {
      name: `${name}, read-only session`,
      body: own,
      stamping: (endpoint) => bySession(gone(endpoint).readOnly),
      rule: byKind({ query: noSuchUser, submit: noSubmit }),
    },
  ];
}

/** Each of them alone is good, where it is a stamp at all. */
function twoStamps(at: Place): Case[] {
  const pairs: [name: string, (good: Credentials["good"]) => Stamping][] = [
    ["X-Stamp and X-Stamp-Webauthn", ({ key, passkey }) => together(byKey(key), byPasskey(passkey))],
    ["X-Stamp and X-Session", ({ key, readOnly }) => together(byKey(key), bySession(readOnly))],
    ["X-Stamp-Webauthn and X-Session", ({ passkey, readOnly }) => together(byPasskey(passkey), bySession(readOnly))],
    // It counts as a stamp before anything reads it.
    ["X-Stamp and X-Stamp-Attested", ({ key }) => together(byKey(key), () => [["X-Stamp-Attested", "e30"]])],
    ["X-Stamp twice", ({ key }) => together(byKey(key), byKey(key))],
  ];
  return pairs.map(([name, stamping]) => ({
    name: `two stamps: ${name}`,
    body: own,
    stamping: (endpoint) => stamping(at(endpoint).good),
    rule: () => malformed,
  }));
}
