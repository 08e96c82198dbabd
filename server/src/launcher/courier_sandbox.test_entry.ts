/**
 * Runs under exactly the courier's flags, locked down as the courier is, and tries what it must not be able to do. Prints one JSON object:
 * probe → outcome. Arguments: its own folder, a folder outside it, a TCP port, a process to attack.
 */
import child_process from "node:child_process";
import cluster from "node:cluster";
import dgram from "node:dgram";
import dns from "node:dns";
import type { EventEmitter } from "node:events";
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import inspector from "node:inspector";
import { createRequire } from "node:module";
import net from "node:net";
import tls from "node:tls";
import v8 from "node:v8";
import worker_threads from "node:worker_threads";
// Everything that the courier has loaded before it locks itself down.
import "../courier/create_senders.ts";
import "../courier/fetch/fetch_json.ts";
import "../courier/issuers/issuers.ts";
import "../courier/serve_gateway.ts";
import { refuseListeners } from "../courier/no_listeners.ts";
import { lockDown } from "../lockdown/lockdown.ts";

const [own = "", outside = "", tcp = "", victim = ""] = process.argv.slice(2);
const host = "127.0.0.1";
const port = Number(tcp);
const secret = `${outside}/secret`;
const require = createRequire(import.meta.url);

/** Settles with the first event that tells whether the attempt came through. */
function outcome(emitter: EventEmitter, ...good: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    emitter.once("error", reject);
    for (const event of good) emitter.once(event, () => resolve());
  });
}

const listens = (server: net.Server, where: number | string = 0) => outcome(server.listen(where), "listening");
const code = (path: string) => new URL(path, import.meta.url);

const probes: Record<string, () => unknown> = {
  "own folder: write": () => fs.writeFileSync(`${own}/message`, "text"),
  "own folder: rename": () => fs.renameSync(`${own}/message`, `${own}/message.json`),
  "own folder: read": () => fs.readFileSync(`${own}/message.json`),
  "network: connect": () => outcome(net.connect(port, host), "connect"),
  "network: look up": () => dns.promises.lookup("localhost"),
  "files: read outside": () => fs.readFileSync(secret),
  "files: read past the folder": () => fs.readFileSync(`${own}/../outside/secret`),
  "files: list the data folder": () => fs.readdirSync(`${own}/..`),
  "files: read the root key": () => fs.readFileSync(`${own}/../root.key`),
  "files: read the database": () => fs.readFileSync(`${own}/../database/keystead.db`),
  "files: read the memory": () => fs.readFileSync(`${own}/../signer/memory`),
  "files: read /etc/passwd": () => fs.readFileSync("/etc/passwd"),
  "files: read own environment": () => fs.readFileSync("/proc/self/environ"),
  "files: read another's memory": () => fs.openSync(`/proc/${victim}/mem`, "r"),
  "files: read the code of the signer": () => fs.readdirSync(code("../signer")),
  "files: read the code of the gateway": () => fs.readdirSync(code("../gateway")),
  "files: read packages": () => fs.readdirSync(code("../../../node_modules/pg")),
  "files: write outside": () => fs.writeFileSync(`${outside}/written`, "text"),
  "files: write its code": () => fs.writeFileSync(code("../courier/written.ts"), "text"),
  "files: remove outside": () => fs.rmSync(secret),
  "files: link out": () => fs.symlinkSync(secret, `${own}/link`),
  "files: hard link out": () => fs.linkSync(secret, `${own}/linked`),
  "listen: tcp": () => listens(net.createServer()),
  "listen: socket file": () => listens(net.createServer(), `${own}/socket`),
  "listen: http": () => listens(http.createServer()),
  "listen: https": () => listens(https.createServer({})),
  "listen: http2": () => listens(http2.createServer()),
  "listen: tls": () => listens(tls.createServer({})),
  "listen: by the class": () => net.Server.prototype.listen.call(net.createServer(), 0),
  "listen: udp": () => outcome(dgram.createSocket("udp4").bind(0, host), "listening"),
  "listen: inspector": () => inspector.open(0, host),
  "process: spawn": () => outcome(child_process.spawn("/bin/true"), "exit"),
  "process: exec": () => child_process.execFileSync("/bin/true"),
  "process: fork": () => outcome(child_process.fork(import.meta.filename), "exit"),
  "process: worker": () => outcome(new worker_threads.Worker("", { eval: true }), "online"),
  "process: cluster": () => outcome(cluster.fork(), "online"),
  "process: signal": () => process.kill(Number(victim), 0),
  "process: another's inspector": () => Reflect.apply(Reflect.get(process, "_debugProcess"), process, [Number(victim)]),
  "process: binding": () => Reflect.apply(Reflect.get(process, "binding"), process, ["fs"]),
  "process: change user": () => process.setuid?.(0),
  "code: sqlite": () => require("node:sqlite"),
  "code: another package": () => require("pg"),
  "code: another module": () => import(String("node:ffi")),
  "code: text": () => import(String("data:text/javascript,1")),
  "code: eval": () => Reflect.construct(Function, ["return 1"])(),
  "code: builtin": () => process.getBuiltinModule("node:vm"),
  "code: addon": () => Reflect.apply(Reflect.get(process, "dlopen"), process, [{}, `${own}/addon.node`]),
  "code: fetch": () => fetch(`http://${host}:${port}/`),
  "heap: snapshot outside": () => v8.writeHeapSnapshot(`${outside}/heap`),
};

lockDown("courier");
refuseListeners();

const results: Record<string, string> = {};
for (const [name, probe] of Object.entries(probes)) {
  try {
    await probe();
    results[name] = "allowed";
  } catch (error) {
    const { code: reason, name: kind } = error as NodeJS.ErrnoException;
    results[name] = `refused ${reason ?? kind}`;
  }
}
process.stdout.write(JSON.stringify({ results, env: Object.keys(process.env).sort() }), () => process.exit(0));
