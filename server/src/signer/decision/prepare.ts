/**
 * One submit, decided. In: the raw bytes, the evidence of who sent them, and a state the gateway offers. Out: everything one transaction will
 * hold, useless until it is committed and released. Time, identity and permission come from here, never from the frame.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Work } from "@keystead/core/work.ts";
import type { IdentityAccess } from "../../endpoints/identity_access.ts";
import { noSuchOrganization, organizationMismatch } from "../../endpoints/known_faults.ts";
import { checkOpens } from "../../evidence/evidence.ts";
import type { OfferedState, Prepared, Request, Wish } from "../../frames/messages.ts";
import { allowedOrigins } from "../../rules/allowed_origins.ts";
import { ownClientsOf } from "../../rules/auth_proxy.ts";
import { checkProposal } from "../../rules/pending_limits.ts";
import { compilingPolicies } from "../../rules/policies.ts";
import { checkRecoveryKey } from "../../rules/recovery.ts";
import { rootMembers } from "../../rules/votes.ts";
import { journalsOf } from "../../state/directory.ts";
import { put, type Settings } from "../../state/entities.ts";
import { checkJournalLimit, findJournalIn, liveness, slotMs, slotOf } from "../../state/journal.ts";
import { passed } from "../../state/steps.ts";
import type { Verdicts } from "../secrets/verdicts.ts";
import type { Act, DecisionContext } from "./act.ts";
import { type ActingParent, readActingParent } from "./acting_parent.ts";
import { type Asked, readAsked } from "./asked.ts";
import { isProxySent, proxySender } from "./auth_proxy_sender.ts";
import { authenticate } from "./authenticate.ts";
import { decidingAct } from "./decided.ts";
import { openIdentityTokens } from "./identity_tokens.ts";
import { openKeyAccess, readingRecords } from "./key_records.ts";
import { changedRows } from "./line.ts";
import { NeedsMore } from "./needs_more.ts";
import { openOrders } from "./oauth2_orders.ts";
import { addingOffered, missingLinks, openingStateOf } from "./offered_state.ts";
import type { OpenState } from "./open_state.ts";
import { createOtherStates, type OtherStates } from "./other_states.ts";
import { alreadyExists, complete, findingTrialFault, keepWaiting, refuse } from "./outcome.ts";
import { readingInterfaces } from "./policy_interfaces.ts";
import { findingScopeRefusal, makesWiderSession } from "./session_scope.ts";
import type { Signer } from "./signer.ts";
import { approvalOf, approveAgain, vote } from "./vote.ts";

export type PrepareReply = { kind: "prepared"; value: readonly Prepared[] } | { kind: "again"; value: readonly Wish[] };

export function* prepare(signer: Signer, request: Request<"prepare">): Work<PrepareReply> {
  try {
    return yield* decideOn(signer, request);
  } catch (error) {
    if (!(error instanceof NeedsMore)) throw error;
    return { kind: "again", value: error.wishes };
  }
}

function* decideOn(signer: Signer, request: Request<"prepare">): Work<PrepareReply> {
  passed("received");
  const { body, evidence, state: offered } = request;
  const nowMs = signer.now();
  checkPastAcceptance(signer, nowMs);
  const asked = readAsked(body);
  const { envelope, fingerprint, form } = asked;
  checkOpens(evidence, form.activity);
  const { subOrganizationId } = request;
  const organizationId = subOrganizationId ?? envelope.organizationId;
  const found =
    offered === undefined ? signer.heads.get(organizationId) : yield* openingStateOf(signer, organizationId, offered);
  if (found === undefined) return again({ kind: "state", value: {} });
  checkNamed(asked, found, subOrganizationId);
  const state = yield* addingOffered(found, request.pages);
  const linksFrom = linksToFetch(signer, state, offered);
  if (linksFrom === "passed over") return again({ kind: "state", value: {} });
  if (linksFrom !== undefined) return again({ kind: "links", value: { from: linksFrom } });
  signer.heads.set(state);
  const { members, pending, settings } = state.pages;
  if (settings.deleted === true) throw noSuchOrganization();
  const verdicts = signer.draws.verdicts();
  noteAcceptance(signer, verdicts, nowMs);
  const identities = openIdentityTokens(signer, request, nowMs, verdicts);
  const orders = openOrders(signer, request, { organizationId, fingerprint }, nowMs);
  const others = createOtherStates(signer, request.others);
  const organization = organizationOf(signer, asked, state, others, subOrganizationId, identities);
  const readParent = () => parentOf(asked, organization.parentId, others, subOrganizationId);
  const isByAuthProxy = isProxySent(evidence);
  const sender = isByAuthProxy
    ? proxySender(signer, asked, state, organization.parentId, others, evidence)
    : authenticate(signer.curves, organization, evidence, body, nowMs, readParent);
  const { caller, parent: actingParent } = sender;
  passed("authenticated");
  checkRecoveryKey(form.activity, caller.credential);
  yield* compilingPolicies((actingParent ?? state).pages.policies);
  yield* readingInterfaces(signer, state, request);
  yield* readingRecords(signer, request);
  const keys = once(() => openKeyAccess(signer, state, request, verdicts));
  const context: DecisionContext = {
    signer,
    state,
    caller,
    actingParent,
    isByAuthProxy,
    nowMs,
    bodyMs: envelope.timestampMs,
    namesParent: subOrganizationId !== undefined,
    supplied: request,
    others,
    allowedOrigins: organization.allowedOrigins,
    sessionProfiles: organization.sessionProfiles,
    parentSettings: organization.parentSettings,
    ownClients: organization.ownClients,
    identities,
    orders,
    verdicts,
    keys,
  };

  // A body that waits is known by its hash; its time was looked at when it was submitted.
  const waiting = pending.get(toHex(fingerprint));
  if (waiting !== undefined) {
    // What others propose is not the proxy's to approve: anybody could send these bytes.
    if (isByAuthProxy) throw alreadyExists();
    if (actingParent !== undefined) throw organizationMismatch(state.organizationId, actingParent.organizationId);
    return prepared(yield* approveAgain(context, waiting, asked));
  }
  checkLiveness(envelope.timestampMs, nowMs, state.directory.floor);
  checkAcceptance(envelope.timestampMs, signer.memory.acceptedAtMs);
  if (form.activity.vote !== undefined) {
    return prepared(yield* vote(context, form.activity.vote, asked, request.target));
  }
  const journal = findJournalIn(journalsOf(state.directory, state.pages), slotOf(envelope.timestampMs));
  const executed = yield* signer.journals.looking(state.organizationId, journal, fingerprint, request.journal);
  if (executed === undefined) return again({ kind: "journal", value: { slot: journal.slot } });
  if (executed) throw alreadyExists();
  const isRootMember = () => actingParent === undefined && rootMembers(members).includes(caller.user.userId);
  checkJournalLimit(journal, isRootMember);
  takeOnce(context, asked, isRootMember);
  return prepared(yield* decide(context, asked));
}

/** The organization of a state, with what its parent says of it. */
function organizationOf(
  { keyring, memory }: Signer,
  { form }: Asked,
  { organizationId, known, pages }: OpenState,
  others: OtherStates,
  subOrganizationId: string | undefined,
  identities: IdentityAccess,
) {
  const { members, settings } = pages;
  const parentId = known.header.parentId && uuidFromBytes(known.header.parentId);
  return {
    organizationId,
    parentId,
    // The gateway has looked there too, and has found nobody.
    inSubOrganizations: parentId === undefined && form.activity.findsSubOrganization === true,
    members,
    settings,
    namesParent: subOrganizationId !== undefined,
    otpKey: keyring.otpKey,
    acceptedAtMs: memory.acceptedAtMs,
    identities,
    allowedOrigins: (own: Pick<Settings, "features"> = settings) =>
      allowedOrigins(own, parentId === undefined ? undefined : others.page(parentId, "settings")),
    sessionProfiles: () => (parentId === undefined ? pages.sessionProfiles : others.page(parentId, "sessionProfiles")),
    parentSettings: () => (parentId === undefined ? undefined : others.page(parentId, "settings")),
    ownClients: () =>
      ownClientsOf(
        parentId === undefined ? pages : { authProxies: others.page(parentId, "authProxies") },
        identities.linkingIssuers,
      ),
  };
}

