/**
 * Many answers to one code at once, over HTTP: one server on SQLite, three on one PostgreSQL, each with a signer and a memory of its own.
 * Of wrong ones three are compared with the code, of right ones one gets a token. A sample here; 1,000 at each code with `npm run figures`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { spentPlace } from "@keystead/server/store/otp_codes.ts";
import { closeStore, openStore, type StoreSource } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { startDeployment } from "../races/deployment.ts";
import { tally } from "../races/run_trials.ts";
import { assertRefusedAs, fingerprintOf, isDone, Stage, type Stamped } from "../races/stage.ts";
import { answerTo, startCode, tokenOf } from "./answers.ts";

const codes = samples.guessedCodes;
const guesses = samples.parallelGuesses;
const attemptsPerCode = 3;
const serversOnPostgres = 3;

const wrong = "Invalid OTP code";
const tooMany = "Invalid OTP code: too many attempts; request a new code";
const used = "Invalid OTP code: code was used already; request a new code";

/** What the database must hold of a code in the end: the bodies that were compared, and the one that got the token. */
type Outcome = { otpId: string; evaluated: Set<string> | undefined; winner: string | undefined };

const digestOf = ({ body }: Stamped) => fingerprintOf(body).slice("sha256:".length);

for (const dialect of dialects) {
  test(`answers to codes on ${dialect}`, { timeout: testTimeoutMs }, async (t) => {
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const deployment = await startDeployment(t, dialect, { serversOnPostgres });
    if (deployment === undefined) return;
    const where = `${dialect}, ${deployment.servers.length} server${deployment.servers.length > 1 ? "s" : ""}`;
    const stage = new Stage(deployment, seededRandom(seed));
    const organization = await stage.found({ users: 1, threshold: 1 });
    const outcomes: Outcome[] = [];

    await t.test(`of ${guesses} wrong guesses at one code at once three are compared with it`, async (t) => {
      const said: string[] = [];
      for (let number = 0; number < codes; number++) {
        const started = await startCode(stage, organization);
        const requests: Stamped[] = [];
        for (let guess = 0; requests.length < guesses; guess++) {
          const typed = String(guess).padStart(6, "0");
          if (typed !== started.code) requests.push(await answerTo(stage, started, typed));
        }
        const answers = await stage.sendAll(requests);
        for (const answer of answers) assert.equal(answer.status, 400, answer.text);
        const messages = answers.map(({ json }): string => json.message);
        const evaluated = new Set(requests.filter((_, index) => messages[index] === wrong).map(digestOf));
        assert.equal(evaluated.size, attemptsPerCode, tally(messages));
        assert.deepEqual([...new Set(messages)].sort(), [wrong, tooMany]);
        const late = await stage.send(await answerTo(stage, started, started.code));
        assertRefusedAs(late, 400, new RegExp(`^${tooMany}$`));
        outcomes.push({ otpId: started.otpId, evaluated, winner: undefined });
        said.push(...messages);
      }
      t.diagnostic(`${where}: ${codes} codes with ${guesses} wrong guesses at once each: ${tally(said)}`);
    });

    await t.test(`of ${guesses} right answers to one code in different bodies at once one gets a token`, async (t) => {
      const said: string[] = [];
      for (let number = 0; number < codes; number++) {
        const started = await startCode(stage, organization);
        const requests: Stamped[] = [];
        while (requests.length < guesses) requests.push(await answerTo(stage, started, started.code));
        const answers = await stage.sendAll(requests);
        const winners = requests.filter((_, index) => isDone(answers[index]));
        const [winner] = winners;
        assert.ok(winner !== undefined && winners.length === 1, tally(answers.map(({ text }) => text)));
        const token = tokenOf(await stage.send(winner));
        assert.match(token, /^eyJ/, "the same bytes again, at whichever server");
        for (const answer of answers) {
          if (isDone(answer)) assert.equal(tokenOf(answer), token);
          else assert.ok(answer.status === 400 && [used, tooMany].includes(answer.json.message), answer.text);
          said.push(isDone(answer) ? "token" : answer.json.message);
        }
        assertRefusedAs(await stage.send(await answerTo(stage, started, started.code)), 400, new RegExp(`^${used}$`));
        outcomes.push({ otpId: started.otpId, evaluated: undefined, winner: digestOf(winner) });
      }
      t.diagnostic(`${where}: ${codes} codes with ${guesses} right answers at once each: ${tally(said)}`);
    });

    for (const { output } of deployment.servers) assert.doesNotMatch(output(), ownFault);
    await deployment.stop();
    await t.test("the database has these attempts and no others", async (t) => {
      const rows = await checkAttempts(deployment.source, outcomes);
      t.diagnostic(`${where}: ${rows} attempts at ${outcomes.length} codes in the database, three at most at each`);
    });
  });
}

async function checkAttempts(source: StoreSource, outcomes: readonly Outcome[]): Promise<number> {
  const store = await openStore(source);
  try {
    const rows = await store.db.selectFrom("otp_attempts").select(["otp_id", "place", "fingerprint"]).execute();
    const claims = rows.filter(({ place }) => place !== spentPlace);
    for (const { otpId, evaluated, winner } of outcomes) {
      const claimed = claims.filter((row) => row.otp_id === otpId);
      const places = claimed.map(({ place }) => place).sort();
      assert.deepEqual(places, [1, 2, 3].slice(0, places.length), "each place once");
      const bodies = new Set(claimed.map(({ fingerprint }) => fingerprint));
      if (evaluated !== undefined) assert.deepEqual(bodies, evaluated);
      else assert.ok(winner !== undefined && bodies.has(winner), "whoever gets a token has claimed an attempt");
      const spent = rows.filter((row) => row.otp_id === otpId && row.place === spentPlace);
      assert.deepEqual(
        spent.map(({ fingerprint }) => fingerprint),
        winner === undefined ? [] : [winner],
      );
    }
    assert.equal(new Set(rows.map(({ otp_id }) => otp_id)).size, outcomes.length);
    return claims.length;
  } finally {
    await closeStore(store);
  }
}
