/**
 * Session profiles: what the sessions that name one may submit. A profile's scope is a condition of the policy language. It is asked before
 * the root quorum and the policies, and only narrows: what it does not allow, nobody can allow for this session.
 */
import { Fault } from "@keystead/core/fault.ts";
import { type CompiledPolicy, compilePolicy } from "@keystead/core/policy/decision/compiled_policy.ts";
import { decidingPolicies, type Outcome } from "@keystead/core/policy/decision/decide.ts";
import { readingViews } from "@keystead/core/policy/facts/condition_views.ts";
import type { ConditionFacts } from "@keystead/core/policy/facts/facts.ts";
import { finish, type Work } from "@keystead/core/work.ts";
import type { ActivityContext, ActivityForm } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { foldName } from "../fields/names.ts";
import type { SessionProfileParams } from "../fields/session_profiles.ts";
import { createAside } from "../state/aside.ts";
import type { SessionProfile } from "../state/entities.ts";
import type { SessionProfilesPage } from "../state/pages.ts";
import { activityFacts, type FactSources } from "./activity_facts.ts";

/** How policies and clients call the session without a profile. */
const defaultProfileId = "00000000-0000-0000-0000-000000000000";

/** What tokens call the session without a profile. */
export const defaultSessionType = "SESSION_TYPE_READ_WRITE";

/** The profile that a request names; undefined for the default session, which is named by nothing or by zeros. */
export function namedProfileId(sessionProfileId: string | null | undefined): string | undefined {
  if (sessionProfileId === undefined || sessionProfileId === null) return undefined;
  return sessionProfileId === "" || sessionProfileId === defaultProfileId ? undefined : sessionProfileId;
}

export function noSuchSessionProfile(sessionProfileId: string, organizationId: string): Fault {
  return new Fault("not_found", `unable to find session profile ${sessionProfileId} in organization ${organizationId}`);
}

export function newSessionProfile(
  page: SessionProfilesPage,
  params: SessionProfileParams,
  context: ActivityContext,
): SessionProfile {
  const { parentId, nowMs } = context;
  if (parentId !== undefined) {
    throw new Fault(
      "failed_precondition",
      `a sub-organization has the session profiles of its parent: create this one in organization ${parentId}`,
    );
  }
  checkLimit("sessionProfiles", page.size + 1, context);
  const { sessionProfileName, scope, notes } = params;
  refuseTakenName(page, sessionProfileName);
  const expirationSeconds = profileSeconds(params, context);
  const profile = {
    sessionProfileId: context.newId(),
    sessionProfileName,
    scope,
    ...(expirationSeconds !== undefined && { expirationSeconds }),
    notes: notes ?? "",
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  checkScope(profile);
  return profile;
}

/** Tokens name a profile by its name, so none may look like another, or like the default session's. */
function refuseTakenName(page: SessionProfilesPage, sessionProfileName: string): void {
  const taken = [defaultSessionType, ...page.values().map((profile) => profile.sessionProfileName)];
  const holder = taken.find((name) => foldName(name) === foldName(sessionProfileName));
  if (holder === undefined) return;
  throw new Fault("invalid_argument", `session profile name must be unique: \`${holder}\` exists`);
}

function profileSeconds({ expirationSeconds }: SessionProfileParams, { limits }: ActivityContext): number | undefined {
  if (expirationSeconds === undefined || expirationSeconds === null) return undefined;
  const seconds = /^[0-9]{1,11}$/.test(expirationSeconds) ? Number(expirationSeconds) : 0;
  const { maxSessionSeconds } = limits;
  if (seconds >= 1 && seconds <= maxSessionSeconds) return seconds;
  throw new Fault(
    "invalid_argument",
    `invalid session profile expiration: expirationSeconds is a whole number of seconds from 1 to ${maxSessionSeconds} ` +
      "(maxSessionSeconds in KEYSTEAD_LIMITS); leave it out for no bound of its own",
  );
}

const conditionTrouble = /^invalid policy condition/;

/** As conditions of policies are checked, and in the same words. */
function checkScope(profile: SessionProfile): void {
  try {
    compiledScope(profile);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault(error.code, error.message.replace(conditionTrouble, "invalid session profile scope"));
  }
}

// Entities are immutable: each is compiled once, however many requests its sessions make.
const compiled = createAside<SessionProfile, CompiledPolicy>();

/** A policy that allows what the scope allows, whoever asks and whenever. */
function compiledScope(profile: SessionProfile): CompiledPolicy {
  let known = compiled.get(profile);
  if (known === undefined) {
    known = compilePolicy({ effect: "EFFECT_ALLOW", condition: profile.scope, consensus: "", time: "" });
    compiled.set(profile, known);
  }
  return known;
}

/** What a session is asked about: the activity that it submits, or the one that it votes on. */
export type ScopeQuestion = FactSources & { form: ActivityForm; params: unknown; proposerId: string; nowMs: number };

/**
 * Why a session with this profile may not do this; undefined where it may. A scope that cannot be evaluated allows nothing. Activities
 * that only the root quorum decides on have nothing that a condition could ask about, so only a scope that is always true allows them.
 */
export function scopeRefusal(profile: SessionProfile, question: ScopeQuestion): Fault | undefined {
  return finish(findingRefusal(profile, question));
}

/** The same with pauses. */
export function* findingRefusal(profile: SessionProfile, question: ScopeQuestion): Work<Fault | undefined> {
  const policy = compiledScope(profile);
  if (policy.isOpen) return undefined;
  const { sessionProfileId } = profile;
  const { form, params, proposerId, nowMs } = question;
  if (form.activity.rootQuorumOnly === true) return outsideScope(sessionProfileId, "OUTCOME_DENY_IMPLICIT");
  let views: readonly ConditionFacts[];
  try {
    views = yield* readingViews(activityFacts(question, form, params));
  } catch (error) {
    // A payload that cannot be read: whatever the scope says, it could not be done.
    if (error instanceof Fault && error.code === "invalid_argument") return error;
    throw error;
  }
  const policies = [{ policyId: sessionProfileId, policy }];
  const asked = { policies, views, proposerId, approvers: [], members: () => [], nowMs };
  const { verdict, evaluations } = yield* decidingPolicies(asked);
  if (verdict === "allow") return undefined;
  return outsideScope(sessionProfileId, evaluations[0]?.outcome ?? "OUTCOME_DENY_IMPLICIT");
}

/** As a refusal by policies is published; `sessionScope` says which profile it was. */
function outsideScope(sessionProfileId: string, outcome: Outcome): Fault {
  return new Fault("permission_denied", "You don't have sufficient permissions to take this action.", {
    errorCode: "REQUEST_NOT_AUTHORIZED",
    details: [
      {
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        message: "No policies evaluated to outcome: Allow",
        policyEvaluations: [],
        sessionScope: { sessionProfileId, outcome },
      },
    ],
  });
}

/** The refusal of a session that would make another which its profile does not bound. */
export function widerSession(sessionProfileId: string): Fault {
  return new Fault(
    "permission_denied",
    `request not authorized: a session with a session profile makes sessions with the same profile only; set sessionProfileId to \`${sessionProfileId}\``,
    { errorCode: "REQUEST_NOT_AUTHORIZED" },
  );
}
