/** Arrows between rooms point down only. This reads the imports themselves, because a wall that nothing checks is a drawing. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cyclesAmong, type Import, isTest, parseImports, productPackages, targetOf } from "../../scripts/imports.ts";
import { processes } from "./launcher/processes.ts";

const root = join(import.meta.dirname, "../..");

/** Which rooms a room may import, besides itself. A room that is missing here fails the test. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  core: [],
  state: ["core"],
  fields: ["core", "state"],
  // Messages as the signer seals them and the courier opens them.
  outbox: ["core", "state"],
  endpoints: ["core", "state", "fields", "outbox"],
  // What several activities, the decision point and readers agree on.
  rules: ["core", "state", "fields", "outbox", "endpoints"],
  activities: ["core", "state", "fields", "outbox", "endpoints", "rules"],
  // How a request shows who sent it: the gateway and the signer read the same table.
  evidence: ["core", "state"],
  curves: ["core"],
  frames: ["core", "state", "outbox"],
  // What a process with secrets closes in itself.
  lockdown: [],
  signer: [
    ...["core", "state", "fields", "outbox", "endpoints", "rules", "activities", "evidence", "curves", "frames"],
    ...["lockdown"],
  ],
  // The signer's own rules, executed again from an export.
  replay: [...["core", "state", "fields", "outbox", "endpoints", "rules", "activities", "curves", "frames", "signer"]],
  // It believes what the signer sealed, and knows nothing else of an organization.
  courier: ["core", "state", "outbox", "frames", "lockdown"],
  store: ["core", "state", "fields"],
  ports: ["core", "fields"],
  // Decides again what an app proof says was decided.
  proofs: ["core", "state", "fields", "outbox", "endpoints", "rules", "activities", "curves"],
  // Records as clients see them, for queries and submits alike.
  views: ["core", "state", "rules", "activities", "endpoints", "store"],
  // The simulator reads activities as the signer would.
  queries: ["core", "state", "fields", "endpoints", "rules", "activities", "store", "views"],
  gateway: [
    ...["core", "state", "fields", "endpoints", "rules", "activities", "curves", "frames", "store", "ports", "queries"],
    ...["views", "evidence"],
  ],
  // The launcher holds the root key for a moment: it depends on nothing that it does not contain itself.
  launcher: [],
  // A program of its own. It writes files and holds its folder as the launcher does.
  witness: ["core", "curves", "launcher"],
  // A program of its own: files and a key in, findings out.
  verifier: ["core", "curves", "replay"],
  sdk: ["core"],
  cli: ["core", "sdk"],
};

/**
 * Rooms inside rooms: which of its neighbours in the same folder each may import. Files that lie in the folder itself stand under the
 * key "": in `core/src/policy` below all rooms, in a process's folder above them, because there they start and wire it.
 */
const innerRooms: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "core/src/policy": {
    "": [],
    values: [""],
    vocabulary: ["", "values"],
    time: [""],
    language: ["", "values", "vocabulary", "time"],
    interfaces: ["", "values"],
    facts: ["", "values", "vocabulary", "interfaces"],
    evaluation: ["", "values", "time", "language", "facts"],
    decision: ["", "values", "vocabulary", "language", "facts", "evaluation"],
    cases: ["", "vocabulary", "time", "interfaces", "facts", "decision"],
  },
  "server/src/gateway": {
    bounds: [],
    link: ["bounds"],
    // Statements of the courier about issuers.
    issuers: ["link"],
    evidence: ["bounds"],
    // Where leaves stand in the signer's log, on their way into the database.
    places: ["link"],
    submit: ["bounds", "link", "evidence", "issuers", "places"],
    http: ["bounds"],
    // What people without a credential ask for: activities that are written here, and look-ups.
    proxy: ["bounds", "evidence", "submit", "http"],
    jobs: ["link"],
    // The public log: joining a signer's, having it signed, and reading it.
    log: ["bounds", "link", "places", "submit", "jobs"],
    routes: ["bounds", "evidence", "submit", "http", "proxy", "log"],
    // Who sees the log's checkpoints, and cosigns them.
    witness: [],
    operator: ["link", "submit", "places", "log"],
    "": [
      ...["bounds", "link", "issuers", "evidence", "places", "submit", "http", "proxy", "jobs", "log", "routes"],
      ...["witness", "operator"],
    ],
  },
  "server/src/courier": {
    // All that goes out to addresses that others have chosen.
    fetch: [],
    issuers: ["fetch"],
    oauth2: ["fetch"],
    captcha: ["fetch"],
    "": ["fetch", "issuers", "oauth2", "captcha"],
  },
  "server/src/signer": {
    memory: [],
    secrets: [],
    // Where released leaves stand, and which log is listed.
    log: ["memory"],
    decision: ["memory", "secrets", "log"],
    operator: ["memory", "secrets", "decision", "log"],
    attestation: ["secrets", "decision", "operator"],
    // What the gateway asks about the log.
    log_requests: ["memory", "secrets", "log", "decision", "operator"],
    "": ["memory", "secrets", "log", "decision", "operator", "attestation", "log_requests"],
  },
};

