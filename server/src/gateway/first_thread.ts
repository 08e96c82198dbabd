/** What the gateway loads before all else: once this is done, no code in it can start a thread. On PostgreSQL it has none. */
import { dropThreads } from "../store/drop_threads.ts";
import { startLongWriter } from "../store/long_writer.ts";

export const longWriter = process.env.DATABASE_URL ? undefined : startLongWriter();
dropThreads();
