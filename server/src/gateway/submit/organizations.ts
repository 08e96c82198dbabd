/**
 * Who prepares on what. The first request of an organization offers its state whole, from the database; those behind it
 * follow on the state the one before led to, without waiting for its commit. They commit in that order. When a commit
 * misses (another gateway was faster), the whole run is abandoned and each starts again from the database.
 */
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { noSuchOrganization } from "../../endpoints/known_faults.ts";
import { FrameTooLong } from "../../frames/frame.ts";
import type { Missing, OfferedState, Prepared, Reply, Request } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import type { RecordWish } from "../../state/record_wish.ts";
import { passed } from "../../state/steps.ts";
import {
  findPages,
  findVersion,
  loadHeaders,
  loadJournal,
  loadState,
  type StoredState,
} from "../../store/organizations.ts";
import { type FoundRecord, findRecords } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { type Admission, createAdmission } from "../bounds/admission.ts";
import { admissionLimits } from "../bounds/memory_bounds.ts";
import type { LinkTurn, SignerLink } from "../link/signer_link.ts";

export type Organizations = {
  /** What the signer makes of a stamped body, and whether the run it belongs to still stands. */
  prepare(organizationId: string, request: Stamped): Promise<{ prepared: readonly Prepared[]; run: Run }>;
  /** Whether so many wait for an organization that a stranger should not join them. */
  isCrowded(organizationId: string): boolean;
  /** Everything is offered anew: the signer is another one. */
  forgetAll(): void;
};

/** What a client sent, and the body of the activity it votes on if it does. */
export type Stamped = Pick<Request<"prepare">, "body" | "evidence" | "target"> & {
  /** The records that the activity, or the one it votes on, looks at. */
  records: readonly RecordWish[];
  /** What it costs the signer, in the units of `endpoints/cost.ts`. */
  cost: number;
  /** Who sent it, where that is known: whenever others of the organization wait. */
  caller?: string | undefined;
};

/** What is sent along beside the state. */
type Brought = Pick<Request<"prepare">, "records" | "wishes" | "pages">;

/** A chain of requests, each building on the one before. */
export type Run = {
  readonly isCurrent: () => boolean;
  abandon(): void;
  /** The database has taken the state of this version. */
  reached(version: number): void;
  /** Whether the newest state that it led to is the organization's newest, once the database has taken it. */
  isNewest(): Promise<boolean>;
};

/** One that others may follow. */
type OpenRun = Run & {
  /** The newest that it began with or led to, committed or not. */
  version: number;
  /** Whether the database took this version, once that is known; an abandoned run's never counts. */
  hasReached(version: number): Promise<boolean>;
};

/** For what is decided once and followed by nothing. */
export const loneRun: Run = {
  isCurrent: () => true,
  abandon: () => undefined,
  reached: () => undefined,
  isNewest: async () => true,
};

/** The signer's reply; or its refusal of the state, which another state may mend; or one on a state that is no longer the newest. */
type Answer = Reply<"prepare"> | { kind: "refused"; fault: Fault } | { kind: "overtaken" };

/** What the signer has said it lacks. */
type Wanted = Pick<Missing, "linksFrom" | "journal">;

type Organization = {
  run: OpenRun | undefined;
  offering: Promise<StoredState> | undefined;
  busy: number;
};

/** Then the caller pauses before it comes again. */
const maxAttempts = 7;
const maxOrganizations = 5_000;
const maxCommitMs = 10_000;
const lookUpsAtOnce = 50;

