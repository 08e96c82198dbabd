/**
 * From the bytes a gateway offers to a state that may be decided on: the header's MAC, then directory and pages by their
 * digests. What the state lists and the frame lacks is an error, never an absence.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { createPace, finish, type Work } from "@keystead/core/work.ts";
import type { OfferedState } from "../../frames/messages.ts";
import { digestKey, sha256 } from "../../state/digest.ts";
import { decodeDirectory } from "../../state/directory.ts";
import {
  emptyPages,
  type FactsPageName,
  hasPage,
  isCounted,
  isOptionalPage,
  isPageName,
  type Pages,
  readFacts,
  withPage,
} from "../../state/pages.ts";
import { changedRows, refusedState } from "./line.ts";
import type { OpenState } from "./open_state.ts";
import type { Signer } from "./signer.ts";

/** Of pages that are read or written between two pauses: a millisecond or two. */
export const bytesAtOnce = 256 * 1024;

/** The state of this organization; any other that is offered in its place is refused, whoever wrote it. */
export function openStateOf(signer: Signer, organizationId: string, offered: OfferedState): OpenState {
  return finish(openingStateOf(signer, organizationId, offered));
}

/** The same with a pause before each page: together they may have five megabytes. */
export function* openingStateOf(signer: Signer, organizationId: string, offered: OfferedState): Work<OpenState> {
  return yield* openedAs(signer, organizationId, offered, openingState);
}

/** The same without its pages, for whoever only asks which there are. */
export function openDirectoryOf(
  signer: Signer,
  organizationId: string,
  offered: OfferedState,
): Omit<OpenState, "pages" | "pageLengths"> {
  return finish(openedAs(signer, organizationId, offered, openDirectory));
}

function* openedAs<S extends object>(
  signer: Signer,
  organizationId: string,
  offered: OfferedState,
  open: (signer: Signer, offered: OfferedState) => S | Work<S>,
): Work<S> {
  try {
    const { header } = signer.line.know(offered.header);
    if (uuidFromBytes(header.organizationId) === organizationId) {
      const opened = open(signer, offered);
      return "next" in opened ? yield* opened : opened;
    }
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "failed_precondition") throw error;
    throw changedRows(organizationId, error.message);
  }
  throw changedRows(organizationId, "the offered state belongs to another organization than the body names");
}

function openDirectory({ line }: Signer, offered: OfferedState): Omit<OpenState, "pages" | "pageLengths"> {
  const known = line.know(offered.header);
  const organizationId = uuidFromBytes(known.header.organizationId);
  if (!matches(offered.directory, known.header.directory)) {
    throw changedRows(organizationId, "the directory does not match its header");
  }
  return { known, organizationId, directory: decodeDirectory(Uint8Array.from(offered.directory)) };
}

export function openState(signer: Signer, offered: OfferedState): OpenState {
  return finish(openingState(signer, offered));
}

function* openingState(signer: Signer, offered: OfferedState): Work<OpenState> {
  const { known, organizationId, directory } = openDirectory(signer, offered);
  const refuse = (why: string): Fault => changedRows(organizationId, why);
  // A page that the directory does not list was never written: it is the signer's own word that it is empty.
  let pages: Pages = emptyPages;
  const pageLengths = new Map<string, number>();
  for (const { name, digest } of directory.pages) {
    if (!isPageName(name)) throw refuse(`page \`${name}\` was written by a newer version of Keystead`);
    const content = offered.pages.find((page) => page.name === name)?.content;
    if (content === undefined && isOptionalPage(name)) continue;
    yield;
    if (content === undefined) throw refuse(`page \`${name}\` is missing`);
    if (digestKey(signer.draws.pageDigest(name, content)) !== digestKey(digest))
      throw refuse(`page \`${name}\` was changed`);
    pages = withPage(pages, name, content);
    if (isCounted(name)) pageLengths.set(name, content.length);
  }
  return { known, organizationId, directory, pages, pageLengths };
}

/**
 * The state with pages that were asked for, of which there may be 16 megabytes. One that is not the directory's is left out: it is asked
 * for again.
 */
export function* addingOffered(
  state: OpenState,
  offered: readonly { name: string; content: Uint8Array }[],
): Work<OpenState> {
  const { pages } = state;
  const lacking = offered.filter(({ name }) => isPageName(name) && isOptionalPage(name) && !hasPage(pages, name));
  if (lacking.length === 0) return state;
  const digests = new Map(state.directory.pages.map(({ name, digest }) => [name, digest]));
  const keyFacts = new Map(pages.keyFacts);
  const pace = createPace(bytesAtOnce);
  for (const { name, content } of lacking) {
    const digest = digests.get(name);
    if (digest !== undefined && matches(content, digest)) keyFacts.set(...readFacts(name as FactsPageName, content));
    if (pace(content.length)) yield;
  }
  return { ...state, pages: { ...pages, keyFacts } };
}

function matches(content: Uint8Array, digest: Uint8Array): boolean {
  return digestKey(sha256(content)) === digestKey(digest);
}

/**
 * Whether a state may be decided on now: it equals the pin, or headers lead from the pin to it. Returns the version from
 * which headers are missing, if only they could tell; an older or foreign state is refused.
 */
export function missingLinks(
  signer: Signer,
  { known, organizationId }: Pick<OpenState, "known" | "organizationId">,
  links: readonly Uint8Array[],
): number | undefined {
  const { version } = known.header;
  const pin = signer.memory.pins.get(known.header.organizationId);
  if (pin === undefined && signer.adoptUnknown) return undefined;
  if (pin !== undefined && version < pin.version) {
    throw refusedState(
      `organization ${organizationId}: the database offers version ${version}, but this signer has released version ` +
        `${pin.version}. Restore the newest database, or run \`npx keystead accept-database\``,
    );
  }
  const standing = signer.line.standing({ ...known.header, digest: known.digest }, pin, signer.line.links(links));
  if (standing.kind === "off") throw refusedState(standing.why);
  return standing.kind === "unknown" ? standing.linksFrom : undefined;
}
