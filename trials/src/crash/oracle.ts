/**
 * The oracle of the crash test, a process of its own: clients that know only the answers they received. A request whose
 * answer is lost is sent again with the same body until it is answered; an answer once given must come back unchanged
 * however often its body is sent. It learns nothing of kills, processes or the database.
 */
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  type Activity,
  activities,
  type Client,
  createApiKeyStamper,
  createClient,
  KeysteadError,
} from "@keystead/sdk";
import { patienceMs } from "../../../core/test/patience.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import type { Answer, FromOracle, LedgerEntry, OracleOrders, OracleReport, ToOracle } from "./ledger.ts";

const tagsPerClient = 7;

/** Cut off: the connection stood and broke, so the request may have been executed. */
type NoAnswer = "cut off" | "unavailable";

function isRefused(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code === "ECONNREFUSED";
}

type Sent = { path: keyof typeof activities; body: string };

function createOracle(orders: OracleOrders) {
  const { organizationId, userId, apiPublicKey, apiPrivateKey, url, seed } = orders;
  const client: Client = createClient({
    baseUrl: url,
    organizationId,
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
  const random = seededRandom(seed);
  const acknowledged: LedgerEntry[] = [];
  const report: OracleReport = {
    acknowledged,
    abandoned: [],
    repeated: 0,
    cutOff: 0,
    refused: 0,
    unavailable: 0,
    violations: [],
  };
  let lastAnswerMs = Date.now();
  let finishing = false;
  let sequence = 0;

  function violated(what: string): void {
    // One broken thing tends to break every request after it.
    if (report.violations.length < 10) report.violations.push(what);
  }

  /** One request. Without an answer, or after a 503, the same bytes may be sent again. */
  async function send<T>(path: string, body: string): Promise<{ value: T } | { error: KeysteadError } | NoAnswer> {
    const startedMs = Date.now();
    try {
      const value = await client.request<T>(path, body, { signal: AbortSignal.timeout(patienceMs) });
      lastAnswerMs = Date.now();
      return { value };
    } catch (error) {
      if (error instanceof KeysteadError && error.status !== 503) {
        lastAnswerMs = Date.now();
        if (error.status >= 500 || error.code === 2) violated(`${error.status} ${error.message} for ${path} ${body}`);
        return { error };
      }
      if (error instanceof KeysteadError) {
        report.unavailable += 1;
        if (error.code !== 14) violated(`a 503 with code ${error.code}: ${error.message}`);
      } else if (isRefused(error)) report.refused += 1;
      else {
        report.cutOff += 1;
        if (Date.now() - startedMs >= patienceMs) violated(`no answer within ${patienceMs} ms to ${path} ${body}`);
      }
      if (Date.now() - lastAnswerMs > patienceMs) {
        violated(`no answer to anything within ${patienceMs} ms; the last: ${error}`);
        finishing = true;
      }
      return error instanceof KeysteadError || isRefused(error) ? "unavailable" : "cut off";
    }
  }

  async function submitOnce({ path, body }: Sent): Promise<Answer | NoAnswer> {
    const reply = await send<{ activity: Activity }>(activities[path].url, body);
    if (typeof reply === "string") return reply;
    if ("value" in reply) return { kind: "activity", activity: reply.value.activity };
    const { status, code, message, errorCode, details } = reply.error;
    return { kind: "refusal", status, code, message, errorCode, details };
  }

  /** Sends until answered. Undefined when it gives up, which it does only for bodies it may abandon. */
  async function submit(sent: Sent, mayAbandon: boolean): Promise<Answer | undefined> {
    for (;;) {
      const answer = await submitOnce(sent);
      if (typeof answer !== "string") return answer;
      const room = mayAbandon && answer === "cut off" && report.abandoned.length < orders.maxAbandoned;
      if (giveUp() || (room && random.next() < 0.3)) return undefined;
      await pause(20 + random.below(80));
    }
  }

  function giveUp(): boolean {
    return finishing && Date.now() - lastAnswerMs > patienceMs;
  }

  function compare(entry: LedgerEntry, answer: Answer): void {
    report.repeated += 1;
    if (isDeepStrictEqual(answer, entry.answer)) return;
    const [first, now] = [entry.answer, answer].map((value) => JSON.stringify(value));
    violated(`another answer for ${entry.path} ${entry.body}: ${now} instead of ${first}`);
  }

  /** A new body: sent until answered, sometimes twice at once. The answer, unless it was abandoned. */
  async function act(path: Sent["path"], parameters: object, expectRefusal = false): Promise<Activity | undefined> {
    const timestampMs = String(Date.now());
    const body = JSON.stringify({ type: activities[path].type, timestampMs, organizationId, parameters });
    const sent = { path, body };
    const [first, second] = await Promise.all([
      submit(sent, true),
      random.next() < 0.1 ? submit(sent, true) : undefined,
    ]);
    const answer = first ?? second;
    if (answer === undefined) {
      report.abandoned.push(sent);
      return undefined;
    }
    const entry = { path, body, answer };
    acknowledged.push(entry);
    if (first !== undefined && second !== undefined) compare(entry, second);
    if ((answer.kind === "refusal") !== expectRefusal) {
      violated(`unexpected ${JSON.stringify(answer)} for ${path} ${body}`);
    }
    return answer.kind === "activity" ? answer.activity : undefined;
  }

  async function repeat(entry: LedgerEntry): Promise<void> {
    const answer = await submit(entry as LedgerEntry & Sent, false);
    if (answer !== undefined) compare(entry, answer);
  }

  async function whoami(): Promise<void> {
    const reply = await send<{ userId: string }>("/public/v1/query/whoami", JSON.stringify({ organizationId }));
    if (typeof reply === "string") return;
    if (!("value" in reply) || reply.value.userId !== userId) violated(`whoami answered ${JSON.stringify(reply)}`);
  }

  async function runClient(own: Random): Promise<void> {
    const tags: string[] = [];
    while (!finishing) {
      const dice = own.next();
      if (dice < 0.1) await whoami();
      else if (dice < 0.25 && acknowledged.length > 0) await repeat(own.pick(acknowledged));
      else if (dice < 0.28) await act("delete_user_tags", { userTagIds: [crypto.randomUUID()] }, true);
      else if (tags.length < tagsPerClient && (tags.length === 0 || own.next() < 0.5)) {
        sequence += 1;
        const userIds = own.next() < 0.3 ? [userId] : [];
        const activity = await act("create_user_tag", { userTagName: `tag ${seed} ${sequence}`, userIds });
        const result = activity?.result.createUserTagResult as { userTagId: string } | undefined;
        if (result !== undefined) tags.push(result.userTagId);
      } else {
        const userTagIds = tags.splice(0, 1 + own.below(2));
        await act("delete_user_tags", { userTagIds });
      }
      await pause(own.below(20));
    }
  }

  return {
    report,
    start: () => Promise.all(Array.from({ length: orders.clients }, (_, n) => runClient(seededRandom(seed + 1 + n)))),
    /** Repeats the newest bodies and a sample of all. */
    async check(): Promise<void> {
      const newest = acknowledged.slice(-50);
      const sample = Array.from({ length: Math.min(150, acknowledged.length) }, () => random.pick(acknowledged));
      await inParallel([...newest, ...sample], repeat);
    },
    finish() {
      finishing = true;
    },
    checkAll: () => inParallel([...acknowledged], repeat),
  };
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

function say(message: FromOracle): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()));
}

let oracle: ReturnType<typeof createOracle> | undefined;
let running: Promise<unknown> = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as ToOracle;
  if (message.kind === "orders") {
    oracle = createOracle(message.orders);
    running = oracle.start();
    const { report } = oracle;
    setInterval(() => {
      void say({ kind: "progress", acknowledged: report.acknowledged.length, violations: report.violations.length });
    }, 50).unref();
  } else if (oracle === undefined) throw new Error("no orders yet");
  else if (message.kind === "checkpoint") {
    await oracle.check();
    await say({ kind: "checked", repeated: oracle.report.repeated });
  } else {
    oracle.finish();
    await running;
    await oracle.checkAll();
    await say({ kind: "report", report: oracle.report });
    break;
  }
}
process.exit(0);
