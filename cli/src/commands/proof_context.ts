import { type CommandContext, printJson, refuseArguments, UsageError } from "../command.ts";
import { openSession } from "../profile.ts";
import { askedActivity } from "../proof/asked_activity.ts";

type Payload = { type?: string; policyOutcomeProof?: { organizationId: string; decisionContextDigest: string } };

export async function proofContext(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [activityId] = context.args;
  if (activityId === undefined) throw new UsageError("proof context needs the id of an activity");
  const { client } = await openSession(context.flags);
  const { appProofs } = await client.listAppProofs({ activityId });
  for (const appProof of appProofs) {
    const { policyOutcomeProof } = JSON.parse(appProof.proofPayload) as Payload;
    if (policyOutcomeProof === undefined) continue;
    const { organizationId, decisionContextDigest: digest } = policyOutcomeProof;
    const asked = await askedActivity(client, activityId, [appProof]);
    printJson({ ...asked, appProof, context: await client.getProofContext({ organizationId, digest }) });
    return 0;
  }
  throw new Error("this activity has no proof of a policy's outcome: send it with `--app-proofs`");
}
