import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSamples } from "../core/test/samples.ts";

test("KEYSTEAD_SAMPLES overrides samples by name, and a name or a count that is none is refused", () => {
  assert.deepEqual(parseSamples(""), {});
  assert.deepEqual(parseSamples("crashKills=20,powerCuts=0"), { crashKills: 20, powerCuts: 0 });
  assert.throws(() => parseSamples("kills=20"), /there is no sample called `kills`/);
  assert.throws(() => parseSamples("toString=20"), /there is no sample called `toString`/);
  assert.throws(() => parseSamples("crashKills=many"), /`crashKills=many` is not of the form name=count/);
  assert.throws(() => parseSamples("crashKills"), /is not of the form/);
});
