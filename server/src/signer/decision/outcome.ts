/** What becomes of an act: completed, refused, failed, or waiting. Each outcome is the rows of one transaction. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault, type FaultCode, faultCodes } from "@keystead/core/fault.ts";
import type { LeafEvent, LeafGrounds } from "@keystead/core/log/leaf_words.ts";
import type { Work } from "@keystead/core/work.ts";
import type { ActivityOutcome, AnyActivity } from "../../endpoints/define_activity.ts";
import type { NewRecord } from "../../endpoints/key_access.ts";
import { barePrepared } from "../../frames/bare_prepared.ts";
import type { Prepared } from "../../frames/messages.ts";
import { checkMessage } from "../../outbox/message.ts";
import { refuseProxyRights } from "../../rules/auth_proxy.ts";
import { withoutBearerValues } from "../../rules/bearer_params.ts";
import { fullResult, shownResult } from "../../rules/bearer_results.ts";
import type { AppProof } from "../../state/app_proof.ts";
import { hasSameCredentials, withCredentials } from "../../state/credentials.ts";
import { keyId, objectId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";
import { type MadeBytes, madeRecord, toMadeBytes } from "../../state/drawn.ts";
import { type Change, remove } from "../../state/entities.ts";
import { entityJson } from "../../state/page_codec.ts";
import { encodeEvaluations } from "../../state/policy_evaluations.ts";
import { encodeExplanations } from "../../state/policy_explanations.ts";
import type { Act } from "./act.ts";
import { actLeaf, idOf } from "./act_leaf.ts";
import { shownUser } from "./acting_parent.ts";
import { readyingProofs, sealedProofs } from "./app_proofs.ts";
import { sealBodyOf, sealEvidenceOf } from "./body_boxes.ts";
import { markCodes, openCodeAccess } from "./code_records.ts";
import { marksOf } from "./contact_marks.ts";
import { type CreatedOrganization, firstState, isCreated, rowsOfCreated } from "./created_organization.ts";
import { lookingForFacts, markTexts, sealRecords, withLeaves } from "./key_records.ts";
import { sealResult, withSpentCode } from "./results.ts";
import { sealMessages } from "./seal_messages.ts";
import type { Signer } from "./signer.ts";
import { advancingProven, ending, stay, type Transition } from "./transition.ts";
import { UnrecordedFault } from "./unrecorded_fault.ts";
import { executedIn, readyingPages } from "./write_state.ts";

/**
 * What was changed in the database, and a memory that cannot be written, are nobody's failure: the request is refused and not recorded, and
 * what waits goes on waiting.
 */
const nobodysFailure: readonly FaultCode[] = ["internal", "aborted", "unavailable"];

/** Runs the activity. A failure inside it is an outcome too, and leaves nothing else behind. */
export function* complete(act: Act, grounds: LeafGrounds): Work<Prepared[]> {
  let outcome: ActivityOutcome<unknown> | undefined;
  try {
    if (act.supplied.records.length > 0) yield* lookingForFacts(act.keys());
    const started = run(act);
    // Between two of its pauses other organizations' requests are decided, and anything may be released. See scheduler.ts.
    const ran: ActivityOutcome<unknown> = "next" in started ? yield* started : started;
    outcome = ran;
    outcome.messages?.forEach(checkMessage);
    refuseProxyRights(act.state.pages, outcome.changes);
  } catch (error) {
    if (outcome !== undefined) wipeSecrets(outcome);
    if (!isOutcome(error)) throw error;
    act.verdicts.fail();
    return yield* refuse(act, "FAILED", error);
  }
  try {
    const addresses = yield* readyingProofs(act, outcome);
    yield* readyingPages(act.state, outcome.changes);
    return yield* taking(act, grounds, outcome, addresses);
  } finally {
    wipeSecrets(outcome);
  }
}

function isOutcome(error: unknown): error is Fault {
  return error instanceof Fault && !(error instanceof UnrecordedFault) && !nobodysFailure.includes(error.code);
}

