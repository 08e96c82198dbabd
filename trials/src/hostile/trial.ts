/** One round: something is done to each patient, everybody is asked, and the operator's commands are run. */

import { setTimeout as pause } from "node:timers/promises";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { runOperator } from "@keystead/e2e/operator.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import { approvedOn, type Basis, basisOf, type Changed, changesIn, leftOf, voting } from "./basis.ts";
import type { Damage, Patient } from "./damage.ts";
import type { Deployment } from "./patients.ts";
import { type Probed, probe } from "./probes.ts";
import {
  type Base,
  isLeft,
  openRaw,
  type RawDatabase,
  type Snapshot,
  type Source,
  snapshotOf,
} from "./raw_database.ts";

/** Something that was done, to whom, what of that decisions rest on, and what it looked like before and after. */
export type Done = {
  damage: Damage;
  patient: Patient;
  changed: Changed;
  before: Look;
  harmed: Look;
  /** What waits for votes in the patient's story had got its last one when the deployment was stopped. */
  isOver: boolean;
};

/** An organization as the database has it. */
type Look = { basis: Basis; rows: Snapshot };

async function lookAt(raw: RawDatabase, { targetOrganization }: Patient): Promise<Look> {
  return {
    basis: await basisOf(raw, targetOrganization),
    rows: await snapshotOf(raw, targetOrganization.organizationId),
  };
}

/** Damages of which one is done to a patient: the first that is possible. */
export type Lot = readonly Damage[];

export type Totals = {
  done: Damage[];
  /** Damages that found nothing to do. */
  notPossible: Set<string>;
  /** Answers of patients, by kind. */
  answers: Record<string, number>;
  rebuilt: number;
  beyond: number;
  /** Approvals that must never be. */
  wrong: string[];
  /** Whatever else must not be: somebody who was left alone is not well, a process ended, what was rebuilt is not. */
  broken: string[];
  /** Nobody told the operator. */
  unnamed: string[];
  /** Patients of whom something was changed that a decision rests on. */
  changed: number;
  /** What was approved all the same. */
  approved: string[];
  /** Damages that were undone when the server wrote what it had at hand. */
  overwritten: number;
};

export function newTotals(): Totals {
  return {
    done: [],
    notPossible: new Set(),
    answers: {},
    rebuilt: 0,
    beyond: 0,
    wrong: [],
    broken: [],
    unnamed: [],
    changed: 0,
    approved: [],
    overwritten: 0,
  };
}

export type Trial = {
  deployment: Deployment;
  base: Base;
  lots: Lot[];
  random: Random;
  totals: Totals;
  /** How many things each is asked; everything unless given. */
  wants?: number | undefined;
  /** Whether `check-log` is run, too. */
  withLog: boolean;
};

export async function command(
  { dataFolder }: Deployment,
  source: Source,
  name: string,
): Promise<{ code: number; output: string }> {
  const databaseUrl = source.kind === "postgres" ? source.url : undefined;
  const { code, stdout, stderr } = await runOperator("server", [name], { dataFolder, databaseUrl });
  return { code, output: stdout + stderr };
}

/** A server for as long as `work` takes. */
export async function serving<T>(
  { dataFolder }: Deployment,
  source: Source,
  work: (server: KeysteadServer) => Promise<T>,
): Promise<T> {
  const server = await startKeystead({ dataFolder, ...(source.kind === "postgres" && { databaseUrl: source.url }) });
  try {
    return await work(server);
  } catch (error) {
    throw new Error(`the server said: ${server.output().slice(-2_000)}`, { cause: error });
  } finally {
    await server.stop();
  }
}

async function harm({ deployment, lots, random, totals }: Trial, source: Source): Promise<Done[]> {
  const raw = await openRaw(source);
  const done: Done[] = [];
  const tryLot = async (patient: Patient, lot: Lot): Promise<boolean> => {
    for (const damage of lot) {
      const before = await lookAt(raw, patient);
      if (await damage.apply(raw, patient, deployment.donor, random)) {
        const harmed = await lookAt(raw, patient);
        done.push({ damage, patient, changed: changesIn(before.basis, harmed.basis), before, harmed, isOver: false });
        return true;
      }
      totals.notPossible.add(damage.name);
    }
    return false;
  };
  try {
    for (const patient of deployment.patients) {
      for (let lot = lots.shift(); lot !== undefined; lot = lots.shift()) if (await tryLot(patient, lot)) break;
    }
  } finally {
    await raw.close();
  }
  totals.done.push(...done.map(({ damage }) => damage));
  return done;
}

