/** A state that the replay has led to: as bytes, to be offered to the throw-away signer, which has written them. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { NextState, OfferedState } from "../frames/messages.ts";
import { withoutMac } from "../state/authenticity.ts";
import { sha256 } from "../state/digest.ts";
import { decodePage, emptyPages, type Pages, type SinglePage } from "../state/pages.ts";

export type ReplayState = {
  /** Hex: that of the header, which names no key. */
  digest: string;
  version: number;
  /** With the MAC of the throw-away keyring. */
  header: Uint8Array;
  directory: Uint8Array;
  pages: ReadonlyMap<string, Uint8Array>;
};

export function stateAfter(before: ReplayState | undefined, next: NextState): ReplayState {
  const { version, header, directory } = next;
  const pages = new Map(before?.pages);
  for (const { name, content } of next.pages) pages.set(name, content);
  return { digest: toHex(sha256(withoutMac(header))), version, header, directory, pages };
}

export function offer({ header, directory, pages }: ReplayState): OfferedState {
  return { header, directory, pages: [...pages].map(([name, content]) => ({ name, content })), links: [] };
}

export function pageOf<N extends SinglePage>({ pages }: ReplayState, name: N): Pages[N] {
  const content = pages.get(name);
  return content === undefined ? emptyPages[name] : decodePage(name, content);
}
