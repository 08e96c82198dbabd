/** Writes the activity that a request of the auth proxy stands for, and has it decided without a stamp. */
import { Fault } from "@keystead/core/fault.ts";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import { explainMismatch } from "../../endpoints/explain_schema.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";
import { proxyParameters } from "../../rules/auth_proxy_types.ts";
import type { AppProof } from "../../state/app_proof.ts";
import { dialectOf } from "../../views/dialect.ts";
import type { Failure } from "../../views/error_body.ts";
import { type Arrival, submit } from "../submit/submit.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import type { ProxyConfig } from "./proxy_configs.ts";

/** What a failed activity says, as the answer of a proxy's path. */
export class ProxyFailure extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export type ProxyActivity = {
  /** `ACTIVITY_TYPE_…` */
  type: string;
  /** Where it runs: the proxy's own organization, unless it signs somebody in below it. */
  organizationId?: string;
  /** What the caller chooses of the parameters. */
  chosen: Readonly<Record<string, unknown>>;
  /** How the caller's body names a parameter, where that is not its path. */
  callersName?: (path: string) => string;
  signUp?: Arrival["signUp"];
  /** What becomes of it is proven to whoever asked. */
  generateAppProofs?: true;
};

/** The result as the activity's own clients see it. Whatever does not complete is thrown. */
export async function submitAsProxy<R>(
  dependencies: SubmitDependencies,
  config: ProxyConfig,
  asked: ProxyActivity,
): Promise<R> {
  return (await submitProven<R>(dependencies, config, asked)).result;
}

/** What does not fit is named as it stands in the body that came, which has no `parameters`. */
function inCallersNames({ code, message }: Fault, callersName: (path: string) => string): Fault {
  return new Fault(code, message.replace(/(?<=field `)[^`]*/, callersName));
}

/** The result with the app proofs of it. */
export async function submitProven<R>(
  dependencies: SubmitDependencies,
  config: ProxyConfig,
  asked: ProxyActivity,
): Promise<{ result: R; appProofs: readonly AppProof[] }> {
  const { type, organizationId = config.organizationId, chosen, signUp, generateAppProofs } = asked;
  const { callersName = (path) => path } = asked;
  const form = activityForms.get(type);
  if (form === undefined) throw new Fault("internal", `there is no activity ${type}`);
  const parameters = proxyParameters(type, chosen, config);
  if (activityValidators[type]?.(parameters) !== true) {
    throw inCallersNames(explainMismatch(form.params, parameters, ""), callersName);
  }
  const timestampMs = String(Date.now());
  // As a field that is undefined, the flag is not in the text.
  const body = Buffer.from(JSON.stringify({ type, timestampMs, organizationId, parameters, generateAppProofs }));
  const evidence = { kind: "authProxy", value: config.configId } as const;
  const arrival = { body, evidence, ...(signUp && { signUp }) };
  const answer = await submit(dependencies, form.activity as AnyActivity, arrival, dialectOf(undefined));
  if ("failure" in answer) throw new ProxyFailure(answer.failure);
  const { status, result, appProofs } = answer.activity;
  if (status !== "ACTIVITY_STATUS_COMPLETED") throw new Fault("internal", `an unstamped activity is ${status}`);
  return { result: (result as Record<string, unknown>)[form.resultKey] as R, appProofs };
}
