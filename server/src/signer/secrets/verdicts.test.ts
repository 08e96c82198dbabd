import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { decodeMemoryVerdict } from "@keystead/core/log/outside_values.ts";
import { createVerdicts, type Verdicts } from "./verdicts.ts";

const said = ({ taken }: Verdicts) =>
  taken.map(({ kind, value }) => {
    assert.equal(kind, "memoryVerdict");
    const { subject, isAllowed } = decodeMemoryVerdict(value.value);
    return `${subject} ${isAllowed ? "allowed" : "refused"}`;
  });

test("what is answered and what is refused is noted in order; a mishap of ours is not", () => {
  const verdicts = createVerdicts();
  verdicts.judge({ subject: "attempt", ask: () => 1, standIn: () => 0 });
  const refuse = () => {
    throw new Fault("invalid_argument", "no");
  };
  assert.throws(() => verdicts.judge({ subject: "start", ask: refuse, standIn: () => undefined }), { message: "no" });
  const broken = () => {
    throw new Error("broken");
  };
  assert.throws(() => verdicts.judge({ subject: "taken", ask: broken, standIn: () => undefined }), /broken/);
  assert.equal(
    verdicts.confirm("answer", () => false),
    false,
  );
  assert.deepEqual(said(verdicts), ["attempt allowed", "start refused", "answer refused"]);
});

test("a hundred tokens take one value of a leaf, and one more where the last is refused", () => {
  const verdicts = createVerdicts();
  for (let count = 0; count < 100; count++) verdicts.confirm("token", () => true);
  assert.deepEqual(said(verdicts), ["token allowed"]);
  verdicts.confirm("token", () => false);
  assert.deepEqual(said(verdicts), ["token allowed", "token refused"]);
});

test("that a key is nobody's service key, and an import that failed after it was opened", () => {
  const verdicts = createVerdicts();
  verdicts.confirm("serviceKey", () => true);
  assert.deepEqual(said(verdicts), []);
  verdicts.judge({ subject: "import", ask: () => "secret", standIn: () => "" });
  verdicts.fail();
  verdicts.confirm("serviceKey", () => false);
  assert.deepEqual(said(verdicts), ["import refused", "serviceKey refused"]);
});
