// Plain JavaScript, so that the cache is there before the first file that has types to be stripped.
import { enableCompileCache } from "node:module";
import { resolve } from "node:path";

// Started hundreds of times, a process would spend most of its life compiling. Never in production: who can write it owns the next process.
enableCompileCache(resolve("compile_cache"));
const { runStopping } = await import("../stop.ts");
await runStopping(() => import("../../../../../server/src/signer/main.ts"));
