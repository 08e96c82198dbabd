/** One request's turn with the signer: its place among the others, what was brought for it, and what came of each attempt. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { needsOrigins } from "../../evidence/evidence.ts";
import type { Prepared, Request } from "../../frames/messages.ts";
import { sha256 } from "../../state/digest.ts";
import type { RecordWish } from "../../state/record_wish.ts";
import type { Store } from "../../store/store.ts";
import type { Admission } from "../bounds/admission.ts";
import type { ReadForSubmit } from "../bounds/query_queue.ts";
import type { LinkTurn } from "../link/signer_link.ts";
import type { AnsweredAttempt, Organization, Stamped } from "./organization.ts";
import { type WeighedRequest, weightAsSent, weightOf } from "./request_weight.ts";
import type { Round, RoundResult } from "./round.ts";
import type { Run } from "./run.ts";
import {
  bring,
  declaredOnly,
  everythingAnew,
  explainRepeated,
  type Need,
  needsState,
  noSupplies,
  partedBySpeed,
  type Source,
} from "./wishes.ts";

export type PrepareRequest = Stamped &
  WeighedRequest & {
    /** The records that the activity, or the one it votes on, looks at. */
    records: readonly RecordWish[];
    /** Who sent it, where that is known: whenever others of the organization wait. */
    caller?: string | undefined;
    /** Where it came from, if that is known. */
    address?: string | undefined;
    /** The organization's parent, where the caller is a user of that. */
    actingParentId?: string | undefined;
  };

/** What the signer made of a stamped body, and the run it belongs to. */
export type Decided = { prepared: readonly Prepared[]; run: Run };

/** A state that the signer refused. */
type RefusedState = { version: number | undefined; message: string; isRepeated: boolean };

export type PreparationDependencies = { store: Store; admission: Admission; readForSubmit: ReadForSubmit };

/** As nearly every request has. They are not worth being measured. */
const fewReads = 16;

export class Preparation {
  readonly #organization: Organization;
  readonly #admission: Admission;
  readonly #readForSubmit: ReadForSubmit;
  readonly #request: PrepareRequest;
  /** As it was expected before anything was read for it, and as it counts in admission. */
  readonly #expected: ReturnType<typeof weightOf>;
  #weight: ReturnType<typeof weightOf>;
  readonly #turn: LinkTurn;
  readonly #source: Source;
  readonly #supplies = noSupplies();
  #isAdmitted = false;
  /** What its organization is to rest for what was read here. */
  #restMs = 0;
  #refused: RefusedState | undefined;
  /** What was given and wished for again. */
  #repeated: string | undefined;

  constructor(
    { store, admission, readForSubmit }: PreparationDependencies,
    organization: Organization,
    request: PrepareRequest,
  ) {
    const { organizationId, expect, release, issuers, orders } = organization;
    const { body, records: declared, actingParentId, address } = request;
    this.#organization = organization;
    this.#admission = admission;
    this.#readForSubmit = readForSubmit;
    this.#request = request;
    // The first of those that come together offers the state; the others follow it.
    this.#expected = weightOf(request, organization.run === undefined && !organization.isBusy);
    this.#weight = this.#expected;
    this.#turn = { organizationId, cost: this.#expected.cost };
    const fingerprint = () => toHex(sha256(body));
    const from = { store, organizationId, declared, actingParentId, address };
    this.#source = { ...from, expect, release, fingerprint, issuers, orders };
    organization.enter();
  }