/** The parent, where its users may do this too, and the body names the sub-organization itself. A deleted one does nothing any more. */
function parentOf(
  { form }: Asked,
  parentId: string | undefined,
  others: OtherStates,
  subOrganizationId: string | undefined,
): ActingParent | undefined {
  if (form.activity.openToParent !== true || parentId === undefined || subOrganizationId !== undefined)
    return undefined;
  const parent = readActingParent(others, parentId);
  return parent.isDeleted ? undefined : parent;
}

/**
 * Where a body runs is read from its bytes. Only sign-ins may run in a sub-organization of the one that they name: in one whose own header,
 * which is the signer's word, says that it is.
 */
function checkNamed({ form, envelope }: Asked, { known, organizationId }: OpenState, subOrganizationId?: string): void {
  if (subOrganizationId === undefined) return;
  const { parentId } = known.header;
  const isBelow = parentId !== undefined && uuidFromBytes(parentId) === envelope.organizationId;
  if (form.activity.findsSubOrganization === true && isBelow) return;
  throw changedRows(organizationId, "the body names another organization, and does not run in this one");
}

/**
 * A sign-in that names an organization without a parent could run there or in any of its sub-organizations. The first to take it keeps
 * it: neither the state of one nor that of another knows what the others did.
 */
function takeOnce(
  { signer: { memory }, state: { known }, verdicts, nowMs }: DecisionContext,
  { form, envelope, fingerprint }: Asked,
  isRootMember: () => boolean,
): void {
  const { organizationId, parentId } = known.header;
  if (form.activity.findsSubOrganization !== true) return;
  const isNamed = uuidFromBytes(organizationId) === envelope.organizationId;
  if (isNamed && parentId !== undefined) return;
  const namedId = uuidToBytes(envelope.organizationId);
  const body = { namedId, bodyMs: envelope.timestampMs, fingerprint, organizationId };
  verdicts.judge({
    subject: "taken",
    ask: () => memory.takeBody(body, isRootMember, nowMs),
    standIn: () => undefined,
  });
}

