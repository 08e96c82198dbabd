/** The bytes of pages with their digests, with a pause before and after long ones are hashed. */
import type { Work } from "@keystead/core/work.ts";
import { createAside } from "../../state/aside.ts";
import { sha256 } from "../../state/digest.ts";
import { encodePageOf, isOptionalPage, type PageName, type Pages } from "../../state/pages.ts";

/** Pages from this length on are made ready in pieces. */
export const longPage = 256 * 1024;

export type PageBytes = { name: PageName; content: Uint8Array; digest: Uint8Array };

/**
 * Of long pages that were written or proven: the next decision with app proofs names the same. Hashing takes longer than writing does where
 * the processor has no instructions for it.
 */
const digests = createAside<object, Uint8Array>();

/** `hash`: of the signer, which executes with or without its secrets. */
export function* pageBytes(pages: Pages, name: PageName, hash = plainHash): Work<PageBytes> {
  const content = encodePageOf(pages, name);
  if (content.length < longPage || isOptionalPage(name)) return { name, content, digest: hash(name, content) };
  yield;
  const page: object = pages[name];
  const known = digests.get(page);
  if (known !== undefined) return { name, content, digest: known };
  const digest = hash(name, content);
  digests.set(page, digest);
  yield;
  return { name, content, digest };
}

function plainHash(_: string, content: Uint8Array): Uint8Array {
  return sha256(content);
}
