/**
 * Executes every organization of an export from its birth by the signer's own rules, under a throw-away keyring. What it takes is what an
 * export discloses: no database, no root key, no memory. Each act must come to the same decision, on the same grounds, and lead to the
 * same header.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { withoutMac } from "../state/authenticity.ts";
import { type DecisionOrders, readBootOrders } from "./boot_orders.ts";
import { type Exported, type OrganizationLog, readExported } from "./exported.ts";
import { type OrganizationReplay, replayOrganization } from "./replay_organization.ts";
import { createWorld } from "./world.ts";

/** `index`: the leaf's place in its organization's list. */
export type ReplayDifference = { organizationId: string; index: number; what: string };

export type ReplayReport = {
  organizations: number;
  /** Acts that were executed anew. */
  acts: number;
  differences: ReplayDifference[];
  /** What the export does not say enough about to be decided again, or not all of it. */
  unchecked: string[];
};

export type ReplayOptions = {
  /** The operator's choices, where whoever asks knows them better than the export. */
  orders?: Partial<DecisionOrders>;
  /** Is told of each organization when it is done. */
  done?: (organizationId: string, replay: OrganizationReplay) => void | Promise<void>;
};

export async function replayExport(exported: Exported, { orders, done }: ReplayOptions = {}): Promise<ReplayReport> {
  const logs = new Map(
    [...exported.organizations].map(([id, organization]) => [id, readExported(id, organization)] as const),
  );
  const world = createWorld(logs, readBootOrders(logs.values(), orders));
  const report: ReplayReport = { organizations: 0, acts: 0, differences: [], unchecked: [] };
  for (const log of parentsFirst(logs)) {
    const { organizationId } = log;
    const replay = replayOrganization(world, log);
    if (replay.end !== undefined) world.newest.set(organizationId, replay.end.state);
    if (replay.isWhole) world.whole.add(organizationId);
    report.organizations += 1;
    report.acts += replay.acts;
    for (const difference of replay.differences) report.differences.push({ organizationId, ...difference });
    for (const { index, what } of replay.unchecked) {
      report.unchecked.push(`organization ${organizationId}, leaf ${index}: ${what}`);
    }
    await done?.(organizationId, replay);
  }
  if (orders === undefined) {
    for (const [boot, acts] of world.undisclosed) {
      report.unchecked.push(
        `boot ${boot}: its orders are not disclosed, and ${acts === 1 ? "1 act was" : `${acts} acts were`} decided under them`,
      );
    }
  }
  return report;
}

/** A child's replay reads states of its parent. */
function parentsFirst(logs: ReadonlyMap<string, OrganizationLog>): OrganizationLog[] {
  const parentOf = ({ entries }: OrganizationLog): OrganizationLog | undefined => {
    const header = entries.find(({ leaf }) => leaf.event === "BIRTH")?.leaf.header;
    const parentId = header && decodeHeader(withoutMac(header)).parentId;
    return parentId && logs.get(uuidFromBytes(parentId));
  };
  const depth = (log: OrganizationLog): number => {
    const above = new Set<OrganizationLog>();
    // Whoever makes up a circle of parents gets an end, too.
    for (let parent = parentOf(log); parent !== undefined && !above.has(parent); parent = parentOf(parent)) {
      above.add(parent);
    }
    return above.size;
  };
  return [...logs.values()]
    .map((log) => ({ log, at: depth(log) }))
    .sort((a, b) => a.at - b.at)
    .map(({ log }) => log);
}
