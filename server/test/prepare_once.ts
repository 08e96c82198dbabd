import type { Organizations } from "../src/gateway/submit/organization_states.ts";
import type { Decided, PrepareRequest } from "../src/gateway/submit/preparation.ts";
import { Round, runRounds, submitLimits } from "../src/gateway/submit/round.ts";
import { declaredOnly } from "../src/gateway/submit/wishes.ts";

/** One turn of a request with the signer, whose outcome nobody commits yet. */
export async function prepareOnce(
  organizations: Organizations,
  organizationId: string,
  request: PrepareRequest,
): Promise<Decided> {
  const round = new Round({ ...submitLimits, turns: 1 }, organizationId);
  const preparation = organizations.begin(organizationId, request);
  try {
    return await runRounds(round, declaredOnly, (needs) => preparation.attempt(round, needs));
  } finally {
    preparation.close();
  }
}
