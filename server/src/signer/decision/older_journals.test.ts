/** Journals that have had their minute lie in a page, and keep bodies from running twice as those in the directory do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import {
  activityBody,
  createSignerRig,
  offer,
  only,
  releaseRows,
  type SignerRig,
  type StoredState,
  stateAfter,
} from "../../../test/signer_rig.ts";
import { sha256 } from "../../state/digest.ts";
import { decodeDirectory, encodeDirectory } from "../../state/directory.ts";
import { slotOf } from "../../state/journal.ts";

const minute = 60_000;

/** One tag in each of ten minutes, all committed and released. */
function tenMinutes() {
  const rig = createSignerRig();
  let state = rig.born;
  const bodies: Uint8Array[] = [];
  for (let at = 0; at < 10; at++) {
    const body = activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: `tag ${at}`, userIds: [] });
    state = run(rig, state, body);
    bodies.push(body);
    rig.clock.nowMs += minute;
  }
  return { rig, state, bodies };
}

function run(rig: SignerRig, state: StoredState, body: Uint8Array): StoredState {
  const reply = offer(rig, state, body);
  assert.equal(reply.kind, "prepared", JSON.stringify(reply));
  const row = only(reply.kind === "prepared" ? reply.value : []);
  assert.equal(releaseRows(rig, [row])[0]?.kind, "released");
  return stateAfter(state, row);
}

const isExecuted = (error: unknown) => error instanceof Fault && error.code === "already_exists";
const slotOfBody = (body: Uint8Array) => slotOf(Number(JSON.parse(Buffer.from(body).toString()).timestampMs));

test("after some minutes most journals lie in the page, and the directory stays short", () => {
  const { state } = tenMinutes();
  assert.ok(decodeDirectory(state.directory).journals.length <= 4 * 40);
  assert.ok(state.pages.some(({ name }) => name === "journals"));
});

test("a body of a minute that lies in the page does not run again, at hand or offered to a signer that has nothing at hand", () => {
  const { rig, state, bodies } = tenMinutes();
  for (const body of bodies) {
    assert.throws(() => offer(rig, state, body), isExecuted);
    const again = rig.restart();
    const journal = bodies.filter((each) => slotOfBody(each) === slotOfBody(body)).map((each) => sha256(each));
    assert.throws(() => offer(again, state, body, { journal: Buffer.concat(journal) }), isExecuted);
  }
});

test("a new body of an old minute joins its journal in the page", () => {
  const { rig, state } = tenMinutes();
  const old = String(rig.clock.nowMs - 9 * minute);
  const body = activityBody(
    rig,
    "ACTIVITY_TYPE_CREATE_USER_TAG",
    { userTagName: "late", userIds: [] },
    { timestampMs: old },
  );
  const next = run(rig, state, body);
  const page = ({ pages }: StoredState) => pages.find(({ name }) => name === "journals")?.content;
  assert.notDeepEqual(page(next), page(state));
  assert.throws(() => offer(rig, next, body), isExecuted);
});

test("a state without that page, or with an older one of it, is refused", () => {
  const { rig, state } = tenMinutes();
  const body = activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "new", userIds: [] });
  const without = { ...state, pages: state.pages.filter(({ name }) => name !== "journals") };
  assert.throws(() => offer(rig.restart(), without, body), /page `journals` is missing/);
  const empty = { name: "journals", content: Buffer.from('{"format":1,"journals":""}') };
  const emptied = { ...state, pages: [...without.pages, empty] };
  assert.throws(() => offer(rig.restart(), emptied, body), /page `journals` was changed/);
  const directory = encodeDirectory({ ...decodeDirectory(state.directory), journals: new Uint8Array() });
  assert.throws(() => offer(rig.restart(), { ...state, directory }, body), /directory does not match/);
});
