import type { QueryAccess } from "../../endpoints/define_query.ts";
import type { RequestSource } from "../../rules/ip_allowlists.ts";
import type { QueryQueue } from "../bounds/query_queue.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";

/** What submits and queries need. */
export type ApiDependencies = SubmitDependencies & {
  queryQueue: QueryQueue;
  logStatement: QueryAccess["logStatement"];
  /** The operator has switched IP allowlists off, to get back in. */
  ignoresIpAllowlists?: boolean;
};

/** Where a request came from, for IP allowlists; undefined where nobody asks. */
export function sourceOf(
  { ignoresIpAllowlists }: Pick<ApiDependencies, "ignoresIpAllowlists">,
  { callerAddress }: { callerAddress: string | undefined },
): RequestSource | undefined {
  return ignoresIpAllowlists === true ? undefined : { address: callerAddress };
}
