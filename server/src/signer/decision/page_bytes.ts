/** The bytes of pages with their digests. Long ones are written and hashed in steps of their own. */
import type { Work } from "@keystead/core/work.ts";
import { createAside } from "../../state/aside.ts";
import { sha256 } from "../../state/digest.ts";
import { encodePageOf, isOptionalPage, type PageName, type Pages } from "../../state/pages.ts";

/** Pages from this length on are made ready in pieces. */
export const longPage = 256 * 1024;

export type PageBytes = { name: PageName; content: Uint8Array; digest: Uint8Array };

/** Hashing takes longer than writing where the processor has no instructions for it, and a page that was written is proven next. */
const digests = createAside<object, Uint8Array>();

/** A page of a new state. `hash`: of the signer, which executes with its secrets or without. */
export function* writingPage(
  pages: Pages,
  name: PageName,
  hash: (name: PageName, content: Uint8Array) => Uint8Array,
): Work<PageBytes> {
  const content = encodePageOf(pages, name);
  const isLong = content.length >= longPage && !isOptionalPage(name);
  if (isLong) yield;
  const digest = hash(name, content);
  if (isLong) {
    keepDigest(pages[name], digest);
    yield;
  }
  return { name, content, digest };
}

/**
 * Hashes a long page ahead of `pageBytes`, which then only has to write it. Its bytes are not held over the pause: hundreds of
 * sub-organizations may be deciding on one parent's page, and each would hold a copy.
 */
export function* hashingPage(pages: Pages, name: SinglePageName): Work<void> {
  if (digests.get(pages[name]) !== undefined) return;
  const content = encodePageOf(pages, name);
  if (content.length < longPage) return;
  keepDigest(pages[name], sha256(content));
  yield;
}

type SinglePageName = Exclude<PageName, `keyFacts/${string}`>;

/** A page of a state as it is. */
export function pageBytes(pages: Pages, name: PageName): PageBytes {
  const content = encodePageOf(pages, name);
  const known = isOptionalPage(name) ? undefined : digests.get(pages[name]);
  return { name, content, digest: known ?? sha256(content) };
}

function keepDigest(page: object, digest: Uint8Array): void {
  if (digests.get(page) === undefined) digests.set(page, digest);
}
