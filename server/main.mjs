/**
 * What `npm start` runs. The server is written in TypeScript, which Node can run as it is; but the part of Node that removes the
 * types takes each of our three processes a second and some thirty megabytes. So the types are removed once, into `build` beside
 * each `src`, and again when a source has changed. Where that cannot be written, the sources run as they are.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isBuilt } from "./built.mjs";

await import(isBuilt() || build() ? "./build/main.js" : "./src/main.ts");

/** In a process of its own, whose memory goes with it. */
function build() {
  const program = fileURLToPath(new URL("build.mjs", import.meta.url));
  execFileSync(process.execPath, ["--disable-warning=ExperimentalWarning", program], { stdio: "inherit" });
  return isBuilt();
}
