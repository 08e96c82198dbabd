import type { Directory } from "../../state/directory.ts";
import { weightOfFacts } from "../../state/key_facts_page.ts";
import type { Pages } from "../../state/pages.ts";
import type { KnownHeader } from "./line.ts";

/** A state that was believed and read: what decisions look at. */
export type OpenState = {
  known: KnownHeader;
  organizationId: string;
  directory: Directory;
  pages: Pages;
  /** In bytes, as stored, of those that count. */
  pageLengths: ReadonlyMap<string, number>;
};

/** What a state costs to keep at hand, in bytes: its pages, those that were asked for too, and what every state has. */
export function weightOf({ pageLengths, pages }: Pick<OpenState, "pageLengths" | "pages">): number {
  const asked = pages.keyFacts.values().reduce((sum, page) => sum + weightOfFacts(page), 0);
  return pageLengths.values().reduce((sum, length) => sum + length, 4_096 + asked);
}

/** A page of another organization as it was read lately, with the digest and the directory of the state that it belongs to. */
export type ReadPage = { digest: Uint8Array; directory: Uint8Array; page: unknown };
