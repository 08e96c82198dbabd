/** What an activity is: everything about one state-changing endpoint in one declaration. */
import type { Static, TObject } from "typebox";
import type { Change } from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import type { Limits } from "./limits.ts";

/** What policies call the thing an activity touches, and what it does to it. */
export type PolicyResource = "USER_TAG";
export type PolicyAction = "CREATE" | "DELETE" | "UPDATE";

/** What a handler may know besides state and parameters. By the time it runs, the caller is known and allowed. */
export type ActivityContext = {
  readonly organizationId: string;
  /** The signer's clock. */
  readonly nowMs: number;
  readonly userId: string;
  readonly limits: Limits;
  /** The next derived id of this activity; the order of calls is part of the activity's meaning. */
  newId(): string;
};

export type ActivityOutcome<R> = { changes: readonly Change[]; result: R };

export type ActivityDefinition<P extends TObject = TObject, R extends TObject = TObject, S = unknown> = {
  /** The last segment of `/public/v1/submit/…`, and the name of the declaring file. */
  path: string;
  /** `ACTIVITY_TYPE_…`, with its version suffix. Wire names are written out, never computed. */
  type: string;
  intentKey: string;
  resultKey: string;
  /** One sentence for the documentation. */
  summary: string;
  resource: PolicyResource;
  action: PolicyAction;
  params: P;
  result: R;
  /** The part of the organization's state that `run` works on. */
  state(pages: Pages, params: Static<P>): S;
  /** What policies can see of the parameters. */
  facts(params: Static<P>): Readonly<Record<string, unknown>>;
  /** True for results that are worth something alone (signatures, bundles, tokens): stored sealed until released. */
  sealed?: boolean;
  /** Pure: state in, changes and result out. A thrown Fault leaves nothing behind but a FAILED record. */
  run(state: S, params: Static<P>, context: ActivityContext): ActivityOutcome<Static<R>>;
};

export function defineActivity<P extends TObject, R extends TObject, S>(
  definition: ActivityDefinition<P, R, S>,
): ActivityDefinition<P, R, S> {
  return definition;
}

/** Any activity, for code that treats all alike: parameters have been validated against its own schema before. */
export type AnyActivity = Omit<ActivityDefinition, "state" | "facts" | "run"> & {
  state(pages: Pages, params: never): unknown;
  facts(params: never): Readonly<Record<string, unknown>>;
  run(state: never, params: never, context: ActivityContext): ActivityOutcome<unknown>;
};
