import type { AnyActivity } from "../../endpoints/define_activity.ts";
import { checkOpens } from "../../evidence/evidence.ts";
import { passed } from "../../state/steps.ts";
import { dialectOf } from "../../views/dialect.ts";
import { readEvidence } from "../evidence/evidence_header.ts";
import { askedFrom } from "../evidence/read_identity.ts";
import { writeJson } from "../http/json_text.ts";
import type { RouteRequest, Send } from "../http/route.ts";
import { readKey } from "../submit/idempotency.ts";
import { submit } from "../submit/submit.ts";
import { type ApiDependencies, sourceOf } from "./api_dependencies.ts";
import { naming } from "./name_organization.ts";

export async function answerSubmit(
  given: ApiDependencies,
  activity: AnyActivity,
  { rawHeaders, headers, clientVersion, callerAddress, body }: RouteRequest,
  send: Send,
): Promise<void> {
  const dependencies = askedFrom(given, callerAddress);
  const evidence = readEvidence(rawHeaders, "submit");
  checkOpens(evidence, activity);
  const dialect = dialectOf(clientVersion);
  const idempotencyKey = readKey(headers["idempotency-key"]);
  const source = sourceOf(dependencies, { callerAddress });
  passed("arrived");
  const arrival = { body, evidence, idempotencyKey, source, address: callerAddress };
  const answer = await naming(body, () => submit(dependencies, activity, arrival, dialect));
  passed("answering");
  if ("failure" in answer) {
    send({ kind: "failure", failure: answer.failure });
    return;
  }
  dependencies.queryQueue.seen(answer.activity.organizationId);
  send({ kind: "json", text: await writeJson(answer) });
  passed("answered");
}