/** A query's declaration names what it reads from; only the type crosses. */
const allowedTypes: readonly [file: string, room: string][] = [
  ["server/src/endpoints/define_query.ts", "store"],
  ["server/src/endpoints/define_query.ts", "views"],
];

/** Everything the process with the keys may load. Adding to either list is a decision about the signer. */
const signerPackages = [
  ...["@noble/curves", "@noble/hashes", "@scure/base", "@scure/bip39", "tiny-secp256k1", "uint8array-tools"],
];
// `node:module` only so that load_record.ts can note what is loaded, and lockdown.ts refuse every later import.
const signerBuiltins = ["node:buffer", "node:crypto", "node:fs", "node:module", "node:net", "node:path"];
const signerMain = "server/src/signer/main.ts";
const courierMain = "server/src/courier/main.ts";

function roomOf(file: string): string {
  const [packageName, , ...rest] = file.split("/");
  if (packageName !== "server") return packageName ?? "";
  if (rest.length === 1) return "launcher";
  if (rest[0] !== "generated") return rest[0] ?? "";
  if (/^activit(ies|y_)/.test(rest[1] ?? "")) return "activities";
  if (/^quer(ies|y_)/.test(rest[1] ?? "")) return "queries";
  return "gateway";
}

/** The folder of `innerRooms` that a file lies in, and its room there. */
function innerRoomOf(file: string): { folder: string; room: string } | undefined {
  const folder = Object.keys(innerRooms).find((name) => file.startsWith(`${name}/`));
  if (folder === undefined) return undefined;
  const [room = "", ...rest] = file.slice(folder.length + 1).split("/");
  return { folder, room: rest.length === 0 ? "" : room };
}

/** Why an import between two rooms of one folder is not allowed. */
function innerObjection(file: string, target: string): string | undefined {
  const from = innerRoomOf(file);
  const to = innerRoomOf(target);
  if (from === undefined || to === undefined || from.folder !== to.folder || from.room === to.room) return undefined;
  const arrows = innerRooms[from.folder]?.[from.room];
  if (arrows === undefined) return `${file}: the room \`${from.room}\` is not in the table of this test`;
  return arrows.includes(to.room) ? undefined : `${file} must not import ${target}`;
}

/** Why an import is not allowed; undefined when it is. */
function objectionTo(file: string, { specifier, typeOnly }: Import): string | undefined {
  const room = roomOf(file);
  const arrows = rooms[room];
  if (arrows === undefined) return `${file}: the room \`${room}\` is not in the table of this test`;
  if (specifier === undefined) return `${file}: an import() of something computed hides where it points`;
  const target = targetOf(file, specifier);
  if (target === undefined) {
    if (room === "launcher" && !specifier.startsWith("node:")) return `${file}: the launcher imports ${specifier}`;
    if (room === "core" && specifier.startsWith("node:")) return `${file}: core is pure, but imports ${specifier}`;
    return undefined;
  }
  const targetRoom = roomOf(target);
  if (targetRoom === room) return innerObjection(file, target);
  if (arrows.includes(targetRoom)) return undefined;
  if (typeOnly && allowedTypes.some(([from, to]) => from === file && to === targetRoom)) return undefined;
  return `${file}: ${room} must not import ${targetRoom} (${specifier})`;
}

function packageNameOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

type Manifest = Partial<Record<"dependencies" | "optionalDependencies" | "devDependencies", Record<string, string>>>;

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
}

const files = productPackages.flatMap((name) => globSync(`${name}/src/**/*.ts`, { cwd: root })).sort();
const shipped = files.filter((file) => !isTest(file));
const importsOf = new Map(files.map((file) => [file, parseImports(readFileSync(join(root, file), "utf8"))]));

