/** `keystead proof verify` as a user runs it, without a server. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { certificatePem } from "@keystead/core/attestation/certificate.ts";
import { nodeLine } from "@keystead/core/attestation/loaded_files.ts";
import { makeProof, wireOf } from "../../core/test/boot_proofs.ts";
import { runKeystead } from "../test/run_keystead.ts";

const folder = mkdtempSync(join(tmpdir(), "keystead-proof-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

/** A clone with a package, a source that is built at each start, and a Node. */
const platform = "linux-x64";
const files = {
  "node_modules/@noble/curves/nist.js": "export {};\n",
  "core/src/fault.ts": 'import { a } from "./a.ts";\nexport const b: number = a;\n',
  [`node_modules/node-${platform}/bin/node`]: "a binary",
};
const built = 'import { a } from "./a.js";\nexport const b         = a;\n';
const listed = [
  { path: "node_modules/@noble/curves/nist.js", digest: digestOf("export {};\n") },
  { path: "core/build/fault.js", digest: digestOf(built) },
];
const node = (version = process.version, of = platform, text = "a binary") => nodeLine(version, of, digestOf(text));

function writeClone(name: string, changed: Record<string, string | undefined> = {}): string {
  for (const [path, text] of Object.entries({ ...files, ...changed })) {
    const file = join(folder, name, path);
    mkdirSync(dirname(file), { recursive: true });
    if (text !== undefined) writeFileSync(file, text);
  }
  return name;
}

const ofActivity = { activityId: "01970d3c-0000-7000-8000-000000000001", fingerprint: `sha256:${digestOf("body")}` };

let written = 0;

async function verify(made: ReturnType<typeof makeProof>, args: string[] = [], change: object = {}) {
  const name = `proof${written++}`;
  const { bootProof, loadedFiles, root } = made;
  const appProof = made.sign({ type: "APP_PROOF_TYPE_TEST", ...ofActivity });
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({ appProof, bootProof: wireOf(bootProof, loadedFiles), ...change }),
  );
  writeFileSync(join(folder, `${name}.pem`), certificatePem(root));
  const flags = args.includes("--root") ? [] : ["--root", `${name}.pem`];
  const run = await runKeystead(["proof", "verify", `${name}.json`, ...flags, ...args], { cwd: folder });
  return { code: run.code, stderr: run.stderr, lines: run.stdout.trimEnd().split("\n") };
}

test("a good proof says software, and that the code was not compared", async () => {
  assert.deepEqual(await verify(makeProof([...listed, node()])), {
    code: 0,
    stderr: "",
    lines: [
      "app proof: its signature holds: it is of type APP_PROOF_TYPE_TEST",
      `activity: ${ofActivity.activityId}, fingerprint ${ofActivity.fingerprint}`,
      "boot proof: it leads to your root, and is of a start at 2026-06-01T12:00:00.000Z",
      "attestation: software. No hardware vouches for it: whoever has the root key can make one",
      "manifest: it names 3 files",
      "arguments of Node, compared with nothing: --permission",
      "code: not compared; pass --code CLONE, a clone of the release after `npm ci`",
    ],
  });
});

test("all app proofs of an activity are checked, and each says what it proves", async () => {
  const made = makeProof();
  const derived = made.sign({
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    ...ofActivity,
    addressDerivationProof: { organizationId: "o-1", walletId: "w-1", derivationPath: "m/0", address: "0xab\u001b[2J" },
  });
  const decided = made.sign({
    type: "APP_PROOF_TYPE_POLICY_OUTCOME",
    ...ofActivity,
    policyOutcomeProof: { organizationId: "o-1", outcome: "OUTCOME_ALLOW" },
  });
  const of = (...appProofs: object[]) => verify(made, [], { appProof: undefined, appProofs });
  const { code, lines } = await of(derived, decided);
  assert.equal(code, 0);
  assert.deepEqual(lines.slice(0, 2), [
    "app proof: its signature holds: 0xab\\u{1b}[2J is at m/0 of wallet w-1 of organization o-1",
    "app proof: its signature holds: OUTCOME_ALLOW for a request in organization o-1",
  ]);
  const changed = await of(derived, { ...decided, proofPayload: derived.proofPayload });
  assert.deepEqual([changed.code, changed.lines], [1, ["bad: bad app proof: its signature does not hold"]]);
  const mixed = await of(derived, makeProof().sign(ofActivity));
  assert.deepEqual([mixed.code, mixed.lines.at(-1)], [1, "bad: the app proof is of another start than the boot proof"]);
  const none = await of();
  assert.equal(none.code, 1);
  assert.match(none.stderr, /is not JSON of the form/);
});

