/**
 * One-time codes in the database: their records, and who has tried to answer them. The signer's memory counts attempts too and believes no
 * row; these rows make the count exact over all hosts. A body claims one of three places before the signer is asked, and keeps it. The
 * place 0 is taken by the commit of the body that is given the token.
 */
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

const attemptsPerCode = 3;

/** The place of the body that was given the token. */
export const spentPlace = 0;

/** A code's record as a commit brings it: with the signer's mark. */
export type NewCodeRow = { otpId: string; content: Uint8Array };

export type AttemptClaim =
  /** It has a place: a new one, or the one it took when it came before. */
  | "claimed"
  /** Others have all three. */
  | "none left"
  /** Another body was given the token. */
  | "spent";

const attempts = compiled("otp_attempts", (db, organizationId: string, otpId: string) =>
  db
    .selectFrom("otp_attempts")
    .select(["place", "fingerprint"])
    .where("organization_id", "=", organizationId)
    .where("otp_id", "=", otpId),
);

/** Takes one of the places for this body, by compare-and-set: a place that somebody else was faster with is looked for again. */
export async function claimAttempt(
  store: Store,
  { organizationId, otpId, fingerprint }: { organizationId: string; otpId: string; fingerprint: string },
  nowMs: number,
): Promise<AttemptClaim> {
  for (;;) {
    const taken = await attempts(store, organizationId, otpId);
    const spent = taken.find(({ place }) => place === spentPlace);
    if (spent !== undefined && spent.fingerprint !== fingerprint) return "spent";
    if (taken.some((each) => each.fingerprint === fingerprint)) return "claimed";
    const place = 1 + Math.max(0, ...taken.map((each) => each.place));
    if (place > attemptsPerCode) return "none left";
    const { numInsertedOrUpdatedRows } = await store.db
      .insertInto("otp_attempts")
      .values({ organization_id: organizationId, otp_id: otpId, place, fingerprint, created_at_ms: nowMs })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 1n) return "claimed";
  }
}
