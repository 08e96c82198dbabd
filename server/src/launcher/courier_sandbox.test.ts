import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { keysteadCode } from "./code.ts";
import { environmentOf } from "./environment.ts";
import { nodeArguments } from "./permissions.ts";
import { processes } from "./processes.ts";

const entry = fileURLToPath(new URL("courier_sandbox.test_entry.ts", import.meta.url));

test("the courier connects and writes its folder; it reads no key, no database, no other setting, listens nowhere and starts nothing", async (t) => {
  const top = mkdtempSync(join(tmpdir(), "keystead-sandbox-"));
  t.after(() => rmSync(top, { recursive: true, force: true }));
  const own = join(top, "outbox");
  const files = { "outside/secret": "s", "root.key": "k", "database/keystead.db": "d", "signer/memory": "m" };
  mkdirSync(own);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(top, name, ".."), { recursive: true });
    writeFileSync(join(top, name), text);
  }
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const victim = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  t.after(() => {
    server.close();
    victim.kill("SIGKILL");
  });

  const flags = nodeArguments(processes.courier, { ...keysteadCode().courier, entry }, own);
  const { port } = server.address() as AddressInfo;
  const env = environmentOf(processes.courier, {
    SMTP_URL: "smtp://mail",
    DATABASE_URL: "postgres://u:p@h/d",
    KEYSTEAD_PASSPHRASE_FILE: "/passphrase",
    NODE_OPTIONS: "--allow-fs-read=*",
    PATH: "/bin",
  });
  const probe = spawn(process.execPath, [...flags, own, join(top, "outside"), String(port), String(victim.pid)], {
    cwd: own,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said: Buffer[] = [];
  const cried: Buffer[] = [];
  probe.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  probe.stderr.on("data", (chunk: Buffer) => cried.push(chunk));
  await once(probe, "close");
  assert.notEqual(said.length, 0, Buffer.concat(cried).toString());
  const { results, env: names } = JSON.parse(Buffer.concat(said).toString()) as {
    results: Record<string, string>;
    env: string[];
  };
  assert.equal(Object.keys(results).length, 66, "the probe walked its whole table");
  assert.deepEqual(
    Object.keys(results).filter((name) => results[name] === "allowed"),
    [
      ...["own folder: write", "own folder: rename", "own folder: read"],
      ...["network: connect", "network: connect by name", "network: look up"],
    ],
  );
  const odd = Object.entries(results).filter(
    ([name, result]) =>
      result !== "allowed" && !refusals.test(result) && !(isOfHandles(name) && result === "refused EACCES"),
  );
  assert.deepEqual(odd, [], "every refusal is one that we know");
  assert.deepEqual(names, ["SMTP_URL"]);
  assert.deepEqual(readdirSync(own), ["message.json"]);
  assert.equal(readFileSync(join(top, "outside", "secret"), "utf8"), "s");
  assert.deepEqual(readdirSync(join(top, "outside")), ["secret"]);
});

const refusals =
  /^refused (ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED|ERR_UNKNOWN_BUILTIN_MODULE|EvalError|TypeError|ERR_INSPECTOR_NOT_AVAILABLE)$/;

/** The calls of Node's handles answer with a number of the operating system. */
const isOfHandles = (name: string) => /^(listen|bind|datagrams): /.test(name);
