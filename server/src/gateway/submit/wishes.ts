/**
 * How each kind of thing that a decision needs is brought: one row per kind. The signer names what it lacks, the gateway looks for it
 * and sends the same bytes again. What it finds is believed for its digest or its MAC, never because the gateway says so.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { macLength } from "@keystead/core/log/header.ts";
import { invalidCode } from "../../endpoints/known_faults.ts";
import type { OfferedState, Request, Wish } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import { attemptKey, leafWishKey, type RecordWish } from "../../state/record_wish.ts";
import { findLeaf, type UnreleasedLeaf } from "../../store/leaves.ts";
import {
  findHead,
  findPages,
  loadHeaders,
  loadPartOfState,
  type StoredHead,
  type StoredState,
} from "../../store/organizations.ts";
import { type AttemptClaim, claimAttempt } from "../../store/otp_codes.ts";
import { loadRecords } from "../../store/record_batches.ts";
import type { Store } from "../../store/store.ts";
import type { CourierOrders } from "../link/courier_orders.ts";

/**
 * A wish of the signer; or the records that the activity declares, read anew: then what came on its wishes is forgotten; or a state of
 * another organization that it will wish for, as it did before.
 */
export type Need = Wish | { kind: "declared" } | { kind: "expectedState"; value: OtherState };

/** A page of another organization's state, with the headers from a version on. */
export type OtherState = Extract<Wish, { kind: "otherState" }>["value"];

type NeedOf<K extends Need["kind"]> = Extract<Need, { kind: K }>;

/** What goes to the signer along with the body. */
export type Supplies = Pick<Request<"prepare">, "records" | "wishes" | "pages" | "others" | "statements"> & {
  /** Sent only together with the state they belong to. */
  linksFrom: number | undefined;
  journal: number | undefined;
  /** Names of all pages that were ever wished for. */
  readonly wishedPages: Set<string>;
  /** What `others` are, by organization and page, and from which version on their headers were asked for. */
  readonly otherStates: Map<string, { linksFrom: number; state: OfferedState }>;
};

/** Where the supplies of one request come from. */
export type Source = {
  store: Store;
  organizationId: string;
  declared: readonly RecordWish[];
  /** What the signer is expected to wish for next time, from what it was given now. */
  expect(organizationId: string, state: OtherState): void;
  /** Has the signer release a committed leaf, whoever has released it before. */
  release(leaf: UnreleasedLeaf): Promise<void>;
  /** Whose user acts in the organization: its header comes along, in case that the signer has the pages at hand. */
  actingParentId?: string | undefined;
  /** Of the body, in hex. */
  fingerprint(): string;
  issuers: IssuerSource;
  orders: CourierOrders;
  /** The caller's, whom new issuers count for. */
  address: string | undefined;
};

/** Where statements of the courier about issuers come from. */
export type IssuerSource = {
  /** Throws a refusal that names the issuer where there is none. */
  statementOf(issuer: string, newerThanMs: number, address?: string): Promise<{ bytes: Uint8Array }>;
};

/** Of a gateway that has no courier. */
export const noIssuers: IssuerSource = {
  statementOf: (issuer) =>
    Promise.reject(new Fault("invalid_argument", `the keys of the issuer \`${issuer}\` cannot be fetched here`)),
};

type Row<K extends Need["kind"]> = {
  /** Whether it comes with a newly read state only. Then those behind cannot go on from the state at hand. */
  needsState: boolean;
  /** Whether bringing it may take seconds, because others than the database are asked. No place among the requests is held meanwhile. */
  isSlow?: true;
  bring(supplies: Supplies, source: Source, needs: readonly NeedOf<K>[]): Promise<void> | void;
  /** Why the rows must be wrong if the signer wishes for this although it has just come; `hasState`: the state came, too. */
  explainRepeated?(supplies: Supplies, need: NeedOf<K>, hasState: boolean): string | undefined;
};

