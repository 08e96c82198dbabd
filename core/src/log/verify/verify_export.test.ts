import assert from "node:assert/strict";
import { test } from "node:test";
import { exportOf, makeDeployment } from "../../../test/log_export/test_export.ts";
import { testCurves } from "../../../test/test_curves.ts";
import { createVerifier } from "./verify_export.ts";

test("an honest export of several organizations and logs is good", () => {
  const deployment = makeDeployment({ seed: 1, leaves: 200 });
  const report = createVerifier(testCurves).verify(exportOf(deployment), { key: deployment.key });
  assert.deepEqual(report.findings, []);
  assert.equal(report.verdict, "good");
  assert.deepEqual(report.counts, { logs: 3, organizations: 2, leaves: 154, stamps: 148 });
});
