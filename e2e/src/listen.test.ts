/** An address or a database that cannot be had ends the start with words that say what to do. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { freshDataFolder } from "./data_folder.ts";
import { startKeystead } from "./keystead_server.ts";

function refusesToStart(t: TestContext, port: number, env: Record<string, string>, message: RegExp): Promise<void> {
  return assert.rejects(startKeystead({ dataFolder: freshDataFolder(t), port, env }), (error: Error) => {
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /ready at/);
    return true;
  });
}

test("a port in use, and an address of another machine, are refused at the start", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as { port: number };
  await refusesToStart(t, port, {}, /port \d+ on 127\.0\.0\.1 is in use: stop what uses it, or set PORT/);
  await refusesToStart(t, 0, { KEYSTEAD_HOST: "192.0.2.1" }, /192\.0\.2\.1 is not an address of this machine/);
});

test("a database that does not answer is refused at the start, with what to check and without the password", async (t) => {
  for (const host of ["127.0.0.1", "localhost"]) {
    const env = { DATABASE_URL: `postgres://somebody:hunter2@${host}:1/keystead` };
    await refusesToStart(
      t,
      0,
      env,
      /^(?![\s\S]*hunter2)[\s\S]*ECONNREFUSED.*; check its host and port; is PostgreSQL running\?\n/,
    );
  }
});
