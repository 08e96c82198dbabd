/**
 * How each kind of thing that a decision needs is brought: one row per kind. The signer names what it lacks, the gateway looks for it
 * and sends the same bytes again. What it finds is believed for its digest or its MAC, never because the gateway says so.
 */
import { invalidCode } from "../../endpoints/known_faults.ts";
import type { OfferedState, Request, Wish } from "../../frames/messages.ts";
import { attemptKey, type RecordWish } from "../../state/record_wish.ts";
import { findPages, loadHeaders, loadPartOfState } from "../../store/organizations.ts";
import { type AttemptClaim, claimAttempt } from "../../store/otp_codes.ts";
import { type FoundRecord, findRecords } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";

/**
 * A wish of the signer; or the records that the activity declares, read anew: then what came on its wishes is forgotten; or a state of
 * another organization that it will wish for, as it did before.
 */
export type Need = Wish | { kind: "declared" } | { kind: "expectedState"; value: OtherState };

/** A page of another organization's state, with the headers from a version on. */
export type OtherState = Extract<Wish, { kind: "otherState" }>["value"];

type NeedOf<K extends Need["kind"]> = Extract<Need, { kind: K }>;

/** What goes to the signer along with the body. */
export type Supplies = Pick<Request<"prepare">, "records" | "wishes" | "pages" | "others"> & {
  /** Sent only together with the state they belong to. */
  linksFrom: number | undefined;
  journal: number | undefined;
  /** Names of all pages that were ever wished for. */
  readonly wishedPages: Set<string>;
  /** What `others` are, by organization and page. */
  readonly otherStates: Map<string, OfferedState>;
};

/** Where the supplies of one request come from. */
export type Source = {
  store: Store;
  organizationId: string;
  declared: readonly RecordWish[];
  /** What the signer is expected to wish for next time, from what it was given now. */
  expect(organizationId: string, state: OtherState): void;
  /** Of the body, in hex. */
  fingerprint(): string;
};

type Row<K extends Need["kind"]> = {
  /** Whether it comes with a newly read state only. Then those behind cannot go on from the state at hand. */
  needsState: boolean;
  bring(supplies: Supplies, source: Source, needs: readonly NeedOf<K>[]): Promise<void> | void;
  /** Why the rows must be wrong if the signer wishes for this although it has just come; `hasState`: the state came, too. */
  explainRepeated?(supplies: Supplies, need: NeedOf<K>, hasState: boolean): string | undefined;
};

const rows: { readonly [K in Need["kind"]]: Row<K> } = {
  declared: {
    needsState: false,
    bring(supplies, { store, organizationId, declared }) {
      supplies.records = [];
      supplies.wishes = [];
      supplies.pages = [];
      supplies.others = [];
      supplies.otherStates.clear();
      if (declared.length === 0) return;
      return loadRecords(store, organizationId, declared).then((found) => {
        supplies.records = found;
      });
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
        if (state !== undefined) supplies.otherStates.set(otherKey(value), state);
      }
      supplies.others = [...supplies.otherStates.values()];
    },
    explainRepeated({ otherStates }, { value }) {
      const { organizationId, page } = value;
      if (!otherStates.has(otherKey(value))) return undefined;
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
};

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
  { organizationId, page, linksFrom }: OtherState,
): Promise<OfferedState | undefined> {
  const state = await loadPartOfState(store, organizationId, page);
  if (state === undefined) return undefined;
  const { version, header, directory, pages } = state;
  expect(asking, { organizationId, page, linksFrom: version + 1 });
  const links = version < linksFrom ? [] : await loadHeaders(store, organizationId, linksFrom, version);
  return { header, directory, pages, links };
}

const lookUpsAtOnce = 50;

/** A thousand look-ups at once would keep everybody else waiting for as long. */
async function loadRecords(
  store: Store,
  organizationId: string,
  wishes: readonly RecordWish[],
): Promise<FoundRecord[]> {
  const found: FoundRecord[] = [];
  for (let at = 0; at < wishes.length; at += lookUpsAtOnce) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const some = wishes.slice(at, at + lookUpsAtOnce);
    found.push(...(await Promise.all(some.map((wish) => findRecords(store, organizationId, wish)))).flat());
  }
  return found;
}
