/** What an activity's `run` is given, for tests that call it directly: fixed time, ids that can be read. */
import { finish } from "@keystead/core/work.ts";
import { nodeCurves } from "../src/curves/node_curves.ts";
import type { CodeAccess } from "../src/endpoints/code_access.ts";
import type { ActivityContext, ActivityDefinition, ActivityOutcome } from "../src/endpoints/define_activity.ts";
import type { IdentityAccess } from "../src/endpoints/identity_access.ts";
import { type Limits, withLimits } from "../src/endpoints/limits.ts";
import type { OrderAccess } from "../src/endpoints/order_access.ts";
import { unkeptVerdicts } from "../src/endpoints/verdict_access.ts";
import type { Static, TObject } from "../src/fields/schema.ts";
import { allowedOrigins } from "../src/rules/allowed_origins.ts";
import type { Pages } from "../src/state/pages.ts";
import { testKeyAccess } from "./key_access.ts";

export const nowMs = 1_750_000_000_000;

function noCode(): never {
  throw new Error("this test brings no one-time codes");
}

const noCodes: CodeAccess = {
  tokenJudgement: () => ({ otpKey: new Uint8Array(33), acceptedAtMs: 0 }),
  otpSigner: { publicKey: new Uint8Array(), sign: noCode },
  allowsPlainAnswers: false,
  start: noCode,
  find: noCode,
  noteAttempt: noCode,
  codeOf: noCode,
  targetKeyOf: noCode,
  tokenIdOf: noCode,
};

const noOrders: OrderAccess = { exchange: noCode, ownIssuer: undefined };
const noIdentities: IdentityAccess = { verify: noCode, linkingIssuers: new Set() };

export type ContextChanges = Partial<Omit<ActivityContext, "limits">> & { limits?: Partial<Limits> };

export function activityContext({ limits = {}, ...context }: ContextChanges = {}): ActivityContext {
  let ids = 0;
  return {
    organizationId: "acme",
    parentId: undefined,
    nowMs,
    bodyMs: nowMs,
    userId: "ann",
    isByParent: false,
    limits: withLimits(limits as Record<string, number>),
    curves: nodeCurves,
    keys: testKeyAccess(),
    codes: noCodes,
    identities: noIdentities,
    orders: noOrders,
    verdicts: unkeptVerdicts,
    allowedOrigins: () => undefined,
    parentSettings: () => undefined,
    ownClients: () => [],
    findSessionProfile: () => undefined,
    newId: () => `new ${ids++}`,
    ...context,
  };
}

/** What the activity makes of the organization, as the signer would run it. */
export function runActivity<P extends TObject, R extends TObject, S>(
  activity: ActivityDefinition<P, R, S>,
  pages: Pages,
  params: Static<P>,
  context: ContextChanges = {},
): ActivityOutcome<Static<R>> {
  const origins: ActivityContext["allowedOrigins"] = (own = pages.settings) => allowedOrigins(own, undefined);
  const given = activityContext({ allowedOrigins: origins, ...context });
  const started = activity.run(activity.state(pages, params), params, given);
  return "next" in started ? finish(started) : started;
}