test("proofs of another activity are bad, and those that name none are said to be of any", async () => {
  const made = makeProof();
  const of = async (payload: object, args: string[] = [], change: object = {}) => {
    const appProof = made.sign({ type: "APP_PROOF_TYPE_TEST", ...payload });
    const { code, lines, stderr } = await verify(made, args, { appProof, ...change });
    return [code, lines.at(1) ?? lines.at(0), stderr];
  };
  const { activityId, fingerprint } = ofActivity;
  const other = "01970d3c-0000-7000-8000-000000000002";
  const good = `activity: ${activityId}, fingerprint ${fingerprint}`;
  const moved = `bad: bad app proof: it is of activity ${activityId}, not of ${other}`;
  assert.deepEqual(await of(ofActivity, ["--activity", activityId.toUpperCase()], ofActivity), [0, good, ""]);
  assert.deepEqual(await of(ofActivity, ["--activity", other]), [1, moved, ""]);
  assert.deepEqual(await of(ofActivity, [], { ...ofActivity, activityId: other }), [1, moved, ""]);
  const body = `sha256:${digestOf("another body")}`;
  assert.deepEqual(await of(ofActivity, [], { ...ofActivity, fingerprint: body }), [
    1,
    `bad: bad app proof: it is of the request ${fingerprint}, not of ${body}`,
    "",
  ]);
  const half = "bad: bad app proof: it names its activity in an unknown form";
  assert.deepEqual(await of({ activityId }), [1, half, ""]);
  assert.deepEqual(await of({ ...ofActivity, fingerprint: "sha256:\u001b[2J" }), [1, half, ""]);

  const none = "an earlier release made the app proofs: they name no activity, and may be another's";
  assert.deepEqual(await of({}), [0, `activity: ${none}`, ""]);
  assert.deepEqual(await of({}, [], ofActivity), [0, `activity: ${none}`, ""]);
  assert.deepEqual(await of({}, ["--activity", activityId]), [2, `unchecked: ${none}`, ""]);
  const two = [made.sign(ofActivity), made.sign({ ...ofActivity, activityId: other })];
  const both = await verify(made, [], { appProof: undefined, appProofs: two });
  assert.deepEqual(
    [both.code, both.lines.at(-1)],
    [1, `bad: bad app proof: it is of activity ${other}, not of ${activityId}`],
  );
  const some = await verify(made, [], { appProof: undefined, appProofs: [made.sign(ofActivity), made.sign({})] });
  assert.deepEqual(
    [some.code, some.lines.at(-1)],
    [1, "bad: bad app proof: only some of these proofs name their activity"],
  );

  const misused = await verify(made, ["--activity", "nonsense"]);
  assert.deepEqual([misused.code, misused.lines], [2, [""]]);
  assert.match(misused.stderr, /^keystead: `nonsense` is not the id of an activity/);
  const malformed = await verify(made, [], { activityId });
  assert.match(malformed.stderr, /is not JSON of the form/);
});

test("the files of a clone are compared, its sources as a start builds them, and Node", async () => {
  const { code, stderr, lines } = await verify(makeProof([...listed, node()]), ["--code", writeClone("good")]);
  assert.deepEqual([code, stderr, lines.at(-1)], [0, "", "code: the 2 listed files and Node are those of the clone"]);
});

