/**
 * A small model of an organization: who belongs to it, what it has, what waits in it, and what becomes of a request. It is
 * written from the documented rules, without any of the server's code, and knows only what the random clients do. Where the
 * server says no, the model says with which code and in which words it does.
 */
import { activities } from "@keystead/sdk";
import { runs } from "./acts.ts";
import { takesPasskeys } from "./origins.ts";
import { Refusal } from "./refusal.ts";

export type SessionType = "CREDENTIAL_TYPE_LOGIN" | "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256";

/** What sign-in made: when first, and when last renewed. None of them ends by itself while a history lasts. */
export type Session = { type: SessionType; createdAtMs: number; updatedAtMs: number };

/** Of keys that came with their user, and of those of logins, nobody is told the id. */
export type Key = { apiKeyId: string; publicKey: string; session?: Session };
export type Passkey = { authenticatorId: string; credentialId: string };
/** An identity at the one issuer that the clients have. */
export type Provider = { providerId: string; subject: string };
export type User = {
  userName: string;
  /** Empty when there is none, as on the wire. */
  email?: string;
  phoneNumber?: string;
  tags: readonly string[];
  keys: readonly Key[];
  passkeys: readonly Passkey[];
  providers?: readonly Provider[];
};
export type Policy = { policyName: string; effect: string; consensus: string; condition: string };
export type Wallet = { walletName: string; address: string };
export type Vote = { userId: string; selection: "APPROVED" | "REJECTED" };

export type Activity = {
  activityId: string;
  path: string;
  parameters: Parameters;
  status: string;
  /** The submission's own first. */
  votes: readonly Vote[];
  /** Whether a refusal or failure is why it ended. */
  hasFailed: boolean;
};

export type State = {
  organizationName: string;
  users: ReadonlyMap<string, User>;
  tags: ReadonlyMap<string, string>;
  quorum: { threshold: number; userIds: readonly string[] };
  policies: ReadonlyMap<string, Policy>;
  wallets: ReadonlyMap<string, Wallet>;
  /** Their names. */
  privateKeys: ReadonlyMap<string, string>;
  /** The value of the feature that lists the origins of passkeys: with commas, empty without a list, none without the feature. */
  originsFeature?: string | undefined;
  /** Those that some state knows of, by fingerprint: what waited, and what changed something. */
  activities: ReadonlyMap<string, Activity>;
};

// biome-ignore lint/suspicious/noExplicitAny: each path has its own.
export type Parameters = any;

/** What a request came with: the public half of a key, the id of a passkey, or the user of a read-only session. */
export type Credential = { kind: "key" | "passkey" | "readOnly"; id: string };

export type Request = {
  path: string;
  /** Of the body that was sent. */
  fingerprint: string;
  credential: Credential;
  parameters: Parameters;
};

/** A refusal by its code and words of its message. */
export type Denial = { code: number; says: string };

export type Decision =
  /** Nothing is kept of it. */
  | ({ kind: "denied" } & Denial)
  /** It changes nothing, and is answered with an activity as that stands. */
  | { kind: "shown"; fingerprint: string }
  /** It leaves a leaf. `lead` tells the state it leads to, once the ids of what it makes are known. */
  | { kind: "kept"; event: string; failure: Denial | undefined; changes: boolean; lead(made: Made): State };

/** What only the server can choose: the id of the activity, its result, and its time. */
export type Made = { activityId: string; result: Parameters; timeMs: number };

const [invalid, notFound, forbidden, unauthenticated] = [3, 5, 7, 16];

/** Those whose tokens are held against their issuer's keys. On a slow machine the issuer may not answer in time: then nothing is kept. */
const withTokens = new Set(["create_oauth_providers", "oauth_login"]);
const withoutIssuer = (path: string): Decision[] => (withTokens.has(path) ? [denied(invalid, "cannot be used")] : []);

/** A token that waits for approvals would lie about for its whole life. */
const neverWait = new Set(["oauth_login"]);

/** Every decision that the rules allow on this state; more than one only where they leave it open. */
export function decide(state: State, request: Request): Decision[] {
  if (request.credential.kind === "readOnly") return [denied(forbidden, "a read-only session cannot submit")];
  const denial = denialOf(state, request.credential);
  if (denial !== undefined) return [{ kind: "denied", ...denial }];
  const callerId = userOf(state, request.credential) ?? "";
  if (request.path === "approve_activity") return vote(state, request.parameters.fingerprint, callerId, "APPROVED");
  if (request.path === "reject_activity") return vote(state, request.parameters.fingerprint, callerId, "REJECTED");
  const known = state.activities.get(request.fingerprint);
  if (known === undefined) return [submit(state, request, callerId), ...withoutIssuer(request.path)];
  const hasVoted = known.votes.some(({ userId }) => userId === callerId);
  if (known.status !== "CONSENSUS_NEEDED" || hasVoted) return [shown(request.fingerprint)];
  return approve(state, request.fingerprint, known, callerId);
}

