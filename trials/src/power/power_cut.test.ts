/**
 * Power cuts under load on SQLite: everything that was not synced may be lost, in part or in another order, sector by sector.
 * A start on what is left must serve by itself, have all that was acknowledged, and give the same answers again. A sample
 * here, 200 cuts with `npm run figures`. KEYSTEAD_SEED repeats a run's choices (not its timing); what a cut that failed had
 * left is kept.
 */
import assert from "node:assert/strict";
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { startKeystead } from "@keystead/e2e/keystead_server.ts";
import { noTestDisk, readBootstrap } from "@keystead/e2e/test_disk/test_disk.ts";
import { macLength, magic } from "@keystead/server/signer/memory/memory_records.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull, samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { checkStored, rememberedAt, type Stored } from "./check_stored.ts";
import { emptyImage, keepAll, readImage } from "./disk_image.ts";
import {
  type Cut,
  checkCut,
  chooseCuts,
  countTold,
  createCutter,
  keepForLater,
  type Run,
  rebuild,
  recordRun,
} from "./power_cut.ts";
import type { SeenCheckpoint } from "./watch_log.ts";
import { furnishTheatre, type Ledger, type Theatre, workPaths } from "./workload.ts";

const cuts = samples.powerCuts;
const cutsPerRun = 4;
/** Runs on one folder, one after the other, each on what the cut before it left. */
const runsPerFolder = 3;

const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
const options = { skip: noTestDisk(), timeout: testTimeoutMs };

type Tally = {
  cuts: number;
  runs: number;
  told: number;
  untold: number;
  checkpoints: number;
  complaints: string[];
  done: Set<string>;
};

test(
  `${cuts} power cuts on SQLite: nothing acknowledged is lost, the same body gets the same answer`,
  options,
  async (t) => {
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const tally: Tally = { cuts: 0, runs: 0, told: 0, untold: 0, checkpoints: 0, complaints: [], done: new Set() };
    const template = await furnishTemplate(t);
    for (let folder = 0; isGoingOn(tally); folder++) {
      // Every third folder is new: then the power goes during the very first start, too.
      if (folder % 3 === 0) await cutRepeatedly(t, tally, freshDataFolder(t), undefined, 1);
      else {
        const dataFolder = freshDataFolder(t);
        cpSync(template.dataFolder, dataFolder, { recursive: true });
        await cutRepeatedly(t, tally, dataFolder, template.theatre, runsPerFolder);
      }
    }
    t.diagnostic(
      `SQLite, seed ${seed}: ${tally.cuts} power cuts in ${tally.runs} runs of ${tally.done.size} of ${workPaths.length} activity types; ` +
        `${tally.told} acknowledged answers asked for again, ${tally.untold} unanswered requests sent again, ` +
        `${tally.checkpoints} checkpoints that had been shown held against the log; ` +
        `lost, half-applied or otherwise: ${tally.complaints.length}`,
    );
    assert.deepEqual(
      tally.complaints,
      [],
      `to repeat its choices: KEYSTEAD_SEED=${seed} KEYSTEAD_SAMPLES=powerCuts=${cuts}`,
    );
    assert.equal(tally.cuts, cuts);
    const undone = workPaths.filter((path) => !tally.done.has(path));
    if (isFull) assert.deepEqual(undone, [], "activities that were never done");
    assert.ok(tally.told > 2 * cuts, `only ${tally.told} answers to hold against it: no load`);
  },
);

const isGoingOn = ({ cuts: made, complaints }: Tally): boolean => made < cuts && complaints.length === 0;

/** Runs on one folder, each from the last cut of the one before; the other cuts of a run are looked at by themselves. */
async function cutRepeatedly(
  t: TestContext,
  tally: Tally,
  firstFolder: string,
  theatre: Theatre | undefined,
  runs: number,
): Promise<void> {
  const random = seededRandom(seed + tally.cuts);
  let dataFolder = firstFolder;
  let ledger: Ledger = [];
  let seen: SeenCheckpoint[] = [];
  for (let n = 0; n < runs && isGoingOn(tally); n++) {
    const run = await recordRun(t, { dataFolder, ledger, seen, theatre, workMs: 300 + random.below(600), random });
    tally.runs += 1;
    tally.complaints.push(...run.complaints);
    for (const path of run.done.keys()) tally.done.add(path);
    const places = chooseCuts(run, Math.min(cutsPerRun, cuts - tally.cuts), random);
    const cutter = createCutter(run);
    for (const [index, place] of places.entries()) {
      const cut = cutter(place, random);
      const left = rebuild(run, cut, freshDataFolder(t));
      tally.cuts += 1;
      tally.told += countTold(cut.ledger);
      tally.untold += cut.ledger.length - countTold(cut.ledger);
      const goesOn = n < runs - 1 && index === places.length - 1 && tally.cuts < cuts;
      tally.checkpoints += cut.seen.length;
      if (goesOn) [dataFolder, ledger, seen] = [left, cut.ledger, cut.seen];
      else tally.complaints.push(...(await check(run, cut, left, theatre)));
    }
  }
}

