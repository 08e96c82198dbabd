import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { makeStatement } from "@keystead/core/oidc/issuer_statement.ts";
import type { CourierReply, IssuerReply, IssuerRequest } from "../../frames/courier_messages.ts";
import { createHourlyBudget, siteKey } from "../proxy/address_budgets.ts";
import { createIssuerStatements, type IssuerStatementsDependencies } from "./issuer_statements.ts";

const minuteMs = 60_000;
const issuer = "https://accounts.example.com";
const mac = (content: Uint8Array) => new Uint8Array(createHmac("sha256", "key").update(content).digest());

/** A courier that answers as the test says; by default with keys of this moment. */
function start(deadlineMs?: number, registered: readonly string[] = [], perCaller = 1_000) {
  const clock = { nowMs: 1_800_000_000_000 };
  const asked: IssuerRequest[] = [];
  const state = { isJoined: true, needs: 0, joined: Promise.withResolvers<void>() };
  const say = (name = issuer): IssuerReply => {
    const statement = makeStatement(mac, { issuer: name, keys: '{"keys":[]}', fetchedAtMs: clock.nowMs });
    return { kind: "statement", value: { statement, wasNew: true } };
  };
  let behaviour = async (request: IssuerRequest): Promise<IssuerReply | undefined> => say(request.issuer);
  const courier = {
    isJoined: () => state.isJoined,
    whenJoined: () => state.joined.promise,
    request: async (_: string, request: IssuerRequest) => {
      asked.push(request);
      return behaviour(request);
    },
  };
  const statements = createIssuerStatements({
    courier: courier as unknown as IssuerStatementsDependencies["courier"],
    needCourier: () => void state.needs++,
    isRegisteredIssuer: async (name) => registered.includes(name),
    budget: createHourlyBudget(perCaller, () => clock.nowMs, siteKey),
    now: () => clock.nowMs,
    ...(deadlineMs !== undefined && { deadlineMs }),
  });
  const behave = (next: typeof behaviour) => {
    behaviour = next;
  };
  return { ...statements, clock, asked, state, behave, say };
}

const failed = (error: "unusable" | "busy", reason: string): CourierReply<"issuer"> => ({
  kind: "failed",
  value: { error, reason, wasNew: false },
});

test("a statement at hand serves for half an hour; then a newer one is asked for", async () => {
  const { statementOf, clock, asked } = start();
  const first = await statementOf(issuer, 0);
  assert.deepEqual([first.issuer, first.keys, first.fetchedAtMs], [issuer, '{"keys":[]}', clock.nowMs]);
  clock.nowMs += 30 * minuteMs - 1;
  assert.equal(await statementOf(issuer, 0), first);
  clock.nowMs += 1;
  assert.equal((await statementOf(issuer, 0)).fetchedAtMs, clock.nowMs);
  assert.equal(asked.length, 2);
});

