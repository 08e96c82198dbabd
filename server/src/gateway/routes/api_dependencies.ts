import type { QueryQueue } from "../bounds/query_queue.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";

/** What submits and queries need. */
export type ApiDependencies = SubmitDependencies & { queryQueue: QueryQueue };
