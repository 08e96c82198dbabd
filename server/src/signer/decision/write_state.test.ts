import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  offer,
  only,
  type SignerRig,
  type StoredState,
  stampOf,
  stateAfter,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { maxFrameLength } from "../../frames/frame.ts";
import type { Prepared } from "../../frames/messages.ts";
import { othersBytes, quorumBytes } from "../../rules/pending_limits.ts";
import { encodePage, maxPagesLength, maxStateLength, rootQuorumReserve } from "../../state/pages.ts";

const organizationId = "0aa0aa00-0000-4000-8000-00000000000f";

/** An organization whose pages have exactly this many bytes, of the rig's own root user and a crowd. */
function ofLength(rig: SignerRig, length: number): { state: StoredState; crowd: string[] } {
  const root = userWithKey("Root", rig.apiPrivateKey, rig.clock.nowMs);
  const crowd = Array.from({ length: 100 }, () => ({ ...root, userId: randomUUID(), apiKeys: [] }));
  const made = (userName: string) => {
    const [last, ...others] = crowd;
    if (last === undefined) throw new Error("nobody is there");
    return anotherOrganization(rig, organizationId, [root, ...others, { ...last, userName }]);
  };
  const state = made("x".repeat(length - lengthOf(made(""))));
  assert.equal(lengthOf(state), length);
  return { state, crowd: crowd.map(({ userId }) => userId) };
}

function lengthOf({ pages }: StoredState): number {
  return pages.reduce((sum, { content }) => sum + content.length, 0);
}

function prepare(rig: SignerRig, state: StoredState, type: string, parameters: unknown): Prepared {
  const body = activityBody(rig, type, parameters, { organizationId });
  const reply = offer(rig, state, body, { stamp: stampOf(rig, body) });
  assert.ok(reply.kind === "prepared");
  return only(reply.value);
}

function send(rig: SignerRig, state: StoredState, type: string, parameters: unknown): StoredState {
  return stateAfter(state, prepare(rig, state, type, parameters));
}

/** It is kept as failed, and changes nothing. */
function assertFull(rig: SignerRig, state: StoredState): void {
  const { activity, next } = prepare(rig, state, "ACTIVITY_TYPE_CREATE_USER_TAG", tag);
  assert.equal(activity?.status, "ACTIVITY_STATUS_FAILED");
  assert.match(activity?.failure ?? "", new RegExp(`organization has reached its limit of ${maxPagesLength} bytes`));
  assert.equal(next, undefined);
}

const tag = { userTagName: "one more", userIds: [] };

test("pages leave room in a frame for two bodies of the largest size, a journal and links", () => {
  assert.ok(maxStateLength + 2 * 1024 * 1024 < maxFrameLength);
});

test("however full the other pages are, what anybody may have waiting fits beside them", () => {
  assert.ok(maxPagesLength + rootQuorumReserve + othersBytes + quorumBytes <= maxStateLength);
});

test("a state that would not fit into a frame is never written; what makes it shorter is", () => {
  const rig = createSignerRig();
  const { state, crowd } = ofLength(rig, maxPagesLength - 50);
  assertFull(rig, state);
  const less = send(rig, state, "ACTIVITY_TYPE_DELETE_USERS", { userIds: crowd.slice(1, 3) });
  assert.equal(send(rig, less, "ACTIVITY_TYPE_CREATE_USER_TAG", tag).version, 3);
});

test("an organization that is too long already can still be made shorter, though it stays too long", () => {
  const rig = createSignerRig();
  const { state, crowd } = ofLength(rig, maxPagesLength + 10_000);
  assertFull(rig, state);
  const less = send(rig, state, "ACTIVITY_TYPE_DELETE_USERS", { userIds: crowd.slice(1, 3) });
  assert.ok(lengthOf(less) > maxPagesLength && lengthOf(less) < lengthOf(state));
});

test("journals that move to their page keep nobody from making an organization shorter, or from leaving it as long as it is", () => {
  const rig = createSignerRig();
  let { state } = ofLength(rig, maxPagesLength - 300);
  // In each of eight minutes a name as long as the one before.
  for (let minute = 0; minute < 8; minute++) {
    rig.clock.nowMs += 60_000;
    const name = { organizationName: `Name ${minute}` };
    const { activity, next } = prepare(rig, state, "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", name);
    assert.equal(activity?.status, "ACTIVITY_STATUS_COMPLETED", activity?.failure ?? "");
    assert.ok(next !== undefined);
    state = stateAfter(state, { next, expectedVersion: state.version } as Prepared);
  }
  assert.ok(state.pages.some(({ name }) => name === "journals"));
  assert.ok(lengthOf(state) > maxPagesLength - 300);
});

test("a page is as long as its bytes are, not its characters", () => {
  const settings = { organizationName: "ü", features: [], createdAtMs: 0, updatedAtMs: 0 };
  const plain = encodePage("settings", { ...settings, organizationName: "u" });
  assert.equal(encodePage("settings", settings).length, plain.length + 1);
});
