import type { QueryQueue } from "../bounds/query_queue.ts";
import type { SubmitRoom } from "../submit/execute.ts";

/** What submits and queries need. */
export type ApiDependencies = SubmitRoom & { queryQueue: QueryQueue };
