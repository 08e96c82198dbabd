/** A gateway that lies about the parent's profiles, which bound the sessions of its children. */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { done } from "../../../test/policy_rig.ts";
import { login } from "../../../test/session_rig.ts";
import type { OfferedState } from "../../frames/messages.ts";
import { loadState, type StoredState } from "../../store/organizations.ts";
import type { Operations } from "../operations.ts";

async function stateOf({ store }: GatewayRig, organizationId: string): Promise<StoredState> {
  const state = await loadState(store, organizationId);
  assert.ok(state);
  return state;
}

const offered = ({ header, directory, pages }: StoredState): OfferedState => ({ header, directory, pages, links: [] });

/** A child whose root user has a session that may sign and nothing else; the signer has forgotten what it read before. */
async function prepareBoundSession(t: TestContext) {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const before = await stateOf(rig, rig.organizationId);
  const profile = { sessionProfileName: "Signing", scope: "activity.action == 'SIGN'" };
  const { sessionProfileId } = await done<{ sessionProfileId: string }>(
    rig,
    rig.root,
    "create_session_profile",
    profile,
  );
  const { organizationId, people } = await rig.newSubOrganization(1, ["ann"]);
  const [ann] = people;
  assert.ok(ann);
  const { session } = await login(rig, ann, { organizationId }, { sessionProfileId });
  const child = await stateOf(rig, organizationId);
  const ask = ({ prepare }: Operations, others: readonly OfferedState[]) => {
    // Of a minute in which nothing was executed: its journal needs no bringing.
    const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId, agoMs: 600_000 });
    const evidence = stampEvidence(signStamp(session.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body));
    const none = { journal: undefined, target: undefined, records: [], wishes: [], pages: [], statements: [] };
    return prepare({ body, evidence, subOrganizationId: undefined, state: offered(child), ...none, others });
  };
  const { operations } = rig.signer.restart();
  return { rig, ask, operations, before, now: await stateOf(rig, rig.organizationId) };
}

test("without the parent's profiles nothing is decided, and with them the session is held to its scope", async (t) => {
  const { rig, ask, operations, now } = await prepareBoundSession(t);
  assert.deepEqual(ask(operations, []), {
    kind: "again",
    value: [
      {
        kind: "otherState",
        value: {
          organizationId: rig.organizationId,
          page: "sessionProfiles",
          linksFrom: now.version + 1,
          atHand: undefined,
        },
      },
    ],
  });
  const reply = ask(operations, [offered(now)]);
  assert.ok(reply.kind === "prepared");
  assert.equal(reply.value[0]?.activity?.status, "ACTIVITY_STATUS_REJECTED");
});

test("a parent's state from before the profile, and one whose page says another scope, decide nothing", async (t) => {
  const { ask, operations, before, now } = await prepareBoundSession(t);
  assert.equal(ask(operations, [offered(before)]).kind, "again");
  const pages = now.pages.map(({ name, content }) => ({
    name,
    content:
      name === "sessionProfiles"
        ? Buffer.from(Buffer.from(content).toString("utf8").replace("activity.action == 'SIGN'", "true"))
        : content,
  }));
  assert.throws(() => ask(operations, [{ ...offered(now), pages }]), { code: "aborted", message: /was changed/ });
  const without = now.pages.filter(({ name }) => name !== "sessionProfiles");
  assert.throws(() => ask(operations, [{ ...offered(now), pages: without }]), { code: "aborted", message: /missing/ });
});

test("a signer that knows neither organization takes no key whose profile the parent's state lacks", async (t) => {
  const { rig, ask, before } = await prepareBoundSession(t);
  const folder = mkdtempSync(join(tmpdir(), "keystead-signer-"));
  const stranger = rig.signer.restart({ orders: { adoptUnknown: true }, folder });
  assert.throws(() => ask(stranger.operations, [offered(before)]), {
    code: "aborted",
    message: /session profile [0-9a-f-]{36}, which a session has, is missing/,
  });
});
