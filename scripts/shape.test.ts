import assert from "node:assert/strict";
import { test } from "node:test";
import { measure } from "./shape/measure.ts";
import { report } from "./shape/report.ts";

const filler = (lines: number) => Array.from({ length: lines }, (_, n) => `  use(${n});`).join("\n");

const sources = {
  product: new Map(
    Object.entries({
      "core/src/a.ts": 'import type { B } from "./b.ts";\nexport type A = { b: B };\nexport type Step = "a";\n',
      "core/src/b.ts":
        'import type { A } from "@keystead/core/a.ts";\nexport type B = A;\nexport interface Step {}\ntype Own = 1;\n',
      "server/src/signer/a.ts": "type Own = 2;\n// an apiKey\nexport const brace = /[{]/, text = '{';\n",
      "server/src/signer/main.ts": `/** Its comment\n * does not count. */\nexport function outer() {\n  const inner = () => {\n${filler(88)}\n  };\n  return inner;\n}\n`,
      "server/src/gateway/main.ts": 'export const rows = { api_key: 1, run(): void {}, name: "CONTRACT_INTERFACE" };\n',
      "server/src/rules/api_key.ts": "export const apiKey = 1;\n",
      "server/src/store/api_key.ts": "",
    }),
  ),
  e2e: new Map([
    ["e2e/src/x.ts", 'import { m } from "@keystead/server/main.ts";'],
    ["e2e/src/y.ts", 'import { m } from "../../server/test/rig.ts";'],
    ["e2e/src/z.ts", 'import { m } from "@keystead/core/server.ts";'],
  ]),
};

test("the shape counts lines, circles, long functions, double names and mentions in code", () => {
  const shape = measure(sources);
  assert.equal(shape.files, 7);
  assert.deepEqual(shape.cycles, [["core/src/a.ts", "core/src/b.ts"]]);
  assert.deepEqual(
    shape.longFunctions.map(({ name, lines }) => [name, lines]),
    [
      ["outer", 93],
      ["inner", 90],
    ],
  );
  assert.deepEqual(shape.longestFile, { file: "server/src/signer/main.ts", lines: 95 });
  assert.deepEqual(shape.doubleFileNames, [{ name: "a.ts", files: ["core/src/a.ts", "server/src/signer/a.ts"] }]);
  assert.deepEqual(shape.doubleTypeNames, [{ name: "Step", files: ["core/src/a.ts", "core/src/b.ts"] }]);
  assert.deepEqual(shape.e2eThatImportServer, ["e2e/src/x.ts", "e2e/src/y.ts"]);
  assert.deepEqual(shape.mentions, {
    "entity kind (contractInterface)": ["server/src/gateway/main.ts"],
    "credential kind (apiKey)": ["server/src/gateway/main.ts"],
  });
});

test("the report shows an earlier state beside the present one, and what there is to mend", () => {
  const now = measure(sources);
  const before = { ...now, cycles: [] };
  const text = report(now, before);
  assert.match(text, /^ +before +after$/m);
  assert.match(text, /^circles of imports, types included +0 +1$/m);
  assert.match(text, /^ {2}93 outer {2}server\/src\/signer\/main\.ts$/m);
  assert.match(report(now), /^circles of imports, types included +1$/m);
});
