import type { ReachedLimits } from "../bounds/reached_limits.ts";
import type { Repeats } from "../bounds/repeats.ts";
import type { AuthenticationDependencies } from "../evidence/authenticate_query.ts";
import type { Committer } from "./committer.ts";
import type { Organizations } from "./organization_states.ts";

/** What submitting works with. */
export type SubmitDependencies = AuthenticationDependencies & {
  organizations: Organizations;
  committer: Committer;
  repeats: Repeats;
  reachedLimits: ReachedLimits;
  /** Why the signer cannot be used now, if so. */
  signerTrouble(): string | undefined;
};
