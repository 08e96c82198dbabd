/** The line of each organization's states, as its leaves tell it. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { ownHeaderOf, ownStateOf } from "../../state/leaf_header.ts";

export type LineCheck = {
  /** Takes leaves organization by organization, in any order within one; what is wrong with the one before, once it is over. */
  next(organizationId: string, leaf: Leaf): string[];
  end(): string[];
};

/** A state that some leaf led to. */
type Step = { digest: string; previous: string };

export function createLineCheck(): LineCheck {
  let current = "";
  let steps = new Map<number, Step>();
  let decidedOn = new Map<number, Set<string>>();
  let highest = 0;
  let found: string[] = [];

  function take(leaf: Leaf): void {
    const header = ownHeaderOf(leaf);
    if (header !== undefined) {
      const content = withoutMac(header);
      const { version, previous } = decodeHeader(content);
      const step = { digest: toHex(sha256(content)), previous: toHex(previous) };
      const known = steps.get(version);
      if (known !== undefined && known.digest !== step.digest) {
        found.push(`organization ${current}: TWO leaves led to version ${version}, and only one can be its line`);
      }
      steps.set(version, step);
      highest = Math.max(highest, version);
    }
    const own = ownStateOf(leaf);
    if (own === undefined) return;
    const digests = decidedOn.get(own.version) ?? new Set();
    decidedOn.set(own.version, digests.add(toHex(own.digest)));
    highest = Math.max(highest, own.version);
  }

  /** Every version up to the highest spoken of has its leaf, follows the one before, and is the state that was decided on. */
  function close(): string[] {
    for (let version = 1; version <= highest; version++) {
      const step = steps.get(version);
      if (step === undefined) {
        found.push(`organization ${current}: the leaf that led to version ${version} is MISSING`);
        continue;
      }
      const before = steps.get(version - 1);
      if (before !== undefined && step.previous !== before.digest) {
        found.push(`organization ${current}: version ${version} does NOT follow the version ${version - 1} of the log`);
      }
      for (const digest of decidedOn.get(version) ?? []) {
        if (digest === step.digest) continue;
        found.push(
          `organization ${current}: the leaf that led to another version ${version}, which was decided on, is MISSING`,
        );
      }
    }
    const closed = found;
    steps = new Map();
    decidedOn = new Map();
    highest = 0;
    found = [];
    return closed;
  }

  return {
    next(organizationId, leaf) {
      const closed = organizationId === current ? [] : close();
      current = organizationId;
      take(leaf);
      return closed;
    },
    end: close,
  };
}
