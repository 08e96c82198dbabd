/** A run that ends with a power cut, what the disk may hold then, and what must be true of a start on it. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { type KeyPair, keyFrom } from "@keystead/e2e/key_pairs.ts";
import { type Bootstrap, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { envelope } from "@keystead/e2e/matrix/fixture.ts";
import { oauth2Settings } from "@keystead/e2e/oauth2_provider.ts";
import { createTestDisk, readBootstrap } from "@keystead/e2e/test_disk/test_disk.ts";
import { call } from "@keystead/e2e/wire.ts";
import type { StoreSource } from "@keystead/server/store/store.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import { checkPublicLog } from "../crash/check_public_log.ts";
import { checkStored, type Remembered, rememberedAt } from "./check_stored.ts";
import { apply, cutPower, type DiskImage, type Faith, type Kept, readImage, writeKept } from "./disk_image.ts";
import { type Change, parseJournal } from "./journal.ts";
import { type SeenCheckpoint, watchLog } from "./watch_log.ts";
import {
  difference,
  type Exchange,
  type Ledger,
  runClients,
  sendAgain,
  type Theatre,
  theatreLimits,
} from "./workload.ts";

/** Issuers and providers are in the test's own process, whose power does not fail. */
export const serverEnv = { KEYSTEAD_LIMITS: JSON.stringify(theatreLimits), ...oauth2Settings };

/**
 * Everything from a start to the cut: what lay on the disk before, and what the signer remembered then, every change since, and what the
 * clients were told.
 */
export type Run = {
  dataFolder: string;
  before: DiskImage;
  remembered: Remembered;
  changes: Change[];
  ledger: Ledger;
  seen: SeenCheckpoint[];
};

export type RunOptions = {
  dataFolder: string;
  databaseUrl?: string;
  /** What was told before: it must be told again. */
  ledger: Ledger;
  /** Checkpoints that were shown before: all of them must stay true. */
  seen: SeenCheckpoint[];
  /** Without one, the first user alone makes a few tags. */
  theatre: Theatre | undefined;
  workMs: number;
  random: Random;
  /** Stopped in good order instead, with nobody at work. */
  ends?: "in order";
};

export type Recorded = Run & { complaints: string[]; done: ReadonlyMap<string, number> };

/** Starts on the folder, asks for all that was told before, works for a while, and loses power. */
export async function recordRun(t: TestContext, options: RunOptions): Promise<Recorded> {
  const { dataFolder, databaseUrl, ledger, seen, theatre, workMs, random } = options;
  const disk = createTestDisk(t, dataFolder);
  const before = readImage(dataFolder);
  const remembered = rememberedAt(dataFolder);
  const env = { ...serverEnv, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) };
  const server = disk.start({ env });
  const url = await server.ready();
  const watcher = watchLog(url, seen, disk.journalLength);
  const complaints = await holdAgainst(url, ledger, disk.journalLength);
  let done: ReadonlyMap<string, number> = new Map();
  if (theatre === undefined) await makeTags(url, readBootstrap(dataFolder), ledger, disk.journalLength);
  else {
    const clients = runClients(url, theatre, ledger, random, disk.journalLength);
    const enough = countTold(ledger) + toldPerRun;
    const shown = seen.length;
    const isEnough = () => countTold(ledger) >= enough && seen.length > shown;
    for (let waitedMs = 0; waitedMs < workMs || (!isEnough() && waitedMs < patienceMs); waitedMs += 50) await pause(50);
    // From here on nobody is surprised by a connection that breaks.
    const stopped = clients.stop();
    await server.cut();
    await stopped;
    done = clients.done;
  }
  if (options.ends === "in order") await server.stop();
  await server.cut();
  await watcher.stop();
  return { dataFolder, before, remembered, changes: parseJournal(disk.journal()), ledger, seen, complaints, done };
}

/** However busy the machine is, a run has this much to lose. */
const toldPerRun = 30;

export function countTold(ledger: Ledger): number {
  return ledger.filter(({ answer }) => answer !== undefined).length;
}

async function makeTags(url: string, bootstrap: Bootstrap, ledger: Ledger, journalLength: () => number) {
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey));
  for (let n = 0; n < 5; n++) {
    const parameters = { userTagName: `Tag ${n} ${ledger.length}`, userIds: [] };
    const body = JSON.stringify(envelope("ACTIVITY_TYPE_CREATE_USER_TAG", bootstrap.organizationId, parameters));
    const exchange: Exchange = { path: "create_user_tag", key, body, sentAt: journalLength() };
    ledger.push(exchange);
    const { status, json } = await sendAgain(url, exchange);
    exchange.answer = { status, json, receivedAt: journalLength() };
  }
}

/** Where in the journal the power goes: anywhere, beside a sync, or at the end of the run. */
export function chooseCuts({ changes }: Run, count: number, random: Random): number[] {
  const last = changes.length - 1;
  const syncs = changes.flatMap(({ kind }, index) => (/sync/i.test(kind) ? [index] : []));
  const choose = [
    () => last,
    () => random.below(changes.length),
    () => random.pick(syncs) - random.below(3),
    () => random.pick(syncs) + random.below(3),
  ];
  return Array.from({ length: count }, () => Math.min(last, Math.max(0, random.pick(choose)()))).sort((a, b) => a - b);
}

export type Cut = { kept: Kept; ledger: Ledger; seen: SeenCheckpoint[]; remembered: Remembered; name: string };

