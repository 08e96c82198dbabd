/**
 * Attackers at a real server: refused with the right words and before much of them is read, while honest requests succeed and what
 * waits in the gateway stays within its bounds; and when they are gone, so is everything they held. How fast that is, and how much
 * honest clients notice, is measured by `npm run bench -- --attack`; here nothing is about time.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import type { Attack, Tally, Target } from "@keystead/e2e/attackers/attack.ts";
import { type Attacker, startAttacker } from "@keystead/e2e/attackers/attack_process.ts";
import { type AttackName, attackNames, attacks } from "@keystead/e2e/attackers/attacks.ts";
import { heldBytes } from "@keystead/e2e/attackers/held_bytes.ts";
import { newNeighbour } from "@keystead/e2e/attackers/neighbour.ts";
import { slowAttacks } from "@keystead/e2e/attackers/slow.ts";
import { dialects } from "@keystead/e2e/databases.ts";
import { keyFrom } from "@keystead/e2e/key_pairs.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { assertNotReplaced, ownFault } from "@keystead/e2e/keystead_server.ts";
import { assertAccepted, call, send } from "@keystead/e2e/wire.ts";
import { startServer } from "@keystead/e2e/world.ts";
import { memoryBounds } from "@keystead/server/gateway/bounds/memory_bounds.ts";
import { patienceMs, testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull, samples } from "../../../core/test/samples.ts";

/** HTTP is the same in front of both databases; a sample tries one. */
const tried = isFull ? dialects : (["sqlite"] as const);
const attackMs = samples.attackMs;
const warmUpMs = samples.attackWarmUpMs;
const slowMs = samples.slowAttackMs;
const slowNames = Object.keys(slowAttacks) as AttackName[];

/** A sample tries several at once; those whose bytes are counted are among themselves. */
const atOnce = samples.attacksAtOnce;
const isCounted = (name: AttackName) => (attacks[name] as Attack).takenIn !== undefined;
const others = attackNames.filter((name) => !slowNames.includes(name));
const groups = [others.filter(isCounted), others.filter((name) => !isCounted(name))].flatMap(inGroups);

/** What the gateway reads besides: its database, its signer and honest requests. */
const othersRead = 32 * 1024 * 1024;
/** An attack goes on until it has been answered so often and has held what it says, however slow the machine is. */
const fewAnswers = 5;

