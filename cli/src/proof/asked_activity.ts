/** The activity that proofs were asked for, held against the one that they name: an attacker who writes the database can move them. */
import {
  type AppProof,
  activityProvenBy,
  type ProvenActivity,
  refuseMovedProof,
} from "@keystead/core/attestation/app_proof.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Client } from "@keystead/sdk";

/** For people, of proofs from before they named an activity. */
export const namesNone = "an earlier release made the app proofs: they name no activity, and may be another's";

/** What goes into the file beside the proofs, for those who check that. */
export async function askedActivity(
  client: Client,
  activityId: string,
  appProofs: readonly AppProof[],
): Promise<ProvenActivity> {
  const { activity } = await client.getActivity({ activityId });
  const asked = { activityId: activityId.toLowerCase(), fingerprint: activity.fingerprint };
  const named = activityNamedIn(appProofs);
  if (named === undefined) console.error(namesNone);
  else refuseMovedProof(named, asked);
  return asked;
}

/** The one activity of all these proofs; undefined where they name none. */
export function activityNamedIn(appProofs: readonly AppProof[]): ProvenActivity | undefined {
  const [first, ...others] = appProofs.map(activityProvenBy);
  for (const other of others) {
    if ((other === undefined) !== (first === undefined)) {
      throw new Fault("invalid_argument", "bad app proof: only some of these proofs name their activity");
    }
    refuseMovedProof(other ?? {}, first ?? {});
  }
  return first;
}
