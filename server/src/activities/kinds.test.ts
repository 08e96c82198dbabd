/** The table of kinds lies in core, where every user of the engine has it. Here it is held against the activities there are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityKinds, kindOf } from "@keystead/core/policy/vocabulary/activity_kinds.ts";
import { wireNames } from "@keystead/core/policy/vocabulary/activity_params.ts";
import { activityForms } from "../generated/activities.ts";

const forms = [...activityForms.values()];

test("every type of every version has a row in the table of kinds, or is one that no policy decides on", () => {
  const missing = forms.filter(({ type, activity: { rootQuorumOnly, vote } }) => {
    return activityKinds[kindOf(type)] === undefined && rootQuorumOnly !== true && vote === undefined;
  });
  assert.deepEqual(
    missing.map(({ type }) => type),
    [],
  );
});

test("all versions of an activity are one kind, so that policies on the kind hold for clients old and new", () => {
  for (const { type, activity } of forms) assert.equal(kindOf(type), kindOf(activity.type));
});

test("every parameter that policies see of an activity is one of its parameters, under its name in camel case", () => {
  const shown = forms.flatMap(({ activity }) => {
    const kind = activityKinds[kindOf(activity.type)];
    return Object.keys(kind?.params ?? {}).map((name) => ({ activity, name }));
  });
  assert.ok(shown.length > 0);
  const unknown = shown.filter(({ activity, name }) => {
    return !Object.hasOwn(activity.params.properties, wireNames[name] ?? toCamelCase(name));
  });
  assert.deepEqual(
    unknown.map(({ activity, name }) => `${activity.path} ${name}`),
    [],
  );
});

test("what signs or exports is sealed until its row is released, and names the key for policies", () => {
  const guarded = forms.filter(({ type }) => ["SIGN", "EXPORT"].includes(activityKinds[kindOf(type)]?.action ?? ""));
  assert.ok(guarded.length > 0);
  const open = guarded.filter(({ activity }) => activity.sealed !== true || activity.policySubject === undefined);
  assert.deepEqual(
    open.map(({ type }) => type),
    [],
  );
});

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