export const placeOf = ({ donor, root, ruinId }: Deployment, { targetOrganization }: Patient) => ({
  ...{ targetOrganization, neighbour: donor.targetOrganization, root, ruinId },
});

/** Asks everybody at once, as it would be. */
async function ask(trial: Trial, server: KeysteadServer, done: readonly Done[]): Promise<Map<Done, Probed>> {
  const { deployment, random, totals, wants } = trial;
  const asking = (patient: Patient, count = wants) =>
    probe(server.url, placeOf(deployment, patient), seededRandom(random.below(2 ** 31)), count);
  const [probed, well] = await Promise.all([
    Promise.all(done.map(({ patient, changed }) => asking(patient, isChanged(changed) ? Infinity : wants))),
    Promise.all(deployment.witnesses.map((witness) => asking(witness))),
  ]);
  for (const { wrong, unwell } of well) {
    totals.broken.push(...[...wrong, ...unwell].map((what) => `somebody to whom nothing was done: ${what}`));
  }
  const answers = new Map(done.map((each, index) => [each, probed[index] as Probed]));
  for (const [{ damage }, { outcomes, wrong }] of answers) {
    for (const [outcome, times] of Object.entries(outcomes)) {
      totals.answers[outcome] = (totals.answers[outcome] ?? 0) + times;
    }
    totals.wrong.push(...wrong.map((what) => `${damage.name}: ${what}`));
  }
  if (/ended \(/.test(server.output())) totals.broken.push(`a process ended: ${server.output().slice(-2_000)}`);
  return answers;
}

/** An answer may be read before the line that was written before it. */
const maxLineMs = patienceMs;

/** Whoever was answered with a 503 or a 500 has a line for the operator, which says whose rows they are and what to run. */
async function checkWords(
  { totals }: Trial,
  server: KeysteadServer,
  answers: ReadonlyMap<Done, Probed>,
): Promise<void> {
  const until = Date.now() + maxLineMs;
  for (const [{ damage, patient }, { outcomes, unwell }] of answers) {
    if (outcomes.unavailable + outcomes.failed === 0) continue;
    const { organizationId } = patient.targetOrganization;
    const isSaid = () =>
      server
        .output()
        .split("\n")
        .some((line) => line.includes(organizationId) && /`npx keystead (check|accept)-\w+`/.test(line));
    while (!isSaid() && Date.now() < until) await pause(50);
    if (!isSaid()) totals.unnamed.push(`${damage.name}: no line for the operator; ${unwell.slice(0, 2).join("; ")}`);
  }
}

const isChanged = ({ state, keys }: Changed) => state || keys;

/** A deployment that has nothing at hand yet reads what was changed, and must not decide on it. */
function checkRefused({ totals }: Trial, answers: ReadonlyMap<Done, Probed>): void {
  for (const [{ damage, changed, isOver }, probed] of answers) {
    if (isChanged(changed)) totals.changed += 1;
    totals.approved.push(...approvedOn(changed, probed, isOver).map((what) => `${damage.name}: ${what}`));
  }
}

/** The lines of a report about one organization. */
function linesOf(output: string, { targetOrganization }: Patient): string[] {
  return output
    .split("\n")
    .filter((line) => line.startsWith("organization") && line.includes(targetOrganization.organizationId));
}

/** Under a head that is not in force nothing is rebuilt, since what does not fit it may be what is right. */
const isBeyond = (line: string) =>
  line.endsWith("only a backup can bring it back") || line.endsWith("it is not rebuilt under this head");

async function checkNames(
  { deployment, totals, withLog }: Trial,
  source: Source,
  done: readonly Done[],
): Promise<void> {
  const database = await command(deployment, source, "check-database");
  const log = withLog ? await command(deployment, source, "check-log") : undefined;
  for (const { damage, patient } of done) {
    if (typeof damage.found !== "string" || (damage.found === "check-log" && log === undefined)) continue;
    const output = damage.found === "check-log" ? `${log?.output}${database.output}` : database.output;
    if (linesOf(output, patient).length === 0) totals.unnamed.push(`${damage.name}: not found by ${damage.found}`);
  }
  for (const witness of deployment.witnesses) {
    totals.broken.push(...linesOf(database.output, witness).map((line) => `named for nothing: ${line}`));
  }
}

/** What follows from pages and records is there again afterwards, and with it the organization. */
async function mend(trial: Trial, source: Source, done: readonly Done[]): Promise<void> {
  const { deployment, totals } = trial;
  const repair = await command(deployment, source, "repair-database");
  const again = await command(deployment, source, "check-database");
  const healed = done.filter(({ patient }) => linesOf(again.output, patient).length === 0);
  totals.rebuilt += healed.filter(({ patient }) => linesOf(repair.output, patient).length > 0).length;
  totals.beyond += done.length - healed.length;
  for (const { damage, patient } of done) {
    const left = linesOf(again.output, patient).filter((line) => !isBeyond(line));
    totals.broken.push(...left.map((line) => `${damage.name}: not rebuilt: ${line}; ${repair.output.slice(-300)}`));
  }
  const answers = await serving(deployment, source, (server) => ask(trial, server, healed));
  for (const [{ damage, patient }, { unwell }] of answers) {
    if (linesOf(repair.output, patient).length === 0) continue;
    totals.broken.push(...unwell.map((what) => `${damage.name}: rebuilt, and yet ${what}`));
  }
}

/** Done to a stopped deployment. */
export async function whileStopped(trial: Trial): Promise<void> {
  const source = await trial.base.restore();
  const done = await harm(trial, source);
  if (done.length > 0) await checkStopped(trial, source, done, done);
}

/** A stopped deployment with something wrong is checked, started and asked, repaired, and asked again. */
async function checkStopped(
  trial: Trial,
  source: Source,
  done: readonly Done[],
  /** Of which there is something to be found. */
  left: readonly Done[],
): Promise<void> {
  await checkNames(trial, source, left);
  await serving(trial.deployment, source, async (server) => {
    const answers = await ask(trial, server, done);
    await checkWords(trial, server, answers);
    checkRefused(trial, answers);
  });
  await mend(trial, source, done);
}

/** Done to a deployment that runs, when gateway and signer have every state at hand; it goes on, and is stopped and looked at then. */
export async function whileRunning(trial: Trial): Promise<void> {
  const { deployment, base, totals } = trial;
  const source = await base.restore();
  const done = await serving(deployment, source, async (server) => {
    const warm = async (patient: Patient) => {
      return [patient, await probe(server.url, placeOf(deployment, patient), seededRandom(1), 2)] as const;
    };
    const warmed = new Map(await Promise.all(deployment.patients.map(warm)));
    const answers = await ask(trial, server, await harm(trial, source));
    await checkWords(trial, server, answers);
    const isOver = (probed: Probed | undefined) =>
      probed?.acts.some(({ name, outcome }) => name === voting && outcome === "right") === true;
    return [...answers].map(([each, probed]) => {
      return { ...each, isOver: isOver(probed) || isOver(warmed.get(each.patient)) };
    });
  });
  if (done.length === 0) return;
  const now = await lookAgain(source, done);
  const left = now.filter(({ isThere }) => isThere);
  totals.overwritten += now.length - left.length;
  await checkStopped(trial, source, now, left);
}

/** What the server has written since may have put in order what was not. */
async function lookAgain(source: Source, done: readonly Done[]): Promise<(Done & { isThere: boolean })[]> {
  const raw = await openRaw(source);
  try {
    const looked: (Done & { isThere: boolean })[] = [];
    for (const each of done) {
      const { patient, before, harmed } = each;
      const now = await lookAt(raw, patient);
      const changed = leftOf(before.basis, harmed.basis, now.basis);
      looked.push({ ...each, changed, isThere: isLeft(before.rows, harmed.rows, now.rows) });
    }
    return looked;
  } finally {
    await raw.close();
  }
}