test("the first file that differs is named, and what cannot be compared is not called good", async () => {
  const made = makeProof([...listed, node()]);
  const changedSource = writeClone("source", {
    "core/src/fault.ts": 'import { a } from "./a.ts";\nexport const b = 2;\n',
  });
  const changedPackage = writeClone("package", { "node_modules/@noble/curves/nist.js": "export default 1;\n" });
  const changedNode = writeClone("node", { [`node_modules/node-${platform}/bin/node`]: "another" });
  const empty = writeClone("empty", Object.fromEntries(Object.keys(files).map((path) => [path, undefined])));
  const cases: [ReturnType<typeof makeProof>, string, number, string][] = [
    [made, changedSource, 1, "bad: core/src/fault.ts: it is another in the clone"],
    [made, changedPackage, 1, "bad: node_modules/@noble/curves/nist.js: it is another in the clone"],
    [
      made,
      changedNode,
      1,
      `bad: node:${process.version}-${platform}: it is not node/node_modules/node-${platform}/bin/node`,
    ],
    [made, empty, 1, "bad: core/src/fault.ts: the clone has no such file"],
    [
      makeProof([...listed, node(process.version, "win32-x64")]),
      "good",
      2,
      "unchecked: all files are the same, but the clone has no Node for win32-x64 to compare",
    ],
    [
      makeProof([...listed, node("v1.2.3")]),
      "good",
      2,
      `unchecked: core/build/fault.js can only be built as it was with Node v1.2.3; this is ${process.version}`,
    ],
    [makeProof(listed), "good", 2, "unchecked: the list does not name Node, which the server could not read"],
    [
      makeProof([{ path: "../outside", digest: digestOf("") }, node()]),
      "good",
      1,
      "bad: ../outside: it is no path inside a clone",
    ],
  ];
  for (const [proof, clone, code, line] of cases) {
    const run = await verify(proof, ["--code", clone]);
    assert.deepEqual([run.code, run.lines.at(-1)], [code, line]);
  }
});

test("the root comes from a flag or a profile and never from the file; without one nothing is called good", async () => {
  const [made, other] = [makeProof(), makeProof()];
  writeFileSync(join(folder, "other.pem"), certificatePem(other.root));
  const run = await verify(made, ["--root", "other.pem"]);
  assert.deepEqual([run.code, run.lines.at(-1)], [1, "bad: bad boot proof: it does not lead to the given root"]);
  const attestationRoot = certificatePem(made.root);
  writeFileSync(join(folder, "well_known.json"), JSON.stringify({ publicKeys: {}, attestationRoot }));
  assert.equal((await verify(made, ["--root", "well_known.json"])).code, 0);
  writeFileSync(join(folder, "noise"), "noise");
  const noise = await verify(made, ["--root", "noise"]);
  assert.equal(noise.code, 1);
  assert.match(noise.stderr, /noise holds no certificate, as PEM or as `attestationRoot` of JSON/);
  const wire = { appProof: made.appProof, bootProof: wireOf(made.bootProof, made.loadedFiles), attestationRoot };
  writeFileSync(join(folder, "alone.json"), JSON.stringify(wire));
  const alone = await runKeystead(["proof", "verify", "alone.json"], { cwd: folder });
  assert.equal(alone.code, 2);
  assert.match(alone.stdout, /^unchecked: no attestation root is at hand; pass --root FILE$/m);
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data", "public_keys.json"), JSON.stringify({ publicKeys: {}, attestationRoot }));
  assert.equal((await runKeystead(["proof", "verify", "alone.json"], { cwd: folder })).code, 0);
});

test("proofs of two starts, changed proofs and other files are bad", async () => {
  const [made, other] = [makeProof(), makeProof()];
  const lines = async (change: object) => {
    const { code, lines } = await verify(made, [], change);
    return [code, lines.at(-1)];
  };
  assert.deepEqual(await lines({ appProof: other.appProof }), [
    1,
    "bad: the app proof is of another start than the boot proof",
  ]);
  assert.deepEqual(await lines({ appProof: { ...made.appProof, proofPayload: "{}" } }), [
    1,
    "bad: bad app proof: its signature does not hold",
  ]);
  assert.deepEqual(await lines({ bootProof: { ...wireOf(made.bootProof, made.loadedFiles), deploymentLabel: "r1" } }), [
    1,
    "bad: bad boot proof: it does not say that it is software attestation",
  ]);
  writeFileSync(join(folder, "list.json"), "[]");
  const run = await runKeystead(["proof", "verify", "list.json"], { cwd: folder });
  assert.equal(run.code, 1);
  assert.match(
    run.stderr,
    /list\.json is not JSON of the form \{appProofs: \[…\], bootProof\} or \{appProof, bootProof\}/,
  );
});
