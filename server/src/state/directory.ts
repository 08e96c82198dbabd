/** What a state holds: each page by name and digest, and the newest journals. Its own digest stands in the header. */
import {
  bytes,
  decode,
  encode,
  fixed,
  list,
  struct,
  text,
  u8,
  u32,
  type ValueOf,
} from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { checkJournalTable, type Journals } from "./journal.ts";
import type { Pages } from "./pages.ts";

const directoryFormat = 1;

const directoryLayout = struct({
  format: u8,
  pages: list(struct({ name: text, digest: fixed(32) })),
  /** Bodies of older slots are refused, whatever the clock says: their journals are gone. It never falls. */
  floor: u32,
  /** The newest ones; the others are in a page. */
  journals: bytes,
});

export type Directory = Omit<ValueOf<typeof directoryLayout>, "format">;

/** Its writer has sorted the pages by name, so that equal states have equal bytes. */
export function encodeDirectory({ pages, floor, journals }: Directory): Uint8Array<ArrayBuffer> {
  return encode(directoryLayout, { format: directoryFormat, pages, floor, journals });
}

export function decodeDirectory(bytes: Uint8Array): Directory {
  const directory = decode(directoryLayout, bytes);
  if (directory.format !== directoryFormat) {
    throw new Fault("failed_precondition", `unknown directory format ${directory.format}`);
  }
  checkJournalTable(directory.journals);
  return directory;
}

/** All journals of a state. */
export function journalsOf({ journals }: Directory, pages: Pick<Pages, "journals">): Journals {
  return { recent: journals, older: pages.journals };
}
