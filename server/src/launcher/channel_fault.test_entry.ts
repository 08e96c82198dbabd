/** Fails, under the guard, in the way that the argument names. */
import { spawn } from "node:child_process";
import { guardChannel } from "./channel_fault.ts";

const child = (message: string) =>
  spawn(process.execPath, ["-e", `process.send(${message})`], { stdio: ["ignore", "inherit", "inherit", "ipc"] });

guardChannel((fault) => console.log(`healed ${fault}`));
const what = process.argv[2];
if (what === "channel") child('{ cmd: "NODE_HANDLE_ACK" }');
if (what === "message handler") {
  child("1").on("message", () => {
    throw new Error("our own fault");
  });
}
if (what === "timer") {
  setTimeout(() => {
    throw new Error("our own fault");
  });
}
if (what === "rejection") void Promise.reject(new Error("our own fault"));
if (what === "no error") {
  setTimeout(() => {
    throw "our own fault";
  });
}
