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
import { nothingDrawn } from "./drawn.ts";
import { checkJournalTable, type Journals } from "./journal.ts";
import type { Pages } from "./pages.ts";

const directoryFormat = 2;
/** Without `drawn`. Such a directory is read, and written anew with the next change. */
const formatBeforeDrawn = 1;

const fields = {
  format: u8,
  pages: list(struct({ name: text, digest: fixed(32) })),
  /** Bodies of older slots are refused, whatever the clock says: their journals are gone. It never falls. */
  floor: u32,
  /** The newest ones; the others are in a page. */
  journals: bytes,
};

const layoutBeforeDrawn = struct(fields);
const directoryLayout = struct({
  ...fields,
  /** All that was ever drawn at random for this organization's states, as one digest that runs on: `drawn.ts`. */
  drawn: fixed(32),
});

export type Directory = Omit<ValueOf<typeof directoryLayout>, "format">;

/** Its writer has sorted the pages by name, so that equal states have equal bytes. */
export function encodeDirectory({ pages, floor, journals, drawn }: Directory): Uint8Array<ArrayBuffer> {
  return encode(directoryLayout, { format: directoryFormat, pages, floor, journals, drawn });
}

export function decodeDirectory(bytes: Uint8Array): Directory {
  const [format] = bytes;
  if (format !== directoryFormat && format !== formatBeforeDrawn) {
    throw new Fault("failed_precondition", `unknown directory format ${format}`);
  }
  const directory =
    format === directoryFormat
      ? decode(directoryLayout, bytes)
      : { ...decode(layoutBeforeDrawn, bytes), drawn: nothingDrawn };
  checkJournalTable(directory.journals);
  return directory;
}

/** All journals of a state. */
export function journalsOf({ journals }: Directory, pages: Pick<Pages, "journals">): Journals {
  return { recent: journals, older: pages.journals };
}