const rows: { readonly [K in Need["kind"]]: Row<K> } = {
  declared: {
    needsState: false,
    bring(supplies, source) {
      supplies.records = [];
      supplies.wishes = [];
      supplies.pages = [];
      supplies.others = [];
      supplies.otherStates.clear();
      // Most requests need neither, and do not wait.
      if (source.declared.length === 0 && source.actingParentId === undefined) return;
      return bringDeclared(supplies, source);
    },
  },
  state: { needsState: true, bring: () => undefined },
  links: {
    needsState: true,
    bring(supplies, _, [need]) {
      supplies.linksFrom = need?.value.from;
    },
    explainRepeated({ linksFrom }, { value: { from } }, hasState) {
      if (!hasState || linksFrom !== from) return undefined;
      return `its headers from version ${from} on are missing or were changed`;
    },
  },
  journal: {
    needsState: true,
    bring(supplies, _, [need]) {
      supplies.journal = need?.value.slot;
    },
    explainRepeated({ journal }, { value: { slot } }, hasState) {
      if (!hasState || journal !== slot) return undefined;
      return `its executed activities of minute ${slot} are not those that its state knows`;
    },
  },
  page: {
    needsState: false,
    async bring(supplies, { store, organizationId }, needs) {
      const names = needs.map(({ value: { name } }) => name);
      for (const name of names) supplies.wishedPages.add(name);
      supplies.pages = [...supplies.pages, ...(await findPages(store, organizationId, names))];
    },
    explainRepeated({ wishedPages }, { value: { name } }) {
      return wishedPages.has(name) ? `page \`${name}\` is missing or was changed` : undefined;
    },
  },
  otherState: {
    needsState: false,
    async bring(supplies, source, needs) {
      for (const { value } of needs) {
        const state = await loadOther(source, value);
        // Asked for again: what was brought before was not enough, or is older than what was released since.
        if (state !== undefined) supplies.otherStates.set(otherKey(value), { linksFrom: value.linksFrom, state });
      }
      supplies.others = Array.from(supplies.otherStates.values(), ({ state }) => state);
    },
    explainRepeated({ otherStates }, { value }) {
      const { organizationId, page, linksFrom } = value;
      // From another version on: more was released while it was read. A parent that is busy is no fault of the rows. From the same one on,
      // what was read after it was released does not lead from there: nothing is released before it is committed.
      if (otherStates.get(otherKey(value))?.linksFrom !== linksFrom) return undefined;
      return `the state of its parent ${organizationId}, of which it needs \`${page}\`, is missing or older than what was released`;
    },
  },
  /** It is not among those that were asked for: if it does not serve, nothing is wrong with the rows yet. */
  expectedState: {
    needsState: false,
    async bring(supplies, source, [need]) {
      const state = need && (await loadOther(source, need.value));
      if (state !== undefined) supplies.others = [state];
    },
  },
  record: {
    needsState: false,
    async bring(supplies, { store, organizationId }, needs) {
      const wishes = needs.map(({ value: { wish } }) => wish);
      const wanted = wishes.map((wish) => JSON.parse(wish) as RecordWish);
      supplies.records = [...supplies.records, ...(await loadRecords(store, organizationId, wanted))];
      supplies.wishes = [...supplies.wishes, ...wishes];
    },
  },
  leaf: {
    needsState: false,
    async bring(supplies, { store, organizationId, release }, needs) {
      for (const { value } of needs) {
        const leaf = await findLeaf(store, organizationId, value.boot, value.number);
        if (leaf !== undefined) await release(leaf);
      }
      supplies.wishes = [...supplies.wishes, ...needs.map(({ value }) => leafWishKey(value))];
    },
  },
  /** The signer counts for itself; this makes the count exact over all hosts. A claim outlives the request, whatever comes of it. */
  attempt: {
    needsState: false,
    async bring(supplies, { store, organizationId, fingerprint }, needs) {
      for (const { value } of needs) {
        const claim = { organizationId, otpId: value.otpId, fingerprint: fingerprint() };
        refuseUnclaimed(await claimAttempt(store, claim, Date.now()));
        supplies.wishes = [...supplies.wishes, attemptKey(value.otpId)];
      }
    },
  },
  /** What is brought is believed for its MAC. That there is none is this gateway's word, and refused here. */
  issuer: {
    needsState: false,
    isSlow: true,
    async bring(supplies, { issuers, address }, needs) {
      for (const { value } of needs) {
        const { bytes } = await issuers.statementOf(value.issuer, value.newerThanMs, address);
        supplies.statements = [...supplies.statements, bytes];
      }
    },
  },
  /** One order is carried out once, however often it is asked for. The answer is believed for its seal. */
  oauth2: {
    needsState: false,
    isSlow: true,
    async bring(supplies, { organizationId, fingerprint, orders }, needs) {
      for (const { value } of needs) {
        const order = Uint8Array.from(value.order);
        const answer = await orders.exchange({ organizationId, fingerprint: fromHex(fingerprint()), order });
        supplies.statements = [...supplies.statements, answer];
      }
    },
  },
};

