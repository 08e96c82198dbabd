/** Refusals by policies. The answer names policies by id; whoever reads it knows them by name, and may want to ask again later. */
import { type Activity, KeysteadError } from "@keystead/sdk";
import { ExplainedRefusal } from "./explained_refusal.ts";
import { type Explained, type ExplainedPolicy, reportLines } from "./policy_report.ts";
import { printable } from "./printable.ts";
import type { Session } from "./profile.ts";
import { type SessionScope, scopeRefusalLines } from "./session_scope.ts";

type PolicyDetail = {
  policyEvaluations?: { policyId: string; outcome: Explained["outcome"] }[];
  explanations?: (Explained & { policyId: string })[];
  /** Where the session's profile refused it, before any policy was asked. */
  sessionScope?: SessionScope;
};

/** Runs what calls the server; a refusal by policies comes out with the lines that explain it. */
export async function explainRefusal<T>(session: Session, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const details = error instanceof KeysteadError ? policyDetails(error) : [];
    if (!(error instanceof KeysteadError) || details.length === 0) throw error;
    throw new ExplainedRefusal(error, await linesOf(session, details));
  }
}

function policyDetails({ details }: KeysteadError): PolicyDetail[] {
  const all = details as ({ "@type"?: unknown } | null)[];
  return all.filter((one) => String(one?.["@type"]).endsWith("PolicyEnginePermissionError")) as PolicyDetail[];
}

async function linesOf(session: Session, details: readonly PolicyDetail[]): Promise<string[]> {
  const [scope] = details.flatMap(({ sessionScope }) => sessionScope ?? []);
  if (scope !== undefined) return scopeRefusalLines(session.client, scope);
  const titles = await findTitles(session);
  const activity = await findRefused(session);
  const reports = details.flatMap(({ policyEvaluations = [], explanations = [] }) => {
    const explainedPolicyOf = ({
      policyId,
      outcome,
    }: {
      policyId: string;
      outcome: Explained["outcome"];
    }): ExplainedPolicy => {
      const explained = explanations.find((one) => one.policyId === policyId) ?? { outcome, observed: {} };
      return { ...explained, ...(titles.get(policyId) ?? { policyName: policyId }) };
    };
    const all = policyEvaluations.map(explainedPolicyOf);
    // Of many the answer explains those that decided. Where it explains none, the outcomes are all there is.
    const isExplained = (at: number) =>
      explanations.some(({ policyId }) => policyId === policyEvaluations[at]?.policyId);
    const shown = explanations.length === 0 ? all : all.filter((_, at) => isExplained(at));
    const [verdict, ...each] = reportLines(all, { isRefused: true, shown });
    return [`refused: ${verdict}`, ...each];
  });
  const later = activity === undefined ? [] : [`why, later: npx keystead policy explain ${printable(activity.id)}`];
  return [...reports, ...later];
}

type Title = Pick<ExplainedPolicy, "policyName" | "effect">;

/** By id. Names are for comfort: whoever may not list them reads ids. */
async function findTitles({ client }: Session): Promise<ReadonlyMap<string, Title>> {
  try {
    const { policies } = await client.listPolicies();
    return new Map(policies.map(({ policyId, policyName, effect }) => [policyId, { policyName, effect }]));
  } catch {
    return new Map();
  }
}

/** The answer does not carry the activity that was refused; its fingerprint is the hash of what we sent. */
async function findRefused({ client, lastFingerprint }: Session): Promise<Activity | undefined> {
  const fingerprint = lastFingerprint();
  if (fingerprint === undefined) return undefined;
  try {
    const { activities } = await client.listActivities({
      filterByStatus: ["ACTIVITY_STATUS_REJECTED"],
      paginationOptions: { limit: "20" },
    });
    return activities.find((one) => one.fingerprint === fingerprint);
  } catch {
    return undefined;
  }
}
