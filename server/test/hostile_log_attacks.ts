/** What a hostile gateway asks of the log: other places, other sizes, other leaves, older pages. */
import { type Attack, flip, forkOf, links, newest, older, release, seenOf } from "./hostile_material.ts";
import { offered } from "./hostile_run.ts";
import { shuffled } from "./seeded_random.ts";

const rowsOf: (aim: Parameters<Attack>[0]) => ReturnType<typeof seenOf>["rows"] = (aim) =>
  [aim.run.parentId, aim.run.targetOrganization.organizationId, aim.run.neighbour.organizationId].flatMap(
    (id) => seenOf(aim, id).rows,
  );

export const logAttacks = {
  "checkpoints of any size": (aim) =>
    [0, 1, 2 ** 31, 2 ** 40, aim.random.below(200)].map((size) => ({ kind: "checkpoint", message: { size } })),
  "the tail from any place": (aim) =>
    [0, 2 ** 40, aim.random.below(200)].map((from) => ({ kind: "logTail", message: { from } })),
  "released leaves in another order": (aim) => [release(shuffled(rowsOf(aim), aim.random).slice(0, 20), links(aim))],
  "the same leaf again and again": (aim) => {
    const row = aim.random.pick(rowsOf(aim));
    return [release([row, row, row], links(aim))];
  },
  "leaves to be taken in: released, never released, bent, and twice": (aim) => {
    const [row, fork] = [aim.random.pick(rowsOf(aim)), aim.random.pick(forkOf(aim).rows)];
    const leaves = [row.leaf, fork.leaf, flip(row.leaf, aim.random), row.leaf, new Uint8Array(3)];
    return [{ kind: "takeIn", message: { leaves, last: aim.random.below(2) === 0 } }];
  },
  "a log that is listed, to be listed again": (aim) => [
    {
      kind: "openLog",
      message: { state: offered(newest(aim, aim.run.parentId), links(aim)), checkpoints: ["no note at all"] },
    },
  ],
  "statements on older pages, or another organization's": (aim) => {
    const states = [...seenOf(aim, aim.run.parentId).states, older(aim), newest(aim)];
    const first = offered(aim.random.pick(states), links(aim));
    return [{ kind: "logStatement", message: { organizationId: aim.run.targetOrganization.organizationId, first } }];
  },
} as const satisfies Record<string, Attack>;
