/** One trial: an act is begun, a process stops at a step of it, harm is done there, and the oracle says what came of it. */
import { setTimeout as pause } from "node:timers/promises";
import { oauth2Provider } from "@keystead/e2e/oauth2_provider.ts";
import { type Step, steps } from "@keystead/server/state/steps.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import type { Source } from "../hostile/raw_database.ts";
import type { ActOracle } from "./act_oracle_process.ts";
import { checkSealed } from "./check_sealed.ts";
import type { Hold } from "./postgres_hold.ts";
import { endSessions, type Wire } from "./postgres_wire.ts";
import { goOn, type Role, type SteppedServer } from "./stepped_server.ts";
import type { Harm, Trial } from "./trials.ts";

/** What a trial on PostgreSQL has besides. */
export type DatabaseControl = { url: string; wire: Wire; hold: Hold };

export type Room = {
  stepped: SteppedServer;
  oracle: ActOracle;
  /** Where the rows are, for whoever looks at them meanwhile. */
  source: Source;
  database: DatabaseControl | undefined;
};

/** A result that is written a moment after its answer must be written before the next act is begun, or it would pass steps then. */
const settleMs = 30;

const rolesOf = {
  gateway: ["gateway"],
  signer: ["signer"],
  both: ["gateway", "signer"],
  courier: ["courier"],
} as const;

/** What follows the answer. */
const afterAnswer: readonly Step[] = ["answered", "settling", "settled", "checkpointing", "signed", "checkpointed"];

export type TrialOutcome = {
  /** One, or more where another comes while the first is recovered from. */
  faults: number;
  /** What a killed process had could not be had again: a code was exchanged, and nobody knows for what. */
  isRefused: boolean;
};

export async function runTrial(room: Room, trial: Trial): Promise<TrialOutcome> {
  const { stepped, oracle, database } = room;
  await oracle.ask({ kind: "begin", act: trial.act.name }, "begun");
  await pause(settleMs);
  const exchangedBefore = oauth2Provider.granted.length;
  const held = trial.step === "written" ? database?.hold : undefined;
  const harms = harmsOf(trial);
  if (held !== undefined) await held.take();
  else stepped.arm(harms[0]?.step);
  let isAnswered = false;
  const going = oracle.ask({ kind: "go", twice: trial.twice }, "answered").then(({ isRefused }) => {
    isAnswered = true;
    return isRefused;
  });
  // A violation shows where it is awaited; until then it must not end the test by itself.
  going.catch(() => undefined);
  let faults = 0;
  let isRefused = false;
  try {
    for (const [index, harm] of harms.entries()) {
      const next = harms[index + 1]?.step ?? trial.again?.step;
      const isExchanged = () => oauth2Provider.granted.length > exchangedBefore;
      await reachAndHarm(room, trial, harm, next, { isAnswered: () => isAnswered, isExchanged });
      faults += 1;
    }
    if (trial.again !== undefined && (await harmAgain(room, trial.again, () => isAnswered))) faults += 1;
    isRefused = await going;
  } finally {
    stepped.arm(undefined);
  }
  await oracle.ask({ kind: "check" }, "checked");
  if (isRefused && !mayLoseExchange(trial)) throw new Error("what a code was exchanged for is lost");
  const exchanged = oauth2Provider.granted.length - exchangedBefore;
  if (exchanged !== (trial.act.exchangesCode ? 1 : 0)) throw new Error(`${exchanged} codes were exchanged`);
  return { faults, isRefused };
}

const commitAt = steps.findIndex(({ name }) => name === "committed");
const isBeforeCommit = (step: Step) => steps.findIndex(({ name }) => name === step) < commitAt;

/** Only where gateway or courier are killed and nothing is committed yet: a signer asks the courier again, which remembers. */
function mayLoseExchange({ step, fault, again }: Trial): boolean {
  const harms = [{ step, fault }, ...(again === undefined ? [] : [again])];
  return harms.some((harm) => ["gateway", "both", "courier"].includes(harm.fault) && isBeforeCommit(harm.step));
}

/** A plain result is marked with the next group, or by the next gateway: there, the one before dies at the commit. */
function harmsOf(trial: Trial): Harm[] {
  const isSettling = trial.step === "settling" || trial.step === "settled";
  return isSettling && !trial.act.isSealed ? [{ ...trial, step: "committed", fault: "gateway" }, trial] : [trial];
}

