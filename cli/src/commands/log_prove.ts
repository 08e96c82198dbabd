import { writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { sameBytes } from "@keystead/core/encoding/bytes.ts";
import { isUuid, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { encodeProvenLeaf } from "@keystead/core/log/export/leaf_record.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { formatProofFile } from "@keystead/core/tlog/proof_file.ts";
import type { Client } from "@keystead/sdk";
import { type CommandContext, refuseArguments, UsageError } from "../command.ts";
import { coveringCheckpoint, nameOfWitness } from "../log/covering_checkpoint.ts";
import { listLeaves, type OwnLeaf } from "../log/own_history.ts";
import { openPublicLog } from "../log/public_log.ts";
import { openSession } from "../profile.ts";

/** What was done right now has its place within a second or two. */
const tries = 6;

export async function logProve(context: CommandContext): Promise<number> {
  refuseArguments(context, 1);
  const activityId = context.args[0]?.toLowerCase();
  if (activityId === undefined || !isUuid(activityId)) throw new UsageError("log prove needs the id of an activity");
  const witnesses = (context.flags.witness ?? []).map(nameOfWitness);
  const { client, organizationId, baseUrl } = await openSession(context.flags);
  const publicLog = openPublicLog(baseUrl, client);
  const { logId, record } = await findNewest(client, organizationId, uuidToBytes(activityId));
  const log = (await publicLog.listLogs()).find((each) => each.logId === logId);
  if (log === undefined || record.leaf === undefined) throw new Error(`the server does not list log ${logId}`);
  const { position: index, ordinal, leaf, bodies } = record;
  const checkpoint = await coveringCheckpoint({ publicLog, witnesses, wait }, log, index + 1);
  if (checkpoint === undefined) throw new Error(`the server has lost log ${logId}, which has ended`);
  const proof = await publicLog.inclusionProof(log, index, checkpoint.size);
  const file = `${activityId}.tlog-proof`;
  const extra = encodeProvenLeaf({ ordinal, leaf, bodies });
  writeFileSync(file, formatProofFile({ extra, index, proof, checkpoint: checkpoint.text }));
  console.log(file);
  return 0;
}

/** The last leaf of the activity: its end, or where it waits. */
async function findNewest(client: Client, organizationId: string, activityId: Uint8Array): Promise<OwnLeaf> {
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) await wait(500);
    let newest: { leaf: OwnLeaf; timeMs: number } | undefined;
    for await (const leaf of listLeaves(client, organizationId)) {
      if (leaf.record.leaf === undefined) continue;
      const { activityId: of, timeMs, event } = decodeLeaf(leaf.record.leaf);
      if (event === "BIRTH" || !sameBytes(of, activityId)) continue;
      if (newest === undefined || timeMs >= newest.timeMs) newest = { leaf, timeMs };
    }
    if (newest !== undefined) return newest.leaf;
  }
  throw new Error("no leaf of this activity is in the log, or it is not shown");
}
