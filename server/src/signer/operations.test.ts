import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createSignerRig,
  createTagBody,
  prepareOn,
  releaseRows,
  type SignerRig,
  stateAfter,
} from "../../test/signer_rig.ts";
import { clockToleranceMs } from "../state/journal.ts";

const behind = {
  code: "unavailable",
  message: /clock is 301 s behind the last time it has seen.*`keystead accept-clock`/,
};

/** A rig whose memory has seen the clock's time, and whose clock then steps back. */
function steppedBack(byMs: number): SignerRig {
  const rig = createSignerRig();
  rig.clock.nowMs -= byMs;
  return rig;
}

test("a clock behind the memory by the tolerance still signs; a moment more, and nothing is decided, released or stated", () => {
  const rig = steppedBack(clockToleranceMs);
  const state = stateAfter(rig.born, prepareOn(rig, rig.born, createTagBody(rig, "in time")));
  assert.equal(state.version, 2);

  const prepared = prepareOn(rig, rig.born, createTagBody(rig, "prepared before"));
  rig.clock.nowMs -= 1_000;
  assert.throws(() => prepareOn(rig, rig.born, createTagBody(rig, "too late")), behind);
  assert.throws(() => releaseRows(rig, [prepared]), behind);
  assert.throws(() => rig.operations.statement({}), behind);
});

test("once the clock is right again the same signer goes on, with what it refused to release", () => {
  const rig = createSignerRig();
  const prepared = prepareOn(rig, rig.born, createTagBody(rig, "prepared before"));
  rig.clock.nowMs -= clockToleranceMs + 1_000;
  assert.throws(() => releaseRows(rig, [prepared]), behind);
  rig.clock.nowMs += clockToleranceMs + 1_000;
  assert.equal(releaseRows(rig, [prepared])[0]?.kind, "released");
});

test("a restart does not forget the time; the operator's reset does, and the next release remembers the new one", () => {
  let rig = steppedBack(clockToleranceMs + 1_000).restart();
  assert.throws(() => prepareOn(rig, rig.born, createTagBody(rig, "refused")), behind);
  rig.memory.resetClock(rig.clock.nowMs);
  rig = rig.restart();
  const prepared = prepareOn(rig, rig.born, createTagBody(rig, "after the reset"));
  assert.equal(releaseRows(rig, [prepared])[0]?.kind, "released");
  assert.equal(rig.memory.lastTimeMs, rig.clock.nowMs);
});

test("a clock that runs ahead signs, and is what the memory then holds the clock to", () => {
  const rig = createSignerRig();
  rig.clock.nowMs += 86_400_000;
  releaseRows(rig, [prepareOn(rig, rig.born, createTagBody(rig, "from tomorrow"))]);
  rig.clock.nowMs -= 86_400_000;
  assert.throws(() => rig.operations.statement({}), { code: "unavailable", message: /clock is 86400 s behind/ });
});
