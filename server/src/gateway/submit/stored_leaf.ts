import type { CommitItem, ReleasedLeaf } from "../../store/commit_item.ts";
import type { UnreleasedLeaf } from "../../store/leaves.ts";

/** A committed row on its way out. */
export type StoredLeaf = ReleasedLeaf & { leaf: Uint8Array; sealed: Uint8Array | undefined };

export function toStoredLeaf({ organizationId, leaf, activity }: CommitItem): StoredLeaf {
  const { boot, number, leaf: bytes, sealed } = leaf;
  return { organizationId, boot, number, leaf: bytes, sealed, ...(activity && { activityId: activity.activityId }) };
}

export function toLeftover({ organizationId, boot, number, activityId, leaf, sealed }: UnreleasedLeaf): StoredLeaf {
  return {
    organizationId,
    boot,
    number,
    leaf,
    sealed: sealed ?? undefined,
    ...(activityId !== null && { activityId }),
  };
}

/** What is written once the leaf was released. */
export function toMark(
  { organizationId, boot, number, activityId }: StoredLeaf,
  result: string | undefined,
): ReleasedLeaf {
  return {
    organizationId,
    boot,
    number,
    ...(activityId !== undefined && { activityId }),
    ...(result !== undefined && { result }),
  };
}
