/** The table of processes against the code of the processes: what they read, and what must not reach them. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { environmentOf } from "./environment.ts";
import { nodeArguments } from "./permissions.ts";
import { type ProcessRow, processes, processNames, startedProcesses } from "./processes.ts";

const root = join(import.meta.dirname, "../../..");

/** The environment names that a source reads: `env.NAME`, `env["NAME"]` and `{ NAME, OTHER: local } = env`. */
function namesRead(source: string): string[] {
  const members = source.matchAll(/\benv(?:\?)?(?:\.([A-Z][A-Z0-9_]*)|(?:\.)?\[\s*["'`]([^"'`]+)["'`]\s*\])/gi);
  const patterns = source.matchAll(/\{([^{}]*)\}(?:\s*:\s*[\w.<>|, ]+)?\s*=\s*(?:\w+\.)*env\b/g);
  const destructured = [...patterns].flatMap(([, names = ""]) => [...names.matchAll(/(?:^|,)\s*([A-Za-z]\w*)/g)]);
  return [
    ...[...members].map(([, dotted, quoted]) => dotted ?? quoted ?? ""),
    ...destructured.map(([, name = ""]) => name),
  ];
}

/** Every file that a process may load, but for tests: of a row with "all", the rooms that `rooms` names. */
function sourcesOf(patterns: readonly string[]): Map<string, string> {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  const shipped = files.filter((file) => !/\.test(_entry)?\.ts$/.test(file));
  return new Map(shipped.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

const gatewayFolders =
  "{activities,curves,endpoints,fields,frames,gateway,generated,ports,queries,rules,state,store,views}";

test("every setting that the gateway's code reads is in its row, and every one in its row is read", () => {
  const sources = sourcesOf([`server/src/${gatewayFolders}/**/*.ts`, "core/src/**/*.ts"]);
  assert.ok(sources.size > 300, `only ${sources.size} files were found`);
  const read = new Map([...sources].flatMap(([file, source]) => namesRead(source).map((name) => [name, file])));
  const { settings } = processes.gateway;
  const missing = [...read].filter(([name]) => !settings.includes(name));
  assert.deepEqual(missing, [], "add the name to the row, if the gateway should see it");
  assert.deepEqual(
    settings.filter((name) => !read.has(name)),
    [],
    "nobody reads these: take them out of the row",
  );
});

test("every setting that the courier's code reads is in its row, and every one in its row is read", () => {
  const { code, settings } = processes.courier;
  assert.ok(code.server !== "all");
  const sources = sourcesOf([...code.server.map((part) => `server/src/${part}/**/*.ts`), "core/src/**/*.ts"]);
  const read = new Set([...sources.values()].flatMap(namesRead));
  // Node itself reads the last one.
  assert.deepEqual([...read, "NODE_EXTRA_CA_CERTS"].sort(), [...settings].sort());
});

test("the settings of what goes out reach the courier alone", () => {
  const ofMessages = ["SMTP_URL", "KEYSTEAD_MAIL_FROM", "KEYSTEAD_SMS_URL", "KEYSTEAD_SMS_TOKEN"];
  const outgoing = [...ofMessages, "KEYSTEAD_DEV_EGRESS", "KEYSTEAD_OIDC_ISSUERS", "NODE_EXTRA_CA_CERTS"];
  for (const name of processNames) {
    const reached = processes[name].settings.filter((setting) => outgoing.includes(setting));
    assert.deepEqual(reached.sort(), name === "courier" ? [...outgoing].sort() : [], name);
  }
});

test("the signer's code reads no setting", () => {
  const { code, settings } = processes.signer;
  assert.deepEqual(settings, []);
  assert.ok(code.server !== "all");
  const patterns = code.server.map((part) => `server/src/${part.endsWith(".ts") ? part : `${part}/**/*.ts`}`);
  const sources = sourcesOf([...patterns, "core/src/**/*.ts"]);
  const readers = [...sources].filter(([, source]) => namesRead(source).length > 0 || /process\.env\b/.test(source));
  assert.deepEqual(
    readers.map(([file]) => file),
    [],
  );
});

test("the reader of settings sees every form", () => {
  const source = `
const { A_ONE, A_TWO: two, A_THREE = "3" } = process.env;
const { B }: Environment = env;
process.env.C_1; env["D"]; settings.env?.E; env?.["F"];
function other({ port }: { port: number }) { return environment.NO; }
`;
  assert.deepEqual(namesRead(source).sort(), ["A_ONE", "A_THREE", "A_TWO", "B", "C_1", "D", "E", "F"]);
});

test("a setting that is not in a row does not reach its process", () => {
  const env = {
    DATABASE_URL: "postgres://h/d",
    KEYSTEAD_SECRET_X: "made up",
    SMTP_URL: "smtp://user:password@mail",
    KEYSTEAD_PASSPHRASE_FILE: "/passphrase",
    NODE_OPTIONS: "--allow-fs-write=*",
    NODE_COMPILE_CACHE: "/cache",
    PGPASSWORD: "password",
    PATH: "/bin",
  };
  assert.deepEqual(environmentOf(processes.gateway, env), { DATABASE_URL: "postgres://h/d" });
  assert.deepEqual(environmentOf(processes.signer, env), {});
  assert.deepEqual(environmentOf(processes.courier, env), { SMTP_URL: "smtp://user:password@mail" });
});

test("no process gets a setting that holds a secret of the launcher or changes Node itself", () => {
  const never = /^(NODE_|UV_|LD_|DYLD_|OPENSSL_|SSL_|KEYSTEAD_PASSPHRASE)/;
  for (const name of processNames)
    assert.deepEqual(
      processes[name].settings.filter((setting) => never.test(setting)),
      // Further certificates to trust: nothing that Node runs or grants changes with it.
      name === "courier" ? ["NODE_EXTRA_CA_CERTS"] : [],
    );
});

test("no two processes share a user id, its setting or a folder", () => {
  const rows = processNames.map((name) => processes[name]);
  const columns: ((row: ProcessRow) => unknown)[] = [
    ({ userId }) => userId.setting,
    ({ userId }) => userId.fallback,
    ({ folder }) => folder,
  ];
  for (const column of columns) assert.equal(new Set(rows.map(column)).size, rows.length);
  assert.deepEqual(processNames, Object.keys(processes));
});

test("the command line grants what the row says: network only where allowed, one folder to write", () => {
  for (const name of processNames) {
    const row = processes[name];
    const args = nodeArguments(row, { entry: "/code/main.ts", readable: ["/code"] }, "/data/own");
    assert.equal(args.includes("--permission"), true);
    assert.equal(args.includes("--allow-net"), row.network, name);
    assert.equal(args.includes("--allow-worker"), name === "gateway");
    const named = ["--allow-net", "--allow-worker"];
    const grants = args.filter((arg) => arg.startsWith("--allow-") && !named.includes(arg));
    assert.deepEqual(grants, ["--allow-fs-read=/code", "--allow-fs-read=/data/own", "--allow-fs-write=/data/own"]);
    assert.equal(args.at(-1), "/code/main.ts");
  }
  const withFile = nodeArguments(processes.gateway, { entry: "/code/main.ts", readable: [] }, "/data/own", ["/a/file"]);
  assert.deepEqual(
    withFile.filter((arg) => arg.startsWith("--allow-fs")),
    ["--allow-fs-read=/data/own", "--allow-fs-read=/a/file", "--allow-fs-write=/data/own", "--allow-fs-write=/a/file"],
  );
  assert.deepEqual(
    processNames.filter((name) => processes[name].network),
    ["gateway", "courier"],
  );
});

test("the root key is an order of the signer alone, and only on a descriptor that no other process has", () => {
  assert.deepEqual(
    processNames.filter((name) => processes[name].orders.includes("root key")),
    ["signer"],
  );
  for (const name of processNames) {
    const { orders, descriptors, joinedTo } = processes[name];
    assert.equal(orders.length > 0, descriptors.includes("control"), `${name}: orders arrive on control`);
    assert.equal(joinedTo !== undefined, descriptors.includes("joint"), `${name}: joined by a socket`);
    if (joinedTo !== undefined) assert.ok(processes[joinedTo].descriptors.includes("channel"));
  }
});

test("a row that needs a setting is started with it and not without it", () => {
  const table = { ...processes, signer: { ...processes.signer, onlyWith: "KEYSTEAD_CHAINS" } };
  assert.deepEqual(startedProcesses(processes, {}), ["gateway", "signer", "courier"]);
  assert.deepEqual(startedProcesses(table, { KEYSTEAD_CHAINS: "" }), ["gateway", "courier"]);
  assert.deepEqual(startedProcesses(table, { KEYSTEAD_CHAINS: "{}" }), ["gateway", "signer", "courier"]);
});
