/**
 * Eight clients, a process of their own: each sends one request after the other, to any server, and writes down when it was sent
 * and what came back. What is not answered is sent again, the same bytes, until it is. They learn nothing of kills and pauses.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { keyFrom } from "@keystead/e2e/key_pairs.ts";
import { isLate } from "@keystead/e2e/wire.ts";
import { activities } from "@keystead/sdk";
import { patienceMs } from "../../../core/test/patience.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import { type Choice, credentialOf, headerOf, newPerson, newPicture, type Picture, remember } from "./known.ts";
import { chooseRead, chooseWrite } from "./picture.ts";
import type { Answer, FromClients, Operation, Orders, Try } from "./record.ts";
import { queries, readActivity } from "./views.ts";

/** A paused server may answer later; its client has gone elsewhere by then. Each further try waits twice as long. */
const giveUpMs = 2_500;
const readsShare = 0.35;
/** The clients meet in few organizations at a time, and then move on to others. */
const organizationsAtOnce = 3;

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** The status and the JSON of an answer; undefined when none came, or one that says to try again. */
function post(url: string, path: string, stamp: ReturnType<typeof headerOf>, body: string, tries: number) {
  const { hostname, port } = new URL(url);
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    [stamp[0]]: stamp[1],
  };
  type Received = { status: number; json: Record<string, never> };
  return new Promise<Received | undefined>((resolve) => {
    const outgoing = request({ agent, hostname, port, method: "POST", path, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", () => resolve(undefined));
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const status = incoming.statusCode ?? 0;
        if (status === 503 || !incoming.complete) return resolve(undefined);
        const received = { status, json: JSON.parse(text) };
        resolve(isLate(received) ? undefined : received);
      });
    });
    const timer = setTimeout(() => outgoing.destroy(), giveUpMs * 2 ** Math.min(tries, 7));
    outgoing.on("error", () => resolve(undefined));
    outgoing.on("close", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    outgoing.end(body);
  });
}

function toAnswer(kind: Operation["kind"], path: string, { status, json }: { status: number; json: never }): Answer {
  const { code, message, activity } = json as { code: number; message: string; activity: never };
  if (status >= 500 && status !== 501) throw new Error(`${status} to ${path}: ${message}`);
  if (status !== 200) return { kind: "refusal", status, code, message };
  if (kind === "submit") return { kind: "activity", activity: readActivity(activity) };
  return { kind: "view", view: queries[path]?.read(json) };
}

