/** Edits of an export: each is found, and the right leaf is named. Honest exports raise no alarm. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeVerifierCurves } from "../../../../server/src/curves/node_verifier_curves.ts";
import { type Edit, editExport, editNames, takeApart } from "../../../test/log_export/edits.ts";
import { actIn } from "../../../test/log_export/histories.ts";
import { exportOf, makeDeployment, makeSmall } from "../../../test/log_export/test_export.ts";
import { samples } from "../../../test/samples.ts";
import { seededRandom } from "../../../test/seeded_random.ts";
import { namesLeaf, type Place, type Report } from "./finding.ts";
import { createVerifier } from "./verify_export.ts";

const seed = Number(process.env.KEYSTEAD_SEED ?? Date.now() % 2 ** 32);
const { exportEdits, exportLeaves, honestExports } = samples;

/** What is wrong with a report on an edited export. */
function misjudgement({ expected }: Edit, report: Report): string | undefined {
  if (expected.kind === "unchecked") return report.verdict === "good" ? "not found" : undefined;
  if (report.verdict !== "bad") return `not found: ${report.verdict}`;
  if (expected.kind === "file") return undefined;
  const named = report.firstBadLeaf?.place;
  if (expected.kind === "leaf") return isAt(named, expected.place) ? undefined : `it names ${JSON.stringify(named)}`;
  if (named !== undefined) return `it calls an honest leaf bad: ${JSON.stringify(named)}`;
  const { findings } = report;
  if (!findings.some(({ kind, place }) => kind === "bad" && place.file === expected.file))
    return "the file is not named";
  const first = findings.find(({ kind, place }) => kind === "unchecked" && namesLeaf(place))?.place;
  return isAt(first, expected.first) ? undefined : `unchecked is ${JSON.stringify(first)}`;
}

/** `expected` may leave the position open. */
function isAt(place: Place | undefined, expected: Place | undefined): boolean {
  if (place === undefined || expected === undefined) return place === expected;
  const position = expected.position ?? place.position;
  return (
    place.logId === expected.logId &&
    place.organizationId === expected.organizationId &&
    place.ordinal === expected.ordinal &&
    place.position === position
  );
}

test(`${exportEdits} edits of an export of ${exportLeaves} leaves: all are found, and the right leaf is named (seed ${seed})`, (t) => {
  const random = seededRandom(seed);
  // About a third of what the logs hold is of others, who export their own.
  const base = takeApart(makeDeployment({ seed, leaves: exportLeaves * 1.6 }));
  const { key } = base.deployment;
  const verifier = createVerifier(nodeVerifierCurves);
  const { findings, counts } = verifier.verify(base.files, { key });
  assert.deepEqual(findings, []);
  assert.ok(counts.leaves >= exportLeaves, `it has ${counts.leaves} leaves`);
  const named = { leaf: 0, file: 0, cut: 0, unchecked: 0 };
  const startedMs = Date.now();
  for (let round = 0; round < exportEdits; round++) {
    const edit = editExport(base, editNames[round % editNames.length] as string, random);
    const report = verifier.verify(edit.files, { key, since: edit.since ?? [] });
    const wrong = misjudgement(edit, report);
    const found = JSON.stringify(report.findings.slice(0, 3));
    assert.equal(
      wrong,
      undefined,
      `round ${round}, ${edit.name}: ${wrong}; expected ${JSON.stringify(edit.expected)}, ${found}`,
    );
    named[edit.expected.kind] += 1;
  }
  t.diagnostic(
    `${exportEdits} edits of ${editNames.length} kinds of an export of ${counts.leaves} leaves, all found: ${named.leaf} leaves named, ` +
      `${named.file + named.cut} files, ${named.unchecked} not disclosed; ${Math.round((Date.now() - startedMs) / 1000)} s, seed ${seed}`,
  );
});

test(`edits of the entries of a small log, whose operator has acted once (seed ${seed})`, () => {
  const random = seededRandom(seed);
  const base = takeApart(makeSmall(({ scene, own, leaves }) => leaves.push(...actIn(scene, own))));
  const verifier = createVerifier(nodeVerifierCurves);
  for (const name of ["flipInEntries", "truncateEntries", "fork"]) {
    for (let round = 0; round < 100; round++) {
      const edit = editExport(base, name, random);
      const wrong = misjudgement(edit, verifier.verify(edit.files, { key: base.deployment.key }));
      assert.equal(wrong, undefined, `round ${round}, ${name}: ${wrong}; expected ${JSON.stringify(edit.expected)}`);
    }
  }
});

test(`${honestExports} honest exports: no alarm (seed ${seed})`, (t) => {
  let leaves = 0;
  for (let round = 0; round < honestExports; round++) {
    const deployment = makeDeployment({ seed: seed + round, leaves: 30 + (round % 100), withFirst: round % 2 === 0 });
    const report = createVerifier(nodeVerifierCurves).verify(exportOf(deployment), { key: deployment.key });
    assert.deepEqual(report.findings, [], `round ${round}`);
    leaves += report.counts.leaves;
  }
  t.diagnostic(`${honestExports} honest exports of ${leaves} leaves: 0 alarms`);
});