/** Every file and package that is loaded with `entry`. Imports of types alone are erased. */
function closureOf(entry: string): { files: string[]; builtins: string[]; packages: string[]; computed: string[] } {
  const found = {
    files: new Set<string>(),
    builtins: new Set<string>(),
    packages: new Set<string>(),
    computed: new Set<string>(),
  };
  const visitPackage = (name: string) => {
    if (found.packages.has(name)) return;
    found.packages.add(name);
    const { dependencies = {}, optionalDependencies = {} } = readManifest(join("node_modules", name));
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) visitPackage(dependency);
  };
  const visit = (file: string) => {
    if (found.files.has(file)) return;
    found.files.add(file);
    const imports = importsOf.get(file);
    assert.ok(imports, `${file} does not exist`);
    for (const { specifier, typeOnly } of imports) {
      if (typeOnly) continue;
      if (specifier === undefined) found.computed.add(file);
      else if (specifier.startsWith("node:")) found.builtins.add(specifier);
      else {
        const target = targetOf(file, specifier);
        if (target === undefined) visitPackage(packageNameOf(specifier));
        else visit(target);
      }
    }
  };
  visit(entry);
  const { files, builtins, packages, computed } = found;
  return { files: [...files], builtins: [...builtins].sort(), packages: [...packages].sort(), computed: [...computed] };
}

test("no import points upward, core imports no builtin, and the launcher imports nothing but itself", () => {
  assert.ok(shipped.length > 50, `only ${shipped.length} files were found`);
  const objections = shipped.flatMap((file) =>
    (importsOf.get(file) ?? []).flatMap((imported) => objectionTo(file, imported) ?? []),
  );
  assert.deepEqual(objections, []);
});

test("no files import each other in a circle, types included", () => {
  assert.deepEqual(cyclesAmong(shipped, importsOf), []);
});

/** What only tests and developers start. `scripts` belongs to no package: its tools are the root's. */
const unshipped = ["core/test", "server/test", "e2e", "trials", "bench", "scripts"]
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root, exclude: ["**/node_modules"] }))
  .sort();

/**
 * The packages a file may import, by its own package.json; tests may also use the tools of the root's. What is imported for its types
 * is gone when the file runs.
 */
function declaredFor(file: string, typeOnly: boolean): Set<string> {
  const folder = file.split("/")[0] ?? "";
  const manifest = readManifest(folder === "scripts" ? "." : folder);
  const names = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  const mayUseTools = typeOnly || isTest(file) || unshipped.includes(file);
  if (mayUseTools) names.push(...Object.keys(manifest.devDependencies ?? {}));
  if (isTest(file)) names.push(...Object.keys(readManifest(".").devDependencies ?? {}));
  return new Set(names);
}

test("every imported package is declared in the importing package's own package.json, in tests and tools as well", () => {
  assert.ok(unshipped.length > 40, `only ${unshipped.length} files were found`);
  const undeclared = [...files, ...unshipped].flatMap((file) => {
    return (importsOf.get(file) ?? parseImports(readFileSync(join(root, file), "utf8")))
      .flatMap(({ specifier, typeOnly }) => (specifier === undefined ? [] : { specifier, typeOnly }))
      .filter(({ specifier }) => !specifier.startsWith(".") && !specifier.startsWith("node:"))
      .filter(({ specifier, typeOnly }) => !declaredFor(file, typeOnly).has(packageNameOf(specifier)))
      .map(({ specifier }) => `${file} imports ${specifier}`);
  });
  assert.deepEqual(undeclared, []);
});

