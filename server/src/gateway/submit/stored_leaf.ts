import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { activityForms } from "../../generated/activities.ts";
import { shownResult } from "../../rules/bearer_results.ts";
import { withoutMac } from "../../state/authenticity.ts";
import type { CommitItem, ReleasedLeaf } from "../../store/commit_item.ts";
import type { UnreleasedLeaf } from "../../store/leaves.ts";

/** A committed row on its way out. */
export type StoredLeaf = ReleasedLeaf & {
  leaf: Uint8Array;
  sealed: Uint8Array | undefined;
  activityType?: string | undefined;
};

export function toStoredLeaf({ organizationId, leaf, activity }: CommitItem): StoredLeaf {
  const { boot, number, leaf: bytes, sealed } = leaf;
  const { activityId, type: activityType } = activity ?? {};
  return {
    ...{ organizationId, boot, number, leaf: bytes, sealed, activityType },
    ...(activityId !== undefined && { activityId }),
  };
}

export function toLeftover({ organizationId, boot, number, activityId, leaf, sealed }: UnreleasedLeaf): StoredLeaf {
  return {
    organizationId,
    boot,
    number,
    leaf,
    sealed: sealed ?? undefined,
    activityType: sealed === null ? undefined : typeIn(leaf),
    ...(activityId !== null && { activityId }),
  };
}

/** Undefined for bytes that are no leaf, which are the signer's to refuse. */
function typeIn(leaf: Uint8Array): string | undefined {
  try {
    return decodeLeaf(withoutMac(leaf)).activityType;
  } catch {
    return undefined;
  }
}

/** What is written once the leaf was released: of a result that its row does not show, the rest. */
export function toMark(
  { organizationId, boot, number, activityId, activityType }: StoredLeaf,
  opened: string | undefined,
): ReleasedLeaf {
  const activity = activityForms.get(activityType ?? "")?.activity;
  const result = opened === undefined || activity === undefined ? opened : shownResult(activity, opened);
  return {
    organizationId,
    boot,
    number,
    ...(activityId !== undefined && { activityId }),
    ...(result !== undefined && { result }),
  };
}

type NamedLeaf = Pick<StoredLeaf, "organizationId" | "boot" | "number">;

/** For the operator: whose leaf it is, and what finds rows that were changed. */
export function notReleased(leaf: NamedLeaf | undefined, why: string): string {
  return (
    `organization ${leaf?.organizationId}: leaf ${leaf?.number} of signer boot ${leaf?.boot} is not released: ${why}; ` +
    "if rows were changed, `npx keystead check-log` and `npx keystead check-database` name them"
  );
}

/** What whoever asks for its result hears; the operator's log has more. */
export function refusedLeaf(leaf: NamedLeaf | undefined, why: string): Fault {
  return new Fault("unavailable", why, { cause: new Error(notReleased(leaf, why)) });
}
