import { Fault } from "@keystead/core/fault.ts";
import type { AnyQuery } from "../../endpoints/define_query.ts";
import { readBody, readOrganizationId } from "../../endpoints/envelope.ts";
import { explainMismatch } from "../../endpoints/explain_schema.ts";
import { checkOpens } from "../../evidence/evidence.ts";
import { queryValidators } from "../../generated/query_validators.ts";
import { recoversOnly } from "../../rules/recovery.ts";
import type { StoredAppProofs } from "../../store/app_proofs.ts";
import { inSnapshot } from "../../store/snapshot.ts";
import type { Store } from "../../store/store.ts";
import type { ActivityRecord } from "../../views/activity_view.ts";
import { dialectOf } from "../../views/dialect.ts";
import { authenticateQuery } from "../evidence/authenticate_query.ts";
import { readEvidence } from "../evidence/evidence_header.ts";
import { askedFrom, verifyIdentity } from "../evidence/read_identity.ts";
import { writeJson } from "../http/json_text.ts";
import type { RouteRequest, Send } from "../http/route.ts";
import { readLogFile } from "../log/read_log_file.ts";
import { withAppProofs } from "../submit/app_proofs.ts";
import { withBearer } from "../submit/sealed_results.ts";
import { type ApiDependencies, sourceOf } from "./api_dependencies.ts";
import { naming } from "./name_organization.ts";

export async function answerQuery(
  given: ApiDependencies,
  query: AnyQuery,
  { rawHeaders, clientVersion, callerAddress, body }: RouteRequest,
  send: Send,
): Promise<void> {
  const dependencies = askedFrom(given, callerAddress);
  const { store, queryQueue } = dependencies;
  const evidence = readEvidence(rawHeaders, "query");
  checkOpens(evidence, query);
  const value = readBody(body);
  const organizationId = readOrganizationId(value);
  const scope = query.findsSubOrganization === true ? "sub-organization" : "named";
  const source = sourceOf(dependencies, { callerAddress });
  const caller = await authenticateQuery(dependencies, organizationId, evidence, body, scope, source);
  if (caller.hasRecoveryKey && query.openToRecoveryKeys !== true) throw recoversOnly();
  if (Object.hasOwn(value, "parameters") || Object.hasOwn(value, "timestampMs")) throw activityAsQuery();
  if (queryValidators[query.path]?.(value) !== true) throw explainMismatch(query.request, value, "");
  // Of its own organization alone, where a caller was found in a sub-organization of the named one.
  const asked = { ...value, organizationId: caller.subjectId } as never;
  const dialect = dialectOf(clientVersion);
  const oidcToken = query.identityToken?.(asked);
  const access = {
    identity: oidcToken === undefined ? undefined : await verifyIdentity(dependencies.issuers, oidcToken, Date.now()),
    logStatement: dependencies.logStatement,
    async logFile(logId: string, path: string) {
      const file = await readLogFile(store, logId, path);
      return file && Buffer.from(file.content);
    },
    withBearer: (record: ActivityRecord, userId: string) => withBearer(dependencies, record, { userId }),
    withAppProofs: (record: ActivityRecord) => withAppProofs(dependencies, record),
    openProofs: (stored: StoredAppProofs) => dependencies.committer.openProofs(stored),
  };
  const run = (from: Store) => query.run(from, caller, asked, dialect, access);
  // Sent within its turn: writing a long answer is work that others wait for.
  const queued = { organizationId: caller.organizationId, caller: caller.userId, bytes: body.length };
  await queryQueue.answer(queued, async () => {
    const answer = await naming(body, () => (query.inSnapshot === true ? inSnapshot(store, run) : run(store)));
    send({ kind: "json", text: await writeJson(answer) });
  });
}

/**
 * The stamps of activities are kept in their votes for every reader to check. One that passed for the stamp of a query would let
 * anyone who has seen it read everything its owner can read.
 */
function activityAsQuery(): Fault {
  return new Fault("invalid_argument", "bad request body: the body of an activity is not a query");
}