test("the black box knows the wire alone: no file of e2e imports the server or the trials, not even a type", () => {
  const blackBox = unshipped.filter((file) => file.startsWith("e2e/"));
  assert.ok(blackBox.length > 100, `only ${blackBox.length} files were found`);
  const inside = blackBox.flatMap((file) =>
    parseImports(readFileSync(join(root, file), "utf8"))
      .flatMap(({ specifier }) => (specifier === undefined ? [] : (targetOf(file, specifier) ?? [])))
      .filter((target) => /^(server|trials)\//.test(target))
      .map((target) => `${file} imports ${target}`),
  );
  assert.deepEqual(inside, []);
});

test("the signer loads only the listed packages and builtins, and no file of a room above it", () => {
  const closure = closureOf(signerMain);
  assert.deepEqual(
    closure.packages.filter((name) => !signerPackages.includes(name)),
    [],
  );
  assert.deepEqual(
    closure.builtins.filter((name) => !signerBuiltins.includes(name)),
    [],
  );
  assert.deepEqual(closure.computed, []);
  const allowed = ["signer", ...(rooms.signer ?? [])];
  assert.deepEqual(
    closure.files.filter((file) => !allowed.includes(roomOf(file))),
    [],
  );
  // The declarations belong to it: an empty closure would pass everything above.
  assert.ok(closure.files.includes("server/src/generated/activities.ts"), "the signer does not load the activities");
});

for (const [name, main] of [
  ["signer", signerMain],
  ["courier", courierMain],
] as const) {
  test(`the launcher lets the ${name} read every file that it loads`, () => {
    const { server } = processes[name].code;
    assert.ok(server !== "all", `the ${name} may read all of the server`);
    const readable = server.map((part) => `server/src/${part}`);
    const files = closureOf(main).files.filter((file) => file.startsWith("server/src/"));
    const unreadable = files.filter((file) => !readable.some((path) => file === path || file.startsWith(`${path}/`)));
    assert.deepEqual(unreadable, []);
  });
}

test("the courier loads nodemailer and no other package, and nobody else loads it", () => {
  const closure = closureOf(courierMain);
  assert.deepEqual(closure.packages, ["nodemailer"]);
  assert.deepEqual(closure.computed, []);
  assert.deepEqual(processes.courier.code.packages, ["nodemailer"]);
  const allowed = ["courier", ...(rooms.courier ?? [])];
  assert.deepEqual(
    closure.files.filter((file) => !allowed.includes(roomOf(file))),
    [],
  );
  const importers = shipped.filter((file) =>
    (importsOf.get(file) ?? []).some(({ specifier }) => specifier === "nodemailer"),
  );
  assert.deepEqual(importers, ["server/src/courier/send_mail.ts"]);
  for (const entry of [signerMain, "server/src/gateway/main.ts"]) {
    assert.ok(!closureOf(entry).packages.includes("nodemailer"), `${entry} loads nodemailer`);
  }
});

test("the signer's code has no other way to load code", () => {
  const loaders = /\b(createRequire|getBuiltinModule|dlopen|_linkedBinding|binding)\s*\(/;
  const found = closureOf(signerMain).files.filter((file) => loaders.test(readFileSync(join(root, file), "utf8")));
  assert.deepEqual(found, []);
});

test("the reader of imports sees every form, and tells types from values", () => {
  const source = `
import { a } from "./a.ts";
import type { B } from "./b.ts";
import {
  c,
  type D,
} from "./c.ts";
import "./side_effect.ts";
import type from "./named_type.ts";
export * from "./e.ts";
export type { F } from "./f.ts";
const text = "import { no } from './no.ts'"; // import { no } from "./no.ts";
const lazy = () => import("./lazy.ts");
type G = typeof import("./g.ts");
const computed = (name: string) => import(name);
`;
  assert.deepEqual(
    parseImports(source)
      .map(({ specifier, typeOnly }) => `${specifier}${typeOnly ? " (type)" : ""}`)
      .sort(),
    [
      "./a.ts",
      "./b.ts (type)",
      "./c.ts",
      "./e.ts",
      "./f.ts (type)",
      "./g.ts (type)",
      "./lazy.ts",
      "./named_type.ts",
      "./side_effect.ts",
      "undefined",
    ],
  );
});

test("upward imports are objected to", () => {
  const upward: [string, string][] = [
    ["core/src/fault.ts", "node:fs"],
    ["core/src/fault.ts", "@keystead/server/state/pages.ts"],
    ["server/src/state/pages.ts", "../activities/create_user_tag.ts"],
    ["server/src/activities/create_user_tag.ts", "../store/store.ts"],
    ["server/src/generated/activities.ts", "../queries/whoami.ts"],
    ["server/src/signer/main.ts", "../store/store.ts"],
    ["server/src/signer/main.ts", "../generated/queries.ts"],
    ["server/src/signer/main.ts", "../gateway/main.ts"],
    ["server/src/gateway/main.ts", "../signer/main.ts"],
    ["server/src/gateway/main.ts", "../courier/courier.ts"],
    ["server/src/gateway/jobs/deliver_messages.ts", "../../outbox/sealed_message.ts"],
    ["server/src/courier/main.ts", "../store/store.ts"],
    ["server/src/courier/main.ts", "../signer/secrets/keyring.ts"],
    ["server/src/main.ts", "./gateway/main.ts"],
    ["server/src/launcher/start.ts", "@keystead/core/fault.ts"],
    ["server/src/launcher/start.ts", "pino"],
    ["server/src/endpoints/define_query.ts", "../store/store.ts"],
    ["server/src/attic/old.ts", "@keystead/core/fault.ts"],
    ["server/src/gateway/submit/submit.ts", "../http/http.ts"],
    ["server/src/gateway/link/signer_link.ts", "../main.ts"],
    ["server/src/gateway/http/http.ts", "../routes/api.ts"],
    ["core/src/policy/values/values.ts", "../decision/decide.ts"],
    ["sdk/src/client.ts", "@keystead/server/state/pages.ts"],
    ["cli/src/main.ts", "@keystead/server/main.ts"],
  ];
  for (const [file, specifier] of upward) {
    assert.ok(objectionTo(file, { specifier, typeOnly: false }), `${file} may import ${specifier}`);
  }
  const type = { specifier: "../store/store.ts", typeOnly: true };
  assert.equal(objectionTo("server/src/endpoints/define_query.ts", type), undefined);
  assert.ok(objectionTo("server/src/endpoints/define_activity.ts", type));
});
