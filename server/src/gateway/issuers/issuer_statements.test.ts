import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { makeStatement } from "@keystead/core/oidc/issuer_statement.ts";
import type { CourierReply, IssuerReply, IssuerRequest } from "../../frames/courier_messages.ts";
import { createIssuerStatements, type IssuerStatementsDependencies } from "./issuer_statements.ts";

const minuteMs = 60_000;
const issuer = "https://accounts.example.com";
const mac = (content: Uint8Array) => new Uint8Array(createHmac("sha256", "key").update(content).digest());

/** A courier that answers as the test says; by default with keys of this moment. */
function start(deadlineMs?: number) {
  const clock = { nowMs: 1_800_000_000_000 };
  const asked: IssuerRequest[] = [];
  const state = { isJoined: true, needs: 0, joined: Promise.withResolvers<void>() };
  const say = (name = issuer): IssuerReply => {
    const statement = makeStatement(mac, { issuer: name, keys: '{"keys":[]}', fetchedAtMs: clock.nowMs });
    return { kind: "statement", value: { statement } };
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
  value: { error, reason },
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
  assert.deepEqual(asked[1], { issuer, newerThanMs: fetchedAtMs });
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
