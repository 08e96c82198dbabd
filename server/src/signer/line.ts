/**
 * The line an organization's states stand on. The memory holds a pin; a state is on the line if stored headers, each
 * naming the digest of the one before, lead from the pin to it (or from it to the pin). Everything else is a rolled-back
 * or forked database, however valid its MACs.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader, type Header } from "@keystead/core/log/header.ts";
import type { Authenticity } from "../state/authenticity.ts";
import { digestKey, sha256 } from "../state/digest.ts";
import { createLru } from "./lru.ts";
import { type Pin, pinDigestLength } from "./pins.ts";

/** A header whose MAC was checked, with its digest. */
export type KnownHeader = { header: Header; digest: Uint8Array; marked: Uint8Array };

export type Place = { organizationId: Uint8Array; version: number; digest: Uint8Array };

export type Standing =
  | { kind: "on" }
  /** The headers from this version on, up to the other, would tell. */
  | { kind: "unknown"; linksFrom: number; linksTo: number }
  | { kind: "off"; why: string };

export type Line = {
  /** Checks a header's MAC, or recognises bytes checked before. */
  know(marked: Uint8Array): KnownHeader;
  /** Where a state stands relative to the pin. */
  standing(place: Place, pin: Pin | undefined): Standing;
};

/** Half a digest is what pins keep, so it is what states are compared by. */
function key(digest: Uint8Array): string {
  return digestKey(digest.subarray(0, pinDigestLength));
}

export function createLine(authenticity: Authenticity, maxHeaders = 20_000): Line {
  const byBytes = createLru<KnownHeader>(maxHeaders);
  const byDigest = createLru<Header>(maxHeaders);

  /** Follows `previous` from a known state down to `version`; the digest there, or how far the headers reached. */
  function descend(digest: Uint8Array, from: number, to: number): { digest: string } | { missing: number } {
    let current = key(digest);
    for (let version = from; version > to; version--) {
      const header = byDigest.get(current);
      if (header === undefined) return { missing: version };
      current = key(header.previous);
    }
    return { digest: current };
  }

  return {
    know(marked) {
      const bytesKey = digestKey(marked);
      const known = byBytes.get(bytesKey);
      if (known !== undefined) return known;
      const own = Uint8Array.from(marked);
      const content = authenticity.check("header", own);
      const fresh = { header: decodeHeader(content), digest: sha256(content), marked: own };
      byBytes.set(bytesKey, fresh, 1);
      byDigest.set(key(fresh.digest), fresh.header, 1);
      return fresh;
    },
    standing({ organizationId, version, digest }, pin = { version: 0, digest: new Uint8Array(pinDigestLength) }) {
      const [newer, older] = version >= pin.version ? [{ version, digest }, pin] : [pin, { version, digest }];
      const found = descend(newer.digest, newer.version, older.version);
      if ("missing" in found) return { kind: "unknown", linksFrom: older.version + 1, linksTo: found.missing };
      if (found.digest === key(older.digest)) return { kind: "on" };
      return { kind: "off", why: offTheLine(organizationId, version, pin) };
    },
  };
}

function offTheLine(organizationId: Uint8Array, version: number, pin: Pin): string {
  return (
    `organization ${uuidFromBytes(organizationId)}: the database holds a state (version ${version}) that does not lead ` +
    `from or to what this signer released (version ${pin.version}); it was rolled back or forked. ` +
    "Restore the newest database, or run `keystead accept-database`"
  );
}

/** The refusal an off-line state gets. It names no secret: the operator needs it in the answer and in the log. */
export function refusedState(why: string): Fault {
  return new Fault("unavailable", why);
}
