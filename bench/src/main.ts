/**
 * `npm run bench`: CPU time per request beside the bare cost of what a request cannot do without, measured in the same run,
 * because ratios travel between machines and times do not. `--quick` for a look, `--json FILE` for machines,
 * `--database sqlite|postgres` for one of them, `--check` to end with exit code 1 when a target is missed, `--against REF` to
 * measure the same requests in an earlier version instead, beside this one, `--scale` few sub-organizations against many,
 * `--scale --wallets` few wallets against many, `--attack` honest clients before and during attacks, `--attack --only PATTERN`
 * some of them, `--attack --except PATTERN` all others, `--attack --alone --only PATTERN` what a flooding organization gets when
 * nobody else asks, against the last version in which organizations did not share (`--against REF`: another version), `--timing`
 * to compare times that might tell something about one-time codes, `--log` to measure signatures and starts with the log against
 * the last version that had none (`--log --against REF`: another version).
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { againstText, measureAgainst, missedAgainst } from "./against.ts";
import { aloneText, measureAlone, missedAlone } from "./alone.ts";
import { measureAttacks } from "./attack.ts";
import { attackText, missedAttacks } from "./attack_report.ts";
import { medianOf, prepareBaselines } from "./baselines.ts";
import { codeTimingText, isApart, measureCodeTiming } from "./code_timing.ts";
import { type DatabaseName, openDatabase } from "./databases.ts";
import { measureDecisions } from "./decision.ts";
import { lastBeforeSharing, lastWithoutLog, takeOut } from "./earlier_build.ts";
import { measureGuarded } from "./guarded.ts";
import { startLoad } from "./load.ts";
import { measureLogCost } from "./log_cost.ts";
import { measureProof } from "./log_proof.ts";
import { type LogReport, logFigures, logText } from "./log_report.ts";
import {
  connectionCounts,
  endpoints,
  measureBaselines,
  measurePhase,
  memoryOfServer,
  type Subject,
  summarise,
  warmUp,
} from "./measure.ts";
import { startNeighbours } from "./neighbours.ts";
import { measurePasskey } from "./passkey_stamps.ts";
import { type DatabaseReport, missedAmong, missedTargets, type Report, toJson, toText } from "./report.ts";
import { measureScale, scaleTarget, scaleText } from "./scale.ts";
import { measureSignIns } from "./sign_ins.ts";
import { measureStarts } from "./start_time.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean" },
    check: { type: "boolean" },
    scale: { type: "boolean" },
    wallets: { type: "boolean" },
    attack: { type: "boolean" },
    only: { type: "string" },
    except: { type: "string" },
    alone: { type: "boolean" },
    timing: { type: "boolean" },
    log: { type: "boolean" },
    against: { type: "string" },
    json: { type: "string" },
    database: { type: "string" },
  },
});
const plan = options.quick
  ? {
      starts: 1,
      rounds: 1,
      phaseSeconds: 1,
      warmUpSeconds: 1.5,
      baselineSeconds: 0.2,
      decisions: { rounds: 30, seconds: 0.02 },
      guarded: { warmUpRequests: 2_000, rounds: 5, requests: 300 },
      signIns: { warmUpRequests: 100, rounds: 2, requests: 100, baselineSeconds: 0.2 },
    }
  : {
      starts: 3,
      rounds: 3,
      phaseSeconds: 2,
      warmUpSeconds: 15,
      baselineSeconds: 0.3,
      decisions: { rounds: 150, seconds: 0.02 },
      guarded: { warmUpRequests: 6_000, rounds: 15, requests: 600 },
      signIns: { warmUpRequests: 1_000, rounds: 5, requests: 400, baselineSeconds: 0.3 },
    };

const names = (["sqlite", "postgres"] as const).filter((name) => (options.database ?? name) === name);
if (options.timing) {
  const size = options.quick ? { pairs: 300, warmUpPairs: 100 } : { pairs: 20_000, warmUpPairs: 500 };
  const measured = await measureCodeTiming(size, say);
  console.log(codeTimingText(measured));
  process.exit(options.check && measured.some(isApart) ? 1 : 0);
}
const load = startLoad();
if (options.scale) {
  const scale = options.quick
    ? { few: 300, many: 3_000, rounds: 1, requests: 400 }
    : { few: 1_000, many: 100_000, rounds: 5, requests: 400 };
  for (const name of names) {
    const measured = await measureScale(load, name, options.wallets ? "wallets" : "subOrganizations", scale);
    console.log(scaleText(measured));
    if (options.check && measured.rows.some(({ ratio }) => ratio > scaleTarget)) process.exitCode = 1;
  }
  load.stop();
  process.exit();
}
if (options.attack) {
  const size = options.quick ? { rounds: 1, seconds: 5 } : { rounds: 3, seconds: 10 };
  const earlier = options.alone ? takeOut(options.against ?? lastBeforeSharing) : undefined;
  for (const name of names) {
    const plan = { ...size, leadMs: 2_000, only: chosen(options), isQuick: options.quick === true };
    if (earlier !== undefined) {
      const rows = await measureAlone(name, plan, earlier, say);
      for (const row of rows) console.log(aloneText(row));
      tellMissed(missedAlone(rows));
      continue;
    }
    const measured = await measureAttacks(load, name, plan, say);
    console.log(`${attackText(measured)}\n`);
    tellMissed(missedAttacks(measured));
  }
  earlier?.remove();
  load.stop();
  process.exit();
}
if (options.log) {
  const plan = options.quick
    ? { warmUpRequests: 2_000, rounds: 5, requests: 1_500, starts: 3 }
    : { warmUpRequests: 12_000, rounds: 15, requests: 6_000, starts: 9 };
  const earlier = takeOut(options.against ?? lastWithoutLog);
  try {
    say("proofs");
    const proof = measureProof({ leaves: 1_000_000, rounds: options.quick ? 10 : 100, seconds: 0.02 });
    const measured: LogReport = { commit: earlier.commit, proof, databases: [] };
    for (const name of names) measured.databases.push(await measureLogCost(load, name, earlier, plan, say));
    console.log(logText(measured));
    const missed = missedAmong(logFigures(measured));
    for (const target of missed) console.log(`MISSED: ${target}`);
    if (options.check && missed.length > 0) process.exitCode = 1;
  } finally {
    earlier.remove();
    load.stop();
  }
  process.exit();
}
if (options.against !== undefined) {
  const plan = options.quick
    ? { warmUpRequests: 1_000, rounds: 2, seconds: 1 }
    : { warmUpRequests: 12_000, rounds: 15, seconds: 2 };
  const earlier = takeOut(options.against);
  try {
    for (const name of names) {
      const rows = await measureAgainst(load, name, earlier, plan, say);
      for (const row of rows) console.log(againstText(row));
      tellMissed(missedAgainst(rows));
    }
  } finally {
    earlier.remove();
    load.stop();
  }
  process.exit();
}
say("decisions");
const decision = measureDecisions(plan.decisions);
const report: Report = { decision, databases: [] };
const neighbours = startNeighbours();
for (const name of names) report.databases.push(await measureDatabase(name));
neighbours.stop();
load.stop();

console.log(toText(report));
if (options.json !== undefined) writeFileSync(options.json, `${toJson(report)}\n`);
const missed = missedTargets(report);
for (const target of missed) console.log(`MISSED: ${target}`);
if (options.check && missed.length > 0) process.exitCode = 1;

async function measureDatabase(name: DatabaseName): Promise<DatabaseReport> {
  say(`${name}: starting`);
  const database = await openDatabase[name]();
  // All of them come from one address.
  const env = { KEYSTEAD_PROXY_BUDGETS: '{"signUps": 1000000}' };
  const { server, times, remove } = await measureStarts(database, plan.starts, env);
  const baselines = await prepareBaselines(plan.baselineSeconds, database.prepareInsert);
  const subject: Subject = { database, server, signWith: [], baselines, bare: [], atRest: [], phases: [] };
  try {
    say(`${name}: warming up`);
    await warmUp(load, subject, plan.warmUpSeconds);
    for (let round = 1; round <= plan.rounds; round++) {
      for (const endpoint of endpoints) {
        for (const connections of connectionCounts) {
          say(`${name}: ${endpoint} at ${connections} connections, round ${round} of ${plan.rounds}`);
          await measureBaselines(subject, neighbours);
          await measurePhase(load, subject, endpoint, connections, plan.phaseSeconds);
        }
      }
    }
    const guarded = await measureGuarded(load, subject, plan.guarded, say);
    const passkey = await measurePasskey(load, subject, plan.guarded, say);
    const signIns = await measureSignIns(load, subject, plan.signIns, say);
    return {
      database: name,
      guarded,
      passkey,
      signIns,
      bare: medianOf(subject.bare),
      atRest: medianOf(subject.atRest),
      phases: endpoints.flatMap((endpoint) =>
        connectionCounts.map((connections) =>
          summarise(subject.phases.filter((phase) => phase.endpoint === endpoint && phase.connections === connections)),
        ),
      ),
      starts: times,
      memory: await memoryOfServer(server),
    };
  } finally {
    await baselines.close();
    await remove();
    await database.close();
  }
}

function tellMissed(missed: readonly string[]): void {
  for (const words of missed) console.log(`MISSED: ${words}`);
  if (options.check && missed.length > 0) process.exitCode = 1;
}

/** Without an exception nothing is excepted: `(?!)` fits nowhere. */
function chosen({ only = "", except = "(?!)" }: { only?: string; except?: string }): RegExp {
  return new RegExp(`^(?!.*(?:${except})).*(?:${only})`);
}

function say(progress: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progress}`);
}