function createClients(orders: Orders) {
  const { urls, organizations, seed, operations: wanted } = orders;
  const history: Operation[] = [];
  let [started, done, lost, unanswered] = [0, 0, 0, 0];
  let isEnough = false;
  let lastMs = 0;
  const pictures = organizations.map(({ organizationId, people }): Picture => {
    const roots = people.map(({ userId, privateKey }) =>
      newPerson(userId, [keyFrom("API_KEY_CURVE_P256", fromHex(privateKey))]),
    );
    return newPicture(organizationId, roots);
  });

  function nextMs(): number {
    lastMs = Math.max(Date.now(), lastMs + 1);
    return lastMs;
  }

  /** Sends until answered, and writes everything down. */
  async function perform(
    client: number,
    random: Random,
    picture: Picture,
    kind: Operation["kind"],
    { path, parameters, by, body: own }: Choice,
  ): Promise<{ answer: Answer | undefined; body: string }> {
    const { organizationId } = picture;
    const body =
      own ?? (kind === "query" ? queryBody(organizationId, parameters) : submitBody(path, organizationId, parameters));
    const url = kind === "query" ? `/public/v1/query/${path}` : activities[path as keyof typeof activities].url;
    const stamp = headerOf(by, Buffer.from(body));
    const tries: Try[] = [];
    const startedMs = performance.now();
    let answer: Answer | undefined;
    while (answer === undefined && performance.now() - startedMs < patienceMs) {
      if (tries.length > 0) await pause(10 + random.below(60));
      const server = random.below(urls.length);
      const fromMs = performance.now();
      const received = await post(urls[server] ?? "", url, stamp, body, tries.length);
      const toMs = performance.now();
      answer = received && toAnswer(kind, path, received as never);
      tries.push({ server, fromMs, toMs, answer });
      if (answer === undefined) lost += 1;
    }
    if (answer === undefined) unanswered += 1;
    const fingerprint = createHash("sha256").update(body).digest("hex");
    const name = `client ${client}, operation ${history.length}: ${path} ${JSON.stringify(parameters)}`;
    history.push({ name, organizationId, kind, path, parameters, fingerprint, credential: credentialOf(by), tries });
    return { answer, body };
  }

  function submitBody(path: string, organizationId: string, parameters: object): string {
    const { type } = activities[path as keyof typeof activities];
    return JSON.stringify({ type, timestampMs: String(nextMs()), organizationId, parameters });
  }

  const queryBody = (organizationId: string, parameters: object) => JSON.stringify({ organizationId, ...parameters });

  async function write(client: number, random: Random, picture: Picture): Promise<void> {
    const choice = chooseWrite(picture, random);
    const { answer, body } = await perform(client, random, picture, "submit", choice);
    if (answer?.kind === "refusal" && answer.message.includes("takes no votes")) {
      picture.waiting = picture.waiting.filter(({ fingerprint }) => fingerprint !== choice.parameters.fingerprint);
    }
    if (answer?.kind !== "activity") return;
    note(picture, choice, body, answer);
    // The same bytes once more, at the same time as somebody else's request.
    if (random.next() < 0.05) await perform(client, random, picture, "submit", { ...choice, body });
  }

  /** What the answer tells goes into the picture. */
  function note(
    picture: Picture,
    { path, by, after }: Pick<Choice, "path" | "by" | "after">,
    body: string,
    { activity }: Extract<Answer, { kind: "activity" }>,
  ): void {
    const isVote = path === "approve_activity" || path === "reject_activity";
    const fingerprint = isVote
      ? (JSON.parse(body).parameters.fingerprint as string)
      : `sha256:${createHash("sha256").update(body).digest("hex")}`;
    const before = picture.waiting.find((each) => each.fingerprint === fingerprint);
    picture.waiting = picture.waiting.filter((each) => each !== before);
    if (activity.status === "CONSENSUS_NEEDED") {
      const made = afters.get(fingerprint) ?? after;
      if (made !== undefined) afters.set(fingerprint, made);
      const waits = before ?? (isVote ? undefined : { fingerprint, path, body });
      if (waits !== undefined) picture.waiting.push(waits);
    } else if (activity.status === "COMPLETED") {
      (isVote ? afters.get(fingerprint) : (after ?? afters.get(fingerprint)))?.(activity.result);
      afters.delete(fingerprint);
    }
    remember(picture.activities, activity.activityId);
    remember(picture.bodies, { path, body, by });
  }

  /** What is learnt from those that wait, once they have run. */
  const afters = new Map<string, NonNullable<Choice["after"]>>();

  async function run(client: number): Promise<void> {
    const random = seededRandom(seed + client);
    while (started < wanted || !isEnough) {
      const place = Math.floor((started / wanted) * pictures.length) + random.below(organizationsAtOnce);
      started += 1;
      const picture = pictures[place % pictures.length] as Picture;
      if (random.next() < readsShare) await perform(client, random, picture, "query", chooseRead(picture, random));
      else await write(client, random, picture);
      done += 1;
    }
  }

  return {
    done: () => done,
    /** They have been disturbed often enough: until then they go on, beyond what they were asked for. */
    enough(): void {
      isEnough = true;
    },
    async run(): Promise<FromClients> {
      await Promise.all(Array.from({ length: orders.clients }, (_, client) => run(client)));
      writeFileSync(orders.file, history.map((operation) => `${JSON.stringify(operation)}\n`).join(""));
      return { kind: "finished", unanswered, lost };
    },
  };
}

function say(message: FromClients): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()));
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const clients = createClients(JSON.parse((await lines.next()).value ?? "") as Orders);
// The only other line; or the end, when the test is gone.
void lines.next().then(clients.enough);
setInterval(() => void say({ kind: "progress", done: clients.done() }), 50).unref();
try {
  await say(await clients.run());
} catch (error) {
  await say({ kind: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
process.exit(0);
