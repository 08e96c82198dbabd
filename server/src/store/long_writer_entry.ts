/** Where the thread of long commits begins: with the permissions of the command line, of which it drops one before all else. */
import { dropThreads } from "./drop_threads.ts";

dropThreads();
await import("./long_writer_thread.ts");
