/** Holds a stopped deployment against what the oracle of acts was told, and the operator's own command against both. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runOperator } from "@keystead/e2e/operator.ts";
import type { StoreSource } from "@keystead/server/store/store.ts";
import type { ActReport } from "./act_ledger.ts";
import { isStored, withDeployment } from "./check_database.ts";
import { checkMemory } from "./check_memory.ts";
import { checkOrganization, doubles } from "./check_organization.ts";

export type ActsCheck = {
  /** Acknowledged, and not there as it was acknowledged. */
  lost: string[];
  /** There in part, or more than once: rows, leaves, pages and projections that do not add up. */
  wrong: string[];
  activities: number;
  leaves: number;
};

export function checkActs(source: StoreSource, dataFolder: string, { acknowledged }: ActReport): Promise<ActsCheck> {
  return withDeployment(source, (deployment) => {
    const all = [...deployment.organizations.values()];
    const activities = new Map(all.flatMap((rows) => rows.activities.map((row) => [row.activity_id, row])));
    const lost = acknowledged.flatMap(({ act, body, activity }) => {
      const row = activities.get(activity.id);
      if (row === undefined) return [`absent: ${act} ${body}`];
      return isStored(row, activity) ? [] : [`stored otherwise: ${act} ${body}`];
    });
    return {
      lost,
      wrong: [
        ...all.flatMap(checkOrganization),
        ...checkMemory(deployment, join(dataFolder, "signer"), readFileSync(join(dataFolder, "root.key"))),
        ...doubles(all.flatMap((rows) => rows.wallet_accounts.map(({ address }) => address))),
      ],
      activities: activities.size,
      leaves: all.reduce((sum, { leaves }) => sum + leaves.length, 0),
    };
  });
}

/** `keystead check-log`, as an operator runs it. */
export async function checkLog(source: StoreSource, dataFolder: string): Promise<{ code: number; output: string }> {
  const databaseUrl = source.kind === "postgres" ? source.url : undefined;
  const { code, stdout } = await runOperator("cli", ["check-log"], { dataFolder, databaseUrl });
  return { code, output: stdout };
}
