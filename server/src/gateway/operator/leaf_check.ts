/** What the checks of leaves, and of the activities they tell of, work on. */
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { Journals } from "../../state/journal.ts";
import type { Inside } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import type { Vouching } from "./vouching.ts";

/** What the signer says it has released, if it knows the boot at all: another signer's leaves are not its to judge. */
export type ReleasedWord = (boot: string, number: number) => boolean | undefined;

export type LeafCheck = {
  tx: Inside;
  vouching: Vouching;
  organizationId: string;
  /** Undefined when the state cannot be believed. */
  journals: Journals | undefined;
  /** At which version each activity that waits was written last, as leaves are read; zero until one is. */
  waitingSince: Map<string, number>;
  /** The boot of each start that a leaf tells of, as leaves are read, by the digest of its boot proof in hex. */
  starts: Map<string, string>;
  released: ReleasedWord;
  findings: Findings;
};

/** A leaf that is the signer's own, and the row it stands in. */
export type LeafInRow = { leaf: Leaf; row: Tables["leaves"]; isMarked: boolean };
