/** A request, from the first attempt to its answer: the signer prepares, the database commits, the signer releases. */
import { Fault } from "@keystead/core/fault.ts";
import { costOfState } from "../../endpoints/cost.ts";
import { organizationMismatch } from "../../endpoints/known_faults.ts";
import { isInvalidEvidence, isUnknownCredential } from "../../evidence/evidence.ts";
import { isOtherAddress } from "../../rules/ip_allowlists.ts";
import { passed } from "../../state/steps.ts";
import { type ActivityRow, findActivity } from "../../store/activities.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import { findFactsLength } from "../../store/organizations.ts";
import { type ActivityRecord, noRights } from "../../views/activity_view.ts";
import { appProofsOf } from "../../views/app_proofs_view.ts";
import { readActivity, waitingStatus } from "../../views/read_activity.ts";
import { authenticateQuery, claimedCredential } from "../evidence/authenticate_query.ts";
import { claimedSourceCheck } from "../evidence/check_source.ts";
import type { Decided, Preparation } from "./preparation.ts";
import { factsOfRecords } from "./request_weight.ts";
import { endsTurn, Round, type RoundResult, runRounds, submitLimits } from "./round.ts";
import { maySeeBearer } from "./sealed_results.ts";
import type { StampedRequest } from "./stamped_request.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";
import { refuseTakenContacts } from "./taken_contacts.ts";
import { toActivityItem } from "./to_commit_item.ts";
import { declaredOnly, type Need } from "./wishes.ts";

export type ActivityStep = RoundResult<ActivityRecord, Need>;

type Begun = { answer: ActivityRecord } | { request: StampedRequest };

/** A new activity, or a vote on one. */
export type Submission = {
  organizationId: string;
  /** At the beginning of each turn: the answer where it is stored already, else what the signer is asked about. */
  begin(turn: number): Begun | Promise<Begun>;
  /** What a refusal comes to: it may be about something that is stored, or over, by now. */
  afterRefusal(error: unknown, turn: number): Promise<ActivityStep> | ActivityStep;
};

export function execute(dependencies: SubmitDependencies, submission: Submission): Promise<ActivityRecord> {
  const execution = new Execution(dependencies, submission);
  return runRounds(execution.round, declaredOnly, (needs) => execution.attempt(needs));
}

class Execution {
  readonly round: Round;
  readonly #dependencies: SubmitDependencies;
  readonly #submission: Submission;
  /** Of the turn that is under way. */
  #request: StampedRequest | undefined;
  #preparation: Preparation | undefined;

  constructor(dependencies: SubmitDependencies, submission: Submission) {
    this.round = new Round(submitLimits, submission.organizationId);
    this.#dependencies = dependencies;
    this.#submission = submission;
  }

  async attempt(needs: readonly Need[]): Promise<ActivityStep> {
    if (this.#request === undefined) {
      const begun = await this.#submission.begin(this.round.turn);
      if ("answer" in begun) return { kind: "done", value: begun.answer };
      this.#request = begun.request;
    }
    let step: ActivityStep;
    try {
      step = await this.#decide(this.#request, needs);
    } catch (error) {
      step = { kind: "refused", error };
    }
    if (step.kind === "again" && !endsTurn(step.reason)) return step;
    this.#endTurn();
    return step.kind === "refused" ? this.#submission.afterRefusal(step.error, this.round.turn) : step;
  }