/** Why an activity would fail that is to wait for approvals, where it says that it can be tried. */
export function* findingTrialFault(act: Act): Work<Fault | undefined> {
  if (act.asked.form.activity.isTriedBeforeWaiting !== true) return undefined;
  try {
    const started = run(act);
    if ("next" in started) yield* started;
    return undefined;
  } catch (error) {
    if (!isOutcome(error)) throw error;
    act.verdicts.fail();
    return error;
  }
}

/** Sealed or not: an outcome that is not used after all leaves its secrets to nobody else. */
function wipeSecrets(outcome: ActivityOutcome<unknown>): void {
  for (const { secret } of newRecordsOf(outcome)) secret.fill(0);
}

function newRecordsOf({ records = [], births = [] }: ActivityOutcome<unknown>): NewRecord[] {
  return [...records, ...births.flatMap((birth) => birth.records ?? [])];
}

/** The rows of what the activity came to. */
function* taking(
  act: Act,
  grounds: LeafGrounds,
  outcome: ActivityOutcome<unknown>,
  addresses: readonly AppProof[],
): Work<Prepared[]> {
  const { signer } = act;
  const births = outcome.births ?? [];
  if (births.length > 0 && !act.verdicts.confirm("born", () => !births.some((birth) => isCreated(signer, birth)))) {
    // Executed before, whatever became of its row. Where it waits nonetheless, it must stop waiting.
    if (act.wasWaiting === true) return yield* refuse(act, "FAILED", alreadyExists());
    throw alreadyExists();
  }
  const { activity } = act.asked.form;
  const changes = [...outcome.changes, ...noLongerWaiting(act)];
  // Births leave their creator as it is: the derived id is what keeps them from happening twice. Pure signing can happen
  // any number of times and is the same each time.
  const changesState = changes.length > 0 || (births.length === 0 && activity.pure !== true);
  const number = signer.nextNumber();
  const full = fullResult(activity, outcome.result, { boot: toHex(signer.boot), number });
  // Neither the row nor the leaf holds what its bearer could use.
  const result = shownResult(activity, full);
  const newRecords = withLeaves(outcome.records ?? [], signer.boot, number);
  const texts = outcome.texts ?? [];
  const madeNow = [...newRecords.map(({ record }) => record), ...texts].map(madeRecord);
  const drawn = { outcome: sha256(result), records: madeNow };
  let transition: Transition;
  let created: CreatedOrganization[];
  try {
    created = births.map((birth) => firstState(act, birth));
    transition = changesState
      ? yield* ending(act, changes, { drawn, isByQuorum: grounds === "ROOT_QUORUM" && act.actingParent === undefined })
      : { ...stay, ledTo: onlyOne(created)?.known };
  } catch (error) {
    // What it leads to would be too long ever to be offered again. The head goes back to where it was.
    if (!(error instanceof Fault) || error.code !== "resource_exhausted") throw error;
    signer.heads.set(act.state);
    return yield* refuse(act, "FAILED", error);
  }
  const isSealed = activity.sealed === true;
  const isShown = !isSealed || activity.bearer !== undefined;
  const bearerEndsAtMs = activity.bearer?.endsAtMs(outcome.result as Record<string, unknown>);
  const said = { number, bearerEndsAtMs, ...(isShown && { result }) };
  const bytes = toMadeBytes(
    madeNow,
    newRecords.map((each) => each.record),
  );
  const row = record(act, "COMPLETED", grounds, transition, result, { ...said, made: bytes });
  const codes = markCodes(signer, outcome.codes ?? []);
  const spent = spentBy(activity, outcome);
  const records = [...sealRecords(signer, newRecords), ...markTexts(signer, texts)];
  const outbox = sealMessages(act, outcome.messages ?? []);
  const boxed = spent === undefined ? full : withSpentCode(spent, full);
  const spentCode = spent && { otpId: spent.otpId };
  const sealed = isSealed && { sealed: sealFor(signer, row, boxed) };
  const { made, contents } = bytes;
  const disclosed = contents === undefined ? [] : [contents];
  const proven = sealedProofs(act, row.leaf, addresses);
  const own = { ...row, codes, spentCode, records, made, disclosed, outbox, ...sealed, ...proven };
  const creator = changesState ? transition.ledTo : undefined;
  return [own, ...created.map((each) => rowsOfCreated(act, grounds, each, creator))];
}

