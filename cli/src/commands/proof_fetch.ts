import { type CommandContext, printJson, refuseArguments, UsageError } from "../command.ts";
import { openSession } from "../profile.ts";
import { askedActivity } from "../proof/asked_activity.ts";

export async function proofFetch(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const [activityId] = context.args;
  if (activityId === undefined) throw new UsageError("proof fetch needs the id of an activity");
  const { client } = await openSession(context.flags);
  const { appProofs } = await client.listAppProofs({ activityId });
  const [first] = appProofs;
  if (first === undefined) throw new Error("this activity has no app proofs: send it with `--app-proofs`");
  const asked = await askedActivity(client, activityId, appProofs);
  // One start of the signer has executed the activity, so all its proofs are by one key.
  const { bootProof } = await client.getBootProof({ ephemeralKey: first.publicKey });
  printJson({ ...asked, appProofs, bootProof });
  return 0;
}