/** Whose credential it is; undefined when nobody has it. */
export function userOf({ users }: State, { kind, id }: Credential): string | undefined {
  if (kind === "readOnly") return users.has(id) ? id : undefined;
  for (const [userId, { keys, passkeys }] of users) {
    const isOwn =
      kind === "key"
        ? keys.some(({ publicKey }) => publicKey === id)
        : passkeys.some(({ credentialId }) => credentialId === id);
    if (isOwn) return userId;
  }
  return undefined;
}

const strangers: Record<Credential["kind"], Denial> = {
  key: { code: unauthenticated, says: "could not find public key" },
  passkey: { code: notFound, says: "webauthn authenticator not found" },
  readOnly: { code: unauthenticated, says: "could not find the user of this read-only session" },
};

export const otherOrigin: Denial = { code: unauthenticated, says: "could not verify WebAuthN signature" };

/** Why nobody is let in with it. */
export function denialOf(state: State, credential: Credential): Denial | undefined {
  if (userOf(state, credential) === undefined) return strangers[credential.kind];
  return credential.kind === "passkey" && !takesPasskeys(state) ? otherOrigin : undefined;
}

const denied = (code: number, says: string): Decision => ({ kind: "denied", code, says });
const shown = (fingerprint: string): Decision => ({ kind: "shown", fingerprint });

function submit(state: State, { path, parameters, fingerprint }: Request, callerId: string): Decision {
  const activity = { path, parameters, votes: [{ userId: callerId, selection: "APPROVED" as const }] };
  return carryOut(state, fingerprint, activity, "SUBMITTED");
}

function vote(state: State, target: string, callerId: string, selection: Vote["selection"]): Decision[] {
  const fingerprint = target.replace("sha256:", "");
  const activity = state.activities.get(fingerprint);
  if (activity === undefined) return [denied(notFound, "No activity found with fingerprint")];
  if (activity.status !== "CONSENSUS_NEEDED") {
    const hasSaidSo = activity.votes.some((own) => own.userId === callerId && own.selection === selection);
    return hasSaidSo ? [shown(fingerprint)] : [denied(forbidden, "takes no votes")];
  }
  if (selection === "APPROVED") return approve(state, fingerprint, activity, callerId);
  const [{ userId: proposerId }] = activity.votes as [Vote];
  if (callerId !== proposerId && !mayApprove(state, activity, callerId)) {
    return [denied(forbidden, "has no vote on this activity")];
  }
  const ended = { ...activity, status: "REJECTED", votes: [...activity.votes, { userId: callerId, selection }] };
  return [
    { kind: "kept", event: "REJECTED", failure: undefined, changes: true, lead: () => put(state, fingerprint, ended) },
  ];
}

function approve(state: State, fingerprint: string, activity: Activity, callerId: string): Decision[] {
  const hasApproved = activity.votes.some(({ userId }) => userId === callerId);
  const noVote = denied(forbidden, "has no vote on this activity");
  if (!mayApprove(state, activity, callerId)) {
    // Of an approval that stands, nobody says whether it could be given again.
    return hasApproved ? [shown(fingerprint), noVote] : [noVote];
  }
  if (hasApproved) return [shown(fingerprint)];
  const votes = [...activity.votes, { userId: callerId, selection: "APPROVED" as const }];
  return [carryOut(state, fingerprint, { ...activity, votes }, "VOTED"), ...withoutIssuer(activity.path)];
}

