/** Clients that never close their side. What the server refuses before it is a request must not cost it a socket for ever. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { startKeystead } from "./keystead_server.ts";

test("a socket that was refused is closed on the server's side, even when the client keeps its own open", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  t.after(() => socket.destroy());
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk));
  const ended = new Promise((resolve) => socket.once("end", resolve));
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.once("error", resolve));
  socket.write("this is not HTTP\r\n\r\n");
  await ended;
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request[\s\S]*"code":3/);
  // A server that only ended its half would go on swallowing this.
  const writing = setInterval(() => socket.write("x"), 20);
  const { code } = await failed;
  clearInterval(writing);
  assert.match(code ?? "", /ECONNRESET|EPIPE/);
});
