/** Speaks the launcher's side of the signer's protocol and answers every line from the gateway with what it was given. */
import { createHash } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";

const control = new Socket({ fd: 4, readable: true, writable: true });
const joint = new Socket({ fd: 3, readable: true, writable: true });
control.on("end", () => process.exit(0));
joint.on("end", () => process.exit(0));
joint.on("error", () => process.exit(0));

let received = Buffer.alloc(0);
let hasBegun = false;
/** Of the Node that runs this; it comes later than the orders. */
let nodeDigest: string | undefined;
control.on("data", (chunk: Buffer) => {
  received = Buffer.concat([received, chunk]);
  const key = frameAt(0);
  const orders = key && frameAt(4 + key.length);
  if (!key || !orders) return;
  if (!hasBegun) begin(key, JSON.parse(orders.toString()));
  hasBegun = true;
  nodeDigest ??= frameAt(8 + key.length + orders.length)?.toString("hex");
});

function frameAt(start: number): Buffer | undefined {
  if (received.length < start + 4) return undefined;
  const end = start + 4 + received.readUInt32BE(start);
  return received.length < end ? undefined : received.subarray(start + 4, end);
}

function begin(key: Buffer, orders: { memoryFolder: string; birth: { organizationName: string } }): void {
  const tell = (message: object) => control.write(`${JSON.stringify(message)}\n`);
  const wish = orders.birth.organizationName;
  if (wish === "signer fatal") return void tell({ kind: "fatal", message: "signer will not\u001b[31m start" });
  if (wish === "signer crash") process.exit(7);
  if (wish === "fatal later" && existsSync(`${orders.memoryFolder}/memory`)) {
    rmSync(`${orders.memoryFolder}/memory`);
    return void tell({ kind: "fatal", message: "not this time" });
  }
  writeFileSync(`${orders.memoryFolder}/memory`, "remembered");
  tell({ kind: "ready" });
  const attestationRoot = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  tell({ kind: "keys", publicKeys: { signer: `04${"ab".repeat(64)}` }, attestationRoot });
  tell({ kind: "note", message: "stand-in signer is here" });
  const rootKeyHash = createHash("sha256").update(key).digest("hex");
  const answer = {
    pid: process.pid,
    uid: process.getuid?.(),
    env: process.env,
    argv: process.execArgv,
    rootKeyHash,
    orders,
  };
  joint.on("data", () => {
    if (wish === "signer renames") tell({ kind: "renamed" });
    joint.write(`${JSON.stringify({ ...answer, nodeDigest })}\n`);
  });
}