for (const dialect of tried) {
  const title = `attackers are refused, honest requests succeed, and nothing stays, on ${dialect}`;
  const skip = process.platform !== "linux" && "needs /proc";
  test(title, { skip, timeout: testTimeoutMs }, async (t) => {
    const server = await startServer(t, dialect);
    if (server === undefined) return;
    const target: Target = { ...server.bootstrap, url: server.url };
    const neighbour = await newNeighbour(server);
    const processes = await server.children();
    await warmUp([target, neighbour]);
    const before = await stateOf(server);

    async function attack(names: readonly AttackName[], ms: number): Promise<void> {
      const hurtsItsMember = names.some((name) => (attacks[name] as Attack).hurtsItsMember);
      const honest = [neighbour, ...(hurtsItsMember ? [] : [target])].map(startHonest);
      const watch = watchMemory(server as KeysteadServer);
      const going: Going[] = [];
      try {
        await judge(names, ms, { honest, watch, going });
      } finally {
        // Where one group fails, its attackers must not go on beside the next.
        for (const { kill } of going) kill();
        await Promise.allSettled([...honest, watch].map(({ stop }) => stop()));
      }
    }

    async function judge(
      names: readonly AttackName[],
      ms: number,
      { honest, watch, going }: UnderAttack,
    ): Promise<void> {
      const begun = await stateOf(server as KeysteadServer);
      await Promise.all(names.map(async (name) => going.push({ name, ...(await startAttacker(name, target)) })));
      await sleep(ms);
      for (const { name, look } of going) {
        await cameTrue(async () => isUnderWay(attacks[name], await look()));
      }
      const { readBytes } = await stateOf(server as KeysteadServer);
      const ended = await Promise.all(going.map(async ({ name, stop }) => ({ name, tally: (await stop()).tally })));
      const { pssMb, held } = await watch.stop();
      const growthMb = pssMb - before.pssMb;
      const answered = await Promise.all(honest.map(({ stop }) => stop()));
      const takenIn = readBytes - begun.readBytes;
      for (const { name, tally } of ended) {
        const { answers, connections, mostOpen, silent, answeredMs } = tally;
        t.diagnostic(
          `${name}: ${JSON.stringify(answers)} on ${connections} connections, up to ${mostOpen} at once, ${silent} silent; ` +
            `the slowest first answer after ${Math.round(Math.max(0, ...answeredMs))} ms`,
        );
        assertRefused(name, tally, attacks[name]);
      }
      t.diagnostic(`${megabytes(takenIn)} MB taken in, ${growthMb} MB more than the ${before.pssMb} MB of honest load`);
      assert.ok(
        answered.every((count) => count > 0),
        "somebody honest was not served",
      );
      const mayTakeIn = ended.reduce((sum, { name, tally }) => sum + tally.connections * takenInBy(attacks[name]), 0);
      assert.ok(
        takenIn <= mayTakeIn + othersRead,
        `${megabytes(takenIn)} MB were read before all were refused, of at most ${megabytes(mayTakeIn)}`,
      );
      // A bound whose metric nobody writes any more would hold for ever.
      assert.deepEqual(Object.keys(held).sort(), Object.keys(memoryBounds).sort());
      for (const [where, bound] of Object.entries(memoryBounds)) {
        assert.ok((held[where] ?? bound + 1) <= bound, `${where}: ${held[where]} bytes were held, of at most ${bound}`);
      }
      const isQuiet = async () => (await stateOf(server as KeysteadServer)).sockets <= before.sockets + 20;
      assert.ok(await cameTrue(isQuiet), "connections stay");
    }

    // Those who hold most come last: what a process was given once it does not always give back, and that would hide the others.
    for (const names of groups) await t.test(names.join(", "), () => attack(names, attackMs));
    await t.test("all who are slow, at once", () => attack(slowNames, slowMs));
    await assertNotReplaced(server, processes);
    const isReady = async () => (await send(server.url, { method: "GET", path: "/readyz" })).status === 200;
    assert.ok(await cameTrue(isReady), "it is not ready again");
    assert.doesNotMatch(server.output(), ownFault);
  });
}

type Going = { name: AttackName } & Attacker;
type UnderAttack = { honest: { stop(): Promise<number> }[]; watch: { stop(): Promise<Most> }; going: Going[] };

function inGroups(names: readonly AttackName[]): AttackName[][] {
  return names.flatMap((_, at) => (at % atOnce === 0 ? [names.slice(at, at + atOnce)] : []));
}

/** As much as it sends, unless it says otherwise. */
function takenInBy({ takenIn = Number.POSITIVE_INFINITY }: Attack): number {
  return takenIn;
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** Looks until it is so, or patience is over. */
async function cameTrue(isSo: () => Promise<boolean>): Promise<boolean> {
  for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(200)) if (await isSo()) return true;
  return false;
}

/** It has been answered a few times, if it ever is, and has held as many connections as it says. */
function isUnderWay({ answers, holds = 0 }: Attack, tally: Tally): boolean {
  return (answers.length === 0 || answersIn(tally) >= fewAnswers) && tally.mostOpen >= holds;
}

function answersIn({ answers }: Tally): number {
  return Object.values(answers).reduce((sum, count) => sum + count, 0);
}

