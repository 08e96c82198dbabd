/**
 * Who prepares on what. The first request of an organization offers its state whole, from the database; those behind it
 * follow on the state the one before led to, without waiting for its commit. They commit in that order. When a commit
 * misses (another gateway was faster), the whole run is abandoned and each starts again from the database.
 */
import { Fault } from "@keystead/core/fault.ts";
import { noSuchOrganization } from "../endpoints/known_faults.ts";
import type { Missing, OfferedState, Prepared, Reply, Request } from "../frames/messages.ts";
import type { RecordWish } from "../state/record_wish.ts";
import { findPages, loadHeaders, loadJournal, loadState, type StoredState } from "../store/organizations.ts";
import { type FoundRecord, findRecords } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { SignerLink } from "./signer_link.ts";

export type Organizations = {
  /** What the signer makes of a stamped body, and whether the run it belongs to still stands. */
  prepare(organizationId: string, request: Stamped): Promise<{ prepared: readonly Prepared[]; run: Run }>;
  /** Whether so many wait for an organization that a stranger should not join them. */
  isCrowded(organizationId: string): boolean;
  /** Everything is offered anew: the signer is another one. */
  forgetAll(): void;
};

/** What a client sent, and the body of the activity it votes on if it does. */
export type Stamped = Pick<Request<"prepare">, "body" | "stamp" | "target"> & {
  /** The records that the activity, or the one it votes on, looks at. */
  records: readonly RecordWish[];
};

/** What is sent along beside the state. */
type Brought = Pick<Request<"prepare">, "records" | "wishes" | "pages">;

/** A chain of requests, each building on the one before. */
export type Run = { readonly isCurrent: () => boolean; abandon(): void };

/** For what is decided once and followed by nothing. */
export const loneRun: Run = { isCurrent: () => true, abandon: () => undefined };

/** The signer's reply; or its refusal of the state, which another state may mend. */
type Answer = Reply<"prepare"> | { kind: "refused"; fault: Fault };

/** What the signer has said it lacks. */
type Wanted = Pick<Missing, "linksFrom" | "journal">;

type Organization = {
  run: Run | undefined;
  offering: Promise<StoredState> | undefined;
  busy: number;
  waiting: (() => void)[];
};

/** More than these would only queue up in the signer; they wait here instead. */
const maxInFlight = 64;
const maxWaiting = 1_000;
/** Then the caller pauses before it comes again. */
const maxAttempts = 7;
const maxOrganizations = 5_000;

export function createOrganizations(
  store: Store,
  link: SignerLink,
  onRefused: (organizationId: string, message: string) => void,
): Organizations {
  const organizations = new Map<string, Organization>();

  function startRun(organization: Organization): Run {
    const run: Run = {
      isCurrent: () => organization.run === run,
      abandon() {
        if (organization.run !== run) return;
        organization.run = undefined;
        organization.offering = undefined;
      },
    };
    organization.run = run;
    return run;
  }

  async function load(organizationId: string, wishes: readonly RecordWish[]): Promise<FoundRecord[]> {
    const found = await Promise.all(wishes.map((wish) => findRecords(store, organizationId, wish)));
    return found.flat();
  }

  async function loadOffer(organizationId: string): Promise<StoredState> {
    const state = await loadState(store, organizationId);
    if (state === undefined) throw noSuchOrganization();
    return state;
  }

  /** Sends one request: as the first of a run with the state and what belongs to it, or behind the others without. */
  async function ask(
    organizationId: string,
    organization: Organization,
    request: Omit<Request<"prepare">, "state" | "journal">,
    { linksFrom, journal: slot }: Wanted,
  ): Promise<{ reply: Answer; run: Run }> {
    while (organization.run === undefined) {
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
      const run = startRun(organization);
      // The run goes on from here without it, and a thousand organizations' states would be a lot to keep.
      organization.offering = undefined;
      const journal = entries && Buffer.concat(entries);
      return { reply: await send({ ...request, state: offer(state, links), journal }), run };
    }
    const { run } = organization;
    return { reply: await send({ ...request, state: undefined, journal: undefined }), run };
  }

  async function send(request: Request<"prepare">): Promise<Answer> {
    try {
      return await link.request("prepare", request);
    } catch (error) {
      if (error instanceof Fault && error.code === "aborted") return { kind: "refused", fault: error };
      throw error;
    }
  }

  async function prepare(organizationId: string, organization: Organization, request: Stamped) {
    const { body, stamp, target } = request;
    let wanted: Wanted = { linksFrom: undefined, journal: undefined };
    const bring = async (): Promise<Brought> => {
      return { records: await load(organizationId, request.records), wishes: [], pages: [] };
    };
    let brought = await bring();
    let refusal: Fault | undefined;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { reply, run } = await ask(organizationId, organization, { body, stamp, target, ...brought }, wanted);
      if (reply.kind === "prepared") return { prepared: reply.value, run };
      if (reply.kind === "missing" && reply.value.pages.length + reply.value.wishes.length > 0) {
        // These come without the state they belong to: pages by their digests, records by their MACs.
        const { pages, wishes } = reply.value;
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
      if (reply.kind === "refused") {
        // Overtaken: what was offered, or followed on, is older than what was released meanwhile. The database knows better.
        refusal = reply.fault;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt));
        // What was looked for in vain may have been committed since.
        brought = await bring();
        continue;
      }
      // What is missing can only be given together with the state it belongs to, so the run ends here.
      const { linksFrom, journal } = reply.value;
      wanted = { linksFrom: linksFrom ?? wanted.linksFrom, journal: journal ?? wanted.journal };
    }
    if (refusal !== undefined) {
      onRefused(organizationId, refusal.message);
      throw new Fault("unavailable", refusal.message);
    }
    throw new Fault("aborted", "the organization is being changed by others; try again");
  }

  return {
    async prepare(organizationId, request) {
      let organization = organizations.get(organizationId);
      if (organization === undefined) {
        organization = { run: undefined, offering: undefined, busy: 0, waiting: [] };
        organizations.set(organizationId, organization);
        forgetIdle(organizations);
      }
      await enter(organization);
      try {
        return await prepare(organizationId, organization, request);
      } catch (error) {
        // What the signer refuses to decide on is not worth following; the next request offers the database anew.
        if (error instanceof Fault && error.code === "unavailable") organization.run?.abandon();
        throw error;
      } finally {
        leave(organization);
        if (organization.busy === 0 && organization.run === undefined) organizations.delete(organizationId);
      }
    },
    isCrowded: (organizationId) => (organizations.get(organizationId)?.busy ?? 0) >= maxInFlight,
    forgetAll() {
      for (const { run } of organizations.values()) run?.abandon();
    },
  };
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

async function enter(organization: Organization): Promise<void> {
  if (organization.busy < maxInFlight) {
    organization.busy += 1;
    return;
  }
  if (organization.waiting.length >= maxWaiting) {
    throw new Fault("unavailable", "too many requests wait for this organization; try again");
  }
  await new Promise<void>((resolve) => organization.waiting.push(resolve));
}

/** The place goes straight to the next in line, if there is one. */
function leave(organization: Organization): void {
  const next = organization.waiting.shift();
  if (next === undefined) organization.busy -= 1;
  else next();
}

function offer({ header, directory, pages }: StoredState, links: readonly Uint8Array[]): OfferedState {
  return { header, directory, pages, links };
}
