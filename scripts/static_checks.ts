/** Everything that can be checked without running a test: format, generated files and types. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { packages, root } from "./packages.ts";

type Check = { name: string; args: string[] };

function allChecks(): Check[] {
  const projects = packages.flatMap((name) =>
    [name, `${name}/tsconfig.test.json`].filter((path) => existsSync(join(root, path))),
  );
  return [
    { name: "biome check", args: ["node_modules/@biomejs/biome/bin/biome", "check", "."] },
    { name: "generate --check", args: ["scripts/generate.ts", "--check"] },
    ...projects.map((path) => ({ name: `tsc -p ${path}`, args: ["node_modules/typescript/bin/tsc", "-p", path] })),
  ];
}

/** Runs all checks, as many at a time as there are cores, and returns the names of those that failed. */
export async function runStaticChecks(): Promise<string[]> {
  const failed: string[] = [];
  const waiting = allChecks();
  const worker = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { name, args } = check;
      const output = await runCheck(args);
      console.log(`${output === undefined ? "✔" : "✖"} ${name}`);
      if (output === undefined) continue;
      console.log(output);
      failed.push(name);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return failed;
}

/** The output of a check that failed; undefined when it passed. */
function runCheck(args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve(error === null ? undefined : `${stdout}${stderr}`.trim() || error.message);
    });
  });
}