function assertRefused(name: AttackName, tally: Tally, attack: Attack): void {
  const { answers, connections, mostOpen, silent } = tally;
  const said = `${name}: ${JSON.stringify(answers)}, ${silent} of ${connections} without a word`;
  for (const status of Object.keys(answers)) assert.ok(attack.answers.includes(Number(status)), said);
  assert.ok(connections > 0, said);
  assert.ok(isUnderWay(attack, tally), `${said}; no more than ${mostOpen} were open at once`);
  // Whoever is cut off in the middle of sending may fail to send before it has read why.
  if (attack.silence === undefined) assert.ok(silent <= connections / 5, said);
}

/** Questions and activities one after the other, each of which must succeed. */
function startHonest({ url, organizationId, apiPrivateKey }: Target): { stop(): Promise<number> } {
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  let isOver = false;
  const submit = async (name: string, parameters: object) => {
    const type = `ACTIVITY_TYPE_${name.toUpperCase()}`;
    const body = { type, timestampMs: String(Date.now()), organizationId, parameters };
    const answer = await call(url, `/public/v1/submit/${name}`, key, body);
    assertAccepted(answer);
    return answer.json.activity.result;
  };
  const work = (async () => {
    let answered = 0;
    while (!isOver) {
      assertAccepted(await call(url, "/public/v1/query/whoami", key, { organizationId }));
      const { createUserTagResult } = await submit("create_user_tag", {
        userTagName: `honest ${answered}`,
        userIds: [],
      });
      await submit("delete_user_tags", { userTagIds: [createUserTagResult.userTagId] });
      answered += 3;
      await sleep(20);
    }
    return answered;
  })();
  return {
    stop() {
      isOver = true;
      return work;
    },
  };
}

/** What an honest server takes once it has worked for a while: compiled code and caches are nobody's attack. */
async function warmUp(people: readonly Target[]): Promise<void> {
  const honest = people.map(startHonest);
  await sleep(warmUpMs);
  for (const { stop } of honest) await stop();
}

type State = {
  /** Of gateway and signer. */
  pssMb: number;
  /** The gateway's, that are open. */
  sockets: number;
  /** All that the gateway has read from sockets and files. */
  readBytes: number;
};

/** As Linux counts it. */
async function stateOf(server: KeysteadServer): Promise<State> {
  const { gateway = 0, signer = 0 } = await server.children();
  const pss = (pid: number) => count(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB$/m);
  const sockets = readdirSync(`/proc/${gateway}/fd`).filter((name) => isSocket(`/proc/${gateway}/fd/${name}`));
  return {
    pssMb: Math.round((pss(gateway) + pss(signer)) / 1024),
    sockets: sockets.length,
    readBytes: count(`/proc/${gateway}/io`, /^rchar: (\d+)$/m),
  };
}

function count(path: string, pattern: RegExp): number {
  return Number(pattern.exec(readFileSync(path, "utf8"))?.[1]);
}

type Most = {
  /** What gateway and signer took of the machine's memory: told, not judged, because it depends on when the collector comes. */
  pssMb: number;
  /** What the gateway says it holds, by where: bounded, however slow the machine is. */
  held: Record<string, number>;
};

/** The most of each at once. */
function watchMemory(server: KeysteadServer): { stop(): Promise<Most> } {
  const most: Most = { pssMb: 0, held: {} };
  let isOver = false;
  const watching = (async () => {
    const look = async () => {
      most.pssMb = Math.max(most.pssMb, (await stateOf(server)).pssMb);
      for (const [where, bytes] of Object.entries(await heldBytes(server))) {
        most.held[where] = Math.max(most.held[where] ?? 0, bytes);
      }
    };
    while (!isOver) {
      // Under attack it may not be answered; once the attackers are gone it must be.
      await look().catch(() => undefined);
      await sleep(200);
    }
    await cameTrue(async () => {
      await look().catch(() => undefined);
      return Object.keys(most.held).length > 0;
    });
    return most;
  })();
  return {
    stop() {
      isOver = true;
      return watching;
    },
  };
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch {
    return false; // Closed while we looked.
  }
}
