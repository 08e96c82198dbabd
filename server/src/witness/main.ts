/**
 * A witness of transparency logs, which `keystead witness` runs: `main.ts FOLDER HOST PORT VKEY…`. It is no part of a server. Whoever checks a log
 * runs it on a machine that the log's operator does not control.
 */
import { hash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import { encodeVkey, parseVkey, type Vkey } from "@keystead/core/tlog/vkey.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { nodeSigning } from "../curves/node_signing.ts";
import { Refusal } from "../launcher/refusal.ts";
import { serveWitness } from "./serve_witness.ts";
import { openWitnessFolder } from "./witness_folder.ts";

function parseLogs(vkeys: readonly string[]): Map<string, Vkey[]> {
  const logs = new Map<string, Vkey[]>();
  for (const text of vkeys) {
    const vkey = parseLog(text);
    logs.set(vkey.name, [...(logs.get(vkey.name) ?? []), vkey]);
  }
  return logs;
}

function parseLog(text: string): Vkey {
  try {
    const vkey = parseVkey(text);
    if (vkey.type === 1) return vkey;
  } catch (error) {
    if (error instanceof Fault) throw new Refusal(`--log \`${text}\`: ${error.message}`, 2);
    throw error;
  }
  throw new Refusal(`--log \`${text}\`: that is the key of a witness, not of a log`, 2);
}

async function main([path = "", host = "", port = "", ...vkeys]: readonly string[]): Promise<void> {
  const logs = parseLogs(vkeys);
  const folder = openWitnessFolder(path);
  const publicKey = nodeSigning.keys.ed25519.publicKey(folder.seed);
  const name = `keystead-witness/${hash("sha256", publicKey, "hex").slice(0, 16)}`;
  const server = serveWitness({
    curves: nodeCurves,
    logs,
    folder,
    key: { name, publicKey, sign: (message) => nodeSigning.ed25519(folder.seed, message) },
    nowSeconds: () => Math.floor(Date.now() / 1000),
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(new Refusal(`cannot listen on ${host}:${port}: ${error.message}`)));
    server.listen(Number(port), host, resolve);
  });
  const url = urlOf(server.address() as AddressInfo);
  const vkey = encodeVkey(name, publicKey, 4);
  console.log(`vkey ${vkey}`);
  console.log(`url ${url}`);
  for (const origin of logs.keys()) console.log(`log ${origin}, cosigned up to ${folder.find(origin)?.size ?? 0}`);
  console.log(`KEYSTEAD_WITNESSES='${JSON.stringify([{ name, vkey, url }])}'`);
  for (const signal of ["SIGTERM", "SIGINT", "disconnect"] as const) {
    process.on(signal, () => {
      folder.close();
      process.exit(0);
    });
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(`keystead: ${error.message}`);
  process.exit(error.exitCode);
}
