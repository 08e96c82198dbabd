/** A gateway that wants to read bodies with bearer values out of a database, before they have ended. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { someToken, testTradeCode, testUseToken } from "../../../test/bearer_endpoints.ts";
import { createQuorum } from "../../../test/quorum_rig.ts";
import {
  activityBody,
  checkingSigner,
  createSignerRig,
  offer,
  only,
  releaseRows,
  type SignerRig,
  signerUnder,
} from "../../../test/signer_rig.ts";
import type { Prepared, StoredBody } from "../../frames/messages.ts";
import { sha256 } from "../../state/digest.ts";

const hourMs = 3_600_000;

function prepared(rig: SignerRig, type: string, parameters: object): { row: Prepared; stored: StoredBody } {
  const reply = offer(rig, rig.born, activityBody(rig, type, parameters));
  assert.ok(reply.kind === "prepared");
  const row = only(reply.value);
  const { activity, organizationId } = row;
  assert.ok(activity?.sealedBody);
  return { row, stored: { organizationId, fingerprint: activity.fingerprint, sealed: activity.sealedBody.sealed } };
}

const kindsOf = ({ operations }: SignerRig, ...bodies: StoredBody[]) =>
  operations.openBodies({ bodies }).map(({ kind }) => kind);

test("a body is opened when the signer's own clock says so, whatever else it is asked", () => {
  const rig = createSignerRig();
  const endsAtMs = rig.clock.nowMs + hourMs;
  const token = someToken(endsAtMs);
  const { row, stored } = prepared(rig, testUseToken.type, { verificationToken: token, note: "" });
  assert.equal(row.activity?.sealedBody?.endsAtMs, endsAtMs);
  assert.ok(!Buffer.from(stored.sealed).includes(token.slice(-64)));
  assert.deepEqual(kindsOf(rig, stored), ["early"]);
  releaseRows(rig, [row]);
  assert.deepEqual(kindsOf(rig, stored), ["early"], "released or not");
  assert.deepEqual(kindsOf(rig.restart(), stored), ["early"], "after a restart");
  const later = rig.restart();
  later.clock.nowMs = endsAtMs - 1;
  assert.deepEqual(kindsOf(later, stored), ["early"]);
  later.clock.nowMs = endsAtMs;
  const [opened] = later.operations.openBodies({ bodies: [stored] });
  assert.ok(opened?.kind === "opened");
  assert.deepEqual(sha256(opened.value.body), stored.fingerprint);
});

test("a box opens for its own body in its own organization, and as nothing else", () => {
  const rig = createSignerRig();
  const one = prepared(rig, testUseToken.type, { verificationToken: someToken(rig.clock.nowMs), note: "" });
  const other = prepared(rig, testTradeCode.type, { otpCode: "ABC123" });
  rig.clock.nowMs += 48 * hourMs;
  assert.deepEqual(kindsOf(rig, one.stored, other.stored), ["opened", "opened"]);
  const bent = Uint8Array.from(one.stored.sealed);
  bent[60] = (bent[60] ?? 0) ^ 1;
  const wrong: StoredBody[] = [
    { ...one.stored, fingerprint: other.stored.fingerprint },
    { ...one.stored, organizationId: "7ff189fb-df7d-452e-8540-57632e380b77" },
    { ...one.stored, sealed: bent },
    { ...one.stored, sealed: new Uint8Array() },
    { ...one.stored, sealed: rig.keyring },
    { ...one.stored, sealed: other.row.sealed ?? new Uint8Array() },
  ];
  assert.deepEqual(kindsOf(rig, ...wrong), Array(wrong.length).fill("refused"));
});

test("no other request brings the body out: not as a result, nor sealed anew, nor for a check", () => {
  const rig = createSignerRig();
  const token = someToken(rig.clock.nowMs + hourMs);
  const { row, stored } = prepared(rig, testUseToken.type, { verificationToken: token, note: "" });
  assert.equal(
    rig.operations.release({ rows: [{ leaf: row.leaf, sealed: stored.sealed }], links: [] })[0]?.kind,
    "refused",
  );
  assert.throws(() => rig.operations.reseal({ boxes: [{ kind: "body", value: stored }] }), {
    code: "permission_denied",
  });
  const [again] = signerUnder(rig, { reseal: true }).reseal({ boxes: [{ kind: "body", value: stored }] });
  assert.deepEqual(again, stored.sealed, "it is under the current key");
  const { bodies } = checkingSigner(rig).vouch({ leaves: [], heads: [], records: [], bodies: [stored] });
  assert.equal(bodies[0]?.shown.length, 32);
  assert.ok(!JSON.stringify(rig.notes).includes(token.slice(-64)));
});

test("a vote takes the box for the body, and no other box", () => {
  const quorum = createQuorum({ members: ["ann", "bob"], threshold: 2 });
  const token = someToken(quorum.rig.clock.nowMs + hourMs);
  const waiting = quorum.body(testUseToken.type, { verificationToken: token, note: "" });
  const { activity } = quorum.send("ann", waiting);
  const other = quorum.send("ann", quorum.body(testUseToken.type, { verificationToken: token, note: "another" }));
  const [box, otherBox] = [activity, other.activity].map((each) => each?.sealedBody?.sealed);
  assert.ok(box && otherBox);
  const vote = quorum.voteBody("approve", waiting);
  for (const target of [otherBox, quorum.rig.keyring, new Uint8Array()]) {
    assert.throws(
      () => quorum.prepare("bob", vote, { target }),
      /the body of the activity that is voted on is missing/,
    );
  }
  const done = quorum.send("bob", vote, { target: box });
  assert.equal(done.activity?.status, "ACTIVITY_STATUS_COMPLETED");
  assert.equal(done.activity?.sealedBody, undefined, "it is stored once");
});