/** Before anything goes on, the processes know where to stop next. */
async function reachAndHarm(
  room: Room,
  { act }: Trial,
  harm: Harm,
  next: Step | undefined,
  { isAnswered, isExchanged }: { isAnswered(): boolean; isExchanged(): boolean },
): Promise<void> {
  const { stepped, oracle, database } = room;
  if (harm.step === "written" && database !== undefined) {
    const { hold } = database;
    await reach(oracle, harm.step, isAnswered, async () => ((await hold.waiting()) > 0 ? true : undefined));
    stepped.arm(next);
    await harmInside(room, database, harm);
  } else {
    const stop = () => reach(oracle, harm.step, isAnswered, async () => stepped.findStopped());
    let stopped = await stop();
    while (harm.isAfterExchange && !isExchanged()) {
      goOn(stopped);
      stopped = await stop();
    }
    while (act.isSealed && !(await checkSealed(room.source, harm.step))) {
      goOn(stopped);
      stopped = await stop();
    }
    stepped.arm(next);
    await harmAt(room, harm, stopped);
  }
}

/** Waits until what is looked for is there; a step that the act has passed without it was never reached. */
async function reach<T>(
  oracle: ActOracle,
  step: Step,
  isAnswered: () => boolean,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (oracle.violation !== undefined) throw new Error(oracle.violation);
    if (isAnswered() && !afterAnswer.includes(step)) throw new Error(`it was answered and never came to ${step}`);
    if (Date.now() > until) throw new Error(`it did not come to ${step} within ${patienceMs} ms`);
    await pause(1);
  }
}

/** A second fault while the first is recovered from. Which steps that passes depends on the first, so it may never come. */
async function harmAgain(room: Room, harm: Harm, isAnswered: () => boolean): Promise<boolean> {
  const { stepped, oracle } = room;
  for (;;) {
    const pid = stepped.findStopped();
    if (pid !== undefined) {
      stepped.arm(undefined);
      await harmAt(room, harm, pid);
      return true;
    }
    if (isAnswered() || oracle.violation !== undefined) break;
    await pause(1);
  }
  stepped.arm(undefined);
  // It may have stopped between the look and the word that it shall not.
  await pause(5);
  const late = stepped.findStopped();
  if (late === undefined) return false;
  await harmAt(room, harm, late);
  return true;
}

/** Does the harm while a process stands still at the step, and lets that one go on if it was not killed. */
async function harmAt({ stepped, database }: Room, { fault, breaksWire }: Harm, stopped: number): Promise<void> {
  if (fault !== "database") await stepped.kill(rolesOf[fault] satisfies readonly Role[]);
  else if (breaksWire) database?.wire.cut();
  else if (database !== undefined) await endSessions(database.url);
  goOn(stopped);
}

/** Does the harm while the commit is written in PostgreSQL and not yet committed. */
async function harmInside(
  { stepped }: Room,
  { url, wire, hold }: DatabaseControl,
  { fault, breaksWire, isLate }: Harm,
): Promise<void> {
  if (fault === "database" && !breaksWire) await endSessions(url);
  else if (fault === "database" && isLate) {
    // Committed, and the gateway never hears of it.
    wire.mute();
    await hold.release();
    await hold.quiet();
    wire.cut();
    return;
  } else if (fault === "database") wire.cut();
  else await stepped.kill(rolesOf[fault] satisfies readonly Role[]);
  // The server goes on with what a dead gateway has sent; a late one commits while the next gateway's waits behind it.
  if (isLate && fault !== "signer" && fault !== "database") {
    hold.late.held += 1;
    if (await untilFollowed(stepped, hold)) hold.late.followed += 1;
  }
  await hold.release();
}

/** False when the next commit does not come: there may be another step before it, at which its gateway stands still. */
async function untilFollowed(stepped: SteppedServer, hold: Hold): Promise<boolean> {
  const until = Date.now() + 10_000;
  while (Date.now() < until && stepped.findStopped() === undefined) {
    if ((await hold.waiting()) > 1) return true;
    await pause(10);
  }
  return false;
}
