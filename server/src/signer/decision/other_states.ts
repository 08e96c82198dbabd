/**
 * States of other organizations that a decision reads along: of a parent whose settings bind its children. Nothing of them is changed, and
 * nothing waits for them. A state is believed at or past its pin, as the organization's own is, or before it if the page is still the same
 * in the pinned state; the leaf names it, and is released only if it lies on that organization's line.
 *
 * Which organization is read is the signer's own knowledge, from a header it has checked; the gateway only brings the bytes. If it brings
 * none, a page that is older than what was released, or another organization's, nothing is decided.
 */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { OfferedState, Wish } from "../../frames/messages.ts";
import { digestKey, equalBytes, sha256 } from "../../state/digest.ts";
import { decodeDirectory } from "../../state/directory.ts";
import { decodePage, emptyPages, type Pages, type SinglePage } from "../../state/pages.ts";
import { changedRows, type KnownHeader, refusedState } from "./line.ts";
import { NeedsMore } from "./needs_more.ts";
import type { ReadPage } from "./open_state.ts";
import type { Signer } from "./signer.ts";

/** What reading along takes of the signer. */
type Reader = Pick<Signer, "memory" | "line" | "otherPages" | "adoptUnknown">;

/** What one decision reads along. */
export type OtherStates = {
  /** A page as this organization's newest state has it; throws `NeedsMore` where the gateway has not brought it. */
  page<N extends SinglePage>(organizationId: string, name: N): Pages[N];
  /** Asks for all of these pages at once, where the gateway has not brought them. */
  expect(organizationId: string, names: readonly SinglePage[]): void;
  /** The state that pages of this organization were read from. */
  stateOf(organizationId: string): KnownHeader;
  /** The bytes of that state's directory. */
  directoryOf(organizationId: string): Uint8Array;
  /** The states that were read so far: the leaf names them. */
  readonly read: readonly KnownHeader[];
};

export function createOtherStates(signer: Reader, offered: readonly OfferedState[]): OtherStates {
  const read = new Map<string, { known: KnownHeader; directory: Uint8Array }>();
  /** As long as a decision lasts, it sees the same. */
  const pages = new Map<string, unknown>();
  return {
    page<N extends SinglePage>(organizationId: string, name: N): Pages[N] {
      const key = `${organizationId} ${name}`;
      if (pages.has(key)) return pages.get(key) as Pages[N];
      const believed = believe(signer, organizationId, name, offered);
      const before = read.get(organizationId);
      // One state of each organization: pages of two are asked for once more.
      if (before !== undefined && !equalBytes(before.known.digest, believed.known.digest)) {
        throw new NeedsMore([...pages.keys(), key].flatMap((each) => wishFor(signer, organizationId, each)));
      }
      const { page, directory } = readPage(signer, organizationId, name, believed);
      read.set(organizationId, { known: believed.known, directory });
      pages.set(key, page);
      return page as Pages[N];
    },
    expect(organizationId, names) {
      const missing = names.filter((name) => !isOffered(signer, organizationId, name, offered));
      if (missing.length > 0) throw new NeedsMore(missing.map((name) => wishOf(signer, organizationId, name)));
    },
    stateOf: (organizationId) => readOf(organizationId).known,
    directoryOf: (organizationId) => readOf(organizationId).directory,
    get read() {
      return Array.from(read.values(), ({ known }) => known);
    },
  };

  function readOf(organizationId: string): { known: KnownHeader; directory: Uint8Array } {
    const state = read.get(organizationId);
    if (state === undefined) throw new Fault("internal", "a state is named of which nothing was read");
    return state;
  }
}

/** The wish for what a key names, if it is of this organization. */
function wishFor(signer: Reader, organizationId: string, key: string): Wish[] {
  const [id, page = ""] = key.split(" ");
  return id === organizationId ? [wishOf(signer, organizationId, page)] : [];
}

function wishOf({ memory, otherPages }: Reader, organizationId: string, page: string): Wish {
  const pin = memory.pins.get(uuidToBytes(organizationId));
  const atHand = otherPages.get(`${organizationId} ${page}`)?.digest;
  return { kind: "otherState", value: { organizationId, page, linksFrom: (pin?.version ?? 0) + 1, atHand } };
}

