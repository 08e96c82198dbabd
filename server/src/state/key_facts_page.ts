/** A page of key facts: what became of the keys whose ids begin with the same two digits. */
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { isUuid, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { KeyFacts, KnownFacts } from "./entities.ts";
import { entityJson, type PageCodec } from "./page_codec.ts";

/**
 * Ids of deleted keys stay the text that the page has: an organization may have hundreds of thousands of them, and reading each would
 * take its next deletion a second.
 */
export type KeyFactsPage = {
  /** Of keys that are there, by id. */
  readonly facts: ReadonlyMap<string, KeyFacts>;
  /** The ids of deleted keys, one behind the other. */
  readonly gone: string;
};

export const keyFactsCodec: PageCodec<KeyFactsPage> = {
  // Format 1 had deleted keys among the facts.
  format: 2,
  empty: { facts: new Map(), gone: "" },
  encode: ({ facts, gone }) => `"facts":[${facts.values().map(entityJson).toArray().join()}],"gone":"${gone}"}`,
  decode({ facts, gone = "" }: { facts: KeyFacts[]; gone?: string }) {
    if (gone.length % goneLength !== 0) throw new Fault("failed_precondition", "a page of key facts is cut off");
    const deleted = facts.filter((each) => each.deleted === true).map(({ id }) => goneText(id));
    const known = facts.filter((each) => each.deleted !== true).map((each) => [each.id, each] as const);
    return { facts: new Map(known), gone: deleted.join("") + gone };
  },
};

/** An id as base64url: 22 characters, whatever the id. */
const goneLength = 22;

function goneText(id: string): string {
  return toBase64url(uuidToBytes(id));
}

/** Of a deleted key only its id is kept. */
export function findInPage({ facts, gone }: KeyFactsPage, id: string): KnownFacts | undefined {
  return isGone(gone, id) ? { id, deleted: true } : facts.get(id);
}

/** Looked through and not listed: 3,000 ids take some microseconds. The first character is the page's, and the same for all. */
function isGone(gone: string, id: string): boolean {
  // Whoever checks a database asks about whatever its rows say.
  if (gone === "" || !isUuid(id)) return false;
  const text = goneText(id);
  const [third, fourth] = [text.charCodeAt(2), text.charCodeAt(3)];
  for (let at = 0; at < gone.length; at += goneLength) {
    const isLike = gone.charCodeAt(at + 2) === third && gone.charCodeAt(at + 3) === fourth;
    if (isLike && gone.startsWith(text, at)) return true;
  }
  return false;
}

/**
 * The page after all changes of a batch. Deleted keys that had facts come first, in the order of those, and the others last, as releases
 * before this one wrote them: what they logged is executed again to the same bytes. None comes back. That none is deleted twice is for
 * the rules to see, which find no key that is gone.
 */
export function withFacts({ facts, gone }: KeyFactsPage, changes: readonly KeyFacts[]): KeyFactsPage {
  const next = new Map(facts);
  const deleted = new Set<string>();
  for (const each of changes) {
    if (each.deleted === true) {
      deleted.add(each.id);
      next.delete(each.id);
      continue;
    }
    if (deleted.has(each.id) || isGone(gone, each.id)) {
      throw new Fault("internal", "a key that was deleted would come back");
    }
    next.set(each.id, each);
  }
  const [known, others] = [[...facts.keys()].filter((id) => deleted.has(id)), [...deleted.difference(facts)]];
  return { facts: next, gone: known.map(goneText).join("") + gone + others.map(goneText).join("") };
}

/** What a page takes to be kept at hand, in bytes, more or less. */
export function weightOfFacts({ facts, gone }: KeyFactsPage): number {
  return gone.length + facts.size * 512;
}
