/**
 * Valid requests of every endpoint, bent at random. A judge of its own decides from the bytes alone who may be let in; the server must
 * come to the same in both directions, what is let in must do what its bytes say, and nothing may be our mistake.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isFull, samples } from "../../core/test/samples.ts";
import { dialects } from "./databases.ts";
import { assertNotReplaced, ownFault } from "./keystead_server.ts";
import { createStages, type Stage } from "./matrix/stage.ts";
import { mutators } from "./mutants/mutators.ts";
import { createRawClient } from "./mutants/raw_client.ts";
import { type Case, newCounts, runCase } from "./mutants/run.ts";
import { endpoints } from "./mutants/seeds.ts";
import { trickleHeaders } from "./requests_http.ts";
import { send } from "./wire.ts";
import { startFurnished } from "./world.ts";

/** Requests of other bytes than a valid one's in front of each database; valid ones, and those only handed over otherwise, are besides. */
const wanted = samples.mutants;
const rounds = samples.mutantRounds;
/** Of each endpoint in a round. */
const mutants = Math.ceil(wanted / rounds / endpoints.length);
const workers = 6;

/** Everything that mutants make in one organization stays within them. */
const limits = {
  userTagsPerSubOrganization: 1_000,
  privateKeyTagsPerOrganization: 1_000,
  privateKeyTagsPerSubOrganization: 1_000,
};

for (const dialect of dialects) {
  test(`mutated requests are let in exactly when their bytes verify, on ${dialect}`, async (t) => {
    const env = { KEYSTEAD_LIMITS: JSON.stringify(limits) };
    const started = await startFurnished(
      t,
      dialect,
      async (furnisher) => {
        const newStage = createStages(furnisher);
        const stages: Stage[] = [];
        for (let i = 0; i < rounds * endpoints.length; i++) stages.push(await newStage());
        return stages;
      },
      env,
    );
    if (started === undefined) return;
    const { server, furniture: stages } = started;
    const processes = await server.children();
    // It waits for 15 s without work: meanwhile the rest runs.
    const trickle = dialect === "sqlite" ? trickleHeaders(server.url) : undefined;

    // Three hundred mutators meet in more ways than a sample can try: it is the same each time, so that what breaks it is a change.
    const seed = Number(process.env.KEYSTEAD_SEED ?? (isFull ? Math.floor(Math.random() * 2 ** 31) : 20_260_101));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const counts = newCounts();
    const cases = stages.map((stage, index): Case => {
      const endpoint = endpoints[index % endpoints.length];
      assert.ok(endpoint);
      const at = (index + Math.floor(index / endpoints.length)) % 2 === 0 ? "parent" : "sub";
      return { endpoint, stage, at, seed: seed + index, bent: mutants };
    });
    const failures: string[] = [];
    const work = async (): Promise<void> => {
      const client = createRawClient(server.url);
      for (let next = cases.shift(); next !== undefined && failures.length < 10; next = cases.shift()) {
        await runCase(server.url, client, next, counts).catch((error) => failures.push(String(error)));
      }
      client.close();
    };
    await Promise.all(Array.from({ length: workers }, work));
    assert.deepEqual(failures, []);

    const { sent, bent, handed, letIn, refused, unheard, activities, byMutator } = counts;
    t.diagnostic(
      `${bent} mutants of ${endpoints.length} endpoints by ${mutators.length} mutators, ${handed} valid ones in pieces or by senders who left, ` +
        `and ${sent - bent - handed} plain ones: ${letIn} let in, all of them with stamps that verify; ${refused} refused; ${unheard} whose sender left; ${activities} activities, all explained`,
    );
    assert.equal(bent, rounds * endpoints.length * mutants);
    assert.ok(bent >= wanted);
    assert.ok(letIn > sent / 8 && refused > sent / 4, JSON.stringify({ letIn, refused }));
    const idle = mutators.filter(({ name }) => !byMutator.has(name)).map(({ name }) => name);
    if (isFull) assert.deepEqual(idle, [], "mutators that never found anything to change");

    await assertNotReplaced(server, processes);
    assert.equal((await send(server.url, { method: "GET", path: "/readyz" })).status, 200);
    assert.doesNotMatch(server.output(), ownFault);

    if (trickle === undefined) return;
    await t.test("a sender that trickles its headers is cut off", async () => {
      const { answer } = await trickle;
      assert.match(answer, /^HTTP\/1.1 408 Request Timeout\r\ncontent-type: application\/json\r\n/);
    });
  });
}
