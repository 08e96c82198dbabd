/**
 * Reads a stopped deployment's database and the signer's memory, and holds them against each other and against what the oracle was
 * told. The effects are replayed by the few lines here, not by the server's code. Each difference is one line.
 */
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { Activity } from "@keystead/sdk";
import { activityForms } from "@keystead/server/generated/activities.ts";
import { withoutLeaf } from "@keystead/server/rules/bearer_results.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { closeStore, openStore, type StoreSource } from "@keystead/server/store/store.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { checkMemory } from "./check_memory.ts";
import { checkOrganization, doubles, inOrder } from "./check_organization.ts";
import { type DeploymentRows, type Rows, readDeployment } from "./deployment_rows.ts";
import type { OracleReport } from "./ledger.ts";

export type DatabaseCheck = {
  /** Acknowledged, and not there as it was acknowledged. */
  lost: string[];
  /** There in part: a row without its leaf, a page without its projection, a version without its activity. */
  halfApplied: string[];
  /** Fingerprints, activities or objects that exist more than once. */
  executedTwice: string[];
  /** Abandoned requests that turned out complete; the others are absent. */
  abandonedComplete: number;
  activities: number;
};

export type Places = { source: StoreSource; memoryFolder: string; rootKey: Uint8Array };

export async function withDeployment<T>(source: StoreSource, work: (rows: DeploymentRows) => T): Promise<T> {
  const store = await openStore(source);
  try {
    return work(await readDeployment(store));
  } finally {
    await closeStore(store);
  }
}

/** For an oracle that makes and deletes tags of users in one organization, and nothing else. */
export function checkDatabase(
  { source, memoryFolder, rootKey }: Places,
  organizationId: string,
  report: OracleReport,
): Promise<DatabaseCheck> {
  return withDeployment(source, (deployment) => {
    const rows = deployment.organizations.get(organizationId);
    if (rows === undefined) throw new Error(`organization ${organizationId} is not in the database`);
    const abandoned = new Set(report.abandoned.map(({ body }) => toHex(sha256(body))));
    const byFingerprint = new Map(rows.activities.map((row) => [row.fingerprint, row]));
    const find = (body: string) => byFingerprint.get(toHex(sha256(body)));
    return {
      lost: report.acknowledged.flatMap(({ body, answer }) => {
        const row = find(body);
        if (row === undefined) return [`absent: ${body}`];
        const same = answer.kind === "activity" ? isStored(row, answer.activity) : isRefused(row, answer);
        return same ? [] : [`stored otherwise: ${body}`];
      }),
      halfApplied: [
        ...checkOrganization(rows),
        ...checkVersions(rows),
        ...replay(rows),
        ...checkMemory(deployment, memoryFolder, rootKey, abandoned),
      ],
      executedTwice: findDoubles(rows, report),
      abandonedComplete: report.abandoned.filter(({ body }) => find(body) !== undefined).length,
      activities: rows.activities.length,
    };
  });
}

export function isStored(row: Tables["activities"], activity: Activity): boolean {
  const [answered = null] = Object.values(activity.result) as object[];
  const { answer, stored } = bothForms(row.type, answered, JSON.parse(row.result ?? "null"));
  return (
    row.activity_id === activity.id &&
    row.status === activity.status &&
    new Date(row.created_at_ms).toISOString() === activity.createdAt &&
    isDeepStrictEqual(stored, answer)
  );
}

type Result = Record<string, unknown>;

/** Rows are answers, but for what only the server needs, and for bearer values, which no row has. */
function bothForms(
  type: string,
  answer: object | null,
  row: Result | null,
): { answer: object | null; stored: unknown } {
  const form = activityForms.get(type);
  if (row === null || answer === null || form === undefined) return { answer, stored: row };
  const field = form.activity.bearer?.field;
  const stored = withoutLeaf(form.answer(row));
  return { answer: field === undefined ? answer : { ...answer, [field]: "" }, stored };
}

function isRefused(row: Tables["activities"], { code, message }: { code: number; message: string }): boolean {
  const failure = JSON.parse(row.failure ?? "null") as { code: number; message: string } | null;
  return row.status === "ACTIVITY_STATUS_FAILED" && failure?.code === code && failure.message === message;
}

/** Versions 2 and up belong to one activity each; version 1 is the birth. */
function checkVersions({ organization, activities }: Rows): string[] {
  const found: string[] = [];
  const versions = activities.flatMap(({ state_version }) => state_version ?? []).sort((a, b) => a - b);
  versions.forEach((version, index) => {
    if (version !== index + 2) found.push(`activity of version ${version} stands at place ${index + 2}`);
  });
  if (organization.version !== versions.length + 1)
    found.push(`${versions.length} changes led to ${organization.version}`);
  return found;
}

/** What the completed activities, taken one after the other, leave behind. */
function replay({ activities, user_tags }: Rows): string[] {
  const found: string[] = [];
  const tags = new Map<string, string>();
  for (const { type, body, result, state_version } of inOrder(activities)) {
    const { parameters } = JSON.parse(Buffer.from(body).toString());
    if (type === "ACTIVITY_TYPE_CREATE_USER_TAG") {
      const { userTagId } = JSON.parse(result ?? "{}");
      if (tags.has(userTagId) || [...tags.values()].includes(parameters.userTagName)) {
        found.push(`version ${state_version} creates a tag that exists`);
      }
      tags.set(userTagId, parameters.userTagName);
    } else {
      for (const tagId of parameters.userTagIds) {
        if (!tags.delete(tagId)) found.push(`version ${state_version} deletes a tag that does not exist`);
      }
    }
  }
  const left = new Map(user_tags.map(({ tag_id, tag_name }) => [tag_id, tag_name]));
  if (!isDeepStrictEqual(left, tags)) found.push(`${left.size} tags are left, a replay leaves ${tags.size}`);
  return found;
}

function findDoubles({ activities }: Rows, { acknowledged }: OracleReport): string[] {
  const created = activities.flatMap(({ type, result }) =>
    type === "ACTIVITY_TYPE_CREATE_USER_TAG" && result !== null ? [JSON.parse(result).userTagId as string] : [],
  );
  return [
    ...doubles(acknowledged.flatMap(({ answer }) => (answer.kind === "activity" ? answer.activity.id : []))),
    ...doubles(acknowledged.map(({ body }) => body)),
    ...doubles(activities.map(({ fingerprint }) => fingerprint)),
    ...doubles(activities.map(({ activity_id }) => activity_id)),
    ...doubles(created),
  ];
}
