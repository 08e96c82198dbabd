/** From changes to the bytes of the next state: the only place that writes pages, directories and headers. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { NextState } from "../frames/messages.ts";
import { sha256 } from "../state/digest.ts";
import { type Directory, encodeDirectory } from "../state/directory.ts";
import type { Change } from "../state/entities.ts";
import { type Journal, oldestSlot, putJournal } from "../state/journal.ts";
import { applyChanges, encodePage, type PageName, type Pages } from "../state/pages.ts";
import type { OpenState } from "./open_state.ts";
import type { Signer } from "./signer.ts";

export type Before = {
  organizationId: Uint8Array;
  parentId: Uint8Array | undefined;
  version: number;
  digest: Uint8Array;
  directory: Directory;
  pages: Pages;
};

/** The part of a directory that says what was executed lately. */
export type Executed = Pick<Directory, "journals" | "floor">;

/** The state after `changes`, as the bytes to store and opened for the next decision. */
export function writeState(
  signer: Signer,
  before: Before,
  changes: readonly Change[],
  executed: Executed,
): { next: NextState; open: OpenState } {
  const { pages, touched } = applyChanges(before.pages, changes);
  const written = [...touched].map((name) => writePage(name, pages));
  const digests = new Map(before.directory.pages.map(({ name, digest }) => [name, digest]));
  for (const { name, digest } of written) digests.set(name, digest);
  const directory: Directory = {
    pages: [...digests].map(([name, digest]) => ({ name, digest })),
    floor: executed.floor,
    journals: executed.journals,
  };
  const directoryBytes = encodeDirectory(directory);
  const version = before.version + 1;
  const known = signer.line.write({
    organizationId: before.organizationId,
    parentId: before.parentId,
    version,
    previous: before.digest,
    directory: sha256(directoryBytes),
  });
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
    },
  };
}

function writePage(name: PageName, pages: Pages): { name: PageName; content: Uint8Array; digest: Uint8Array } {
  const content = encodePage(name, pages[name]);
  return { name, content, digest: sha256(content) };
}

/** The journals after one more executed activity. The floor rises with the clock and never falls with it. */
export function noteExecuted(
  signer: Signer,
  { organizationId, directory }: OpenState,
  journal: Journal,
  fingerprint: Uint8Array,
  nowMs: number,
): Executed {
  const floor = Math.max(directory.floor, oldestSlot(nowMs));
  const appended = signer.journals.append(organizationId, journal, fingerprint);
  return { journals: putJournal(directory.journals, appended, floor), floor };
}
