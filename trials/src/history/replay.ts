/**
 * Executes every organization's log anew from what an export would disclose of it, with the signer's own code under a throw-away keyring;
 * then what the database holds in the end must be the state that this leads to, and tables that show it. Only bodies whose bearer values
 * have not ended are opened with the root key: nobody waits for that here.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type Limits, withLimits } from "@keystead/server/endpoints/limits.ts";
import type { Exported } from "@keystead/server/replay/exported.ts";
import { replayExport } from "@keystead/server/replay/replay_export.ts";
import type { OrganizationReplay } from "@keystead/server/replay/replay_organization.ts";
import { createSealer } from "@keystead/server/signer/secrets/seal.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import type { KeyRecord } from "@keystead/server/state/records.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { exportedRows } from "../../../server/test/exported_rows.ts";
import { type OrganizationLog, readLog } from "./log.ts";
import { compareProjection } from "./projection.ts";

export type Replay = {
  /** With the first. */
  organizations: number;
  /** Acts that were executed anew. */
  acts: number;
  /** What is not disclosed: only of releases before all of it was. */
  unchecked: string[];
  /** Each names the organization and the act. */
  differences: string[];
};

const maxDifferences = 20;

/** A deployment whose servers have stopped, and the limits it ran under. */
export type Stopped = {
  source: StoreSource;
  rootKey: Uint8Array;
  limits: Readonly<Partial<Limits>>;
  /** What the database does not have: the order of a birth from before it was kept. */
  disclosed?: readonly Uint8Array[];
};

export async function replay({ source, rootKey, limits, disclosed = [] }: Stopped): Promise<Replay> {
  const store = await openStore(source);
  try {
    const exported = withBodies(await exportedRows(store, createSealer(rootKey, 1)), disclosed);
    const ends: string[] = [];
    const report = await replayExport(exported, {
      orders: { limits: withLimits(limits as Record<string, number>) },
      async done(organizationId, replayed) {
        const log = await readLog(store, organizationId);
        const found = [...checkLeaves(log), ...(replayed.isWhole ? await compareEnd(store, log, replayed) : [])];
        ends.push(...found.map((what) => `organization ${organizationId}: ${what}`));
      },
    });
    const differences = report.differences.map(
      ({ organizationId, index, what }) => `organization ${organizationId}, leaf ${index}: ${what}`,
    );
    return { ...report, differences: [...differences, ...ends].slice(0, maxDifferences) };
  } finally {
    await closeStore(store);
  }
}

function withBodies({ organizations }: Exported, bodies: readonly Uint8Array[]): Exported {
  return {
    organizations: new Map(
      [...organizations].map(
        ([
          id,
          {
            leaves: [first, ...others],
          },
        ]) => [
          id,
          { leaves: first === undefined ? [] : [{ ...first, bodies: [...first.bodies, ...bodies] }, ...others] },
        ],
      ),
    ),
  };
}

/** Where the replay ends, against the database. MACs are another keyring's, and so are the boxes in the page of imports. */
async function compareEnd(store: Store, log: OrganizationLog, { end }: OrganizationReplay): Promise<string[]> {
  if (end === undefined) return ["it was never born"];
  const found: string[] = [];
  const { state, records } = end;
  const { header, directory } = log.organization;
  if (!equal(withoutMac(state.header), withoutMac(header))) {
    found.push("the database holds another header than the replay leads to");
  }
  if (!equal(state.directory, directory)) found.push("the database holds another directory");
  for (const name of new Set([...state.pages.keys(), ...log.pages.keys()])) {
    if (name === "importTargets" || equal(state.pages.get(name), log.pages.get(name))) continue;
    found.push(`the database holds another page \`${name}\``);
  }
  return [...found, ...(await compareProjection(store, log, state.pages, records.keys() as KeyRecord[]))];
}

function equal(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : toHex(a) === toHex(b);
}

/** One leaf per terminal activity, one per waiting submission and vote; each version once; everything released. */
function checkLeaves({ entries, activities, votes, organization, unreleased }: OrganizationLog): string[] {
  const found: string[] = [];
  const versions = entries.flatMap(({ version }) => version ?? []);
  if (versions.some((version, index) => version !== index + 1)) found.push(`its versions are ${versions.join(" ")}`);
  if (organization.version !== versions.length)
    found.push(`it stands at ${organization.version} of ${versions.length}`);
  if (unreleased > 0) found.push(`${unreleased} leaves are not marked as released`);
  const leaves = Map.groupBy(entries, ({ activity }) => activity?.activity_id);
  const later = Map.groupBy(votes, ({ activity_id }: Tables["votes"]) => activity_id);
  for (const [activityId, { status }] of activities) {
    const events = (leaves.get(activityId) ?? []).map(({ leaf }) => leaf.event);
    const [last, ...before] = events.reverse();
    const waits = status === "ACTIVITY_STATUS_CONSENSUS_NEEDED";
    const isEnded = waits ? last === "SUBMITTED" || last === "VOTED" : `ACTIVITY_STATUS_${last}` === status;
    const isWaited = before.every((event, index) => event === (index === before.length - 1 ? "SUBMITTED" : "VOTED"));
    const isCounted = events.length === 1 + (later.get(activityId)?.length ?? 0);
    if (!isEnded || !isWaited || !isCounted)
      found.push(`activity ${activityId} is ${status}, with leaves ${events.reverse()}`);
  }
  return found;
}