/** What a cut left stays, as it was before anybody started on it, when the start is not as it must be. */
async function check(run: Run, cut: Cut, folder: string, theatre: Theatre | undefined): Promise<string[]> {
  const complaints = await checkCut(folder, cut, theatre);
  rmSync(dirname(folder), { recursive: true });
  if (complaints.length === 0) return [];
  return [`${cut.name}; what it left is in ${keepForLater(run, cut)}`, ...complaints.slice(0, 10)];
}

/** A deployment with people in it, to be copied. */
async function furnishTemplate(t: TestContext): Promise<{ dataFolder: string; theatre: Theatre }> {
  const dataFolder = freshDataFolder(t);
  await (await startKeystead({ dataFolder })).stop();
  return { dataFolder, theatre: await furnishTheatre(dataFolder, undefined, 4) };
}

test(
  "the test disk writes down all there is, and a disk that lies about its syncs is found out",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    const options = { dataFolder, ledger: [], seen: [], theatre: undefined, workMs: 0, random: seededRandom(seed) };
    const run = await recordRun(t, { ...options, ends: "in order" });
    const last = run.changes.length - 1;

    const seen = keepAll(readImage(dataFolder));
    createCutter(run)(last, seededRandom(seed));
    const noted = keepAll(run.before);
    assert.deepEqual([...noted.files.keys()].sort(), [...seen.files.keys()].sort());
    for (const [path, bytes] of seen.files) assert.ok(noted.files.get(path)?.equals(bytes), `${path} differs`);

    const lying = createCutter({ ...run, before: emptyImage(dataFolder) }, { liesAboutSyncs: true });
    const cut = lying(last, { ...seededRandom(seed), pick: ([first]) => first as never });
    const complaints = await checkCut(rebuild(run, cut, freshDataFolder(t)), cut, undefined);
    assert.ok(complaints.length > 0, "all was lost, and nobody noticed");
  },
);

test(
  "a signer that forgot what it must remember is found out, and so is a record that is not its own",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    await recordRun(t, {
      ...{ dataFolder, ledger: [], seen: [], theatre: undefined, workMs: 0, random: seededRandom(seed) },
      ends: "in order",
    });
    const folder = join(dataFolder, "database");
    const { organizationId } = readBootstrap(dataFolder);
    const remembered = rememberedAt(dataFolder);
    const version = remembered.get(organizationId) ?? 0;
    assert.ok(version > 5, `version ${version}`);
    const acted = new Set([organizationId]);
    const complaints = (how: Partial<Stored>) =>
      checkStored({ source: { kind: "sqlite", folder }, dataFolder, remembered: new Map(), acted: new Set(), ...how });
    assert.deepEqual(await complaints({ remembered, acted }), []);

    const path = join(dataFolder, "signer", "memory");
    const memory = readFileSync(path);
    // Behind its birth and its deployment comes the first release.
    truncateSync(path, magic.length + 2 * (8 + 17 + macLength));
    const forgot = [`organization ${organizationId}: the signer remembers version 0, and had remembered ${version}`];
    assert.deepEqual(await complaints({ remembered }), forgot);
    assert.deepEqual(await complaints({ acted }), forgot);
    assert.deepEqual(await complaints({}), [], "what was never waited for may be forgotten");
    writeFileSync(path, memory);

    const database = new DatabaseSync(join(folder, "keystead.db"));
    const row = database.prepare("select leaf from leaves where number = 2").get() as { leaf: Uint8Array };
    database.prepare("update leaves set leaf = ? where number = 2").run(row.leaf.with(-1, (row.leaf.at(-1) ?? 0) ^ 1));
    database.close();
    assert.match((await complaints({})).join("\n"), /a leaf is not the signer's/);
  },
);
