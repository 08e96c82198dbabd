/** Everything a stopped deployment's database holds, by organization. */
import type { Store } from "@keystead/server/store/store.ts";
import { type OrganizationTable, organizationTables, type Tables } from "@keystead/server/store/tables.ts";

type OwnedTable = Exclude<OrganizationTable, "organizations">;

/** The rows of one organization. */
export type Rows = { organization: Tables["organizations"] } & { [T in OwnedTable]: Tables[T][] };

export type DeploymentRows = { keyring: Uint8Array; organizations: ReadonlyMap<string, Rows> };

const owned = organizationTables.filter((name): name is OwnedTable => name !== "organizations");

export async function readDeployment({ db }: Store): Promise<DeploymentRows> {
  const [deployment] = await db.selectFrom("deployment").selectAll().execute();
  if (deployment === undefined) throw new Error("the deployment was never born");
  const organizations = new Map<string, Rows>();
  for (const organization of await db.selectFrom("organizations").selectAll().execute()) {
    const empty = Object.fromEntries(owned.map((name) => [name, []]));
    organizations.set(organization.organization_id, { organization: { ...organization }, ...empty } as unknown as Rows);
  }
  for (const table of owned) {
    const all = await db
      .selectFrom(table as "users")
      .selectAll()
      .execute();
    for (const row of all) {
      const rows = organizations.get(row.organization_id)?.[table] as object[] | undefined;
      if (rows === undefined) throw new Error(`${table} has rows of ${row.organization_id}, which is not there`);
      // SQLite's rows have no prototype; those of both shall be comparable.
      rows.push({ ...row });
    }
  }
  return { keyring: deployment.keyring, organizations };
}