export function createOrganizations(
  store: Store,
  link: SignerLink,
  onRefused: (organizationId: string, message: string) => void,
  admission: Admission = createAdmission(admissionLimits),
): Organizations {
  const organizations = new Map<string, Organization>();

  function startRun(organizationId: string, organization: Organization, version: number): OpenRun {
    let committed = version;
    let waiting: { version: number; resolve(hasReached: boolean): void }[] = [];
    const run: OpenRun = {
      version,
      isCurrent: () => organization.run === run,
      abandon() {
        if (organization.run !== run) return;
        organization.run = undefined;
        organization.offering = undefined;
        for (const { resolve } of waiting) resolve(false);
      },
      reached(newest) {
        committed = Math.max(committed, newest);
        for (const { version, resolve } of waiting) if (version <= committed) resolve(true);
        waiting = waiting.filter(({ version }) => version > committed);
      },
      async hasReached(version) {
        if (version <= committed || !run.isCurrent()) return run.isCurrent();
        return new Promise((resolve) => {
          waiting.push({ version, resolve });
          // Commits are answered long before; should one be forgotten, nobody waits for it for ever.
          setTimeout(resolve, maxCommitMs, false).unref();
        });
      },
      async isNewest() {
        const { version } = run;
        if (!(await run.hasReached(version))) return false;
        const newest = (await findVersion(store, organizationId)) ?? version;
        // What the run itself has led to since is no reason to ask again.
        return newest <= run.version && (await run.hasReached(newest));
      },
    };
    organization.run = run;
    return run;
  }

  /** A thousand look-ups at once would keep everybody else waiting for as long. */
  async function load(organizationId: string, wishes: readonly RecordWish[]): Promise<FoundRecord[]> {
    const found: FoundRecord[] = [];
    for (let at = 0; at < wishes.length; at += lookUpsAtOnce) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      const some = wishes.slice(at, at + lookUpsAtOnce);
      found.push(...(await Promise.all(some.map((wish) => findRecords(store, organizationId, wish)))).flat());
    }
    return found;
  }

  async function loadOffer(organizationId: string): Promise<StoredState> {
    const state = await loadState(store, organizationId);
    if (state === undefined) throw noSuchOrganization();
    const named = versionIn(state.header);
    if (named === undefined || named === state.version) return state;
    // It would be decided on and never be committed.
    throw refuse(
      organizationId,
      changedRows(organizationId, `its row says version ${state.version}, its head ${named}`),
    );
  }

  /** Nobody has looked at the caller's stamp yet, and what is wrong with the rows is no stranger's business. */
  function refuse(organizationId: string, message: string): Fault {
    onRefused(organizationId, message);
    return new Fault("unavailable", "the organization's stored state is refused; its operator has been told");
  }

  /** Sends one request: as the first of a run with the state and what belongs to it, or behind the others without. */
  async function ask(
    turn: LinkTurn,
    organization: Organization,
    request: Omit<Request<"prepare">, "state" | "journal">,
    { linksFrom, journal: slot }: Wanted,
  ): Promise<{ reply: Answer; run: OpenRun; offered?: number }> {
    const { organizationId } = turn;
    while (organization.run === undefined) {
      const isFresh = organization.offering === undefined;
      organization.offering ??= loadOffer(organizationId);
      const { offering } = organization;
      let state: StoredState;
      try {
        state = await offering;
      } catch (error) {
        if (organization.offering === offering) organization.offering = undefined;
        throw error;
      }
      // Links and journal are those of this very version: whatever is committed meanwhile, they fit it.
      const { version } = state;
      const links = linksFrom === undefined ? [] : await loadHeaders(store, organizationId, linksFrom, version);
      const entries = slot === undefined ? undefined : await loadJournal(store, organizationId, slot, version);
      if (organization.run !== undefined || organization.offering !== offering) continue;
      const run = startRun(organizationId, organization, version);
      // The run goes on from here without it, and a thousand organizations' states would be a lot to keep.
      organization.offering = undefined;
      const journal = entries && Buffer.concat(entries);
      const first = { ...request, state: offer(state, links), journal };
      return {
        reply: await (isFresh ? send(turn, run, first) : follow(turn, run, first)),
        run,
        offered: version,
      };
    }
    const { run } = organization;
    const next = { ...request, state: undefined, journal: undefined };
    return { reply: await follow(turn, run, next), run };
  }

  /**
   * A refusal that nobody stores is decided on the state at hand, and no commit of its own shows that this is the organization's. Another
   * gateway may have moved on: a user it has added would be a stranger here. Or the state is still to be committed, and never will be.
   */
  async function follow(turn: LinkTurn, run: OpenRun, request: Request<"prepare">): Promise<Answer> {
    try {
      return await send(turn, run, request);
    } catch (error) {
      if (!isDecision(error)) throw error;
      if (!(await run.isNewest())) return { kind: "overtaken" };
      throw error;
    }
  }

  async function send(turn: LinkTurn, run: OpenRun, request: Request<"prepare">): Promise<Answer> {
    passed("asking");
    try {
      const reply = await link.request("prepare", request, turn);
      // At once, before the next reply is looked at: it was decided on this version.
      if (reply.kind === "prepared") run.version = Math.max(run.version, reply.value[0]?.next?.version ?? 0);
      return reply;
    } catch (error) {
      if (error instanceof Fault && error.code === "aborted") return { kind: "refused", fault: error };
      if (error instanceof FrameTooLong) {
        const why = changedRows(turn.organizationId, "its rows are longer than anything that the signer wrote");
        return { kind: "refused", fault: new Fault("aborted", why) };
      }
      throw error;
    }
  }

  async function prepare(organizationId: string, organization: Organization, request: Stamped) {
    const { body, evidence, target, cost } = request;
    let wanted: Wanted = { linksFrom: undefined, journal: undefined };
    const bring = async (): Promise<Brought> => {
      return { records: await load(organizationId, request.records), wishes: [], pages: [] };
    };
    let brought = await bring();
    let refused: { version: number | undefined; message: string; isRepeated: boolean } | undefined;
    /** What was given and is asked for again: it is not what the state says, and no other gateway's doing. */
    let vain: string | undefined;
    const askedPages = new Set<string>();
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const asked = await ask({ organizationId, cost }, organization, { body, evidence, target, ...brought }, wanted);
      const { reply, run } = asked;
      if (reply.kind === "prepared") return { prepared: reply.value, run };
      if (reply.kind === "missing" && reply.value.pages.length + reply.value.wishes.length > 0) {
        // These come without the state they belong to: pages by their digests, records by their MACs.
        const { pages, wishes } = reply.value;
        if (pages.some((name) => askedPages.has(name))) vain = `page \`${pages[0]}\` is missing or was changed`;
        for (const name of pages) askedPages.add(name);
        const found = await load(
          organizationId,
          wishes.map((wish) => JSON.parse(wish) as RecordWish),
        );
        brought = {
          records: [...brought.records, ...found],
          wishes: [...brought.wishes, ...wishes],
          pages: [...brought.pages, ...(await findPages(store, organizationId, pages))],
        };
        continue;
      }
      run.abandon();
      if (reply.kind === "overtaken") {
        brought = await bring();
        continue;
      }
      if (reply.kind === "refused") {
        const { message } = reply.fault;
        const version = asked.offered ?? refused?.version;
        // Refused, and refused again as it was read anew: that is what the database holds.
        const isSame = asked.offered !== undefined && asked.offered === refused?.version;
        if (isSame) throw refuse(organizationId, message);
        // Overtaken: what was offered, or followed on, is older than what was released meanwhile. The database knows better; what
        // somebody has begun to read before may not.
        refused = { version, message, isRepeated: message === refused?.message };
        organization.offering = undefined;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt));
        // What was looked for in vain may have been committed since.
        brought = await bring();
        continue;
      }
      // What is missing can only be given together with the state it belongs to, so the run ends here.
      const { linksFrom, journal } = reply.value;
      const isFirst = asked.offered !== undefined;
      if (isFirst && journal !== undefined && journal === wanted.journal) {
        vain = `its executed activities of minute ${journal} are not those that its state knows`;
      }
      if (isFirst && linksFrom !== undefined && linksFrom === wanted.linksFrom) {
        vain = `its headers from version ${linksFrom} on are missing or were changed`;
      }
      wanted = { linksFrom: linksFrom ?? wanted.linksFrom, journal: journal ?? wanted.journal };
    }
    // Words about states name their versions: the same words to the last are about rows that no other state mends.
    if (refused?.isRepeated === true) throw refuse(organizationId, refused.message);
    if (vain !== undefined) throw refuse(organizationId, changedRows(organizationId, vain));
    throw new Fault("aborted", "the organization is being changed by others; try again");
  }

  return {
    async prepare(organizationId, request) {
      let organization = organizations.get(organizationId);
      if (organization === undefined) {
        organization = { run: undefined, offering: undefined, busy: 0 };
        organizations.set(organizationId, organization);
        forgetIdle(organizations);
      }
      const weight = { cost: request.cost, bytes: request.body.length + (request.target?.length ?? 0) };
      organization.busy += 1;
      let isIn = false;
      try {
        const turn = admission.enter(organizationId, weight, request.caller);
        if (turn !== undefined) await turn;
        isIn = true;
        return await prepare(organizationId, organization, request);
      } catch (error) {
        // What the signer refuses to decide on is not worth following; the next request offers the database anew.
        if (error instanceof Fault && error.code === "unavailable") organization.run?.abandon();
        throw error;
      } finally {
        if (isIn) admission.leave(organizationId, weight);
        organization.busy -= 1;
        if (organization.busy === 0 && organization.run === undefined) organizations.delete(organizationId);
      }
    },
    isCrowded: admission.isCrowded,
    forgetAll() {
      for (const { run } of organizations.values()) run?.abandon();
    },
  };
}

/** In the words of the signer, for what it never gets to see. */
function changedRows(organizationId: string, what: string): string {
  return `organization ${organizationId}: ${what}; stop the server and run \`npx keystead check-database\``;
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

/** Organizations share nothing, so forgetting one costs it no more than offering its state again. */
function forgetIdle(organizations: Map<string, Organization>): void {
  if (organizations.size <= maxOrganizations) return;
  for (const [id, { busy }] of organizations) {
    if (busy > 0) continue;
    organizations.delete(id);
    return;
  }
}

function offer({ header, directory, pages }: StoredState, links: readonly Uint8Array[]): OfferedState {
  return { header, directory, pages, links };
}
