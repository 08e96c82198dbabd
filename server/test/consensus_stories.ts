/**
 * What can meet a waiting activity of three users, in every order: an approval, a rejection, the passing of a day, a change of
 * the rules and the deletion of a user. Whose rules they are is the tests' business.
 */

import { samples } from "../../core/test/samples.ts";
import type { Activity } from "./gateway_rig.ts";

export const names = ["ann", "bob", "cleo"] as const;
export type Name = (typeof names)[number];

/** Ann proposes. */
export const proposer: Name = "ann";

export type Step =
  | { kind: "approve" | "approve by stamping again" | "reject" | "delete"; who: Name }
  | { kind: "expire" }
  | { kind: "edit" };

/** In hours: how long an approval counts. */
export const day = 24;

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}

/** Every order of the five, with every choice of who approves, who rejects and who is deleted; approvals alternate in kind. */
export function allStories(): Step[][] {
  const orders = permutations(["approve", "reject", "expire", "edit", "delete"] as const);
  let count = 0;
  return orders.flatMap((order) =>
    names.flatMap((approver) =>
      names.flatMap((rejecter) =>
        names.map((deleted) => {
          const approval = count++ % 2 === 0 ? "approve" : "approve by stamping again";
          return order.map((kind): Step => {
            if (kind === "approve") return { kind: approval, who: approver };
            if (kind === "reject") return { kind, who: rejecter };
            return kind === "delete" ? { kind, who: deleted } : { kind };
          });
        }),
      ),
    ),
  );
}

/** Without a rejection much more can happen: two approvals, then. */
export function storiesOfApproval(): Step[][] {
  const others = ["bob", "cleo"] as const;
  const first = others.map((who): Step => ({ kind: "approve", who }));
  return names.flatMap((deleted) =>
    permutations<Step>([...first, { kind: "expire" }, { kind: "edit" }, { kind: "delete", who: deleted }]).map(
      (story): Step[] => [...story, { kind: "approve", who: "bob" }, { kind: "approve", who: "ann" }],
    ),
  );
}

/** Spread evenly, from a place that changes from run to run. */
export function sample<T>(stories: readonly T[], seed: number): T[] {
  const stride = Math.max(1, Math.floor(stories.length / samples.consensusStories));
  return stories.filter((_, index) => index % stride === seed % stride);
}

const shortStatuses: Readonly<Record<string, string>> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED: "waiting",
  ACTIVITY_STATUS_COMPLETED: "completed",
  ACTIVITY_STATUS_REJECTED: "rejected",
};

export function statusOf({ status }: Pick<Activity, "status">): string {
  return shortStatuses[status] ?? status;
}
