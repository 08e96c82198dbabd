/**
 * An earlier version of Keystead, taken out of git into a folder of its own. A cost is measured against the code that did not have it yet:
 * no switch that leaves something out has to exist in the product, and nothing that came along can be forgotten.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repository } from "@keystead/e2e/keystead_server.ts";

export type EarlierBuild = { commit: string; folder: string; remove(): void };

/** The last version without a log. */
export const lastWithoutLog = "a3be260";

/** The last version of which one organization alone could have all of the signer, and of which an audit said so. */
export const lastBeforeSharing = "c284c849";

/** The packages that a server runs. */
const own = ["core", "server"];

export function takeOut(ref: string): EarlierBuild {
  const commit = git("rev-parse", "--short", `${ref}^{commit}`).toString("utf8").trim();
  const folder = mkdtempSync(join(tmpdir(), "keystead-earlier-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    execFileSync("tar", ["-x", "-C", folder], { input: git("archive", "--format=tar", commit) });
    installFrom(repository, folder);
    return { commit, folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function git(...args: string[]): Buffer {
  try {
    return execFileSync("git", ["-C", repository, ...args], { maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "pipe"] });
  } catch (cause) {
    throw new Error(`git cannot \`${args.join(" ")}\`: measuring against an earlier version needs its history`, {
      cause,
    });
  }
}

/**
 * The dependencies that are installed here; a version that asked for others is refused, because a difference must be ours. It may lack some
 * that came later. Copies, because our processes read nothing outside their own folder.
 */
function installFrom(source: string, folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@keystead"), { recursive: true });
  const pending: string[] = [];
  for (const name of own) {
    const [wanted, installed] = [dependenciesOf(join(folder, name)), dependenciesOf(join(source, name))];
    const others = Object.entries(wanted).filter(([each, version]) => installed[each] !== version);
    if (others.length > 0) throw new Error(`${name} had other dependencies then: ${others.join(" ")}`);
    symlinkSync(join("..", "..", name), join(modules, "@keystead", name));
    const nested = join(name, "node_modules");
    if (existsSync(join(source, nested))) cpSync(join(source, nested), join(folder, nested), { recursive: true });
    pending.push(...Object.keys(wanted));
  }
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const [from, to] = [join(source, "node_modules", name), join(modules, name)];
    // One that is only below the package that needs it is there with that.
    if (existsSync(to) || !existsSync(from)) continue;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true });
    pending.push(...Object.keys(dependenciesOf(from)));
  }
}

function dependenciesOf(folder: string): Record<string, string> {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  return (JSON.parse(text) as { dependencies?: Record<string, string> }).dependencies ?? {};
}
