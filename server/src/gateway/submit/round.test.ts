import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { endsTurn, type Reason, Round, type RoundResult, runRounds } from "./round.ts";

const organizationId = "an organization";

/** Runs these steps, and the last of them for ever; what each attempt was made with. */
function play(steps: readonly RoundResult<string, string>[], limits = { turns: 3, attempts: 4 }) {
  const round = new Round(limits, organizationId);
  const attempts: { turn: number; attempt: number; needs: readonly string[] }[] = [];
  const done = runRounds(round, ["declared"], async (needs) => {
    attempts.push({ turn: round.turn, attempt: round.attempt, needs });
    return steps[attempts.length - 1] ?? (steps.at(-1) as RoundResult<string, string>);
  });
  return { done, attempts };
}

const again = (reason: Reason, ...needs: string[]): RoundResult<string, string> => ({ kind: "again", reason, needs });

test("each attempt is made with what the one before needed, and the first with what is known before", async () => {
  const { done, attempts } = play([again("lacking", "a page"), again("overtaken"), { kind: "done", value: "answer" }]);
  assert.equal(await done, "answer");
  assert.deepEqual(
    attempts.map(({ needs }) => needs),
    [["declared"], ["a page"], []],
  );
});

test("a refusal ends it at once, in its own words", async () => {
  const error = new Fault("permission_denied", "no");
  const { done, attempts } = play([{ kind: "refused", error }]);
  await assert.rejects(done, error);
  assert.equal(attempts.length, 1);
});

test("a request that is never decided is tried for all attempts of all turns, and not once more", async () => {
  const { done, attempts } = play([again("lacking")]);
  await assert.rejects(done, (error: Fault) => {
    assert.equal(error.code, "unavailable");
    assert.match(error.message, /too many concurrent changes to this organization; try again/);
    assert.match(
      String((error.cause as Error).message),
      /^organization an organization: no commit was taken in 3 rounds/,
    );
    return true;
  });
  assert.equal(attempts.length, 12);
  assert.deepEqual(attempts.at(-1), { turn: 2, attempt: 3, needs: [] });
});

test("what others may have changed begins a new turn, with all its attempts", async () => {
  const reasons: Reason[] = ["attemptsUsed", "conflict", "executed", "callerAdded", "voteEnded"];
  for (const reason of reasons) {
    assert.ok(endsTurn(reason));
    const { done, attempts } = play([again("lacking"), again(reason), { kind: "done", value: "answer" }]);
    await done;
    assert.deepEqual(
      attempts.map(({ turn, attempt }) => [turn, attempt]),
      [
        [0, 0],
        [0, 1],
        [1, 0],
      ],
    );
  }
  for (const reason of ["lacking", "overtaken", "stateRefused"] as const) assert.ok(!endsTurn(reason));
});
