import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import Type from "typebox";
import Value from "typebox/value";
import { validatorModule } from "./validators.ts";

const root = join(import.meta.dirname, "../..");

const schema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 4 }),
  digits: Type.Optional(Type.String({ pattern: "^[0-9/]+$" })),
  kind: Type.Union([Type.Literal("A"), Type.Literal("B")]),
  items: Type.Array(Type.Object({ count: Type.Integer({ minimum: 0 }) }), { minItems: 1, maxItems: 2 }),
});

const good = { name: "🔑🔑🔑🔑", kind: "A", items: [{ count: 0 }] };
const values: unknown[] = [
  good,
  { ...good, extra: true },
  { ...good, digits: "1/2" },
  null,
  [],
  "x",
  { ...good, name: "" },
  { ...good, name: "12345" },
  { ...good, name: null },
  { ...good, digits: "x" },
  { ...good, digits: "1\n" },
  { ...good, kind: "C" },
  { ...good, items: [] },
  { ...good, items: [{}, {}, {}] },
  { ...good, items: [{ count: -1 }] },
  { ...good, items: [{ count: 1.5 }] },
  { kind: "A", items: [{ count: 0 }] },
];

/** Runs a program with code generation switched off. */
function runWithoutCodeGeneration(module: string, program: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), "keystead-validators-"));
  try {
    writeFileSync(join(folder, "validators.ts"), module.replaceAll('"../fields/', `"${root}/server/src/fields/`));
    writeFileSync(join(folder, "program.ts"), program);
    const flags = ["--disallow-code-generation-from-strings", "--disable-proto=throw"];
    return JSON.parse(execFileSync(process.execPath, [...flags, join(folder, "program.ts")], { encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("emitted validators agree with TypeBox where no code may be made from strings, and know no inherited path", () => {
  const module = validatorModule("validators", "value", [{ path: "some_path", method: "somePath", validated: schema }]);
  const verdicts = runWithoutCodeGeneration(
    module,
    `import { validators } from "./validators.ts";
     let refused = false;
     try { new Function("return 1"); } catch { refused = true; }
     const values = ${JSON.stringify(values)};
     const inherited = ["constructor", "toString", "__proto__"].filter((name) => name in validators);
     console.log(JSON.stringify({ refused, inherited, verdicts: values.map((value) => validators.some_path(value)) }));`,
  );
  const expected = values.map((value) => Value.Check(schema, value));
  assert.deepEqual(verdicts, { refused: true, inherited: [], verdicts: expected });
  assert.equal(expected.filter(Boolean).length, 3);
});

test("a schema that only runs with a function of its own is refused", () => {
  const refined = Type.Object({ name: Type.Refine(Type.String(), (text) => text !== "") });
  assert.throws(
    () => validatorModule("validators", "value", [{ path: "some_path", method: "somePath", validated: refined }]),
    /some_path: only patterns can be written as code/,
  );
});

test("so is one that needs a function of TypeBox's at run time", () => {
  const unique = Type.Object({ names: Type.Array(Type.String(), { uniqueItems: true }) });
  assert.throws(
    () => validatorModule("validators", "value", [{ path: "some_path", method: "somePath", validated: unique }]),
    /some_path: the server has no (Guard|Hashing)\.\w+ of its own/,
  );
});
