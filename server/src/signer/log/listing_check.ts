/** A log that the first organization does not list is nobody's: before the act that lists it is released, nothing else is. */
import { Fault } from "@keystead/core/fault.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { equalBytes } from "../../state/digest.ts";
import type { Memory } from "../memory/memory.ts";
import { findOpenedLog, isSameLog } from "./listed_log.ts";

type LeafOfLog = Pick<Leaf, "event" | "outside">;

export type ListingCheck = {
  /** Refuses a row that must not be released now. */
  check(leaf: LeafOfLog, isNew: boolean): void;
  /** It is released: where it lists the log, others may follow. */
  passed(): void;
  /** Refuses all rows together if none of them lists the log: they are as good as ever, and have to wait. */
  finish(rows: number): void;
  /** Whether the log is listed by what passed. */
  readonly isNew: boolean;
};

export function createListingCheck({ log }: Memory): ListingCheck {
  const wasListed = log?.isListed === true;
  let isListed = wasListed;
  let isAmong = false;

  return {
    check(leaf, isNew) {
      // Nearly all leaves take nothing from outside.
      if (isListed && (!isNew || leaf.outside.length === 0)) return;
      const opened = findOpenedLog(leaf);
      const isOurs = log !== undefined && opened !== undefined && equalBytes(opened.logId, log.logId);
      if (isListed) {
        if (isOurs) throw new Fault("failed_precondition", "another leaf lists the signer's log");
        return;
      }
      if (!isOurs || !isSameLog(opened, log)) throw notListed();
      isAmong = true;
    },
    passed() {
      isListed = true;
    },
    finish(rows) {
      if (rows > 0 && !wasListed && !isAmong) throw notListed();
    },
    get isNew() {
      return isListed && !wasListed;
    },
  };
}

function notListed(): Fault {
  return new Fault("unavailable", "the signer's log is not listed yet");
}
