/**
 * What was prepared a moment ago and is on its way to the database. Nearly all of it comes back within milliseconds to be released,
 * byte for byte as it left: then neither its MAC has to be checked again, nor its leaf read, nor its result opened. What was not
 * kept, or comes back changed, takes the long way.
 */
import { type Leaf, peekNumber } from "@keystead/core/log/leaf.ts";
import { equalBytes } from "../../state/digest.ts";
import type { KnownHeader } from "./line.ts";

export type Leaving = {
  leaf: Pick<
    Leaf,
    "boot" | "number" | "event" | "organizationId" | "states" | "activityType" | "fingerprint" | "outside"
  >;
  /** The leaf as it left, with its MAC. */
  marked: Uint8Array;
  /** The state it led to, when it changed any. */
  ledTo: KnownHeader | undefined;
  /** A result that nobody may see before, beside the box that it left in. */
  result?: { text: string; sealed: Uint8Array };
};

export type OnItsWay = {
  put(leaving: Leaving): void;
  /** Keeps the result of what was put last under this number open. */
  putResult(number: number, result: NonNullable<Leaving["result"]>): void;
  /** What left as exactly these bytes. It is given back once: whoever asks again takes the long way. */
  take(marked: Uint8Array): Leaving | undefined;
};

/** More than is ever on its way at once. Places are taken anew in turn, so that what nobody releases does not pile up. */
const places = 1_024;
/** Long results are rare, and a thousand of them would be a lot to keep. */
const maxResultLength = 4_096;

export function createOnItsWay(): OnItsWay {
  const kept: (Leaving | undefined)[] = new Array(places).fill(undefined);
  return {
    put(leaving) {
      kept[leaving.leaf.number % places] = leaving;
    },
    putResult(number, result) {
      const leaving = kept[number % places];
      if (leaving?.leaf.number === number && result.sealed.length <= maxResultLength) leaving.result = result;
    },
    take(marked) {
      const place = (peekNumber(marked) ?? 0) % places;
      const leaving = kept[place];
      if (leaving === undefined || !equalBytes(leaving.marked, marked)) return undefined;
      kept[place] = undefined;
      return leaving;
    },
  };
}
