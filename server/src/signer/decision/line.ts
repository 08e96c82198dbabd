/**
 * The line an organization's states stand on. The memory holds a pin; a state is on the line if stored headers, each
 * naming the digest of the one before, lead from the pin to it (or from it to the pin). Everything else is a rolled-back
 * or forked database, however valid its MACs.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader, encodeHeader, type Header, headerFormat } from "@keystead/core/log/header.ts";
import type { Authenticity } from "../../state/authenticity.ts";
import { digestKey, equalBytes, sha256 } from "../../state/digest.ts";
import { createLru } from "../../state/lru.ts";
import { type Pin, pinDigestLength } from "../memory/pins.ts";

/** A header whose MAC was checked, with its digest. */
export type KnownHeader = { header: Header; digest: Uint8Array; marked: Uint8Array };

/** One state of an organization, by what its header says of itself. */
export type StateRef = { organizationId: Uint8Array; version: number; digest: Uint8Array };

export type Standing =
  | { kind: "on" }
  /** The headers from this version on, up to the other, would tell. */
  | { kind: "unknown"; linksFrom: number; linksTo: number }
  | { kind: "off"; why: string };

export type Line = {
  /** Writes and marks a header of our own, which is known from then on; `pages` are those that its state does not share with the last. */
  write(header: Omit<Header, "format">, pages: Iterable<string>): KnownHeader;
  /** Checks a header's MAC, or recognises bytes checked before. */
  know(marked: Uint8Array): KnownHeader;
  /**
   * The links a frame brings, for this one call: however many there are, none is lost to the cache's bound. Bytes that are
   * not ours are left out, so that one damaged header cannot spoil its neighbours' request.
   */
  links(marked: readonly Uint8Array[]): Links;
  /** Where a state stands relative to the pin. */
  standing(state: StateRef, pin: Pin | undefined, links?: Links): Standing;
  /**
   * Whether this page of the pinned state is the one of an older state on its line. False where this process has not written every state
   * from that to the pin, or not lately, or where the organization has a parent.
   */
  isPagePinned(page: string, state: StateRef, pin: Pin): boolean;
};

/** From a state's digest to that of the state before it. */
export type Links = ReadonlyMap<string, string>;

/**
 * Half a digest is what pins keep, so it is what states are compared by. It is cut off the text: cut off the bytes, it would move them
 * out of V8's own heap.
 */
function key(digest: Uint8Array): string {
  return digestKey(digest).slice(0, 2 * pinDigestLength);
}

/** Marked bytes end with their MAC. It finds them; whether they are the ones that were checked, the bytes tell. */
function macKey(marked: Uint8Array): string {
  return digestKey(marked.subarray(-pinDigestLength));
}

/** A state that was written here: the digest of the one before, and the pages in which they differ. */
type WrittenState = { previous: string; pages: ReadonlySet<string> };

/**
 * Both are kept only while their group is on its way, because tens of thousands of values in a cache would make every garbage
 * collection dear. Links are plain strings, and there are more of them: a pin may be a thousand requests behind.
 */
export function createLine(authenticity: Authenticity, maxHeaders = 1_000, maxLinks = 4_000): Line {
  const byMac = createLru<KnownHeader>(maxHeaders);
  const previousOf = createLru<string>(maxLinks);
  /** Of organizations without a parent: only their pages are read along. */
  const written = createLru<WrittenState>(maxLinks);

  function remember(known: KnownHeader): KnownHeader {
    byMac.set(macKey(known.marked), known, 1);
    previousOf.set(key(known.digest), key(known.header.previous), 1);
    return known;
  }

  /** Follows `previous` from a known state down to `version`; the digest there, or how far the headers reached. */
  function descend(
    digest: Uint8Array,
    from: number,
    to: number,
    links: Links | undefined,
  ): { digest: string } | { missing: number } {
    let current = key(digest);
    for (let version = from; version > to; version--) {
      const previous = links?.get(current) ?? previousOf.get(current);
      if (previous === undefined) return { missing: version };
      current = previous;
    }
    return { digest: current };
  }

  return {
    write(header, pages) {
      const content = encodeHeader(header);
      // A copy of its own: a slice would keep the whole slab, with all that was written beside it, for as long as it is known.
      const marked = Uint8Array.from(authenticity.mark("header", content));
      const known = remember({ header: { format: headerFormat, ...header }, digest: sha256(content), marked });
      if (header.parentId === undefined) {
        written.set(key(known.digest), { previous: key(header.previous), pages: new Set(pages) }, 1);
      }
      return known;
    },
    know(marked) {
      const known = byMac.get(macKey(marked));
      if (known !== undefined && equalBytes(known.marked, marked)) {
        previousOf.set(key(known.digest), key(known.header.previous), 1);
        return known;
      }
      const own = Uint8Array.from(marked);
      const content = authenticity.check("header", own);
      return remember({ header: decodeHeader(content), digest: sha256(content), marked: own });
    },
    links(marked) {
      const links = new Map<string, string>();
      for (const each of marked) {
        try {
          const content = authenticity.check("header", each);
          links.set(key(sha256(content)), key(decodeHeader(content).previous));
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
        }
      }
      return links;
    },
    standing(
      { organizationId, version, digest },
      pin = { version: 0, digest: new Uint8Array(pinDigestLength) },
      links,
    ) {
      const [newer, older] = version >= pin.version ? [{ version, digest }, pin] : [pin, { version, digest }];
      const found = descend(newer.digest, newer.version, older.version, links);
      if ("missing" in found) return { kind: "unknown", linksFrom: older.version + 1, linksTo: found.missing };
      if (found.digest === key(older.digest)) return { kind: "on" };
      return { kind: "off", why: offTheLine(organizationId, version, pin) };
    },
    isPagePinned(page, { version, digest }, pin) {
      let current = key(pin.digest);
      for (let at = pin.version; at > version; at--) {
        const state = written.get(current);
        if (state === undefined || state.pages.has(page)) return false;
        current = state.previous;
      }
      return current === key(digest);
    },
  };
}

function offTheLine(organizationId: Uint8Array, version: number, pin: Pin): string {
  return (
    `organization ${uuidFromBytes(organizationId)}: the database holds a state (version ${version}) that does not lead ` +
    `from or to what this signer released (version ${pin.version}); it was rolled back or forked. ` +
    "Restore the newest database, or run `npx keystead accept-database`"
  );
}

/**
 * The refusal an off-line state gets. `aborted`, because a gateway may simply have been overtaken and should offer what the
 * database holds now; if that is refused as well, the operator needs these words. They name no secret.
 */
export function refusedState(why: string): Fault {
  return new Fault("aborted", why);
}

/** The same for rows that somebody has changed: no other state mends that, and the operator is told what will say more. */
export function changedRows(organizationId: string, what: string): Fault {
  return refusedState(
    `organization ${organizationId}: ${what}; stop the server and run \`npx keystead check-database\``,
  );
}
