/** From changes to the bytes of the next state: the only place that writes pages, directories and headers. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { noState } from "@keystead/core/log/header.ts";
import { createPace, finish, type Work } from "@keystead/core/work.ts";
import type { NextState } from "../../frames/messages.ts";
import { applyChanges } from "../../state/apply_changes.ts";
import { sha256 } from "../../state/digest.ts";
import { type Directory, encodeDirectory, journalsOf } from "../../state/directory.ts";
import { type Drawn, drawnAfter, nothingDrawn } from "../../state/drawn.ts";
import type { Change } from "../../state/entities.ts";
import { entityKinds, type ListedKind } from "../../state/entity_kinds.ts";
import { dropJournalsIn, findJournalIn, type Journals, oldestSlot, putJournalIn, slotOf } from "../../state/journal.ts";
import { entityJson } from "../../state/page_codec.ts";
import {
  emptyPages,
  encodePageOf,
  entitiesIn,
  type FactsPageName,
  hasPage,
  isCounted,
  isOptionalPage,
  maxFactsLength,
  maxPagesLength,
  maxStateLength,
  type PageName,
  type Pages,
  rootQuorumReserve,
} from "../../state/pages.ts";
import { needsPages } from "./needs_more.ts";
import { bytesAtOnce } from "./offered_state.ts";
import type { OpenState } from "./open_state.ts";
import { longPage, type PageBytes, writingPage } from "./page_bytes.ts";
import type { Signer } from "./signer.ts";

export type Before = {
  organizationId: Uint8Array;
  parentId: Uint8Array | undefined;
  version: number;
  digest: Uint8Array;
  directory: Directory;
  pages: Pages;
  pageLengths: ReadonlyMap<string, number>;
};

/** What stands before an organization's first state. */
export function beforeBirth(organizationId: Uint8Array, parentId: Uint8Array | undefined): Before {
  const directory = { pages: [], floor: 0, journals: new Uint8Array(0), drawn: nothingDrawn };
  return { organizationId, parentId, ...noState, directory, pages: emptyPages, pageLengths: new Map() };
}

/** How an activity comes to be executed, where one is. */
export type Executing = { drawn?: Drawn; isByQuorum?: boolean };

/** The part of a state that says what was executed lately. */
export type Executed = { journals: Journals; floor: number };

export function executedIn({ directory, pages }: Pick<Before, "directory" | "pages">): Executed {
  return { journals: journalsOf(directory, pages), floor: directory.floor };
}

/** Entities whose texts are made between two pauses. */
const entitiesAtOnce = 50;

/**
 * Makes the texts of what long pages hold, with pauses, if `changes` write them. Entities keep their texts, so that `writeState` only
 * joins them. Of a state that was just opened none are made, and megabytes of them take as long as reading them did.
 */
export function* readyingPages(
  { pages, pageLengths }: Pick<OpenState, "pages" | "pageLengths">,
  changes: readonly Change[],
): Work<void> {
  // What led to so many took a while already.
  if (changes.length > entitiesAtOnce) yield;
  const touched = new Set<string>(changes.map(({ kind }) => entityKinds[kind].page));
  const pace = createPace(entitiesAtOnce);
  for (const [kind, { place, page }] of Object.entries(entityKinds)) {
    const isList = place === "list" || place === "listPage";
    if (!isList || !touched.has(page) || (pageLengths.get(page) ?? 0) < longPage) continue;
    for (const entity of entitiesIn(pages, kind as ListedKind).values()) {
      entityJson(entity);
      if (pace(1)) yield;
    }
  }
}

type WrittenState = { next: NextState; open: OpenState };

/** The same as `writingState`, where nothing is long. */
export function writeState(...args: Parameters<typeof writingState>): WrittenState {
  return finish(writingState(...args));
}

