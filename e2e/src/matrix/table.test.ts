import assert from "node:assert/strict";
import { test } from "node:test";
import { activities, activityForms, queries } from "../generated/endpoints.ts";
import type { ActivityEntry } from "./entry.ts";
import { activityTable, queryTable, voteTable } from "./table.ts";

const entries: ActivityEntry[] = Object.values(activityTable);

test("every endpoint and every version of it has an entry", () => {
  assert.deepEqual([...Object.keys(activityTable), ...Object.keys(voteTable)].sort(), Object.keys(activities).sort());
  assert.deepEqual(Object.keys(queryTable).sort(), Object.keys(queries).sort());
  const tried = new Set([
    ...Object.values(activities).map(({ type }) => type),
    ...entries.flatMap((entry) => Object.keys(entry.versions ?? {})),
    // Its only user has a passkey; the entry of its path says what it answers until sign-in is built.
    "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION",
  ]);
  assert.deepEqual([...activityForms.keys()].sort(), [...tried].sort());
});
