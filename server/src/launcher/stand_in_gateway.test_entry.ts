/**
 * Speaks the launcher's side of the gateway's protocol. `GET /` asks the signer; 503 while there is none. What a gateway under foreign
 * control could do: `GET /channel?TEXT` writes to the launcher's channel, `GET /print?TEXT` to standard output, `GET /handle` sends a socket.
 */
import { writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { Socket } from "node:net";

const { PORT, KEYSTEAD_HOST, KEYSTEAD_MODE, KEYSTEAD_DATABASE_FOLDER, KEYSTEAD_WISH } = process.env;
const tell = (message: object) => process.send?.(message);
let signer: Socket | undefined;

process.on("disconnect", () => process.exit(0));
// A handle that was never taken keeps Node from noticing the disconnect; a test must leave nobody behind.
const launcherPid = process.ppid;
setInterval(() => process.ppid !== launcherPid && process.exit(0), 200).unref();
process.on("message", (message: { kind: string }, handle: unknown) => {
  if (message.kind === "stop") {
    if (KEYSTEAD_WISH !== "ignore stop" && KEYSTEAD_WISH !== "never stop") process.exit(0);
  }
  if (message.kind === "signer") joined(handle as Socket);
});

function joined(socket: Socket): void {
  signer = socket;
  const lost = () => {
    if (signer === socket) signer = undefined;
  };
  socket.on("close", lost);
  socket.on("error", lost);
  if (KEYSTEAD_MODE === "serve") {
    socket.once("data", () => tell({ kind: "ready" }));
    socket.write("?");
  } else {
    socket.once("data", (answer: Buffer) => {
      if (KEYSTEAD_WISH === "no report") return;
      const { orders } = JSON.parse(answer.toString());
      const lines = [`mode ${KEYSTEAD_MODE}`, "stand-in signer is here", JSON.stringify(orders)];
      tell({ kind: "report", lines });
      socket.destroy();
      setTimeout(() => process.exit(KEYSTEAD_WISH === "fail" ? 3 : 0), 50);
    });
    socket.write("?");
  }
}

writeFileSync(`${KEYSTEAD_DATABASE_FOLDER}/keystead.db`, "rows");
if (KEYSTEAD_WISH === "fatal") tell({ kind: "fatal", message: "gateway will not start" });
if (KEYSTEAD_WISH === "crash") process.exit(9);
if (KEYSTEAD_MODE === "serve") {
  const server = createServer((request, response) => {
    const [path, text] = (request.url ?? "").split("?").map(decodeURIComponent);
    if (path === "/handle") process.send?.({ cmd: "NODE_OTHER" }, request.socket, { keepOpen: true });
    if (path === "/channel") writeSync((process.channel as { fd?: number } | undefined)?.fd ?? 0, `${text}\n`);
    if (path === "/print") writeSync(1, `${text}\n`);
    if (path !== "/") return void response.end();
    const socket = signer;
    const self = { pid: process.pid, uid: process.getuid?.(), env: process.env, argv: process.execArgv };
    if (!socket) return void response.writeHead(503).end(JSON.stringify(self));
    const away = () => response.writeHead(503).end(JSON.stringify(self));
    socket.once("close", away);
    socket.once("data", (answer: Buffer) => {
      socket.off("close", away);
      response.end(JSON.stringify({ gateway: self, signer: JSON.parse(answer.toString()) }));
    });
    socket.write("?");
  });
  server.listen(Number(PORT), KEYSTEAD_HOST, () => {
    const address = server.address();
    if (typeof address === "object" && address) tell({ kind: "listening", host: KEYSTEAD_HOST, port: address.port });
  });
}
