/**
 * What a gateway under an attacker's hand can make of valid material. Every frame here carries MACs the signer itself made:
 * old states, forks, other organizations' pages. None of it may be approved, and what was let out without its leaf is named.
 */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck, openStatement } from "@keystead/core/log/released.ts";
import { p256 } from "@noble/curves/nist.js";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  createTagBody,
  listLog,
  offer,
  only,
  prepareOn,
  releaseRows,
  type SignerRig,
  type StoredState,
  stampOf,
  stateAfter,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { protocolVersion } from "../../frames/frame.ts";
import type { Prepared } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { objectId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";
import { slotOf } from "../../state/journal.ts";
import { createLine } from "../decision/line.ts";
import { openKeyring } from "../secrets/keyring.ts";

/** Commits and releases `names.length` tags, one after another; every state on the way. */
function history(
  rig: SignerRig,
  names: readonly string[],
): { states: StoredState[]; rows: Prepared[]; bodies: Uint8Array[] } {
  const states = [rig.born];
  const rows: Prepared[] = [];
  const bodies: Uint8Array[] = [];
  for (const name of names) {
    const body = createTagBody(rig, name);
    const row = prepareOn(rig, states.at(-1), body);
    states.push(stateAfter(states.at(-1), row));
    rows.push(row);
    bodies.push(body);
    assert.equal(releaseRows(rig, [row])[0]?.kind, "released");
  }
  return { states, rows, bodies };
}

function at<T>(list: readonly T[], index: number): T {
  const item = list.at(index);
  if (item === undefined) throw new Error("no such item");
  return item;
}

test("every state older than the newest released one is refused, though its MAC is valid", () => {
  const rig = createSignerRig();
  const { states } = history(rig, ["a", "b", "c", "d"]);
  for (const old of states.slice(0, -1)) {
    assert.throws(() => offer(rig, old, createTagBody(rig, "x")), {
      code: "aborted",
      message: /released version 5/,
    });
  }
  assert.equal(offer(rig, at(states, -1), createTagBody(rig, "x")).kind, "prepared");
});

test("old states stay refused by a signer that was started anew", () => {
  const rig = createSignerRig();
  const { states, bodies } = history(rig, ["a", "b"]);
  const again = rig.restart();
  for (const old of states.slice(0, -1)) {
    assert.throws(() => offer(again, old, createTagBody(rig, "x")), { code: "aborted" });
  }
  const entries = Buffer.concat(bodies.map((body) => sha256(body)));
  assert.equal(offer(again, at(states, -1), createTagBody(rig, "x"), { journal: entries }).kind, "prepared");
});

test("a longer fork that lacks a released change is refused, with all its links", () => {
  const rig = createSignerRig();
  const fork: { states: StoredState[]; rows: Prepared[] } = { states: [rig.born], rows: [] };
  for (const name of ["f1", "f2", "f3", "f4"]) {
    const row = prepareOn(rig, fork.states.at(-1), createTagBody(rig, name));
    fork.rows.push(row);
    fork.states.push(stateAfter(fork.states.at(-1), row));
  }
  const { states } = history(rig, ["honest"]);
  assert.equal(at(states, -1).version, 2);
  const links = fork.states.slice(1).map(({ header }) => header);
  for (const forked of fork.states.slice(1)) {
    assert.throws(() => offer(rig, forked, createTagBody(rig, "x"), { links }), {
      code: "aborted",
      message: /rolled back or forked/,
    });
  }
  for (const row of fork.rows) assert.equal(releaseRows(rig, [row], links)[0]?.kind, "refused");
  // All of them at once, and in a signer that has to learn the links first.
  assert.ok(releaseRows(rig.restart(), fork.rows, links).every(({ kind }) => kind === "refused"));
});

test("two states at one version: the first released wins, the other is refused for good", () => {
  const rig = createSignerRig();
  const one = prepareOn(rig, rig.born, createTagBody(rig, "one"));
  const other = prepareOn(rig, rig.born, createTagBody(rig, "other"));
  assert.equal(releaseRows(rig, [one])[0]?.kind, "released");
  assert.equal(releaseRows(rig, [other])[0]?.kind, "refused");
  assert.throws(() => offer(rig, stateAfter(rig.born, other), createTagBody(rig, "x")), { code: "aborted" });
});

test("another organization's state does not carry a body, and a body's organization does not choose the state", () => {
  const [rig, stranger] = [createSignerRig(), createSignerRig()];
  const body = createTagBody(rig, "x");
  // Another deployment's MAC.
  assert.throws(() => offer(rig, stranger.born, body), { code: "aborted", message: /header was not written/ });
  // The right state, a body that names another organization.
  const foreign = activityBody(
    rig,
    "ACTIVITY_TYPE_CREATE_USER_TAG",
    { userTagName: "x", userIds: [] },
    {
      organizationId: stranger.orders.birth.organizationId,
    },
  );
  assert.throws(() => offer(rig, rig.born, foreign), { code: "aborted", message: /another organization/ });
});

test("two organizations of one deployment: neither state, page nor user of one serves the other", () => {
  const rig = createSignerRig();
  const otherId = "0aa0aa00-0000-4000-8000-00000000000b";
  const strangerKey = p256.utils.randomSecretKey();
  const stranger = userWithKey("Stranger", strangerKey, rig.clock.nowMs);
  const other = anotherOrganization(rig, otherId, [stranger]);
  const body = createTagBody(rig, "x");
  assert.throws(() => offer(rig, other, body), { code: "aborted", message: /another organization/ });
  const strangersStamp = signStamp(strangerKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  assert.throws(() => offer(rig, rig.born, body, { stamp: strangersStamp }), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.throws(() => offer(rig, { ...rig.born, pages: other.pages }, body, { stamp: strangersStamp }), {
    code: "aborted",
    message: /page `logs` is missing/,
  });
  const mixed = [...other.pages, ...rig.born.pages.filter(({ name }) => name === "logs")];
  assert.throws(() => offer(rig, { ...rig.born, pages: mixed }, body, { stamp: strangersStamp }), /was changed/);
  assert.throws(() => offer(rig, { ...rig.born, directory: other.directory, pages: other.pages }, body), /directory/);
  // The other organization's own request is fine, and its row says nothing about the first.
  const own = activityBody(
    rig,
    "ACTIVITY_TYPE_CREATE_USER_TAG",
    { userTagName: "x", userIds: [] },
    { organizationId: otherId },
  );
  const reply = offer(rig, other, own, { stamp: signStamp(strangerKey, "SIGNATURE_SCHEME_TK_API_P256", own) });
  assert.equal(reply.kind, "prepared");
});

test("a user outside the quorum gets a refusal on record and no state, whatever the frame says", () => {
  const rig = createSignerRig();
  const organizationId = "0aa0aa00-0000-4000-8000-00000000000c";
  const memberKey = p256.utils.randomSecretKey();
  const root = userWithKey("Root", p256.utils.randomSecretKey(), rig.clock.nowMs);
  const state = anotherOrganization(rig, organizationId, [root, userWithKey("Member", memberKey, rig.clock.nowMs)]);
  const body = activityBody(
    rig,
    "ACTIVITY_TYPE_CREATE_USER_TAG",
    { userTagName: "x", userIds: [] },
    { organizationId },
  );
  const reply = offer(rig, state, body, { stamp: signStamp(memberKey, "SIGNATURE_SCHEME_TK_API_P256", body) });
  assert.ok(reply.kind === "prepared");
  const { next, activity } = only(reply.value);
  assert.equal(next, undefined);
  assert.equal(activity?.status, "ACTIVITY_STATUS_REJECTED");
  assert.equal(activity?.result, undefined);
});

test("a signer that takes a running deployment as found refuses old states from then on", () => {
  const rig = createSignerRig();
  const { states, bodies } = history(rig, ["a", "b"]);
  const joined = rig.restart({
    folder: mkdtempSync(join(tmpdir(), "keystead-joined-")),
    orders: { adoptUnknown: true },
  });
  const journal = Buffer.concat(bodies.map((body) => sha256(body)));
  const listed = listLog(joined, at(states, -1));
  const reply = offer(joined, listed, createTagBody(rig, "c"), { journal });
  assert.ok(reply.kind === "prepared");
  assert.equal(releaseRows(joined, reply.value)[0]?.kind, "released");
  assert.match(rig.notes.join("\n"), /taking organization .* at version 4, as found in the database/);
  for (const old of states) assert.throws(() => offer(joined, old, createTagBody(rig, "x")), { code: "aborted" });
});

test("edited, omitted and swapped pages are refused, each with its name", () => {
  const rig = createSignerRig();
  const { states } = history(rig, ["a"]);
  const state = at(states, -1);
  const body = createTagBody(rig, "x");
  const page = (name: string) =>
    at(
      state.pages.filter((candidate) => candidate.name === name),
      0,
    );
  const withPages = (pages: StoredState["pages"]): StoredState => ({ ...state, pages: [...pages, page("logs")] });

  const text = new TextDecoder().decode(page("members").content);
  const intruder = text.replaceAll(rig.orders.birth.apiPublicKey, toHex(new Uint8Array(33).fill(2)));
  assert.notEqual(intruder, text);
  const edited = { name: "members", content: new TextEncoder().encode(intruder) };
  assert.throws(() => offer(rig, withPages([edited, page("settings")]), body), /page `members` was changed/);

  const noUsers = {
    name: "members",
    content: new TextEncoder().encode(JSON.stringify({ ...JSON.parse(text), users: [] })),
  };
  assert.throws(() => offer(rig, withPages([noUsers, page("settings")]), body), /page `members` was changed/);
  assert.throws(() => offer(rig, withPages([page("settings")]), body), /page `members` is missing/);
  const swapped = [
    { name: "members", content: page("settings").content },
    { name: "settings", content: page("members").content },
  ];
  assert.throws(() => offer(rig, withPages(swapped), body), /was changed/);
  // Yesterday's page under today's header.
  const old = at(states, 0).pages;
  assert.throws(() => offer(rig, { ...state, pages: old }, body), /was changed/);
  // Yesterday's directory under today's header.
  assert.throws(() => offer(rig, { ...state, directory: at(states, 0).directory }, body), /directory does not match/);
});

test("no bit of a header, a directory, a page or a leaf can be flipped", () => {
  const rig = createSignerRig();
  const { states } = history(rig, ["a"]);
  const state = at(states, -1);
  const body = createTagBody(rig, "x");
  const row = prepareOn(rig, state, body);
  let refused = 0;
  const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
    const copy = Uint8Array.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return copy;
  };
  for (let bit = 0; bit < state.header.length * 8; bit++) {
    assert.throws(() => offer(rig, { ...state, header: flipped(state.header, bit) }, body));
    refused += 1;
  }
  for (let bit = 0; bit < state.directory.length * 8; bit += 3) {
    assert.throws(() => offer(rig, { ...state, directory: flipped(state.directory, bit) }, body));
    refused += 1;
  }
  for (const [index, page] of state.pages.entries()) {
    for (let bit = 0; bit < page.content.length * 8; bit += 7) {
      const pages = state.pages.with(index, { ...page, content: flipped(page.content, bit) });
      assert.throws(() => offer(rig, { ...state, pages }, body));
      refused += 1;
    }
  }
  for (let bit = 0; bit < row.leaf.length * 8; bit += 5) {
    const [outcome] = rig.operations.release({
      rows: [{ leaf: flipped(row.leaf, bit), sealed: undefined }],
      links: [],
    });
    assert.equal(outcome?.kind, "refused");
    refused += 1;
  }
  assert.ok(refused > 2_000, `${refused} variants`);
});

test("an executed body is not executed again after its effect was undone, on any state that follows", () => {
  const rig = createSignerRig();
  const body = createTagBody(rig, "short-lived");
  const created = prepareOn(rig, rig.born, body);
  const afterCreate = stateAfter(rig.born, created);
  releaseRows(rig, [created]);
  const tagId = objectId(uuidToBytes(rig.orders.birth.organizationId), sha256(body), 0);
  const undo = activityBody(rig, "ACTIVITY_TYPE_DELETE_USER_TAGS", { userTagIds: [tagId] });
  const deleted = prepareOn(rig, afterCreate, undo);
  const afterDelete = stateAfter(afterCreate, deleted);
  releaseRows(rig, [deleted]);

  const replay = (state: StoredState | undefined, signer: SignerRig, journal?: Uint8Array) =>
    offer(signer, state, body, journal === undefined ? {} : { journal });
  assert.throws(() => replay(afterDelete, rig), { code: "already_exists" });
  // A signer without the journal at hand asks for it, and believes neither an empty, a shortened nor a reordered one.
  const entries = Buffer.concat([sha256(body), sha256(undo)]);
  for (const forged of [new Uint8Array(0), sha256(undo), Buffer.concat([sha256(undo), sha256(body)])]) {
    assert.deepEqual(replay(afterDelete, rig.restart(), forged), {
      kind: "again",
      value: [{ kind: "journal", value: { slot: slotOf(rig.clock.nowMs) } }],
    });
  }
  assert.throws(() => replay(afterDelete, rig.restart(), entries), { code: "already_exists" });
  // And when the slot has left the journals, the body has left the liveness window.
  rig.clock.nowMs += 3_600_000 + 300_000;
  assert.throws(() => replay(afterDelete, rig), { code: "invalid_argument", message: /outside the allowed window/ });
});

test("time is the signer's: no frame can make an old body young", () => {
  const rig = createSignerRig();
  const late = activityBody(
    rig,
    "ACTIVITY_TYPE_CREATE_USER_TAG",
    { userTagName: "x", userIds: [] },
    {
      timestampMs: String(rig.clock.nowMs - 3_600_001),
    },
  );
  assert.throws(() => offer(rig, rig.born, late), { code: "invalid_argument", errorCode: "REQUEST_INVALID" });
});

test("a stamp by a key that is not in the state, or over other bytes, is refused", () => {
  const rig = createSignerRig();
  const stranger = createSignerRig();
  const body = createTagBody(rig, "x");
  assert.throws(() => offer(rig, rig.born, body, { stamp: stampOf(stranger, body) }), {
    code: "unauthenticated",
    errorCode: "PUBLIC_KEY_NOT_FOUND",
  });
  assert.throws(() => offer(rig, rig.born, body, { stamp: stampOf(rig, createTagBody(rig, "y")) }), {
    code: "unauthenticated",
    errorCode: "SIGNATURE_INVALID",
  });
});

test("an empty database does not make a second birth", () => {
  const rig = createSignerRig();
  assert.throws(() => rig.restart().operations.birth({}), {
    code: "failed_precondition",
    message: /remembers deployment/,
  });
});

test("a memory that knows nothing prepares nothing", () => {
  const rig = createSignerRig();
  const { states } = history(rig, ["a"]);
  // The same root key and keyring, but the folder of somebody who has never released anything.
  const lost = rig.restart({ folder: mkdtempSync(join(tmpdir(), "keystead-blank-")) });
  assert.throws(() => offer(lost, at(states, -1), createTagBody(rig, "x")), {
    code: "unavailable",
    message: /accept-database/,
  });
  // Only the operator's own order lets it accept what it is shown.
  assert.throws(() => lost.operations.accept({ headers: [at(states, -1).header], last: true }), {
    code: "permission_denied",
  });
});

test("a memory that has lost everything does not take the real birth, nor what follows it, for its own", () => {
  const rig = createSignerRig();
  const { states, rows } = history(rig, ["a", "b"]);
  const lost = rig.restart({ folder: mkdtempSync(join(tmpdir(), "keystead-blank-")) });
  const links = states.map(({ header }) => header);
  assert.throws(() => releaseRows(lost, [rig.birthRow]), { code: "unavailable", message: /accept-database/ });
  assert.throws(() => releaseRows(lost, rows, links), { code: "unavailable" });
  assert.equal(lost.operations.hello({ protocol: protocolVersion, keyring: rig.keyring }).remembers, false);
});

test("a birth that was committed and not released is finished by the signer that made it", () => {
  const rig = createSignerRig({ releaseBirth: false });
  const again = rig.restart();
  assert.equal(again.operations.hello({ protocol: protocolVersion, keyring: rig.keyring }).remembers, true);
  assert.throws(() => offer(again, rig.born, createTagBody(rig, "x")), { code: "unavailable" });
  assert.equal(releaseRows(again, [rig.birthRow])[0]?.kind, "released");
  assert.equal(offer(again, rig.born, createTagBody(rig, "x")).kind, "prepared");
});

test("an acceptance that is not concluded changes nothing, and what it sets back is told past the gateway", () => {
  const rig = createSignerRig();
  const { states } = history(rig, ["a", "b"]);
  const operator = rig.restart({ orders: { acceptDatabase: true } });
  operator.operations.accept({ headers: [at(states, 0).header], last: false });
  assert.match(rig.notes.join("\n"), /SET BACK from version 3 to version 1/);
  assert.throws(() => offer(operator, at(states, 0), createTagBody(rig, "x")), { code: "aborted" });
  // Concluded, its leaf is released in the same breath: kept back, it is missing by name.
  const { leaf } = operator.operations.accept({ headers: [], last: true });
  assert.ok(operator.memory.wasReleased(leaf?.boot ?? new Uint8Array(0), leaf?.number ?? 0));
});

test("a clock that ran ahead and was set right does not make executed bodies new again", () => {
  const rig = createSignerRig();
  const body = createTagBody(rig, "once");
  const created = prepareOn(rig, rig.born, body);
  releaseRows(rig, [created]);
  const afterCreate = stateAfter(rig.born, created);
  rig.clock.nowMs += 70 * 60_000;
  const ahead = prepareOn(rig, afterCreate, createTagBody(rig, "ahead"));
  const afterAhead = stateAfter(afterCreate, ahead);
  rig.clock.nowMs -= 70 * 60_000;
  // The journal of the first body is gone from the newer state, which was never released; it stays refused all the same.
  assert.throws(() => offer(rig.restart(), afterAhead, body, { links: [afterAhead.header] }), {
    code: "invalid_argument",
    message: /outside the allowed window/,
  });
});

test("one damaged link refuses its own organization and nobody else's row", () => {
  const rig = createSignerRig();
  const { rows } = history(rig, ["a"]);
  const damaged = new Uint8Array(140);
  assert.deepEqual(
    releaseRows(rig, rows, [damaged]).map(({ kind }) => kind),
    ["released"],
  );
});

test("a state far ahead of the pin is reached, however many headers lead to it", () => {
  const rig = createSignerRig();
  let state = rig.born;
  const links: Uint8Array[] = [];
  // A line that keeps ten headers, and a state fifty ahead of the pin.
  const line = createLine(openKeyring(rig.rootKey, 1, rig.keyring).authenticity, 10, 10);
  for (let i = 0; i < 50; i++) {
    state = stateAfter(state, prepareOn(rig, state, createTagBody(rig, `t${i}`)));
    links.push(state.header);
  }
  const { header, digest } = line.know(state.header);
  const pin = rig.memory.pins.get(header.organizationId);
  const place = { ...header, digest };
  assert.equal(line.standing(place, pin).kind, "unknown");
  assert.equal(line.standing(place, pin, line.links(links)).kind, "on");
});

test("accepting a database pins it as it is, names what was set back and leaves a leaf", () => {
  const rig = createSignerRig();
  const { states, bodies } = history(rig, ["a", "b", "c"]);
  const operator = rig.restart({ orders: { acceptDatabase: true } });
  const { lines, leaf } = operator.operations.accept({ headers: [at(states, 1).header], last: true });
  assert.deepEqual(lines, [`organization ${rig.orders.birth.organizationId}: SET BACK from version 4 to version 2`]);
  assert.equal(decodeLeaf(withoutMac(leaf?.leaf ?? new Uint8Array(0))).event, "DATABASE_ACCEPTED");
  const later = operator.restart({ orders: { acceptDatabase: false } });
  rig.clock.nowMs += 2_000;
  const entries = sha256(at(bodies, 0));
  assert.equal(offer(later, at(states, 1), createTagBody(rig, "x"), { journal: entries }).kind, "prepared");
  assert.throws(() => offer(later, at(states, 0), createTagBody(rig, "x")), { code: "aborted" });
});

test("accepting a database names organizations that it has nothing of any more", () => {
  const rig = createSignerRig();
  const pin = { version: 7, digest: new Uint8Array(32).fill(1) };
  rig.memory.rememberRelease(rig.clock.nowMs, [{ organizationId: new Uint8Array(16).fill(0x11), pin }], []);
  const operator = rig.restart({ orders: { acceptDatabase: true } });
  const { lines } = operator.operations.accept({ headers: [rig.born.header], last: true });
  assert.deepEqual(lines, ["organization 11111111-1111-1111-1111-111111111111: GONE, version 7 was released"]);
});

test("every leaf that was released and is not shown is named", () => {
  const rig = createSignerRig();
  const { rows } = history(rig, ["a", "b", "c", "d", "e"]);
  // Prepared and never released: needs no trace.
  prepareOn(rig, undefined, createTagBody(rig, "never"));
  const logKey = fromHex(
    JSON.parse(rig.operations.hello({ protocol: protocolVersion, keyring: rig.keyring }).publicKeys).log,
  );
  const { statement, signature } = rig.restart().operations.statement({ page: 0 });
  const released = openStatement(nodeCurves, logKey, statement, signature);
  const leaves = [rig.birthRow, ...rows].map(({ leaf }) => decodeLeaf(withoutMac(leaf)));
  const withheld = (shown: readonly Leaf[]) => {
    const check = createReleasedCheck([released]);
    for (const leaf of shown) check.show(leaf);
    return check.withheld().map(({ boot, number }) => `${toHex(boot)} ${number}`);
  };
  assert.deepEqual(withheld(leaves), []);
  for (const [index, { boot, number }] of leaves.entries()) {
    assert.deepEqual(withheld(leaves.toSpliced(index, 1)), [`${toHex(boot)} ${number}`]);
  }
  const forged = Uint8Array.from(statement);
  forged[forged.length - 1] = (forged.at(-1) ?? 0) ^ 1;
  assert.throws(() => openStatement(nodeCurves, logKey, forged, signature), { code: "unauthenticated" });
});