/** Power cuts of one run, from the earliest to the latest: what the disk holds, and what the clients had been told by then. */
export function createCutter(run: Run, faith: Faith = {}): (index: number, random: Random) => Cut {
  let applied = 0;
  return (index, random) => {
    for (; applied <= index; applied++) apply(run.before, run.changes[applied] as Change, faith);
    const end = run.changes[index]?.end ?? 0;
    const kept = cutPower(run.before, random);
    const moods = Object.entries(kept.moods).map(([path, mood]) => `${path}: ${mood}`);
    const name = `after change ${index + 1} of ${run.changes.length} (unsynced: ${moods.join(", ") || "nothing"})`;
    const seen = run.seen.filter(({ receivedAt }) => receivedAt <= end).map(({ note }) => ({ note, receivedAt: 0 }));
    return { kept, ledger: toldBy(run.ledger, end), seen, remembered: run.remembered, name };
  };
}

function toldBy(ledger: Ledger, end: number): Ledger {
  return ledger
    .filter(({ sentAt }) => sentAt <= end)
    .map(({ answer, ...sent }) => {
      const was = answer !== undefined && answer.receivedAt <= end;
      return { ...sent, sentAt: 0, ...(was && { answer: { ...answer, receivedAt: 0 } }) };
    });
}

/** Builds the folder that the cut leaves behind. */
export function rebuild({ dataFolder }: Run, { kept }: Cut, target: string): string {
  writeKept(kept, dataFolder, target);
  return target;
}

/**
 * What was told is told again, word for word. What was asked and never answered is there whole or not at all: it gets one
 * answer now, and the same once more.
 */
async function holdAgainst(url: string, ledger: Ledger, journalLength: () => number): Promise<string[]> {
  const complaints: string[] = [];
  const told = ledger.filter(({ answer }) => answer !== undefined)[Symbol.iterator]();
  const worker = async () => {
    for (const exchange of told) {
      const again = await sendAgain(url, exchange);
      const differs = exchange.answer && difference(exchange.answer, again);
      if (differs !== undefined) complaints.push(`${exchange.path} ${exchange.body} was ${differs}`);
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  for (const exchange of ledger.filter(({ answer }) => answer === undefined)) {
    const first = await sendAgain(url, exchange);
    const differs = difference(first, await sendAgain(url, exchange));
    if (first.status >= 500) complaints.push(`${exchange.path} ${exchange.body} was answered ${first.text}`);
    else if (differs !== undefined) complaints.push(`${exchange.path} ${exchange.body} was ${differs}`);
    exchange.answer = { status: first.status, json: first.json, receivedAt: journalLength() };
  }
  return complaints;
}

/** A start on what is left: it serves by itself, tells what it told, takes something new, and is whole when it is stopped. */
export async function checkCut(
  dataFolder: string,
  { ledger, seen, remembered }: Pick<Cut, "ledger" | "seen" | "remembered">,
  theatre: Theatre | undefined,
  databaseUrl?: string,
): Promise<string[]> {
  let server: Awaited<ReturnType<typeof startKeystead>>;
  try {
    server = await startKeystead({ dataFolder, env: serverEnv, ...(databaseUrl !== undefined && { databaseUrl }) });
  } catch (error) {
    return [`it does not start: ${error instanceof Error ? error.message : error}`];
  }
  const complaints: string[] = [];
  const callers = callersIn(server.bootstrap, theatre);
  try {
    complaints.push(...(await holdAgainst(server.url, ledger, () => 0)));
    complaints.push(...(await actAnew(server.url, callers)));
  } catch (error) {
    complaints.push(`${error}\n${server.output()}`);
  } finally {
    await server.stop();
  }
  if (/internal (server )?error/.test(server.output())) complaints.push(server.output());
  const source: StoreSource =
    databaseUrl === undefined
      ? { kind: "sqlite", folder: join(dataFolder, "database") }
      : { kind: "postgres", url: databaseUrl };
  if (complaints.length > 0) return complaints;
  const acted = new Set(callers.map(({ organizationId }) => organizationId));
  const { wrong } = await checkPublicLog(
    source,
    seen.map(({ note }) => note),
  );
  return [...(await checkStored({ source, dataFolder, remembered, acted })), ...wrong];
}

type Caller = { organizationId: string; key: KeyPair };

/** One in every organization that is worked in all the time. */
function callersIn({ organizationId, apiPrivateKey }: Bootstrap, theatre: Theatre | undefined): Caller[] {
  const first = { organizationId, key: keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey)) };
  const places = theatre?.stages.flatMap(({ parent, sub }) => [parent, sub]) ?? [];
  return [first, ...places.map(({ organizationId, root }) => ({ organizationId, key: root.p256 }))];
}

/** Something new in each of them. */
async function actAnew(url: string, callers: readonly Caller[]): Promise<string[]> {
  const answers = await Promise.all(
    callers.map(({ organizationId, key }) => {
      const parameters = { userTagName: `Anew ${crypto.randomUUID()}`, userIds: [] };
      const body = envelope("ACTIVITY_TYPE_CREATE_USER_TAG", organizationId, parameters);
      return call(url, "/public/v1/submit/create_user_tag", key, body);
    }),
  );
  return answers.flatMap(({ status, text }) => (status === 200 ? [] : `something new was answered ${status} ${text}`));
}

/** A copy that stays when the test has failed, for whoever looks into it. */
export function keepForLater(run: Run, cut: Cut): string {
  return rebuild(run, cut, join(mkdtempSync(join(tmpdir(), "keystead-power-cut-")), "data"));
}
