/**
 * Attackers at a real server: refused with the right words, while honest requests succeed; and when they are gone, so is everything
 * they held. How much honest clients notice is measured by `npm run bench -- --attack`; here nothing is about time.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { keyFrom } from "../fixtures.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { assertAccepted, call, send } from "../wire.ts";
import { dialects, startServer } from "../world.ts";
import type { Attack, Tally, Target } from "./attack.ts";
import { startAttacker } from "./attack_process.ts";
import { type AttackName, attackNames, attacks } from "./attacks.ts";
import { slowAttacks } from "./slow.ts";

const full = process.env.KEYSTEAD_FIGURES === "1";
/** The door is the same in front of both databases; a sample tries it in front of one. */
const tried = full ? dialects : (["sqlite"] as const);
const attackMs = full ? 10_000 : 1_500;
/** The server gives a slow sender 20 s, and looks every 5. */
const slowMs = 27_000;
const slowNames = Object.keys(slowAttacks) as AttackName[];

const others = attackNames.filter((name) => !slowNames.includes(name));
/** A sample tries several at once. */
const atOnce = full ? 1 : 4;
const groups = others.flatMap((_, at) => (at % atOnce === 0 ? [others.slice(at, at + atOnce)] : []));

/** Gateway and signer together, at any time: twice what they take under honest load, and the bodies that are held together. */
const mostMb = 800;
/** An attack goes on until it has been answered so often and has held what it says, however slow the machine is. */
const fewAnswers = 5;
/** For whatever must come to be, on a machine that is busy with other tests. */
const patienceMs = 300_000;

for (const dialect of tried) {
  const title = `attackers are refused, honest requests succeed, and nothing stays, on ${dialect}`;
  const skip = process.platform !== "linux" && "needs /proc";
  test(title, { skip, timeout: 3_600_000 }, async (t) => {
    const server = await startServer(t, dialect);
    if (server === undefined) return;
    const target: Target = { ...server.bootstrap, url: server.url };
    const processes = await server.children();
    const before = await stateOf(server);

    async function attack(names: readonly AttackName[], ms: number): Promise<void> {
      const honest = startHonest(server as KeysteadServer);
      const going = await Promise.all(names.map(async (name) => ({ name, ...(await startAttacker(name, target)) })));
      await sleep(ms);
      for (const { name, look } of going) {
        await cameTrue(async () => isUnderWay(attacks[name], await look()));
      }
      const { pssMb } = await stateOf(server as KeysteadServer);
      const ended = await Promise.all(going.map(async ({ name, stop }) => ({ name, tally: (await stop()).tally })));
      const answered = await honest.stop();
      for (const { name, tally } of ended) {
        const { answers, connections, mostOpen, silent, slowestMs } = tally;
        t.diagnostic(
          `${name}: ${JSON.stringify(answers)} on ${connections} connections, up to ${mostOpen} at once, ${silent} silent; ` +
            `the slowest first answer after ${Math.round(slowestMs)} ms; ${pssMb} MB`,
        );
        assertRefused(name, tally, attacks[name]);
      }
      assert.ok(answered > 0, "nobody honest was served");
      assert.ok(pssMb < mostMb, `${pssMb} MB`);
      const isQuiet = async () => (await stateOf(server as KeysteadServer)).sockets <= before.sockets + 20;
      assert.ok(await cameTrue(isQuiet), "connections stay");
    }

    await t.test("all who are slow, at once", () => attack(slowNames, slowMs));
    for (const names of groups) await t.test(names.join(", "), () => attack(names, attackMs));
    assert.deepEqual(await server.children(), processes, "a process was replaced");
    assert.equal((await send(server.url, { method: "GET", path: "/readyz" })).status, 200);
    assert.doesNotMatch(server.output(), /internal/);
  });
}

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
function startHonest({ url, bootstrap }: KeysteadServer): { stop(): Promise<number> } {
  const { organizationId } = bootstrap;
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey));
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

/** Memory of gateway and signer, and the gateway's open sockets, as Linux counts them. */
async function stateOf(server: KeysteadServer): Promise<{ pssMb: number; sockets: number }> {
  const { gateway = 0, signer = 0 } = await server.children();
  const pss = (pid: number) =>
    Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]);
  const sockets = readdirSync(`/proc/${gateway}/fd`).filter((name) => isSocket(`/proc/${gateway}/fd/${name}`));
  return { pssMb: Math.round((pss(gateway) + pss(signer)) / 1024), sockets: sockets.length };
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch {
    return false; // Closed while we looked.
  }
}
