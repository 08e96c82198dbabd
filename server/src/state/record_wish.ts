/**
 * Which records an activity wants to look at. The gateway finds them by its tables and sends them along; the signer believes
 * each for its MAC, and compares for itself whether it is what the activity means. What is not found is not sent: a gateway that
 * hides a record denies its service, and no more.
 */
import type { KeyRecordKind, RecordKind } from "./records.ts";

export type RecordWish =
  | { by: "id"; kind: RecordKind; id: string }
  /** The one that has this name now, or a name that differs only in case or form. */
  | { by: "name"; kind: KeyRecordKind; name: string }
  /** The wallet account with this address. */
  | { by: "address"; address: string }
  /** An address, or the id of a private key. */
  | { by: "signWith"; signWith: string }
  /** The account that a wallet has at this path already. `pathKey` is the path in its canonical form. */
  | { by: "place"; walletId: string; pathKey: string; curve: string; addressFormat: string }
  /** What has this secret already, without saying it. */
  | { by: "blindIndex"; kind: KeyRecordKind; blindIndex: string };

/** How it is said that a body has claimed an attempt at a code: among the wishes that were looked for. */
export function attemptKey(otpId: string): string {
  return `attempt ${otpId}`;
}

/** The same wish is the same text. */
export function wishKey(wish: RecordWish): string {
  return JSON.stringify(wish);
}

/** The same for a leaf that the signer wants to see released: what it made counts only then. */
export function leafWishKey({ boot, number }: { boot: string; number: number }): string {
  return JSON.stringify({ by: "leaf", boot, number });
}
