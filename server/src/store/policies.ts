/** Policies, for readers. How many an organization may have is limited, so they need no pages. */
import type { Policy, PolicyEffect } from "../state/entities.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

const policyById = compiled("policy_by_id", (db, organizationId: string, policyId: string) =>
  db.selectFrom("policies").selectAll().where("organization_id", "=", organizationId).where("policy_id", "=", policyId),
);

export async function findPolicy(store: Store, organizationId: string, policyId: string): Promise<Policy | undefined> {
  const [row] = await policyById(store, organizationId, policyId);
  return row && toPolicy(row);
}

const policiesOf = compiled("policies_of_organization", (db, organizationId: string) =>
  db
    .selectFrom("policies")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("policy_id"),
);

/** All policies, the oldest first. */
export async function listPolicies(store: Store, organizationId: string): Promise<Policy[]> {
  return (await policiesOf(store, organizationId)).map(toPolicy);
}

function toPolicy(row: Tables["policies"]): Policy {
  return {
    policyId: row.policy_id,
    policyName: row.policy_name,
    effect: row.effect as PolicyEffect,
    consensus: row.consensus,
    condition: row.condition,
    time: row.time,
    notes: row.notes,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
