/**
 * One body, prepared twice: the attacks of a gateway that wants two results of one act. A sample of every activity that makes or draws
 * something in every situation; with `npm run figures` 50,000 preparations. KEYSTEAD_SEED repeats a run.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { exportClient } from "../../test/imports.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { activityBody } from "../../test/signer_rig.ts";
import {
  commit,
  createWorld,
  effectOf,
  keysOf,
  makers,
  prepareIn,
  prepareTwice,
  release,
  situations,
  type World,
} from "../../test/twins.ts";
import type { Prepared } from "../frames/messages.ts";

const preparations = process.env.KEYSTEAD_FIGURES === "1" ? 50_000 : 2 * Object.keys(makers).length * situations.length;

function only(prepared: readonly Prepared[]): Prepared {
  return prepared[0] ?? assert.fail("nothing was prepared");
}

test("two mnemonics of one body: two ids, and one of them is released", () => {
  const world = createWorld();
  const draft = makers.create_wallet?.(world) ?? assert.fail();
  const [first, second] = [1, 2].map(() => prepareIn(world, world.rig.operations, world.state, draft));
  assert.ok(first && second);
  const [ids, others] = [keysOf(first), keysOf(second)];
  for (const id of ids.keys()) assert.ok(!others.has(id), `${id} stands for two secrets`);
  assert.notDeepEqual(only(first).next?.header, only(second).next?.header);
  assert.deepEqual(release(world.rig.operations, first), [true]);
  assert.deepEqual(release(world.rig.operations, second), [false]);

  // The twin's record is the signer's own word still, but not under the real wallet's name.
  commit(world, first);
  const walletId = JSON.parse(only(first).activity?.result ?? "").walletId;
  const asked = { walletId, targetPublicKey: exportClient().targetPublicKey };
  const body = activityBody(world.rig, "ACTIVITY_TYPE_EXPORT_WALLET", asked);
  world.records.set(walletId, only(second).records[0] ?? assert.fail());
  const [exported] = prepareIn(world, world.rig.operations, world.state, { body, records: [walletId] });
  assert.equal(exported?.activity?.status, "ACTIVITY_STATUS_FAILED");
});

test("a sealed secret of another record, or of its twin, is not this record's", () => {
  const world = createWorld();
  const draft = makers.create_private_keys?.(world) ?? assert.fail();
  const [first, second] = [1, 2].map(() => prepareIn(world, world.rig.operations, world.state, draft));
  assert.ok(first && second);
  release(world.rig.operations, first);
  commit(world, first);
  const { privateKeyId } = JSON.parse(only(first).activity?.result ?? "").privateKeys[0];
  const own = only(first).records[0] ?? assert.fail();
  const payload = { signWith: privateKeyId, payload: "00".repeat(32), encoding: "PAYLOAD_ENCODING_HEXADECIMAL" };
  const body = activityBody(world.rig, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", {
    ...payload,
    hashFunction: "HASH_FUNCTION_NOT_APPLICABLE",
  });
  world.records.set(privateKeyId, { ...own, sealed: only(second).records[0]?.sealed ?? assert.fail() });
  assert.throws(() => prepareIn(world, world.rig.operations, world.state, { body, records: [privateKeyId] }), {
    code: "aborted",
    message: /the sealed secret of privateKey [0-9a-f-]+ does not open/,
  });
});

test(`${preparations} preparations, two of each body: never two that count`, (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seededRandom(seed);
  const counts = { preparations: 0, counted: 0, refused: 0, same: 0 };
  const plan = Object.entries(makers).flatMap(([path, make]) =>
    situations.map((situation) => ({ path, make, situation })),
  );
  let world = createWorld();
  for (let at = 0; counts.preparations < preparations; at++) {
    // A world that has lived long has long pages, and says no more.
    if (at % 200 === 199) world = createWorld();
    const { path, make, situation } = plan[at % plan.length] ?? assert.fail();
    const draft = make(world);
    const pair = prepareTwice(world, draft, situation, random);
    counts.preparations += 2;
    judge(world, pair, `KEYSTEAD_SEED=${seed}: ${path}, ${situation}`, random.below(2) === 0, counts);
    if (situation === "across a rotation") world = createWorld();
  }
  t.diagnostic(`KEYSTEAD_SEED=${seed}: ${JSON.stringify(counts)}`);
  assert.ok(counts.counted > 0 && counts.refused > counts.counted / 2, "the attack does not reach what it attacks");
});

type Counts = { counted: number; refused: number; same: number };

/** Offers both to be released, in either order, and again: one of them counts, or they are one act. */
function judge(
  world: World,
  { first, second, operations }: ReturnType<typeof prepareTwice>,
  name: string,
  isReversed: boolean,
  counts: Counts,
): void {
  for (const prepared of [first, second]) {
    const { status, failure } = only(prepared).activity ?? assert.fail(name);
    assert.equal(status, "ACTIVITY_STATUS_COMPLETED", `${name}: ${failure}`);
  }
  const isSame = effectOf(first) === effectOf(second);
  const [one, other] = isReversed ? [second, first] : [first, second];
  const [oneOut, otherOut] = [release(operations, one), release(operations, other)];
  const again = [release(operations, one), release(operations, other)];
  assert.deepEqual(again, [oneOut, otherOut], `${name}: asking again changes the answer`);
  const isOut = (rows: readonly boolean[]) => rows.some(Boolean);
  for (const rows of [oneOut, otherOut]) assert.equal(new Set(rows).size, 1, `${name}: released in part`);
  if (isSame) counts.same += 1;
  else assert.ok(!(isOut(oneOut) && isOut(otherOut)), `${name}: both were released`);
  assert.ok(isOut(oneOut) || isOut(otherOut), `${name}: none was released`);
  counts.counted += 1;
  if (!isSame) counts.refused += 1;
  const [ids, others] = [keysOf(one), keysOf(other)];
  for (const [id, record] of ids) {
    const twin = others.get(id);
    assert.ok(twin === undefined || twin.tag === record.tag, `${name}: ${id} stands for two secrets`);
  }
  const winner = isOut(oneOut) ? one : other;
  if (only(winner).expectedVersion === world.state.version) commit(world, winner);
}