/** A code may be used up only by what is let out under the memory's eyes. */
function spentBy({ spendsCode, sealed }: AnyActivity, { spentCode }: ActivityOutcome<unknown>) {
  if (spentCode !== undefined && (spendsCode !== true || sealed !== true)) {
    throw new Fault("internal", "an activity uses up a code and does not say so");
  }
  return spentCode;
}

/**
 * What an act that leaves its own organization as it is brings into the world. Its leaf names that state, so that it is released
 * together with this very birth and with no other that the same body was prepared for.
 */
function onlyOne(created: readonly CreatedOrganization[]): CreatedOrganization | undefined {
  if (created.length > 1) throw new Fault("internal", "an activity brings at most one organization into the world");
  return created[0];
}

function sealFor({ sealer, onItsWay }: Signer, { number, leaf }: Prepared, result: string): Uint8Array {
  const sealed = sealResult(sealer, leaf, result);
  onItsWay.putResult(number, { text: result, sealed });
  return sealed;
}

function run({
  signer,
  state,
  asked,
  proposerId,
  proposerKey,
  nowMs,
  bodyMs,
  supplied,
  keys,
  allowedOrigins,
  sessionProfiles,
  parentSettings,
  ownClients,
  actingParent,
  identities,
  orders,
  verdicts,
  isByAuthProxy,
}: Act): ReturnType<AnyActivity["run"]> {
  const { activity } = asked.form;
  const { organizationId, parentId } = state.known.header;
  let index = 0;
  const params = asked.params as never;
  return activity.run(activity.state(state.pages, params) as never, params, {
    organizationId: state.organizationId,
    parentId: parentId && uuidFromBytes(parentId),
    nowMs,
    bodyMs,
    userId: proposerId,
    proposerKey,
    isByParent: actingParent !== undefined,
    isByAuthProxy,
    hasCaptcha: signer.hasCaptcha,
    limits: signer.limits,
    curves: signer.curves,
    keys: keys(),
    codes: openCodeAccess(
      signer,
      supplied,
      {
        organizationId: state.organizationId,
        parentId: parentId && uuidFromBytes(parentId),
        isByParent: actingParent !== undefined,
        fingerprint: asked.fingerprint,
        bodyMs,
        nowMs,
      },
      verdicts,
    ),
    identities,
    orders,
    verdicts,
    allowedOrigins,
    parentSettings,
    ownClients,
    findSessionProfile: (sessionProfileId) => sessionProfiles().get(sessionProfileId),
    newId(tag) {
      const at = index++;
      return tag === undefined
        ? objectId(organizationId, asked.fingerprint, at)
        : keyId(organizationId, asked.fingerprint, at, tag);
    },
  });
}

/** A refusal or failure that is kept. At submission it changes no state; an activity that waited stops waiting. */
export function* refuse(act: Act, event: "REJECTED" | "FAILED", fault: Fault): Work<Prepared[]> {
  const { code, message, errorCode, details } = fault;
  const { form, envelope } = act.asked;
  const said = JSON.stringify({ code: faultCodes[code], message, errorCode, details });
  const failure = withoutBearerValues(form, envelope.parameters, said);
  const addresses = yield* readyingProofs(act);
  const changes = noLongerWaiting(act);
  const transition = changes.length === 0 ? stay : yield* ending(act, changes);
  const row = record(act, event, "NONE", transition, failure, { failure });
  return [{ ...row, ...sealedProofs(act, row.leaf, addresses) }];
}

/** Voted down: final, and the same bytes cannot be submitted anew. */
export function* reject(act: Act): Work<Prepared[]> {
  return [record(act, "REJECTED", "NONE", yield* ending(act, noLongerWaiting(act)), "")];
}