/** What becomes of an activity with these approvals. */
function carryOut(
  state: State,
  fingerprint: string,
  activity: Pick<Activity, "path" | "parameters" | "votes">,
  ifItWaits: "SUBMITTED" | "VOTED",
): Decision {
  const { path, parameters } = activity;
  const wasWaiting = ifItWaits === "VOTED";
  const decision = authorise(state, activity, wasWaiting);
  const ended = (status: string, base: State, hasFailed: boolean) => (made: Made) =>
    put(base, fingerprint, { ...activity, activityId: made.activityId, status, hasFailed });
  if (decision === "wait" && !neverWait.has(path)) {
    return {
      kind: "kept",
      event: ifItWaits,
      failure: undefined,
      changes: true,
      lead: ended("CONSENSUS_NEEDED", state, false),
    };
  }
  // At submission a refusal or failure changes no state; what waited stops waiting.
  const fails = (event: string, failure: Denial): Decision => {
    return {
      kind: "kept",
      event,
      failure,
      changes: wasWaiting,
      lead: wasWaiting ? ended(event, state, true) : () => state,
    };
  };
  if (decision === "wait") return fails("REJECTED", { code: forbidden, says: "cannot wait for them" });
  if (decision === "refuse") return fails("REJECTED", { code: forbidden, says: "sufficient permissions" });
  const [{ userId: proposerId }] = activity.votes as [Vote];
  try {
    const run = runs[path];
    if (run === undefined) throw new Error(`the model does not know ${path}`);
    const change = run(state, parameters, proposerId);
    const isPure = path.startsWith("sign_") || path === "create_read_only_session";
    return {
      kind: "kept",
      event: "COMPLETED",
      failure: undefined,
      changes: wasWaiting || !isPure,
      lead: (made) => (isPure && !wasWaiting ? state : ended("COMPLETED", change(made), false)(made)),
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return fails("FAILED", error.denial);
  }
}

function put(state: State, fingerprint: string, activity: Activity): State {
  return { ...state, activities: new Map(state.activities).set(fingerprint, activity) };
}

const rootQuorumOnly = new Set([
  "remove_organization_feature",
  "set_organization_feature",
  "update_organization_name",
  "update_root_quorum",
]);
const ofOwnCredentials = new Set([
  "create_api_keys",
  "create_authenticators",
  "create_oauth_providers",
  "create_read_only_session",
  "create_read_write_session",
  "delete_api_keys",
  "delete_authenticators",
  "delete_oauth_providers",
  "stamp_login",
]);

function authorise(state: State, activity: Pick<Activity, "path" | "parameters" | "votes">, isWaiting: boolean) {
  const { path, parameters, votes } = activity;
  const [{ userId: proposerId }] = votes as [Vote];
  const ownerId = parameters.userId ?? proposerId;
  // Not even the quorum gets another user's session.
  if (path === "create_read_write_session" && ownerId !== proposerId && state.users.has(ownerId)) return "refuse";
  const approvers = approversOf(state, activity);
  const quorum = rootMembers(state);
  const { threshold } = state.quorum;
  if (quorum.filter((userId) => approvers.includes(userId)).length >= threshold) return "run";
  const isReachable = quorum.length >= threshold;
  const isOpenToQuorum = isReachable && (isWaiting || quorum.includes(proposerId));
  if (rootQuorumOnly.has(path)) return isOpenToQuorum ? "wait" : "refuse";
  const verdict = weigh(state, activity);
  if (verdict === "deny") {
    const hasMember = quorum.includes(proposerId) || quorum.some((userId) => approvers.includes(userId));
    return isReachable && threshold > 1 && hasMember ? "wait" : "refuse";
  }
  if (verdict === "allow") return "run";
  if (verdict === "consensus") return "wait";
  if (ofOwnCredentials.has(path) && ownerId === proposerId && approvers.includes(proposerId)) return "run";
  return isOpenToQuorum ? "wait" : "refuse";
}

function rootMembers({ users, quorum }: State): string[] {
  return quorum.userIds.filter((userId) => users.has(userId));
}

/** The clients' policies: the approval of all these users, for one type of activity. */
export function policyOf(userIds: readonly string[], path: string) {
  const { type } = activities[path as keyof typeof activities];
  const consensus = userIds.map((userId) => `approvers.any(user, user.id == '${userId}')`).join(" && ");
  return { consensus, condition: `activity.type == '${type}'` };
}

/** Whose approval the policies for this path are about. */
function policiesFor({ policies }: State, path: string): { effect: string; named: string[] }[] {
  const { condition } = policyOf([], path);
  return [...policies.values()].flatMap((policy) => {
    const named = [...policy.consensus.matchAll(/user\.id == '(.*?)'/g)].map(([, userId = ""]) => userId);
    return policy.condition === condition ? { effect: policy.effect, named } : [];
  });
}

type Standing = Pick<Activity, "path" | "votes">;

/** Approvals that count. */
function approversOf({ users }: State, { votes }: Standing): string[] {
  return votes.map(({ userId }) => userId).filter((userId) => users.has(userId));
}

/** A proposer may wait for a policy that is about it, while everybody else it asks for is there. */
function isOpen(state: State, activity: Standing, named: readonly string[]): boolean {
  const approvers = approversOf(state, activity);
  const missing = named.filter((userId) => !approvers.includes(userId));
  const proposerId = activity.votes[0]?.userId ?? "";
  const isAbout = named.includes(proposerId) && state.users.has(proposerId);
  return isAbout && missing.length > 0 && missing.every((userId) => state.users.has(userId));
}

function weigh(state: State, activity: Standing): "deny" | "allow" | "consensus" | "none" {
  const approvers = approversOf(state, activity);
  const outcomes = policiesFor(state, activity.path).map(({ effect, named }) => {
    if (named.every((userId) => approvers.includes(userId))) return effect === "EFFECT_DENY" ? "deny" : "allow";
    return effect === "EFFECT_ALLOW" && isOpen(state, activity, named) ? "consensus" : "none";
  });
  return (["deny", "allow", "consensus"] as const).find((outcome) => outcomes.includes(outcome)) ?? "none";
}

function mayApprove(state: State, activity: Activity, userId: string): boolean {
  if (rootMembers(state).includes(userId)) return true;
  if (rootQuorumOnly.has(activity.path)) return false;
  const verdict = weigh(state, activity);
  if (verdict === "deny" || verdict === "none") return false;
  return policiesFor(state, activity.path).some(
    ({ effect, named }) => effect === "EFFECT_ALLOW" && named.includes(userId) && isOpen(state, activity, named),
  );
}