async function bringDeclared(supplies: Supplies, source: Source): Promise<void> {
  const { store, organizationId, declared, actingParentId } = source;
  supplies.records = await loadRecords(store, organizationId, declared);
  const head = actingParentId === undefined ? undefined : await findHead(store, actingParentId);
  if (head === undefined) return;
  const { header, directory, pages } = headerOnly(head);
  supplies.others = [{ header, directory, pages, links: [] }];
}

/** In the words that the signer has for it. */
function refuseUnclaimed(claim: AttemptClaim): void {
  if (claim === "spent") throw invalidCode("code was used already");
  if (claim === "none left") throw invalidCode("too many attempts");
}

function otherKey({ organizationId, page }: OtherState): string {
  return `${organizationId} ${page}`;
}

export function noSupplies(): Supplies {
  return {
    records: [],
    wishes: [],
    pages: [],
    others: [],
    statements: [],
    linksFrom: undefined,
    journal: undefined,
    wishedPages: new Set(),
    otherStates: new Map(),
  };
}

/** Known before the signer is asked, and whenever all is read anew. */
export const declaredOnly: readonly Need[] = [{ kind: "declared" }];

/** After a state that did not serve: whatever was looked for and not found may have been committed since. */
export const everythingAnew: readonly Need[] = [{ kind: "declared" }, { kind: "state", value: {} }];

export function needsState(needs: readonly Need[]): boolean {
  return needs.some(({ kind }) => rows[kind].needsState);
}

/** Those that take long, and the others. */
export function partedBySpeed(needs: readonly Need[]): { slow: readonly Need[]; quick: readonly Need[] } {
  const slow = needs.filter(({ kind }) => rows[kind].isSlow === true);
  return slow.length === 0 ? { slow, quick: needs } : { slow, quick: needs.filter((need) => !slow.includes(need)) };
}

export function bring(supplies: Supplies, source: Source, needs: readonly Need[]): Promise<void> | void {
  const [first] = needs;
  if (first === undefined) return;
  // The first attempt of every request: nothing is grouped for it.
  if (needs.length === 1) return rowOf(first).bring(supplies, source, needs);
  return bringEach(supplies, source, needs);
}

/** All of one kind at once. */
async function bringEach(supplies: Supplies, source: Source, needs: readonly Need[]): Promise<void> {
  for (const same of Map.groupBy(needs, ({ kind }) => kind).values()) {
    const [first] = same;
    if (first !== undefined) await rowOf(first).bring(supplies, source, same);
  }
}

function rowOf({ kind }: Need): Row<Need["kind"]> {
  return rows[kind] as Row<Need["kind"]>;
}

/** What was given and is wished for again: it is not what the state says, and no other gateway's doing. */
export function explainRepeated(supplies: Supplies, needs: readonly Need[], hasState: boolean): string | undefined {
  for (const need of needs) {
    const why = rowOf(need).explainRepeated?.(supplies, need, hasState);
    if (why !== undefined) return why;
  }
  return undefined;
}

async function loadOther(
  { store, organizationId: asking, expect }: Source,
  { organizationId, page, linksFrom, atHand }: OtherState,
): Promise<OfferedState | undefined> {
  const head = atHand === undefined ? undefined : await findHead(store, organizationId);
  const isAtHand = head !== undefined && atHand !== undefined && isStateOf(head.header, atHand);
  const state = isAtHand ? headerOnly(head) : await loadPartOfState(store, organizationId, page);
  if (state === undefined) return undefined;
  const { version, header, directory, pages } = state;
  expect(asking, { organizationId, page, linksFrom: version + 1, atHand: undefined });
  const links = version < linksFrom ? [] : await loadHeaders(store, organizationId, linksFrom, version);
  return { header, directory, pages, links };
}

/** Whether a stored header is that of the state with this digest. Bytes that are no header are the signer's to refuse. */
function isStateOf(header: Uint8Array, digest: Uint8Array): boolean {
  return header.length > macLength && equalBytes(sha256(withoutMac(header)), digest);
}

/** For a signer that has the pages: megabytes of a parent's members need not travel with each request. */
function headerOnly({ version, header }: StoredHead): StoredState {
  return { version, header, directory: new Uint8Array(0), pages: [] };
}