test("one that is not newer than asked for does not serve", async () => {
  const { statementOf, clock, asked, behave } = start();
  const { fetchedAtMs } = await statementOf(issuer, 0);
  clock.nowMs += 1;
  assert.equal((await statementOf(issuer, fetchedAtMs)).fetchedAtMs, clock.nowMs);
  assert.deepEqual(asked[1], { issuer, newerThanMs: fetchedAtMs, isRegistered: false });
  behave(async () => failed("unusable", `issuer \`${issuer}\` cannot be used: fetched a moment ago`));
  await assert.rejects(statementOf(issuer, clock.nowMs), { code: "invalid_argument", message: /^issuer `https:/ });
});

test("many that wait for one issuer wait for one fetch, and share its failure", async () => {
  const { statementOf, asked, behave, say } = start();
  const gate = Promise.withResolvers<IssuerReply>();
  behave(() => gate.promise);
  const waiting = Array.from({ length: 100 }, () => statementOf(issuer, 0));
  gate.resolve(say());
  assert.equal(new Set(await Promise.all(waiting)).size, 1);
  assert.equal(asked.length, 1);
  behave(async () => failed("unusable", "issuer `https://b.example` cannot be used: it is away"));
  const results = await Promise.allSettled(Array.from({ length: 10 }, () => statementOf("https://b.example", 0)));
  assert.ok(results.every(({ status }) => status === "rejected"));
  assert.equal(asked.length, 2);
});

test("who joins a fetch that brings too little has one of its own", async () => {
  const { statementOf, clock, asked, behave, say } = start();
  const gate = Promise.withResolvers<void>();
  behave(async () => {
    if (asked.length === 1) await gate.promise;
    return say();
  });
  const first = statementOf(issuer, 0);
  const second = statementOf(issuer, clock.nowMs);
  gate.resolve();
  await first;
  clock.nowMs += 1;
  // The first answer was made at the old time; the second is made now.
  const { fetchedAtMs } = await second;
  assert.ok(fetchedAtMs >= clock.nowMs - 1);
  assert.deepEqual(
    asked.map(({ newerThanMs }) => newerThanMs > 0),
    [false, true],
  );
});

test("while there is no other, one of less than an hour serves; then the failure is told", async () => {
  const { statementOf, clock, behave } = start();
  const first = await statementOf(issuer, 0);
  behave(async () => failed("unusable", `issuer \`${issuer}\` cannot be used: it is away`));
  clock.nowMs += 55 * minuteMs - 1;
  assert.equal(await statementOf(issuer, 0), first);
  clock.nowMs += 1;
  await assert.rejects(statementOf(issuer, 0), { code: "invalid_argument", message: /it is away$/ });
});

test("a courier is started when one is needed, and a request that it did not answer is sent to the next", async () => {
  const { statementOf, state, asked, behave, say } = start();
  state.isJoined = false;
  const waiting = statementOf(issuer, 0);
  await new Promise(setImmediate);
  assert.deepEqual([state.needs, asked.length], [1, 0]);
  behave(async () => {
    if (asked.length > 1) return say();
    state.isJoined = false;
    state.joined = Promise.withResolvers();
    setImmediate(() => {
      state.isJoined = true;
      state.joined.resolve();
    });
    return undefined;
  });
  state.isJoined = true;
  state.joined.resolve();
  assert.equal((await waiting).issuer, issuer);
  assert.deepEqual([state.needs, asked.length], [2, 2]);
});

test("a courier that never comes, or is silent, is told as such and not as the issuer's fault", async () => {
  const { statementOf, state, behave } = start(50);
  state.isJoined = false;
  await assert.rejects(statementOf(issuer, 0), { code: "unavailable" });
  state.isJoined = true;
  behave(async () => new Promise((resolve) => setTimeout(resolve, 60, undefined)));
  await assert.rejects(statementOf(issuer, 0), {
    code: "unavailable",
    message: "the courier does not answer; try again",
  });
});

test("a courier that is asked too much says so by its own code", async () => {
  const { statementOf, behave } = start();
  behave(async () => failed("busy", "too many new issuers were named; try again later"));
  await assert.rejects(statementOf(issuer, 0), { code: "resource_exhausted" });
});

test("so many issuers are asked at once", async () => {
  const { statementOf, behave, say } = start();
  const gate = Promise.withResolvers<void>();
  behave(async (request) => {
    await gate.promise;
    return say(request.issuer);
  });
  const waiting = Array.from({ length: 256 }, (_, place) => statementOf(`https://i${place}.example`, 0));
  await assert.rejects(statementOf("https://more.example", 0), { code: "resource_exhausted" });
  gate.resolve();
  assert.equal((await Promise.all(waiting)).length, 256);
});

test("a statement of another issuer is nobody's", async () => {
  const { statementOf, behave, say } = start();
  behave(async () => say("https://other.example"));
  await assert.rejects(statementOf(issuer, 0), { code: "internal" });
});

const home = "203.0.113.7";
const spent = { code: "resource_exhausted", errorCode: "RATE_LIMIT_EXCEEDED" };
const nameOf = (n: number) => `https://issuer${n}.example`;

test("new issuers count for the caller's site alone", async () => {
  const { statementOf, clock } = start(undefined, [], 2);
  for (const n of [1, 2]) await statementOf(nameOf(n), 0, home);
  await assert.rejects(statementOf(nameOf(3), 0, home), spent);
  await statementOf(nameOf(1), 0, home);
  await statementOf(nameOf(3), 0, "203.0.113.8");
  await statementOf(nameOf(3), 0, home);
  for (const n of [4, 5]) await statementOf(nameOf(n), 0, `2001:db8:1:${n}::1`);
  await assert.rejects(statementOf(nameOf(6), 0, "2001:db8:1:6::1"), spent);
  clock.nowMs += 60 * minuteMs;
  await statementOf(nameOf(7), 0, home);
});

test("what the courier did not have to ask costs its caller nothing: private addresses, issuers that have worked", async () => {
  const { statementOf, behave, say, state } = start(30, [], 1);
  behave(async () => failed("unusable", "10.0.0.1 has no public address"));
  const inside = Array.from({ length: 101 }, (_, n) => `https://10.0.0.${n}`);
  for (const name of inside) await assert.rejects(statementOf(name, 0, home), { code: "invalid_argument" });
  behave(async ({ issuer: name }) => {
    const { kind, value } = say(name);
    return { kind, value: { ...value, wasNew: false } } as IssuerReply;
  });
  for (const n of [1, 2, 3]) await statementOf(nameOf(n), 0, home);
  state.isJoined = false;
  await assert.rejects(statementOf(nameOf(4), 0, home), { code: "unavailable" });
  state.isJoined = true;
  behave(async ({ issuer: name }) => say(name));
  await statementOf(nameOf(5), 0, home);
  await assert.rejects(statementOf(nameOf(6), 0, home), spent);
});

test("an issuer where somebody is registered waits for no budget, and the courier is told so", async () => {
  const { statementOf, asked } = start(undefined, [issuer], 0);
  await assert.rejects(statementOf(nameOf(1), 0, home), spent);
  assert.equal((await statementOf(issuer, 0, home)).issuer, issuer);
  assert.deepEqual(asked, [{ issuer, newerThanMs: 0, isRegistered: true }]);
});

test("many at once do not pass together, and a caller who waits for another's fetch does not pay for it", async () => {
  const { statementOf, behave, say } = start(undefined, [], 1);
  const gate = Promise.withResolvers<void>();
  behave(async ({ issuer: name }) => {
    await gate.promise;
    return say(name);
  });
  const own = statementOf(nameOf(1), 0, home);
  const refused = assert.rejects(statementOf(nameOf(2), 0, home), spent);
  const others = [1, 1, 1].map((n) => statementOf(nameOf(n), 0, "203.0.113.8"));
  await refused;
  gate.resolve();
  await Promise.all([own, ...others]);
  await statementOf(nameOf(3), 0, "203.0.113.8");
});
