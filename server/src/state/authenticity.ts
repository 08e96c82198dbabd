/**
 * The MAC that makes bytes the signer's own. Headers, leaves and records leave the signer as `content ‖ MAC(purpose, content)`
 * and are believed on the way back for that MAC alone, never for the row they stood in.
 */
import { Fault } from "@keystead/core/fault.ts";
import { macLength } from "@keystead/core/log/header.ts";
import { createMac, deriveKey, equalBytes } from "./digest.ts";

export type Purpose = "header" | "leaf" | "record";

export type Authenticity = {
  /** Appends the MAC. */
  mark(purpose: Purpose, content: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Checks and strips the MAC; foreign bytes are refused. */
  check(purpose: Purpose, marked: Uint8Array): Uint8Array;
};

export function createAuthenticity(secret: Uint8Array): Authenticity {
  const macs = {
    header: createMac(deriveKey(secret, "mac/header")),
    leaf: createMac(deriveKey(secret, "mac/leaf")),
    record: createMac(deriveKey(secret, "mac/record")),
  } as const;
  return {
    mark(purpose, content) {
      const marked = Buffer.allocUnsafe(content.length + macLength) as Buffer<ArrayBuffer>;
      marked.set(content);
      marked.set(macs[purpose](content), content.length);
      return marked;
    },
    check(purpose, marked) {
      const content = withoutMac(marked);
      if (!equalBytes(macs[purpose](content), marked.subarray(content.length))) {
        throw new Fault("failed_precondition", `a ${purpose} was not written by this deployment's signer`);
      }
      return content;
    },
  };
}

/** The content of marked bytes, unchecked: for readers that only display, never for a decision. */
export function withoutMac(marked: Uint8Array): Uint8Array {
  if (marked.length <= macLength) throw new Fault("failed_precondition", "marked bytes are too short");
  return marked.subarray(0, marked.length - macLength);
}
