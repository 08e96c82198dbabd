/** A neighbour: a process that computes half of the time while it is told to work. */
import { generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";

const turnMs = 4;

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const message = randomBytes(300);
const signature = sign("sha256", message, privateKey);

let timer: NodeJS.Timeout | undefined;

function work(): void {
  const until = performance.now() + turnMs;
  while (performance.now() < until) verify("sha256", message, publicKey, signature);
  timer = setTimeout(work, turnMs);
}

process.on("message", (order) => {
  if (order === "work") work();
  else clearTimeout(timer);
  process.send?.("heard");
});
