/**
 * Cases for the policies of `policy-examples.jsonl`, which lie beside the repository like other third-party material and may
 * be absent. The files in `policy_cases` are in our own words: they name a row, fill its blanks, and say what must become of
 * activities. Here they become ordinary case files, so that engine, command line and simulator can run the same ones.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findVectors } from "./vectors.ts";

const casesFolder = join(import.meta.dirname, "policy_cases");

export type PolicyRow = {
  id: string;
  kind: "policy" | "fragment" | "expression" | "mfa_condition" | "session_scope" | "invalid";
  effect?: string | null;
  consensus?: string | null;
  condition?: string | null;
  time?: string | null;
};

/** The rows by id, or undefined after marking the test as skipped and saying why. */
export function findPolicyRows(t: { skip(message?: string): void }): ReadonlyMap<string, PolicyRow> | undefined {
  const vectors = findVectors(t);
  if (vectors === undefined) return undefined;
  const lines = new TextDecoder().decode(vectors.bytes("../reference/policy-examples.jsonl")).trim().split("\n");
  return new Map(lines.map((line): PolicyRow => JSON.parse(line)).map((row) => [row.id, row]));
}

type User = { userId: string; userName: string };
type RowCase = {
  name: string;
  activity: string;
  /** Users by name. */
  by: string;
  with?: (string | { user: string; credentialId: string })[];
  now?: string;
  expect: "allow" | "deny" | "consensus";
  /** What becomes of the row's policy where `expect` does not say it; null where no policy is asked. */
  outcome?: string | null;
};
type RowGroup = {
  row: string;
  fill?: Record<string, string>;
  /** A condition around the row's text, which stands at `$`; for expressions that are not true or false. */
  wrap?: string;
  cases: RowCase[];
};
type RowFile = { users: User[]; activities: Record<string, object>; rows: RowGroup[]; [part: string]: unknown };

/** One file of `policy_cases`. */
export type RowCases = {
  name: string;
  /** What `parseCases` takes. */
  file: unknown;
  /** The row of each case, in their order. */
  rows: readonly string[];
};

export function readRowCases(rows: ReadonlyMap<string, PolicyRow>): readonly RowCases[] {
  return readdirSync(casesFolder)
    .sort()
    .map((name) => {
      const { activities, rows: groups, ...world }: RowFile = JSON.parse(readFileSync(join(casesFolder, name), "utf8"));
      const users = new Map(world.users.map(({ userId, userName }) => [userName, userId]));
      const cases = groups.flatMap((group) => {
        const row = get(rows, group.row);
        const policies = policiesOf(row, group);
        return group.cases.map((one) => toCase(row, policies, one, activities, users));
      });
      return { name, file: { ...world, cases }, rows: groups.flatMap(({ row, cases }) => cases.map(() => row)) };
    });
}

/** The row as a policy of its own name. Beside one that denies, everything is allowed. */
function policiesOf(row: PolicyRow, { fill = {}, wrap }: RowGroup): object[] {
  const own = {
    policyName: row.id,
    effect: row.effect ?? "EFFECT_ALLOW",
    consensus: filled(row.consensus ?? "", fill),
    condition: wrapped(filled(row.condition ?? "", fill), wrap),
    time: filled(row.time ?? "", fill),
  };
  const all = `${own.consensus} ${own.condition} ${own.time}`;
  for (const [blank, value] of Object.entries(fill)) {
    if (!all.includes(value)) throw new Error(`${row.id} has no ${blank}`);
  }
  if (/<[A-Za-z]/.test(all)) throw new Error(`${row.id} has blanks that nobody filled: ${all}`);
  return row.effect === "EFFECT_DENY" ? [own, { policyName: "everything", effect: "EFFECT_ALLOW" }] : [own];
}

/** Longer blanks first, as some begin like others. */
function filled(text: string, fill: Record<string, string>): string {
  const blanks = Object.keys(fill).sort((a, b) => b.length - a.length);
  return blanks.reduce((partly, blank) => partly.replaceAll(blank, () => fill[blank] ?? ""), text);
}

function wrapped(text: string, wrap: string | undefined): string {
  return wrap === undefined ? text : wrap.replaceAll("$", () => `(${text})`);
}

const usualOutcomes: Record<string, Record<RowCase["expect"], string>> = {
  EFFECT_ALLOW: {
    allow: "OUTCOME_ALLOW",
    deny: "OUTCOME_DENY_IMPLICIT",
    consensus: "OUTCOME_REQUIRES_CONSENSUS",
  },
  EFFECT_DENY: { allow: "OUTCOME_DENY_IMPLICIT", deny: "OUTCOME_DENY_EXPLICIT", consensus: "OUTCOME_DENY_IMPLICIT" },
};

function toCase(
  row: PolicyRow,
  policies: object[],
  { name, activity, by, with: others = [], now, expect, outcome }: RowCase,
  activities: Record<string, object>,
  users: ReadonlyMap<string, string>,
): object {
  const proposer = get(users, by);
  const approvers = others.map((other) =>
    typeof other === "string"
      ? get(users, other)
      : { userId: get(users, other.user), credentialId: other.credentialId },
  );
  const hasOwn = approvers.some((approver) => typeof approver === "object" && approver.userId === proposer);
  return {
    name: `${row.id}: ${name}`,
    policies,
    activity: activities[activity],
    proposer,
    approvers: hasOwn ? approvers : [proposer, ...approvers],
    ...(now === undefined ? {} : { now }),
    expect,
    ...(outcome === null
      ? {}
      : { outcomes: { [row.id]: outcome ?? usualOutcomes[row.effect ?? "EFFECT_ALLOW"]?.[expect] } }),
  };
}

function get<T>(map: ReadonlyMap<string, T>, name: string): T {
  const found = map.get(name);
  if (found === undefined) throw new Error(`nothing is called ${name}`);
  return found;
}