  async #decide(request: StampedRequest, needs: readonly Need[]): Promise<ActivityStep> {
    if (this.#preparation === undefined) {
      const { organizationId, body, evidence, source, address, records, cost, namesParent } = request;
      const trouble = this.#dependencies.signerTrouble();
      if (trouble !== undefined) throw new Fault("unavailable", trouble);
      const { stateShare = 1 } = request;
      const length = this.#dependencies.organizations.stateLength(organizationId);
      const stateLength = typeof length === "number" ? length : await length;
      const known = verifiesFirst(this.#dependencies, request, stateLength * stateShare)
        ? await authenticateQuery(this.#dependencies, organizationId, evidence, body, "named", source)
        : undefined;
      const isOfParent =
        request.openToParent === true && known !== undefined && known.organizationId !== organizationId;
      const target = request.vote?.sealedBody ?? request.vote?.target.body;
      const subOrganizationId = namesParent === true ? organizationId : undefined;
      const caller = known?.userId;
      const actingParentId = isOfParent ? known.organizationId : undefined;
      const checkSource = claimedSourceCheck(this.#dependencies, request);
      const sent = { body, evidence, checkSource, address };
      const asked = { ...sent, subOrganizationId, target, records, caller, actingParentId };
      // Strangers are not asked about for; and of the few keys that most requests name, the pages make no difference.
      const factsLength =
        records.length > manyRecords
          ? factsOfRecords(records.length, await findFactsLength(this.#dependencies.store, organizationId))
          : 0;
      const parentLength =
        request.isProven === true && actingParentId !== undefined
          ? await this.#dependencies.organizations.stateLength(actingParentId)
          : 0;
      const weighed = { ...asked, cost, stateShare, stateLength, parentLength, factsLength };
      this.#preparation = this.#dependencies.organizations.begin(organizationId, weighed);
    }
    const step = await this.#preparation.attempt(this.round, needs);
    if (step.kind === "again") return step;
    if (step.kind === "refused") {
      this.#endTurn();
      return this.#whatRefused(request, step.error);
    }
    // A commit is waited for without a place among those that the signer is asked about. The committer has it before that is left: at
    // every moment its bytes are counted in one of the two.
    const committing = this.#commit(request, step.value);
    this.#endTurn();
    return committing;
  }

  #endTurn(): void {
    this.#preparation?.close();
    this.#preparation = undefined;
    this.#request = undefined;
  }

  async #whatRefused(request: StampedRequest, error: unknown): Promise<ActivityStep> {
    const { organizationId, body, evidence, source } = request;
    if (error instanceof Fault && error.code === "already_exists") return again("executed");
    if (isOtherAddress(error)) {
      // Nobody has verified the evidence yet. A stranger hears that it is one, and nothing about addresses.
      await authenticateQuery(this.#dependencies, organizationId, evidence, body, "named", source);
      return again("callerAdded");
    }
    if (isUnknownCredential(error)) {
      // Unless the activity is open to parents, the signer looks no further than the organization itself; a member of its parent is told
      // that reading is all it may.
      const caller = await authenticateQuery(this.#dependencies, organizationId, evidence, body, "named", source).catch(
        // The signer knows whether the request's kind is also looked for in sub-organizations, which has words of its own.
        (fault: unknown) => Promise.reject(isUnknownCredential(fault) ? error : fault),
      );
      if (caller.organizationId === organizationId || request.openToParent === true) return again("callerAdded");
      throw organizationMismatch(organizationId, caller.organizationId);
    }
    if (isInvalidEvidence(error)) {
      // Evidence that cannot even be read names no credential: it is refused here, in the same words.
      this.#dependencies.refusedCredentials?.note(organizationId, claimedCredential(this.#dependencies, evidence));
    }
    throw error;
  }

  async #commit(request: StampedRequest, { prepared, run }: Decided): Promise<ActivityStep> {
    passed("prepared");
    const { item, row, vote, isNew } = toActivityItem(prepared, request);
    const { committer, store, organizations } = this.#dependencies;
    const { organizationId } = request;
    const replyGone = () => organizations.replyGone(organizationId);
    try {
      await refuseTakenContacts(store, item);
    } catch (error) {
      replyGone();
      // Requests behind this one stand on a state that is never committed. A birth alone changes none.
      if (item.next !== undefined) run.abandon();
      throw error;
    }
    const outcome = await committer.commit(item, run).finally(replyGone);
    if (outcome.kind === "conflict") return again("conflict");
    const proven = await this.#appProofs(item, row);
    if (isNew) {
      const result = outcome.result ?? row.result;
      // The submitter has approved by submitting, and may take it back.
      const rights = row.status === waitingStatus ? { canApprove: false, canReject: true } : noRights;
      // Who sent it has it: the answer shows all of it, whatever the row shows.
      const { parameters, body } = request;
      const shown = { ...row, body, result };
      return { kind: "done", value: { organizationId, row: shown, votes: [vote], rights, parameters, ...proven } };
    }
    const stored = await findActivity(store, organizationId, row.activityId);
    if (stored === undefined) throw new Fault("internal", "a committed activity is not there");
    const read = await readActivity(store, organizationId, stored, vote.user.userId);
    const hasSentBody = request.vote === undefined;
    const reader = { userId: vote.user.userId, hasSentBody };
    const isShown = outcome.result !== undefined && maySeeBearer(read, reader);
    // A sealed result is written to its row with the next group only.
    const result = isShown ? (outcome.result ?? null) : read.row.result;
    const body = hasSentBody ? request.body : read.row.body;
    return { kind: "done", value: { ...read, row: { ...read.row, body, result }, ...proven } };
  }

  /** What failed is answered by its failure alone: its proofs are opened for whoever asks for them. */
  async #appProofs({ organizationId, leaf, appProofs }: CommitItem, { activityId, failure }: ActivityRow) {
    if (appProofs === undefined || failure !== null) return {};
    const { boot, number, leaf: marked } = leaf;
    const named = { organizationId, activityId, boot, number, leaf: marked, sealed: appProofs.sealed };
    return { appProofs: appProofsOf(await this.#dependencies.committer.openReleased(named)) };
  }
}

/** A new turn: what it needs beside the declared records is found out anew. */
function again(reason: "conflict" | "executed" | "callerAdded"): ActivityStep {
  return { kind: "again", reason, needs: declaredOnly };
}

/** More look-ups than these are not made for a stranger. */
const manyRecords = 16;
/** Nor does a stranger take the place of a request that costs more. */
const muchCost = 10_000;

/**
 * Whether a stamp is verified here before the signer verifies it all the same: where it is likely to be a stranger's, or where a
 * stranger would take a place in the queue or cause a lot of look-ups before the signer sees its stamp.
 */
function verifiesFirst(dependencies: SubmitDependencies, request: StampedRequest, written: number): boolean {
  const { organizations, refusedCredentials } = dependencies;
  const { organizationId, records, evidence } = request;
  const cost = request.cost + costOfState({ read: 0, written });
  // For a stranger, too, the signer would ask for the parent's members, which are many.
  if (request.openToParent === true) return true;
  if (organizations.isCrowded(organizationId) || records.length > manyRecords || cost > muchCost) return true;
  if (refusedCredentials === undefined || refusedCredentials.areNone()) return false;
  return refusedCredentials.has(organizationId, claimedCredential(dependencies, evidence));
}
