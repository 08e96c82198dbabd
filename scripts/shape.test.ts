import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { measure } from "./shape/measure.ts";
import { readRecipe, recipes } from "./shape/recipes.ts";
import { report } from "./shape/report.ts";
import { readSources } from "./shape/sources.ts";

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
      "server/src/launcher/names.ts": "// Written by `npm run generate`. Do not edit.\nexport const apiKey = 1;\n",
    }),
  ),
  contributing: [
    "# Contributing",
    "## Adding a kind of entity",
    "An entity is not `server/src/intro.ts`.",
    "1. `server/src/state/NAME.ts`: its row, and `a.ts`;",
    "   `server/src/rules/b.ts` and `server/src/launcher/names.ts`.",
    "2. `core/src/a.ts`, `a.test.ts`, `docs/x.md`, `trials/src/x.ts`, `server/test/x.ts`, `npm run generate`.",
    "",
    "Some need `server/src/store`: `more.ts`, `server/src/state/a.ts` and `server/src/store/migrations/0001_x.ts`.",
    "## Adding a process",
    "1. `core/src/c.ts`.",
  ].join("\n"),
  e2e: new Map([
    ["e2e/src/x.ts", 'import { m } from "@keystead/server/main.ts";'],
    ["e2e/src/y.ts", 'import { m } from "../../server/test/rig.ts";'],
    ["e2e/src/z.ts", 'import { m } from "@keystead/core/server.ts";'],
  ]),
};

test("the shape counts lines, circles, long functions, double names and mentions in code", () => {
  const shape = measure(sources);
  assert.equal(shape.files, 8);
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
  assert.deepEqual(shape.recipes, {
    "entity kind": {
      always: ["server/src/state/NAME.ts", "server/src/state/a.ts", "core/src/a.ts"],
      sometimes: ["server/src/store/more.ts"],
    },
  });
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

test("the recipes for adding a kind name files that are there, and at most nine that every kind touches", () => {
  const { product, contributing } = readSources(join(import.meta.dirname, ".."));
  for (const [kind, title] of Object.entries(recipes)) {
    const recipe = readRecipe(contributing, title, product);
    assert.ok(recipe, kind);
    assert.ok(recipe.always.length <= 9, `${kind}: ${recipe.always.join(" ")}`);
    const written = [...recipe.always, ...recipe.sometimes].filter((file) => !file.includes("NAME"));
    assert.deepEqual(
      written.filter((file) => !product.has(file)),
      [],
      kind,
    );
  }
});
