/**
 * What one user's refusals may take in the database per day, wherever they run: a parent's user has one budget for the parent and all
 * its sub-organizations. A member without any right could else store a megabyte with each request, in each of them. Below the budget a refusal is stored as everything is; above it the caller is answered the same, and nothing is written:
 * no activity, leaf, vote or idempotency key (docs/decisions/0034).
 */
import { equalBytes } from "../../state/digest.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import { findHead } from "../../store/organizations.ts";
import { haveRefusalsTaken } from "../../store/refused_bytes.ts";
import type { Store } from "../../store/store.ts";
import type { Committer } from "./committer.ts";

type RefusedItem = Pick<
  CommitItem,
  "activity" | "leaf" | "evaluations" | "explanation" | "idempotency" | "sealedBody" | "appProofs" | "closed"
>;

/** Of the columns and index entries that every stored refusal has. */
const rowBytes = 1_024;

/** What storing a refusal takes. */
export function refusedBytesOf(item: RefusedItem): number {
  const { activity, leaf, evaluations, explanation, idempotency, sealedBody, appProofs, closed = [] } = item;
  const texts = [activity?.failure, activity?.votes, explanation, idempotency?.idempotencyKey];
  const blobs = [activity?.body, sealedBody?.sealed, leaf.leaf, evaluations, appProofs?.sealed];
  // Mostly they are there already; they count all the same.
  const contexts = appProofs?.contexts.map(({ content }) => content) ?? [];
  return (
    texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), rowBytes) +
    [...blobs, ...contexts, ...closed.map(({ sealed }) => sealed)].reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0)
  );
}

/**
 * The committer with this budget. What is on its way counts before the database has it, so that requests of one gateway cannot exceed
 * the budget together; other gateways may, by what they have on their way in that moment.
 */
export function withRefusalBudget(
  committer: Committer,
  store: Store,
  bytesPerDay: number,
  onExceeded: (organizationId: string, userId: string) => void = () => undefined,
): Committer {
  const onTheirWay = new Map<string, number>();
  return {
    ...committer,
    async commit(item, run) {
      const { refused } = item;
      if (refused === undefined) return committer.commit(item, run);
      const { organizationId, userId, day, bytes } = refused;
      const name = `${organizationId} ${userId} ${day}`;
      const reserved = (onTheirWay.get(name) ?? 0) + bytes;
      onTheirWay.set(name, reserved);
      try {
        // Looked up after it was reserved: whatever was reserved before is in the sum or in the database.
        const isExceeded = reserved > bytesPerDay || (await haveRefusalsTaken(store, refused, bytesPerDay - reserved));
        if (!isExceeded) return await committer.commit(item, run);
      } finally {
        const left = (onTheirWay.get(name) ?? 0) - bytes;
        if (left > 0) onTheirWay.set(name, left);
        else onTheirWay.delete(name);
      }
      onExceeded(organizationId, userId);
      // No commit shows that it was decided on the newest states, so that is asked.
      const isNewest = (await run.isNewest()) && (await doOthersStand(store, item));
      return isNewest ? { kind: "committed", result: undefined } : { kind: "conflict" };
    },
  };
}

async function doOthersStand(store: Store, { standing = [] }: CommitItem): Promise<boolean> {
  for (const { organizationId, header } of standing) {
    const head = await findHead(store, organizationId);
    if (head === undefined || !equalBytes(head.header, header)) return false;
  }
  return true;
}
