import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { activityParams } from "./activity_params.ts";
import { isSameType } from "./type_relations.ts";
import { any, int, list, type PolicyType, string, struct } from "./types.ts";
import { fieldAliases, namespaces, unionOfParams, vocabularies } from "./vocabulary.ts";

type Struct = Extract<PolicyType, { kind: "struct" }>;

/** Every struct that can be reached, each once. */
function structs(): Set<Struct> {
  const found = new Set<Struct>();
  const visit = (type: PolicyType): void => {
    if (type.kind === "list") visit(type.of);
    if (type.kind !== "struct" || found.has(type)) return;
    found.add(type);
    Object.values(type.fields).forEach(visit);
  };
  for (const names of Object.values(vocabularies)) Object.values(names).forEach(visit);
  return found;
}

test("no two structs share a name, which is what tells them apart", () => {
  const names = [...structs()].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  assert.equal(names.length, 46);
});

test("no field is called like a method, so the parser need not know the vocabulary", () => {
  for (const { name, fields } of structs()) {
    for (const method of ["all", "any", "filter", "contains", "count"])
      assert.ok(!(method in fields), `${name}.${method}`);
  }
});

test("no name or field is special to JavaScript or unwritable in the language", () => {
  const names = [...structs()].flatMap(({ fields }) => Object.keys(fields));
  for (const name of [...names, ...Object.values(vocabularies).flatMap(Object.keys)]) {
    assert.match(name, /^[a-z][a-z0-9_]*$/);
    assert.ok(!(name in {}), name);
  }
});

test("namespaces and aliases are about structs that exist", () => {
  const byName = new Map([...structs()].map((each) => [each.name, each]));
  for (const name of Object.keys(namespaces)) assert.ok(byName.has(name), name);
  for (const [name, aliases] of Object.entries(fieldAliases)) {
    for (const [alias, field] of Object.entries(aliases)) {
      assert.ok(byName.get(name)?.fields[field] !== undefined && byName.get(name)?.fields[alias] === undefined);
    }
  }
});

test("what activities show of themselves always stays apart from what they may lack", () => {
  const { activity } = vocabularies.condition;
  assert.ok(activity?.kind === "struct");
  assert.deepEqual(Object.keys(activity.fields), ["type", "kind", "resource", "action", "params"]);
  const { params } = activity.fields;
  assert.ok(params?.kind === "struct");
  assert.equal(Object.keys(params.fields).length, 28);
  // No two kinds disagree today; a new one that does should be a choice, not an accident.
  assert.ok(Object.values(params.fields).every((type) => type.kind !== "any"));
});

test("a parameter that two kinds give different types may be either", () => {
  const union = unionOfParams([{ params: { a: int, b: list(string) } }, { params: { a: string, b: list(string) } }]);
  assert.deepEqual(union, { a: any, b: list(string) });
  assert.deepEqual(unionOfParams([{ params: { a: int } }, { params: { a: string } }, { params: { a: int } }]), {
    a: any,
  });
});

test("types are the same by name and by what lists hold", () => {
  assert.ok(isSameType(list(int), list(int)) && !isSameType(list(int), list(string)));
  assert.ok(isSameType(struct("a", {}), struct("a", {})) && !isSameType(struct("a", {}), struct("b", {})));
  assert.ok(!isSameType(int, string) && !isSameType(int, any));
});

function rowOf(name: string, fields: Readonly<Record<string, PolicyType>>): string {
  const called = (type: PolicyType): string =>
    type.kind === "list" ? `list of ${called(type.of)}` : type.kind === "struct" ? type.name : type.kind;
  const byType = Map.groupBy(Object.keys(fields), (field) => called(fields[field] ?? any));
  const cells = [...byType].map(([type, names]) => `${names.map((each) => `\`${each}\``).join(", ")}: ${type}`);
  return `| ${name} | ${cells.join("; ")} |`;
}

test("SPEC.md has every struct and every kind's parameters as they are", () => {
  const spec = readFileSync(join(import.meta.dirname, "../SPEC.md"), "utf8").split("\n");
  const rows = [
    ...[...structs()].map(({ name, fields }) => rowOf(name, fields)),
    ...Object.entries(activityParams).map(([kind, fields]) => rowOf(kind, fields)),
  ];
  assert.deepEqual(
    rows.filter((row) => !spec.includes(row)),
    [],
  );
  assert.equal(rows.length, 73);
});