/** The state after `changes`, as the bytes to store and opened for the next decision. Pauses at long pages, and between them: there may be 256. */
export function* writingState(
  signer: Signer,
  before: Before,
  changes: readonly Change[],
  executed: Executed,
  { drawn, isByQuorum = false }: Executing = {},
): Work<WrittenState> {
  const { pages: changed, touched } = applyChanges(before.pages, changes);
  const { recent, older } = executed.journals;
  const isOlderSame = older === before.pages.journals;
  const pages = isOlderSame ? changed : { ...changed, journals: older };
  if (!isOlderSame) touched.add("journals");
  requirePages(before, touched);
  const written: PageBytes[] = [];
  const pace = createPace(bytesAtOnce);
  for (const name of touched) {
    const page = yield* writingPage(pages, name, (...page) => signer.draws.pageDigest(...page));
    written.push(page);
    if (isOptionalPage(name) && pace(page.content.length)) yield;
  }
  const pageLengths = new Map(before.pageLengths);
  for (const { name, content } of written) if (isCounted(name)) pageLengths.set(name, content.length);
  refuseTooLong(before.pageLengths, pageLengths, changes);
  for (const { name, content } of written) {
    if (isOptionalPage(name)) refuseLongFacts(before.pages, name, content, isByQuorum);
  }
  const directory: Directory = {
    pages: listPages(before.directory.pages, written),
    floor: executed.floor,
    journals: recent,
    drawn: drawn === undefined ? before.directory.drawn : drawnAfter(before.directory.drawn, signer.draws.drawn(drawn)),
  };
  const directoryBytes = encodeDirectory(directory);
  const version = before.version + 1;
  const header = {
    organizationId: before.organizationId,
    parentId: before.parentId,
    version,
    previous: before.digest,
    directory: sha256(directoryBytes),
  };
  const known = signer.line.write(header, touched);
  return {
    next: {
      version,
      header: known.marked,
      directory: directoryBytes,
      pages: written.map(({ name, content }) => ({ name, content })),
    },
    open: {
      known,
      organizationId: uuidFromBytes(before.organizationId),
      directory,
      pages,
      pageLengths,
    },
  };
}

/** A page that is listed and not at hand must be brought first: written anew without its content, it would forget it. */
function requirePages({ directory, pages }: Pick<Before, "directory" | "pages">, touched: Set<PageName>): void {
  const missing = [...touched].filter(
    (name) => !hasPage(pages, name) && directory.pages.some((listed) => listed.name === name),
  );
  if (missing.length > 0) throw needsPages(missing);
}

type Lengths = ReadonlyMap<string, number>;

/**
 * A state that does not fit into a frame could never be offered again. What makes one that is too long shorter, or leaves it as long, is
 * welcome. The pending page is not weighed against the others: whatever fills them, what would empty them can still be proposed.
 */
function refuseTooLong(before: Lengths, after: Lengths, changes: readonly Change[]): void {
  const others = othersOf(after);
  const isNewQuorum = changes.every(({ kind }) => kind === "rootQuorum" || kind === "pendingActivity");
  const most = isNewQuorum ? maxPagesLength + rootQuorumReserve : maxPagesLength;
  if (others > most && others > othersOf(before))
    throw tooLong(maxPagesLength, "users, credentials, tags and policies");
  if (totalOf(after) <= maxStateLength || totalOf(after) <= totalOf(before)) return;
  throw tooLong(maxStateLength, "users, credentials, tags, policies and waiting activities");
}

function tooLong(limit: number, what: string): Fault {
  return new Fault(
    "resource_exhausted",
    `organization has reached its limit of ${limit} bytes of ${what}; delete some first`,
  );
}

function othersOf(lengths: Lengths): number {
  return totalOf(lengths) - (lengths.get("pending") ?? 0);
}

function refuseLongFacts(before: Pages, name: FactsPageName, content: Uint8Array, isByQuorum: boolean): void {
  const most = maxFactsLength[isByQuorum ? "rootQuorum" : "others"];
  if (content.length <= most || content.length <= encodePageOf(before, name).length) return;
  throw new Fault(
    "resource_exhausted",
    `organization has deleted, renamed or exported too many keys${isByQuorum ? "" : ": the root quorum can still do it"}; ` +
      "make new keys in another sub-organization",
  );
}

function totalOf(lengths: ReadonlyMap<string, number>): number {
  return lengths.values().reduce((sum, length) => sum + length, 0);
}

/** Each page by its newest digest, sorted by name, so that equal states have equal bytes. */
function listPages(before: Directory["pages"], written: Directory["pages"]): Directory["pages"] {
  if (written.length === 0) return before;
  const kept = before.filter(({ name }) => !written.some((page) => page.name === name));
  const listed = [...kept, ...written.map(({ name, digest }) => ({ name, digest }))];
  return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The journals after one more executed activity. The floor rises with the clock and never falls with it. It rises also when
 * the activity is too old to be listed: a clock that ran ahead and was set right would else find its body new.
 */
export function noteExecuted(
  signer: Signer,
  { organizationId, directory, pages }: OpenState,
  timestampMs: number,
  fingerprint: Uint8Array,
  nowMs: number,
): Executed & { slot: number | undefined } {
  const journals = journalsOf(directory, pages);
  const floor = Math.max(directory.floor, oldestSlot(nowMs));
  const slot = slotOf(timestampMs);
  if (slot < floor) return { journals: dropJournalsIn(journals, floor), floor, slot: undefined };
  const appended = signer.journals.append(organizationId, findJournalIn(journals, slot), fingerprint);
  return { journals: putJournalIn(journals, appended, floor), floor, slot };
}
