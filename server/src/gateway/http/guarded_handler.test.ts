/** Which refusals leave one by one, through the HTTP server. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import fastify from "fastify";
import { BudgetSpent } from "../bounds/budget_spent.ts";
import { Overloaded } from "../bounds/overloaded.ts";
import { createBodies } from "./bodies.ts";
import { createConnections } from "./connections.ts";
import { guardedHandler } from "./guarded_handler.ts";
import { bodyLimits, connectionLimits } from "./http_limits.ts";

/** A server that refuses everything with this error; and of refusals that waited for their turn to leave, their bodies' bytes or number. */
async function refusing(t: TestContext, error: Error) {
  const paced = { refusals: [] as number[], overloads: 0, letGo: 0 };
  const connections = {
    ...createConnections(connectionLimits),
    async paceRefusal(_socket: unknown, bodyBytes: number) {
      paced.refusals.push(bodyBytes);
    },
    async paceOverload() {
      paced.overloads += 1;
    },
  };
  const letGo = () => {
    paced.letGo += 1;
  };
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  t.after(() => app.close());
  const guards = {
    connections,
    bodies: { ...createBodies(bodyLimits), letGo },
    metrics: { start: () => () => undefined, text: async () => "" },
    faultLog: { internal: () => undefined, outage: () => undefined },
    trustedProxies: [],
  };
  const handle = () => Promise.reject(error);
  const route = { method: "POST", path: "/route", limits: { bodyBytes: 64 * 1024 }, handle } as const;
  app.post("/route", guardedHandler(guards, route));
  const ask = (bytes: number) => app.inject({ method: "POST", url: "/route", payload: "x".repeat(bytes) });
  return { paced, ask };
}

for (const error of [new BudgetSpent(), new Fault("unauthenticated", "no")]) {
  test(`refusals that are cheap to provoke leave one by one, however large the request: ${error.message}`, async (t) => {
    const { paced, ask } = await refusing(t, error);
    assert.ok((await ask(64 * 1024)).statusCode >= 400);
    assert.ok((await ask(1)).statusCode >= 400);
    assert.deepEqual(paced, { refusals: [64 * 1024, 1], overloads: 0, letGo: 2 });
  });
}

test("refusals because too much waits leave slowly, and others with the same status at once", async (t) => {
  const overloaded = await refusing(t, new Overloaded("requests at once"));
  assert.equal((await overloaded.ask(16 * 1024)).statusCode, 429);
  assert.deepEqual(overloaded.paced, { refusals: [], overloads: 1, letGo: 0 });
  const limited = await refusing(t, new Fault("resource_exhausted", "no"));
  assert.equal((await limited.ask(1)).statusCode, 429);
  assert.deepEqual(limited.paced, { refusals: [], overloads: 0, letGo: 0 });
});