/** The activity goes on waiting, with one more approval or as a new one. */
export function* keepWaiting(
  act: Act,
  event: "SUBMITTED" | "VOTED",
  change: (activityId: string) => Change,
): Work<Prepared[]> {
  const changes = [change(uuidFromBytes(idOf(act)))];
  return [record(act, event, "NONE", yield* advancingProven(act, changes, executedIn(act.state)), "")];
}

export function alreadyExists(): Fault {
  return new Fault("already_exists", "an activity with the same fingerprint already exists");
}

function noLongerWaiting({ wasWaiting, asked }: Act): Change[] {
  return wasWaiting === true ? [remove("pendingActivity", toHex(asked.fingerprint))] : [];
}

type Said = {
  number?: number;
  result?: string;
  failure?: string;
  /** When what its result is worth ends. */
  bearerEndsAtMs?: number | undefined;
  made?: MadeBytes;
};

/**
 * A change as the gateway writes it. Credentials that are as they were are left out: a tag for a thousand users need not have all of their
 * keys read, compared and carried.
 */
function asWritten(change: Change, { pages }: Act["state"]): Change {
  if (change.op !== "put" || change.kind !== "user") return change;
  const before = pages.members.users.get(change.value.userId);
  if (before === undefined || !hasSameCredentials(change.value, before)) return change;
  return { ...change, value: withCredentials(change.value, []), keepsParts: true };
}

/** The activity's row and leaf, which all outcomes share. `outcome` is what the leaf keeps the digest of. */
function record(
  act: Act,
  event: LeafEvent,
  grounds: LeafGrounds,
  { changes, next, ledTo, slot }: Transition,
  outcome: string,
  { number = act.signer.nextNumber(), result, failure, bearerEndsAtMs, made }: Said = {},
): Prepared {
  const { state, caller, asked, nowMs, createdAtMs } = act;
  const { organizationId, parentId } = state.known.header;
  const { activityId, leaf } = actLeaf(act, {
    ...{ number, event, grounds, organizationId, ledTo, outcome, made },
    pages: next?.pages,
  });
  const isNew = act.wasWaiting !== true;
  return {
    ...barePrepared,
    organizationId: state.organizationId,
    expectedVersion: state.known.header.version,
    expectedHeader: state.known.marked,
    standing: act.actingParent === undefined ? [] : [act.actingParent.standing],
    next,
    changes: JSON.stringify(changes.map((change) => asWritten(change, state))),
    marks: parentId === undefined ? [] : marksOf(parentId, state.pages.members.users, changes),
    closed: sealEvidenceOf(act, state.organizationId),
    boot: act.signer.boot,
    number,
    leaf,
    ...evaluationsOf(act, event),
    activity: {
      activityId: uuidFromBytes(activityId),
      isNew,
      type: asked.form.type,
      status: statusOf(event),
      fingerprint: asked.fingerprint,
      user: entityJson(act.actingParent === undefined ? caller.user : shownUser(caller)),
      slot,
      createdAtMs,
      updatedAtMs: nowMs,
      sealedBody: isNew ? sealBodyOf(act, bearerEndsAtMs) : undefined,
      result,
      failure,
    },
  };
}

/** What each policy said goes with the vote that made it say so. Why, in a submission that is refused, may be in its failure already. */
function evaluationsOf({ weighed, wasWaiting }: Act, event: LeafEvent): Pick<Prepared, "evaluations" | "explanation"> {
  if (weighed === undefined || weighed.evaluations.length === 0)
    return { evaluations: undefined, explanation: undefined };
  const isInFailure = event === "REJECTED" && wasWaiting !== true && weighed.isFullyExplained === true;
  const explanation = isInFailure ? undefined : encodeExplanations(weighed.explanations, weighed.evaluations);
  return { evaluations: encodeEvaluations(weighed.evaluations), explanation };
}

function statusOf(event: LeafEvent): string {
  const waits = event === "SUBMITTED" || event === "VOTED";
  return `ACTIVITY_STATUS_${waits ? "CONSENSUS_NEEDED" : event}`;
}
