/** The door with nothing behind it: what it says by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createHttp, type HttpRoom } from "./http.ts";

test("what a header said is repeated in part only, however long it was", async (t) => {
  const metrics = { start: () => () => undefined, text: async () => "" };
  const app = createHttp({ metrics, log: () => undefined } as unknown as HttpRoom);
  t.after(() => app.close());
  const url = "/public/v1/query/whoami";
  const long = '"'.repeat(40_000);
  const { body } = await app.inject({ method: "POST", url, headers: { "content-encoding": long }, payload: "{}" });
  assert.equal(JSON.parse(body).message, `bad request body: content encoding \`${'"'.repeat(100)}\` is not accepted`);
});
