import { unlessAway } from "./database_away.ts";
import { resumesWith } from "./thread_meter.ts";

/** Runs a query whose text depends on its arguments, as filters and lists do; the others are `compiled` once. */
export async function read<Row>(query: { execute(): Promise<Row[]> }): Promise<Row[]> {
  try {
    return resumesWith(await query.execute());
  } catch (error) {
    throw unlessAway(error);
  }
}
