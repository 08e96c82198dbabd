/**
 * One organization's requests to the signer. The first of a run offers the state whole, from the database; those behind it follow on
 * the state that the one before led to, without waiting for its commit. They commit in that order. When a commit misses (another
 * gateway was faster), the whole run is abandoned and each starts again from the database.
 */
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import { FrameTooLong } from "../../frames/frame.ts";
import type { OfferedState, Prepared, Reply, Request } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import type { Lru } from "../../state/lru.ts";
import { passed } from "../../state/steps.ts";
import type { UnreleasedLeaf } from "../../store/leaves.ts";
import { loadHeaders, loadJournal, loadState, type StoredState } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import type { CourierOrders } from "../link/courier_orders.ts";
import type { LinkTurn, SignerLink } from "../link/signer_link.ts";
import { lengthOf } from "./page_lengths.ts";
import { loadGaps } from "./releases.ts";
import { ipAllowlistsIn, OpenRun, type RunHolder } from "./run.ts";
import type { IssuerSource, OtherState, Supplies } from "./wishes.ts";

/** What a client sent, and the body of the activity it votes on if it does. */
export type Stamped = Pick<Request<"prepare">, "body" | "evidence" | "target"> & {
  /** Where it runs, if the body names the parent of that. */
  subOrganizationId?: string | undefined;
  /** Throws where the IP allowlists of the state that it will be decided on do not name its address; undefined where nobody asks. */
  checkSource?: ((page: Uint8Array) => void) | undefined;
};

/** The signer's reply; or a refusal on a state that is not the newest; or its refusal of the state, which another state may mend. */
export type PrepareAnswer = Reply<"prepare"> | { kind: "overtaken" } | { kind: "stateRefused"; message: string };

/** `offered`: the version of the state that came with the request, if one did. */
export type AnsweredAttempt = { answer: PrepareAnswer; run: OpenRun; offered: number | undefined };

/** What the organizations of a gateway share. */
export type OrganizationContext = {
  store: Store;
  link: SignerLink;
  /** The operator hears what is wrong with an organization's rows. */
  onRefused(organizationId: string, message: string): void;
  /** What the signer is expected to wish for of other organizations, by the one that asks. */
  expected: Lru<OtherState>;
  /** How long organizations' states were when they were last seen, in bytes. */
  stateLengths: Lru<number>;
  issuers: IssuerSource;
  orders: CourierOrders;
  /** It has no request here, and no run that one could follow. */
  onIdle(organizationId: string): void;
};

export class Organization implements RunHolder {
  readonly organizationId: string;
  readonly issuers: IssuerSource;
  readonly orders: CourierOrders;
  run: OpenRun | undefined;
  #busy = 0;
  readonly #context: OrganizationContext;
  /** The state that the first of the next run will offer, while it is read. */
  #offering: Promise<StoredState> | undefined;

  constructor(context: OrganizationContext, organizationId: string) {
    this.#context = context;
    this.issuers = context.issuers;
    this.orders = context.orders;
    this.organizationId = organizationId;
  }

  /** What the signer wished for last time of its parent, for those whose evidence needs it. */
  expected(): OtherState | undefined {
    return this.#context.expected.get(this.organizationId);
  }

  readonly expect = (organizationId: string, state: OtherState): void => {
    const { expected } = this.#context;
    if (expected.get(organizationId)?.linksFrom !== state.linksFrom) expected.set(organizationId, state, 1);
  };

  /** Whatever comes of it, the signer says with its next reply. What its result is nobody asks here. */
  readonly release = async ({ leaf }: UnreleasedLeaf): Promise<void> => {
    const { store, link } = this.#context;
    const rows = [{ leaf, sealed: undefined }];
    const [reply] = await link.request("release", { rows, links: [] });
    if (reply?.kind !== "again") return;
    await link.request("release", { rows, links: await loadGaps(store, reply.value) });
  };

  /** Whether it has requests here. */
  get isBusy(): boolean {
    return this.#busy > 0;
  }

  enter(): void {
    this.#busy += 1;
  }

