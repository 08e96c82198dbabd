/** Rows that somebody has changed: the organization is refused in words for its operator, and nothing comes to an end by it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPolicySigner } from "../../../test/policy_signer_rig.ts";
import { createQuorum } from "../../../test/quorum_rig.ts";
import { offer, type StoredState } from "../../../test/signer_rig.ts";

const command = "stop the server and run `npx keystead check-database`";

function bent(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

function refusal(organizationId: string, what: RegExp): object {
  return { code: "aborted", message: new RegExp(`^organization ${organizationId}: ${what.source}; ${command}$`) };
}

test("a changed head, directory or page is named with its organization and the command that says more", () => {
  const quorum = createQuorum();
  const { organizationId, state } = quorum;
  const offered = (changes: Partial<StoredState>) => () =>
    quorum.prepare("ann", quorum.tagBody("x"), { state: { ...state, ...changes } });
  assert.throws(offered({ header: bent(state.header, 3) }), refusal(organizationId, /a header was not written by .*/));
  assert.throws(offered({ header: new Uint8Array() }), refusal(organizationId, /marked bytes are too short/));
  assert.throws(
    offered({ directory: bent(state.directory, 9) }),
    refusal(organizationId, /the directory does not match its header/),
  );
  const pages = state.pages.map((page) => ({ ...page, content: bent(page.content, 20) }));
  assert.throws(offered({ pages }), refusal(organizationId, /page `members` was changed/));
});

test("a changed record or secret refuses what needs it, and is not put on record as a failure of whoever asked", () => {
  const world = createPolicySigner();
  const { organizationId } = world.quorum;
  world.policy("Sign", "activity.kind == 'SIGN_RAW_PAYLOAD'");
  const signing = (change: (record: { content: Uint8Array; sealed: Uint8Array }) => object) => () =>
    world.bring("dave", world.payload(), {
      records: world.records.map((record) => ({ ...record, ...change(record) })),
    });
  assert.throws(
    signing(({ content }) => ({ content: bent(content, 30) })),
    refusal(organizationId, /a record was not written by .*/),
  );
  assert.throws(
    signing(({ sealed }) => ({ sealed: sealed.length === 0 ? sealed : bent(sealed, sealed.length - 1) })),
    refusal(organizationId, /the sealed secret of walletAccount [0-9a-f-]{36} does not open/),
  );
});

test("what waits goes on waiting when its body, or what it needs, was changed in the database", () => {
  const quorum = createQuorum();
  const { organizationId } = quorum;
  const target = quorum.tagBody("wanted");
  quorum.send("ann", target);
  const vote = quorum.voteBody("approve", target);
  assert.throws(
    () => quorum.prepare("bob", vote, { target: bent(target, 5) }),
    refusal(organizationId, /the body of the activity that is voted on is missing: [0-9a-f-]{36}/),
  );
  assert.equal(quorum.pending().length, 1);
  const reply = offer(quorum.rig, quorum.state, vote, { stamp: quorum.stamp("bob", vote), target });
  assert.equal(reply.kind, "prepared");
});
