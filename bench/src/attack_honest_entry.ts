/**
 * Honest clients, a process of their own: a steady mix of questions, tags and signatures that leaves the server room to breathe.
 * They ask by the clock, whether or not earlier answers have come, so that a server that stands still is seen to stand still.
 */
import type { FromHonest, HonestClient, HonestJob, HonestResult, HonestResults, ToHonest } from "./attack_messages.ts";
import { type Connection, openConnection } from "./connection.ts";
import { createPresigner } from "./presign.ts";

/** Of each. */
const perSecond = 50;
const connections = 16;
/** Of those who send large bodies, two in a second, so that p99 tells of them. */
const largeEvery = 25;
const largeBytes = 100_000;
/** Nobody waits longer: a server that does not answer has failed. */
const patienceMs = 10_000;

/** One after the other on one connection. */
type Errand = readonly Buffer[];

/** Of ten requests six ask, two tag and two sign. */
function prepareErrands({ account, signWith }: HonestClient, { seconds, sendsLarge }: HonestJob): Errand[] {
  const presigner = createPresigner(account);
  const question = [presigner.whoami()];
  const largeQuestion = [presigner.whoami(largeBytes)];
  return Array.from({ length: seconds * perSecond }, (_, index): Errand => {
    const kind = index % 9;
    if (sendsLarge === true && index % largeEvery === 0) return largeQuestion;
    if (kind === 2) return presigner.tagPair(Date.now());
    if (kind === 5 || kind === 8) return [presigner.rawPayload(Date.now(), signWith)];
    return question;
  });
}

async function run({ account }: HonestClient, errands: readonly Errand[]): Promise<HonestResult> {
  const [host = "", port] = account.host.split(":");
  const open = () => openConnection(host, Number(port));
  const idle: Connection[] = Array.from({ length: connections }, open);
  const waiting: ((connection: Connection) => void)[] = [];
  const result: HonestResult = { latencies: [], failures: [] };

  async function go(errand: Errand): Promise<void> {
    const beganAt = performance.now();
    let connection = idle.pop() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
    const waitedMs = performance.now() - beganAt;
    try {
      for (const [index, request] of errand.entries()) {
        const ms = await patiently(connection, request);
        result.latencies.push(index === 0 ? waitedMs + ms : ms);
      }
    } catch (error) {
      result.failures.push(error instanceof Error ? error.message : String(error));
      connection.close();
      connection = open();
    }
    const next = waiting.shift();
    if (next === undefined) idle.push(connection);
    else next(connection);
  }

  const gone: Promise<void>[] = [];
  const begun = performance.now();
  for (const [index, errand] of errands.entries()) {
    const dueMs = begun + (index * 1000) / perSecond;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs));
    gone.push(go(errand));
  }
  await Promise.all(gone);
  for (const connection of idle) connection.close();
  return result;
}

function patiently(connection: Connection, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no answer in time")), patienceMs);
    connection
      .send(request)
      .then(({ ms }) => resolve(ms), reject)
      .finally(() => clearTimeout(timer));
  });
}

function tell(message: FromHonest): void {
  process.send?.(message);
}

/** All at once, on connections of their own: one who has to wait keeps nobody else waiting. */
function prepare(job: HonestJob): () => Promise<HonestResults> {
  const { member, neighbour } = job.clients;
  const errands = { member: prepareErrands(member, job), neighbour: prepareErrands(neighbour, job) };
  return async () => {
    const results = await Promise.all([run(member, errands.member), run(neighbour, errands.neighbour)]);
    return { member: results[0], neighbour: results[1] };
  };
}

let go: (() => Promise<HonestResults>) | undefined;

process.on("message", async (message: ToHonest) => {
  if (message.kind === "prepare") {
    go = prepare(message.job);
    tell({ kind: "prepared" });
  } else if (go !== undefined) tell({ kind: "done", results: await go() });
});
process.on("disconnect", () => process.exit());