type Believed = { known: KnownHeader; state: OfferedState };

function believe(signer: Reader, organizationId: string, page: string, offered: readonly OfferedState[]): Believed {
  const pin = signer.memory.pins.get(uuidToBytes(organizationId));
  const needed = new NeedsMore([wishOf(signer, organizationId, page)]);
  const found = findOffered(signer, organizationId, page, offered);
  if (found === undefined) throw needed;
  const { known, state } = found;
  // Its next states may have been released since it was read. A busy parent would else keep its children waiting for as long as it is.
  // Where the database itself is older, this is asked until it is given up.
  if (pin !== undefined && known.header.version < pin.version) {
    if (signer.line.isPagePinned(page, { ...known.header, digest: known.digest }, pin)) return found;
    throw needed;
  }
  if (pin === undefined && signer.adoptUnknown) return found;
  const links = signer.line.links(state.links);
  const standing = signer.line.standing({ ...known.header, digest: known.digest }, pin, links);
  if (standing.kind === "off") throw refusedState(standing.why);
  if (standing.kind === "unknown") throw needed;
  return found;
}

function isOffered(signer: Reader, organizationId: string, page: string, offered: readonly OfferedState[]): boolean {
  try {
    const { known, state } = believe(signer, organizationId, page, offered);
    return !isHeaderOnly(state) || findKept(signer, organizationId, page, known) !== undefined;
  } catch (error) {
    if (error instanceof NeedsMore) return false;
    throw error;
  }
}

/** Each page comes with the state it was read from. A state that was never written this page comes without it. */
function findOffered(
  { line }: Reader,
  organizationId: string,
  page: string,
  offered: readonly OfferedState[],
): Believed | undefined {
  const own = offered
    .map((state) => ({ known: knowHeader(line, organizationId, state.header), state }))
    .filter(({ known }) => uuidFromBytes(known.header.organizationId) === organizationId);
  const withPage = own.find(({ state }) => state.pages.some(({ name }) => name === page));
  return withPage ?? own.find(({ state }) => !isHeaderOnly(state)) ?? own[0];
}

function knowHeader(line: Reader["line"], organizationId: string, header: Uint8Array): KnownHeader {
  try {
    return line.know(header);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "failed_precondition") throw error;
    throw changedRows(organizationId, error.message);
  }
}

/** From the header by digests to the page. What the directory lists and the frame lacks is an error, never an absence. */
function readPage<N extends SinglePage>(
  signer: Reader,
  organizationId: string,
  name: N,
  { known, state }: Believed,
): ReadPage {
  const kept = findKept(signer, organizationId, name, known);
  if (kept !== undefined) return kept;
  // The gateway has taken it for one that is at hand.
  if (isHeaderOnly(state)) throw new NeedsMore([wishOf(signer, organizationId, name)]);
  if (!matches(state.directory, known.header.directory)) {
    throw changedRows(organizationId, "the directory does not match its header");
  }
  const directory = Uint8Array.from(state.directory);
  const listed = decodeDirectory(directory).pages.find((each) => each.name === name);
  const content = state.pages.find((each) => each.name === name)?.content;
  let page: Pages[N] = emptyPages[name];
  if (listed !== undefined) {
    if (content === undefined) throw changedRows(organizationId, `page \`${name}\` is missing`);
    if (!matches(content, listed.digest)) throw changedRows(organizationId, `page \`${name}\` was changed`);
    page = decodePage(name, content);
  }
  const read = { digest: known.digest, directory, page };
  signer.otherPages.set(`${organizationId} ${name}`, read, directory.length + (content?.length ?? 0) + 1_000);
  return read;
}

/** A page of this very state that was read before. */
function findKept({ otherPages }: Reader, organizationId: string, page: string, known: KnownHeader) {
  const kept = otherPages.get(`${organizationId} ${page}`);
  return kept !== undefined && equalBytes(kept.digest, known.digest) ? kept : undefined;
}

/** Every state has a directory, so one that comes without brings no page either. */
function isHeaderOnly({ directory }: OfferedState): boolean {
  return directory.length === 0;
}

function matches(content: Uint8Array, digest: Uint8Array): boolean {
  return digestKey(sha256(content)) === digestKey(digest);
}
