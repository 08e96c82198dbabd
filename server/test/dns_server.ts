/** A name server for tests, over UDP: it answers as the test says, each question anew. */
import { createSocket } from "node:dgram";
import { promises as dns } from "node:dns";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { patienceMs } from "../../core/test/patience.ts";
import { resolveWith } from "../src/courier/fetch/resolve_name.ts";

/** The addresses of a name; undefined: no answer at all. */
export type Zone = (name: string, family: 4 | 6) => readonly string[] | undefined;

const typeA = 1;

/** A look-up by that server, as the courier does it. */
export async function startNameServer(t: TestContext, zone: Zone) {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (question, { port, address }) => {
    const { name, end } = readName(question);
    const type = question.readUInt16BE(end);
    asked.push(`${name} ${type === typeA ? "A" : "AAAA"}`);
    const addresses = zone(name, type === typeA ? 4 : 6);
    if (addresses !== undefined) socket.send(answerTo(question.subarray(0, end + 4), type, addresses), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  t.after(() => socket.close());
  const server = `127.0.0.1:${socket.address().port}`;
  const resolve = (name: string, signal: AbortSignal) => {
    // One question, however slow the machine is: a second one might be answered otherwise.
    const resolver = new dns.Resolver({ timeout: patienceMs, tries: 1 });
    resolver.setServers([server]);
    return resolveWith(resolver, name, signal);
  };
  return { resolve, asked };
}

function readName(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

/** RFC 1035, section 4: the question again, and a record for each address under a pointer to its name. */
function answerTo(question: Buffer, type: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const records = addresses.map((address) => {
    const data = type === typeA ? Buffer.from(address.split(".").map(Number)) : bytesOf6(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(data.length, 10);
    return Buffer.concat([record, data]);
  });
  return Buffer.concat([head, ...records]);
}

function bytesOf6(address: string): Buffer {
  const [before = "", after = ""] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(before), groups(after)];
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