  /** Brings what is needed and asks the signer once. The place among the others is kept until `close`. */
  async attempt(round: Round, needs: readonly Need[]): Promise<RoundResult<Decided, Need>> {
    const organization = this.#organization;
    try {
      const { slow, quick } = partedBySpeed(needs);
      if (slow.length > 0) {
        this.#leavePlace();
        await bring(this.#supplies, this.#source, slow);
      }
      if (!this.#isAdmitted) {
        const place = this.#admission.enter(organization.organizationId, this.#weight, this.#request.caller);
        if (place !== undefined) await place;
        this.#isAdmitted = true;
      }
      const reading = this.#read(this.#withExpected(quick));
      if (reading !== undefined) await reading;
      const step = this.#toStep(await organization.ask(this.#turn, this.#request, this.#supplies, this.#onSend));
      return step.kind === "again" && round.isLastAttempt ? this.#giveUp() : step;
    } catch (error) {
      // What the signer refuses to decide on is not worth following; the next request offers the database anew.
      if (error instanceof Fault && error.code === "unavailable") organization.run?.abandon();
      return { kind: "refused", error };
    }
  }

  /**
   * Reading a thousand records is work of the thread that answers queries, and counts to what the organization may have of it. It does
   * not wait for that here: others of the organization would wait behind the place that it holds. It rests afterwards.
   */
  #read(needs: readonly Need[]): Promise<void> | void {
    const reading = () => bring(this.#supplies, this.#source, needs);
    if (needs.length <= fewReads && this.#source.declared.length <= fewReads) return reading();
    return Promise.resolve(this.#readForSubmit(this.#organization.organizationId, reading)).then((restMs) => {
      this.#restMs = Math.max(this.#restMs, restMs);
    });
  }

  readonly #onSend = (sent: Request<"prepare">): void => {
    const weight = weightAsSent(this.#request, this.#expected, sent);
    this.#admission.correct(this.#weight, weight);
    this.#weight = weight;
  };

  /** Whenever all is read anew, what the signer wished for last time comes along: asked for, it would cost another round. */
  #withExpected(needs: readonly Need[]): readonly Need[] {
    if (!needsOrigins(this.#request.evidence) || needs[0]?.kind !== "declared") return needs;
    const value = this.#organization.expected();
    return value === undefined ? needs : [...needs, { kind: "expectedState", value }];
  }

  /** Whatever came of it, its place is another's now. */
  close(): void {
    this.#leavePlace();
    this.#organization.leave();
  }

  #leavePlace(): void {
    if (!this.#isAdmitted) return;
    this.#admission.leave(this.#organization.organizationId, this.#weight, this.#restMs);
    this.#isAdmitted = false;
    this.#restMs = 0;
  }

  #toStep({ answer, run, offered }: AnsweredAttempt): RoundResult<Decided, Need> {
    if (answer.kind === "prepared") return { kind: "done", value: { prepared: answer.value, run } };
    if (answer.kind === "overtaken") {
      run.abandon();
      return { kind: "again", reason: "overtaken", needs: everythingAnew };
    }
    if (answer.kind === "stateRefused") {
      run.abandon();
      return this.#afterRefusal(answer.message, offered);
    }
    const needs = answer.value;
    this.#repeated = explainRepeated(this.#supplies, needs, offered !== undefined) ?? this.#repeated;
    if (needsState(needs)) run.abandon();
    return { kind: "again", reason: "lacking", needs };
  }

  #afterRefusal(message: string, offered: number | undefined): RoundResult<never, Need> {
    const before = this.#refused;
    // Refused, and refused again as it was read anew: that is what the database holds.
    if (offered !== undefined && offered === before?.version) throw this.#organization.refuse(message);
    // Overtaken: what was offered, or followed on, is older than what was released meanwhile. The database knows better; what
    // somebody has begun to read before may not.
    this.#refused = { version: offered ?? before?.version, message, isRepeated: message === before?.message };
    this.#organization.forgetOffer();
    return { kind: "again", reason: "stateRefused", needs: everythingAnew };
  }

  /** After the last attempt of a turn. */
  #giveUp(): RoundResult<never, Need> {
    const organization = this.#organization;
    // Words about states name their versions: the same words to the last are about rows that no other state mends.
    if (this.#refused?.isRepeated === true) throw organization.refuse(this.#refused.message);
    if (this.#repeated !== undefined) throw organization.refuse(organization.changedRows(this.#repeated));
    return { kind: "again", reason: "attemptsUsed", needs: declaredOnly };
  }
}
