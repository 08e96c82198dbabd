/**
 * After `npm ci`: makes sure that npm scripts and `npx` find the Node that the dependencies brought. npm 11 links it into
 * node_modules/.bin; npm 10 and older install it and leave the link out, and the host's own Node would run everything.
 * Plain JavaScript, because the host's Node may be the one that runs this.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const link = join(modules, ".bin", "node");

const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
// npm installs the package of this platform and none of the others.
const installed = Object.keys(optionalDependencies).find((name) => existsSync(join(modules, name)));
const [wanted] = Object.values(optionalDependencies);

if (installed === undefined) {
  if (parseInt(process.versions.node, 10) < parseInt(wanted, 10)) {
    fail(`no Node ${wanted} came with the dependencies for ${process.platform} ${process.arch}; install it yourself`);
  }
} else if (!existsSync(link)) {
  if (process.platform === "win32") fail("this npm does not link Node into node_modules; install npm 11");
  // It may also be there and lead nowhere.
  rmSync(link, { force: true });
  mkdirSync(join(modules, ".bin"), { recursive: true });
  symlinkSync(join("..", installed, "bin", "node"), link);
}

function fail(why) {
  console.error(`keystead: ${why}`);
  process.exit(1);
}
