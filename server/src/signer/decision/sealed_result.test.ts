/** Results worth something alone stay sealed until their row is released. The test declares an endpoint that has nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { activityBody, createSignerRig, prepareOn, releaseRows, stateAfter } from "../../../test/signer_rig.ts";
import { type ActivityForm, defineActivity, formsOf } from "../../endpoints/define_activity.ts";
import { Type } from "../../fields/schema.ts";
import type { Reply } from "../../frames/messages.ts";
import { activityForms } from "../../generated/activities.ts";
import { activityValidators } from "../../generated/activity_validators.ts";

const secret = "a-signature-that-must-not-leave-early";

const revealing = defineActivity({
  path: "test_sealed",
  type: "ACTIVITY_TYPE_TEST_SEALED",
  intentKey: "testSealedIntent",
  resultKey: "testSealedResult",
  summary: "Only in this test",
  params: Type.Object({}),
  result: Type.Object({ secret: Type.String() }),
  sealed: true,
  state: () => undefined,
  run: () => ({ changes: [], result: { secret } }),
});
for (const form of formsOf(revealing)) (activityForms as Map<string, ActivityForm>).set(form.type, form);
(activityValidators as Record<string, (value: unknown) => boolean>)[revealing.type] = () => true;

test("a sealed result is nowhere in what is prepared, and is opened by releasing its own row", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, activityBody(rig, revealing.type, {}));
  const everything = JSON.stringify(row, (_key, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  );
  assert.ok(!everything.includes(secret));
  assert.equal(row.activity?.result, undefined);
  assert.equal(resultOf(releaseRows(rig, [row])), JSON.stringify({ secret }));
  // After a crash it is the same call, by a signer that remembers nothing of the row.
  assert.equal(resultOf(releaseRows(rig.restart(), [row])), JSON.stringify({ secret }));
});

test("a sealed result does not open beside another row's leaf, nor on a state that was passed over", () => {
  const rig = createSignerRig();
  const hidden = prepareOn(rig, rig.born, activityBody(rig, revealing.type, {}));
  const honest = prepareOn(
    rig,
    rig.born,
    activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "a", userIds: [] }),
  );
  assert.equal(stateAfter(rig.born, honest).version, 2);
  assert.equal(releaseRows(rig, [honest])[0]?.kind, "released");
  const [mixed, untouched] = releaseRows(rig, [{ ...hidden, leaf: honest.leaf }, honest]);
  assert.deepEqual(mixed, { kind: "refused", value: { message: "a sealed record does not open" } });
  assert.equal(untouched?.kind, "released");
  assert.equal(releaseRows(rig, [hidden])[0]?.kind, "refused");
});

test("a sealed result that comes back changed does not open, however lately it was made; as it was made it does", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, activityBody(rig, revealing.type, {}));
  const changed = Uint8Array.from(row.sealed ?? []);
  changed[changed.length - 20] = (changed[changed.length - 20] ?? 0) ^ 1;
  assert.equal(releaseRows(rig, [{ ...row, sealed: changed }])[0]?.kind, "refused");
  for (const _ of ["the first time", "again"]) {
    assert.equal(resultOf(releaseRows(rig, [row])), JSON.stringify({ secret }));
  }
});

test("what was released before is opened again without a word to the memory, also after a restart", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, activityBody(rig, revealing.type, {}));
  assert.equal(resultOf(releaseRows(rig, [row])), JSON.stringify({ secret }));
  for (const signer of [rig, rig.restart()]) {
    signer.memory.rememberAppended = () => assert.fail("the memory is written");
    for (const _ of ["once", "again"]) {
      assert.deepEqual(releaseRows(signer, [row]), [
        { kind: "released", value: { result: JSON.stringify({ secret }), place: undefined } },
      ]);
    }
  }
});

test("a release that could not be remembered lets nothing out and moves no pin; the same call again does", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, activityBody(rig, revealing.type, {}));
  const organizationId = uuidToBytes(rig.orders.birth.organizationId);
  const before = rig.memory.pins.get(organizationId);
  const { rememberAppended } = rig.memory;
  rig.memory.rememberAppended = () => {
    throw new Fault("unavailable", "the signer's memory cannot be written");
  };
  assert.throws(() => releaseRows(rig, [row]), { code: "unavailable" });
  assert.deepEqual(rig.memory.pins.get(organizationId), before);
  rig.memory.rememberAppended = rememberAppended;
  assert.equal(resultOf(releaseRows(rig, [row])), JSON.stringify({ secret }));
  assert.equal(rig.memory.pins.get(organizationId)?.version, 2);
});

function resultOf([outcome]: Reply<"release">): string | undefined {
  return outcome?.kind === "released" ? outcome.value.result : undefined;
}
