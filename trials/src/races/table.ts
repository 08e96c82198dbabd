/** All races. A later one is added by its entry here. */
import { deletedWallet, exportAgainstDelete, oneSeed, oneTarget, renamedWallet, sameName } from "./keys.ts";
import {
  copiedKey,
  deletedKey,
  eviction,
  lastKeys,
  lastRootUsers,
  lostUpdates,
  oneKeyTwoUsers,
  raisedThreshold,
  twoQuorums,
} from "./members.ts";
import type { AnyRace } from "./race.ts";
import { idempotencyKey, keyForTwo } from "./repeats.ts";
import { deletedOrganization, deletedPolicy, limit, newDenial } from "./rights.ts";
import {
  invalidations,
  invalidationsByType,
  loginAgainstDelete,
  loginAgainstPasskeyDelete,
  oneSessionKey,
  renewal,
  sessionEviction,
} from "./sessions.ts";
import {
  deletedVoter,
  doubleExecute,
  doubleVote,
  restampAgainstApproval,
  takingBack,
  voteAgainstReject,
  voterLeavesQuorum,
} from "./votes.ts";

export const races: readonly AnyRace[] = [
  doubleVote,
  doubleExecute,
  voteAgainstReject,
  takingBack,
  restampAgainstApproval,
  deletedVoter,
  voterLeavesQuorum,
  lastRootUsers,
  twoQuorums,
  raisedThreshold,
  lastKeys,
  deletedKey,
  eviction,
  oneKeyTwoUsers,
  copiedKey,
  lostUpdates,
  deletedPolicy,
  newDenial,
  limit,
  deletedOrganization,
  sameName,
  renamedWallet,
  deletedWallet,
  exportAgainstDelete,
  oneTarget,
  oneSeed,
  idempotencyKey,
  keyForTwo,
  loginAgainstDelete,
  loginAgainstPasskeyDelete,
  invalidations,
  invalidationsByType,
  renewal,
  oneSessionKey,
  sessionEviction,
];
