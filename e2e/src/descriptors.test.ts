/** Gateway, signer and courier hold the descriptors they were given or opened themselves, whatever the launcher's parent left open. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { patienceMs, testTimeoutMs } from "../../core/test/patience.ts";
import { freshDataFolder } from "./data_folder.ts";
import { type KeysteadServer, type ServerOptions, startKeystead } from "./keystead_server.ts";
import { messageTo } from "./mailbox.ts";
import type { ServerProcesses } from "./process_tree.ts";

type Role = keyof ServerProcesses;
type Running = Partial<Record<Role, number>>;
type Descriptors = Map<number, string>;

function descriptorsOf(pid: number): Descriptors {
  const names = readdirSync(`/proc/${pid}/fd`).map(Number);
  const target = (fd: number) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // It was closed while we looked.
      return "/dev/null";
    }
  };
  return new Map(names.map((fd) => [fd, target(fd)]));
}

/** What was handed over by number. */
const given: Record<Role, readonly RegExp[]> = {
  // Standard input and output, and the launcher's channel.
  gateway: [/^\/dev\/null$/, /^socket:/, /^socket:/, /^socket:/],
  // The same (its output is the launcher's), the socket to the gateway, and control.
  signer: [/^\/dev\/null$/, /^socket:|^pipe:/, /^socket:|^pipe:/, /^socket:/, /^socket:/],
  courier: [/^\/dev\/null$/, /^socket:/, /^socket:/, /^socket:/, /^socket:/],
};

/** Sockets beyond those: the listener, and the other ends of signer and courier, which arrive over the channel. */
const sockets: Record<Role, number> = { gateway: 3, signer: 0, courier: 0 };

/** What is open and neither given nor opened by the process itself. */
function unexplained(role: Role, descriptors: Descriptors, folder: string): string[] {
  const rest = [...descriptors].filter(([fd, target]) => given[role][fd]?.test(target) !== true);
  const targets = rest.map(([, target]) => target);
  const isOwn = (target: string) =>
    target.startsWith("anon_inode:") ||
    target === "/dev/null" ||
    target.startsWith(`${folder}/`) ||
    // Node's own pipes lead from the process to itself.
    (target.startsWith("pipe:") && targets.filter((other) => other === target).length === 2);
  const others = targets.filter((target) => !isOwn(target));
  const found = others.filter((target) => target.startsWith("socket:"));
  return found.length <= sockets[role] ? others.filter((target) => !found.includes(target)) : others;
}

/** `O_CLOEXEC` of Linux. */
const closeOnExec = 0o2000000;

/** Node keeps all it opens from the processes it starts, so whatever lacks the flag came from elsewhere. */
function withoutCloseOnExec(pid: number): number[] {
  const isKept = (fd: string) => {
    try {
      const [, flags = "0"] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8")) ?? [];
      return (Number.parseInt(flags, 8) & closeOnExec) === 0;
    } catch (error) {
      // Closed since the folder was read.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  };
  return readdirSync(`/proc/${pid}/fd`)
    .filter((fd) => Number(fd) > 2 && isKept(fd))
    .map(Number);
}

/** On a connection that is over with the answer: it would count among the gateway's descriptors. */
async function statusOf(url: string): Promise<number | undefined> {
  const request = get(url, { agent: false });
  try {
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "close");
    return response.statusCode;
  } catch {
    return undefined;
  }
}

/** These processes, once all of them run and the server is ready; `not`: those that have ended, or will. */
async function running<R extends Role>(
  server: KeysteadServer,
  roles: readonly R[],
  not: Running = {},
): Promise<Record<R, number>> {
  for (const until = Date.now() + patienceMs; Date.now() < until; await pause(50)) {
    const children = await server.children();
    const found = roles.flatMap((role) => {
      const pid = children[role];
      return pid === undefined || pid === not[role] ? [] : [[role, pid]];
    });
    const isReady = (await statusOf(`${server.url}/readyz`)) === 200;
    if (found.length === roles.length && isReady) return Object.fromEntries(found);
  }
  assert.fail(`not all of ${roles.join(", ")} run: ${server.output()}`);
}

/** The courier is started for the first message that is to be sent. */
async function sendMessage({ bootstrap }: KeysteadServer): Promise<void> {
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = bootstrap;
  const client = createClient({
    ...{ baseUrl, organizationId },
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
  const contact = `${randomUUID()}@example.com`;
  await client.initOtp({ otpType: "OTP_TYPE_EMAIL", contact, appName: "App" });
  await messageTo(contact);
}

async function startWith(t: TestContext, options: ServerOptions): Promise<KeysteadServer> {
  const server = await startKeystead(options);
  t.after(() => server.stop());
  return server;
}

test("files, pipes and sockets of the launcher's parent reach no child, not after restarts either", {
  skip: process.platform !== "linux" && "needs /proc",
  timeout: testTimeoutMs,
}, async (t) => {
  const dataFolder = freshDataFolder(t);
  const passphrase = join(dataFolder, "../passphrase");
  writeFileSync(passphrase, "correct horse battery staple\n", { mode: 0o600 });
  const secret = join(dataFolder, "../other");
  writeFileSync(secret, "of the parent");
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const socket = connect((listener.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  t.after(() => {
    socket.destroy();
    listener.close();
  });
  const file = openSync(secret, "r+");
  const descriptors = { 5: file, 17: file, 40: "pipe", 99: socket, 200: openSync(passphrase, "r"), 900: file } as const;
  const options = { dataFolder, descriptors, env: { KEYSTEAD_PASSPHRASE_FILE: "/dev/fd/200" } };
  const server = await startWith(t, options);
  assert.match(server.output(), /ready at/);

  const folders = {
    gateway: join(dataFolder, "database"),
    signer: join(dataFolder, "signer"),
    courier: join(dataFolder, "outbox"),
  };
  const check = async (pids: Running, when: string) => {
    for (const [role, pid] of Object.entries(pids) as [Role, number][]) {
      const look = () => unexplained(role, descriptorsOf(pid), folders[role]);
      // The connection on which we asked may be open for a moment longer.
      for (const until = Date.now() + patienceMs; Date.now() < until && look().length > 0; ) await pause(50);
      assert.deepEqual(look(), [], `${role} ${when}`);
      assert.deepEqual(withoutCloseOnExec(pid), [], `${role} ${when}`);
    }
  };
  await check(await running(server, ["gateway", "signer"]), "at the start");
  await sendMessage(server);
  const roles = ["gateway", "signer", "courier"] as const;
  const first = await running(server, roles);
  await check(first, "after the first message");
  process.kill(first.signer, "SIGKILL");
  const second = await running(server, roles, { signer: first.signer });
  assert.deepEqual({ ...second, signer: first.signer }, first);
  await check(second, "after the signer was killed");
  process.kill(second.courier, "SIGKILL");
  const third = await running(server, roles, { courier: second.courier });
  assert.deepEqual({ ...third, courier: second.courier }, second);
  await check(third, "after the courier was killed");
  process.kill(third.gateway, "SIGKILL");
  await check(await running(server, roles, third), "after the gateway was killed");
  assert.deepEqual(withoutCloseOnExec(server.launcher.pid ?? 0), [], "nor does the launcher keep any");

  // The passphrase is read again by the next start alone.
  await server.stop();
  await startWith(t, { ...options, descriptors: { 200: openSync(passphrase, "r") } });
});
