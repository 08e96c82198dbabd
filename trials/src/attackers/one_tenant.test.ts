/**
 * One organization asks for far more work than there is time for. Its own callers hear 429 or 503; nobody else notices, but for being
 * slower on a busy machine. How much slower is measured by `npm run bench -- --attack`; here nothing is about time.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { startAssault, type Tally, type Target } from "@keystead/e2e/attackers/attack.ts";
import { startAttacker } from "@keystead/e2e/attackers/attack_process.ts";
import { heldBytes } from "@keystead/e2e/attackers/held_bytes.ts";
import { newNeighbour } from "@keystead/e2e/attackers/neighbour.ts";
import { tenantFloods } from "@keystead/e2e/attackers/one_tenant.ts";
import { createUserTag, stampedBy } from "@keystead/e2e/attackers/prepared.ts";
import { dialects } from "@keystead/e2e/databases.ts";
import { keyFrom } from "@keystead/e2e/key_pairs.ts";
import { assertAccepted, bytesOf, call } from "@keystead/e2e/wire.ts";
import { startServer } from "@keystead/e2e/world.ts";
import { memoryBounds } from "@keystead/server/gateway/bounds/memory_bounds.ts";
import { patienceMs, testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull, samples } from "../../../core/test/samples.ts";

const floodMs = samples.tenantFloodMs;

/** A question and two activities, one after the other; each must succeed. */
async function errand({ url, organizationId, apiPrivateKey }: Target): Promise<void> {
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  const submit = async (path: string, parameters: object) => {
    const type = `ACTIVITY_TYPE_${path.toUpperCase()}`;
    const body = { type, timestampMs: String(Date.now()), organizationId, parameters };
    const answer = await call(url, `/public/v1/submit/${path}`, key, body);
    assertAccepted(answer);
    return answer.json.activity.result;
  };
  assertAccepted(await call(url, "/public/v1/query/whoami", key, { organizationId }));
  const made = await submit("create_user_tag", { userTagName: `${Math.random()}`, userIds: [] });
  await submit("delete_user_tags", { userTagIds: [made.createUserTagResult.userTagId] });
}

for (const dialect of isFull ? dialects : (["sqlite"] as const)) {
  for (const name of Object.keys(tenantFloods) as (keyof typeof tenantFloods)[]) {
    test(`nobody else fails (${name}, ${dialect})`, { timeout: testTimeoutMs }, async (t) => {
      const server = await startServer(t, dialect);
      if (server === undefined) return;
      const target: Target = { ...server.bootstrap, url: server.url };
      const neighbour = await newNeighbour(server);
      const attacker = await startAttacker(name, target);
      const { holds = 0 } = tenantFloods[name];
      /** However slow the machine is, all its connections were open, and some of what it asked was answered. */
      const isFlood = ({ mostOpen, answers }: Tally) => mostOpen >= holds && Object.keys(answers).length > 0;
      const [soon, until] = [Date.now() + floodMs, Date.now() + patienceMs];
      let errands = 0;
      for (; Date.now() < soon || (!isFlood(await attacker.look()) && Date.now() < until); errands++) {
        await Promise.all([errand(target), errand(neighbour)]);
      }
      const { tally } = await attacker.stop();
      t.diagnostic(`${errands} errands each; the flood was answered ${JSON.stringify(tally.answers)}`);
      for (const status of Object.keys(tally.answers)) assert.match(status, /^(200|429|503)$/);
      assert.ok(errands > 0 && isFlood(tally));
    });
  }
}

test("what waits while the signer stands still is bounded in bytes, and everybody is served once it goes on", {
  timeout: testTimeoutMs,
}, async (t) => {
  const server = await startServer(t, "sqlite");
  if (server === undefined) return;
  const target: Target = { ...server.bootstrap, url: server.url };
  const neighbour = await newNeighbour(server);
  await errand(target);
  const { signer = 0 } = await server.children();
  const requests = Array.from({ length: samples.standstillRequests }, (_, turn) => {
    const body = {
      type: "ACTIVITY_TYPE_CREATE_USER_TAG",
      timestampMs: String(Date.now() + turn),
      organizationId: target.organizationId,
      parameters: { userTagName: `${turn}`, userIds: [] },
      pad: "x".repeat(60_000),
    };
    return stampedBy(target, createUserTag, bytesOf(body));
  });
  const assault = startAssault(target);
  const most: Record<string, number> = {};
  process.kill(signer, "SIGSTOP");
  try {
    for (const request of requests) assault.open((socket) => socket.write(request));
    const isEnough = () => (most.waiting ?? 0) > 0 && (most.bodies ?? 0) > 5_000_000;
    const [soon, until] = [Date.now() + samples.standstillMs, Date.now() + patienceMs];
    for (; Date.now() < soon || (!isEnough() && Date.now() < until); await sleep(50)) {
      for (const [where, bytes] of Object.entries(await heldBytes(server))) {
        most[where] = Math.max(most[where] ?? 0, bytes);
      }
    }
    t.diagnostic(JSON.stringify({ most, answers: assault.tally.answers }));
    for (const [where, bound] of Object.entries(memoryBounds)) {
      const held = most[where];
      assert.ok(held !== undefined && held <= bound, `${where}: ${held} of ${bound} bytes`);
    }
    assert.ok(isEnough(), "too little came to show anything");
    for (const status of Object.keys(assault.tally.answers)) assert.match(status, /^(429|503)$/);
  } finally {
    process.kill(signer, "SIGCONT");
    assault.stop();
  }
  for (const until = Date.now() + patienceMs; ; ) {
    const done = await errand(neighbour).then(
      () => true,
      () => false,
    );
    if (done) break;
    assert.ok(Date.now() < until, "nobody is served any more");
    await sleep(200);
  }
});