/**
 * From which version on headers are wanted. A state that nobody offered, because the request before led to it, and that was passed over
 * since, was never committed: another gateway was faster. That is no fault of the database, which is asked for what it holds.
 */
function linksToFetch(signer: Signer, state: OpenState, offered: OfferedState | undefined) {
  try {
    return missingLinks(signer, state, offered?.links ?? []);
  } catch (error) {
    if (offered === undefined && error instanceof Fault && error.code === "aborted") return "passed over";
    throw error;
  }
}

/** What becomes of a new activity. Its submission is the first approval. */
function* decide(context: DecisionContext, asked: Asked): Work<Prepared[]> {
  const { signer, state, caller, nowMs } = context;
  const { fingerprint } = asked;
  const proposerId = caller.user.userId;
  const approvals = [approvalOf(context)];
  const proposerKey = caller.evidence.kind === "apiKey" ? caller.credential.publicKey : undefined;
  const submitted = { ...context, asked, stamped: fingerprint, proposerId, proposerKey, createdAtMs: nowMs };
  const outside = (yield* findingScopeRefusal(submitted)) ?? makesWiderSession(submitted);
  if (outside !== undefined) {
    return yield* refuse(submitted, outside.code === "permission_denied" ? "REJECTED" : "FAILED", outside);
  }
  const { decision, decided } = yield* decidingAct(submitted, approvals);
  const act: Act = { ...submitted, weighed: decision.weighed, decided };
  if (decision.kind === "allow") return yield* complete(act, decision.grounds);
  if (decision.kind === "refuse") return yield* refuse(act, "REJECTED", decision.fault);
  if (decision.kind === "fail") return yield* refuse(act, "FAILED", decision.fault);
  if (asked.form.activity.neverWaits === true) return yield* refuse(act, "REJECTED", cannotWait(asked));
  const fault = yield* findingTrialFault(act);
  if (fault !== undefined) return yield* refuse(act, "FAILED", fault);
  const waiting = { fingerprint: toHex(fingerprint), proposerId, createdAtMs: nowMs, approvals };
  return yield* keepWaiting(act, "SUBMITTED", (activityId) => {
    const proposal = { ...waiting, activityId };
    checkProposal(state.pages, proposal, signer.limits);
    return put("pendingActivity", proposal);
  });
}

function cannotWait({ form }: Asked): Fault {
  return new Fault(
    "permission_denied",
    `request not authorized: it needs approvals of others, and ${form.type} cannot wait for them; allow it by a policy`,
    { errorCode: "REQUEST_NOT_AUTHORIZED" },
  );
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function prepared(value: readonly Prepared[]): PrepareReply {
  passed("decided");
  return { kind: "prepared", value };
}

function again(wish: Wish): PrepareReply {
  return { kind: "again", value: [wish] };
}

/** Below the floor the journals are gone: a clock that ran ahead and was set right must not make old bodies new again. */
function checkLiveness(timestampMs: number, nowMs: number, floor: number): void {
  const isLive = timestampMs >= nowMs - liveness.pastMs && timestampMs <= nowMs + liveness.futureMs;
  if (isLive && slotOf(timestampMs) >= floor) return;
  const from = new Date(floor * slotMs).toISOString();
  const wasAhead = `: the signer's clock was ahead when this organization acted, and nothing from before ${from} is accepted any more`;
  throw new Fault("invalid_argument", `request timestamp is outside the allowed window${isLive ? wasAhead : ""}`, {
    errorCode: "REQUEST_INVALID",
  });
}

/**
 * After a restore nobody knows what was executed since the backup: a body from before the operator's acceptance may be one of those,
 * for whoever kept it with its stamp.
 */
function checkAcceptance(timestampMs: number, acceptedAtMs: number): void {
  if (timestampMs > acceptedAtMs) return;
  const at = new Date(acceptedAtMs).toISOString();
  throw new Fault(
    "invalid_argument",
    `request timestamp is outside the allowed window: the database was restored, and nothing stamped up to ${at} is accepted any ` +
      "more; send the request again with a new timestampMs",
    { errorCode: "REQUEST_INVALID" },
  );
}

/** Approvals and tokens from before an acceptance count for nothing. None is older than a day, so for so long it matters. */
const acceptanceMatters = 2 * 24 * 3_600_000;

function noteAcceptance({ memory: { acceptedAtMs } }: Signer, verdicts: Verdicts, nowMs: number): void {
  if (acceptedAtMs > 0 && acceptedAtMs > nowMs - acceptanceMatters) {
    verdicts.note("accepted", true, { times: [acceptedAtMs] });
  }
}

/** An acceptance reaches a moment ahead of its time. Until then nothing could count: not even an approval of now. */
function checkPastAcceptance({ memory }: Signer, nowMs: number): void {
  if (nowMs > memory.acceptedAtMs) return;
  const at = new Date(memory.acceptedAtMs).toISOString();
  throw new Fault(
    "unavailable",
    `the database was restored a moment ago: nothing is accepted before ${at}; try again then`,
  );
}
