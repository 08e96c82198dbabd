/**
 * Validators as plain code. TypeBox compiles schemas with `new Function` when it may and interprets them when it may not,
 * which is 150 times slower; the server runs with code generation switched off, so the code is written here.
 */
import { Code } from "typebox/compile";
import type { AnyActivity } from "../../server/src/endpoints/define_activity.ts";
import { header } from "./header.ts";

const counted = "codePointCount";

type Validated = { path: string; method: string; validated: AnyActivity["params"] };

export function validatorModule(exported: string, of: string, endpoints: Validated[]): string {
  const functions = endpoints.map(({ path, method, validated }) => validatorFunction(path, method, validated));
  const body = functions.join("\n\n");
  const imports = body.includes(counted) ? [`import { ${counted} } from "../fields/text_length.ts";`] : [];
  return `${header}
// The checks narrow by \`typeof\` and \`in\` on values of no known type, which strict TypeScript does not follow.
// @ts-nocheck
${imports.join("\n")}

${body}

/** Whether a value is a well-formed ${of}, by path. It has no prototype, so no path finds anything inherited. */
export const ${exported}: Readonly<Record<string, (value: unknown) => boolean>> = {
  __proto__: null,
${endpoints.map(({ path, method }) => `  ${path}: ${method},`).join("\n")}
};
`;
}

/** The one function of TypeBox's that declarations need at run time is our own, so that the server loads nothing of it. */
function withOwnFunctions(path: string, check: string): string {
  const own = check.replaceAll("Guard.CodePointCount(", `${counted}(`);
  const foreign = /\b(?:Guard|Hashing)\.\w+/.exec(own)?.[0];
  if (foreign !== undefined) throw new Error(`${path}: the server has no ${foreign} of its own`);
  return own;
}

/** TypeBox emits a whole module; only its functions are wanted, closed over their own regular expressions. */
function validatorFunction(path: string, method: string, schema: AnyActivity["params"]): string {
  const { Code: module, External } = Code(schema);
  const lines = module.split("\n").map((line) => line.trim());
  const checks = lines.filter((line) => /^const check_\d+ = /.test(line));
  const entry = lines.find((line) => line.startsWith("export function Check(value)"));
  const result = /^export function Check\(value\) \{ return (check_\d+\(.*\)) \}$/.exec(entry ?? "")?.[1];
  if (result === undefined || checks.length === 0) throw new Error(`${path}: TypeBox emitted something unexpected`);
  const patterns = External.variables.map((variable) => {
    if (!(variable instanceof RegExp)) throw new Error(`${path}: only patterns can be written as code`);
    return String(variable);
  });
  return [
    `const ${method} = (() => {`,
    ...(patterns.length === 0 ? [] : [`  const ${External.identifier} = [${patterns.join(", ")}];`]),
    ...checks.map((check) => `  ${withOwnFunctions(path, check)}`),
    `  return (value) => ${result};`,
    "})();",
  ].join("\n");
}