  leave(): void {
    this.#busy -= 1;
    if (this.#busy === 0 && this.run === undefined) this.#context.onIdle(this.organizationId);
  }

  /**
   * Sends one request: as the first of a run with the state and what belongs to it, or behind the others without. `onSend` hears what
   * is sent.
   */
  async ask(
    turn: LinkTurn,
    stamped: Stamped,
    supplies: Supplies,
    onSend: (request: Request<"prepare">) => void = () => undefined,
  ): Promise<AnsweredAttempt> {
    const { store } = this.#context;
    const { linksFrom, journal: slot } = supplies;
    while (this.run === undefined) {
      const isFresh = this.#offering === undefined;
      this.#offering ??= this.#loadOffer();
      const offering = this.#offering;
      let state: StoredState;
      try {
        state = await offering;
      } catch (error) {
        if (this.#offering === offering) this.#offering = undefined;
        throw error;
      }
      // Links and journal are those of this very version: whatever is committed meanwhile, they fit it.
      const { version } = state;
      const links = linksFrom === undefined ? [] : await loadHeaders(store, this.organizationId, linksFrom, version);
      const entries = slot === undefined ? undefined : await loadJournal(store, this.organizationId, slot, version);
      if (this.run !== undefined || this.#offering !== offering) continue;
      const ipAllowlists = ipAllowlistsIn(state.pages);
      const refusal = sourceRefusal(stamped, ipAllowlists);
      if (refusal !== undefined) {
        // Read anew for the next request, however long nobody is let in.
        this.#offering = undefined;
        throw refusal;
      }
      // From here to the frame nothing is waited for: whoever sees this run follows what it sends now.
      const run = new OpenRun(store, this, version, state.pages);
      this.run = run;
      this.#noteLength(run);
      // The run goes on from here without it, and a thousand organizations' states would be a lot to keep.
      this.#offering = undefined;
      const journal = entries && Buffer.concat(entries);
      const first = toRequest(stamped, supplies, offer(state, links), journal);
      onSend(first);
      return {
        answer: await this.#send(turn, run, first, isFresh),
        run,
        offered: version,
      };
    }
    const { run } = this;
    const refusal = sourceRefusal(stamped, run.ipAllowlists);
    if (refusal !== undefined) {
      // Another gateway may have changed the lists.
      if (await run.isNewest()) throw refusal;
      return { answer: { kind: "overtaken" }, run, offered: undefined };
    }
    const next = toRequest(stamped, supplies, undefined, undefined);
    onSend(next);
    return { answer: await this.#send(turn, run, next, false), run, offered: undefined };
  }

  /** The next run reads the state anew, whatever somebody has begun to read. */
  forgetOffer(): void {
    this.#offering = undefined;
  }

  /** Nobody has looked at the caller's stamp yet, and what is wrong with the rows is no stranger's business. */
  refuse(message: string): Fault {
    this.#context.onRefused(this.organizationId, message);
    return new Fault(
      "unavailable",
      "the stored state of this organization failed verification; the operator's log says why",
    );
  }

  /** In the words of the signer, for what it never gets to see. */
  changedRows(what: string): string {
    return `organization ${this.organizationId}: ${what}; stop the server and run \`npx keystead check-database\``;
  }

  #follow(run: OpenRun, [own, ...births]: readonly Prepared[]): void {
    if (own?.next !== undefined) {
      run.ledTo(own.next);
      this.#noteLength(run);
    }
    for (const { organizationId, next } of births) {
      if (next !== undefined) this.#context.stateLengths.set(organizationId, lengthOf(next.pages), 1);
    }
  }

  #noteLength({ stateLength }: OpenRun): void {
    this.#context.stateLengths.set(this.organizationId, stateLength, 1);
  }

  async #loadOffer(): Promise<StoredState> {
    const state = await loadState(this.#context.store, this.organizationId);
    if (state === undefined) throw noSuchOrganization();
    const named = versionIn(state.header);
    if (named === undefined || named === state.version) return state;
    // It would be decided on and never be committed.
    throw this.refuse(this.changedRows(`its row says version ${state.version}, its head ${named}`));
  }

  async #send(turn: LinkTurn, run: OpenRun, request: Request<"prepare">, isFresh: boolean): Promise<PrepareAnswer> {
    passed("asking");
    try {
      const reply = await this.#context.link.request("prepare", request, turn);
      // At once, before the next reply is looked at: it was decided on this version.
      if (reply.kind === "prepared") this.#follow(run, reply.value);
      return reply;
    } catch (error) {
      if (error instanceof FrameTooLong) {
        const message = this.changedRows("its rows are longer than anything that the signer wrote");
        return { kind: "stateRefused", message };
      }
      if (error instanceof Fault && error.code === "aborted") return { kind: "stateRefused", message: error.message };
      // A refusal that nobody stores is decided on the state at hand, and no commit of its own shows that this is the organization's.
      // Another gateway may have moved on: a user it has added would be a stranger here. Or the state is still to be committed, and
      // never will be. A state that was read for this very request is the newest.
      if (isFresh || !isDecision(error) || (await run.isNewest())) throw error;
      return { kind: "overtaken" };
    }
  }
}

/** Why a request may not come from where it does, by these lists. */
function sourceRefusal({ checkSource }: Stamped, ipAllowlists: Uint8Array | undefined): unknown {
  if (ipAllowlists === undefined || checkSource === undefined) return undefined;
  try {
    checkSource(ipAllowlists);
    return undefined;
  } catch (error) {
    return error;
  }
}

function toRequest(
  { body, evidence, subOrganizationId, target }: Stamped,
  { records, wishes, pages, others, statements }: Supplies,
  state: OfferedState | undefined,
  journal: Uint8Array | undefined,
): Request<"prepare"> {
  return { body, evidence, subOrganizationId, state, journal, target, records, wishes, pages, others, statements };
}

function offer({ header, directory, pages }: StoredState, links: readonly Uint8Array[]): OfferedState {
  return { header, directory, pages, links };
}

/** The version that a head names; undefined for bytes that are none, which are the signer's to refuse. */
function versionIn(header: Uint8Array): number | undefined {
  try {
    return decodeHeader(withoutMac(header)).version;
  } catch {
    return undefined;
  }
}

/** A refusal by what the state says. What was executed before stays so, whoever has moved on. */
function isDecision(error: unknown): boolean {
  return error instanceof Fault && !["unavailable", "internal", "already_exists"].includes(error.code);
}
