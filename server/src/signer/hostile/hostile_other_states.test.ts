/** A gateway that lies about the state of a parent, whose list of origins binds its children. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { type ActivityPath, createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { origin, passkeyEvidence, passkeyParams, testPasskey } from "../../../test/passkeys.ts";
import type { OfferedState, Request, Wish } from "../../frames/messages.ts";
import { createLru } from "../../state/lru.ts";
import { loadHeaders, loadState, type StoredState } from "../../store/organizations.ts";
import { createLine } from "../decision/line.ts";
import { NeedsMore } from "../decision/needs_more.ts";
import type { ReadPage } from "../decision/open_state.ts";
import { createOtherStates } from "../decision/other_states.ts";
import { openKeyring } from "../secrets/keyring.ts";

const evil = "https://evil.example";

async function stateOf({ store }: GatewayRig, organizationId: string): Promise<StoredState> {
  const state = await loadState(store, organizationId);
  assert.ok(state);
  return state;
}

const offered = ({ header, directory, pages }: StoredState, links: Uint8Array[] = []): OfferedState => ({
  header,
  directory,
  pages,
  links,
});

/** The parent's next state as its signer prepared it, and which nobody has committed. */
async function prepareNext(
  rig: GatewayRig,
  now: StoredState,
  path: ActivityPath,
  parameters: object,
): Promise<StoredState> {
  const body = rig.body(path, parameters);
  const reply = await rig.link.request("prepare", {
    body,
    evidence: { kind: "apiKey", value: signStamp(rig.root.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body) },
    subOrganizationId: undefined,
    state: offered(now),
    ...{ journal: undefined, target: undefined, records: [], wishes: [], pages: [], others: [], statements: [] },
  });
  assert.ok(reply.kind === "prepared");
  const next = reply.value[0]?.next;
  assert.ok(next);
  const pages = now.pages.map((page) => next.pages.find(({ name }) => name === page.name) ?? page);
  return { version: now.version + 1, header: next.header, directory: next.directory, pages };
}

function withoutAtHand({ kind, value }: Wish) {
  const { atHand: _, ...rest } = value as { atHand?: unknown };
  return { kind, value: rest };
}

/** A parent that allowed the origin `evil` once, and a child with a passkey that is used from there. */
async function createScene(t: TestContext) {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const setList = (allowedOrigins: string[]) => rig.submit(rig.root, "update_allowed_origins", { allowedOrigins });
  await setList([evil]);
  const parameters = {
    subOrganizationName: "Sub",
    rootUsers: [{ userName: "Kim", authenticators: [passkeyParams(0, {}, evil)] }],
    rootQuorumThreshold: 1,
  };
  const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
  const { subOrganizationId } = result.createSubOrganizationResultV8 as { subOrganizationId: string };
  const { organizationId: strangerId } = await rig.newSubOrganization(1, ["Eve"]);
  const before = await stateOf(rig, rig.organizationId);
  await setList([origin]);
  const child = await stateOf(rig, subOrganizationId);
  const ask = async (others: readonly OfferedState[], from = evil) => {
    const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId: subOrganizationId });
    const evidence = passkeyEvidence(testPasskey(0), body, from);
    const none = {
      journal: undefined,
      target: undefined,
      records: [],
      wishes: [],
      pages: [],
      statements: [],
      subOrganizationId: undefined,
    };
    const request: Request<"prepare"> = { body, evidence, state: offered(child), ...none, others };
    return rig.link.request("prepare", request);
  };
  return { rig, setList, ask, before, strangerId, now: await stateOf(rig, rig.organizationId) };
}

test("without the parent's state nothing is decided: the signer asks for it by the id in the child's own header", async (t) => {
  const { rig, ask, now } = await createScene(t);
  const wish = {
    kind: "otherState",
    value: { organizationId: rig.organizationId, page: "settings", linksFrom: now.version + 1, atHand: undefined },
  };
  assert.deepEqual(await ask([]), { kind: "again", value: [wish] });
});

test("the newest state of the parent decides; an older one, which allowed more, is asked for again", async (t) => {
  const { ask, before, now } = await createScene(t);
  await assert.rejects(ask([offered(now)]), { message: "could not verify WebAuthN signature" });
  assert.equal((await ask([offered(now)], origin)).kind, "prepared");
  assert.equal((await ask([offered(before)])).kind, "again");
});

test("an older state is believed while the page is the pinned state's; one that was changed and changed back is not", async (t) => {
  const { rig, setList, ask, before, now } = await createScene(t);
  const addTag = (userTagName: string) => rig.submit(rig.root, "create_user_tag", { userTagName, userIds: [] });
  const fork = await prepareNext(rig, now, "create_user_tag", { userTagName: "fork", userIds: [] });
  for (const name of ["a", "b", "c"]) await addTag(name);
  // Under its header, no other state's page.
  const refused = { code: "aborted", message: /was changed/ };
  await assert.rejects(ask([{ ...offered(now), pages: before.pages }]), refused);
  await assert.rejects(ask([offered(now)]), { message: "could not verify WebAuthN signature" });
  const prepared = await ask([offered(now)], origin);
  assert.ok(prepared.kind === "prepared");
  // A state beside the line, of which the page is the same: nobody has released it.
  assert.equal((await ask([offered(fork, [fork.header])], origin)).kind, "again");
  await setList([evil]);
  assert.equal((await ask([offered(now)], origin)).kind, "again");
  assert.equal((await ask([offered(before)])).kind, "again");
  const newest = await stateOf(rig, rig.organizationId);
  assert.equal((await ask([offered(newest)])).kind, "prepared");
  const rows = prepared.value.map(({ leaf, sealed }) => ({ leaf, sealed }));
  const [outcome] = await rig.link.request("release", { rows, links: [] });
  assert.equal(outcome?.kind, "released");
});

test("another organization's state does not pass for the parent's, however many are offered", async (t) => {
  const { rig, ask, strangerId } = await createScene(t);
  const stranger = offered(await stateOf(rig, strangerId));
  assert.equal((await ask([stranger])).kind, "again");
  assert.equal((await ask([stranger, stranger])).kind, "again");
});

test("a page or directory of another state under the newest header is refused, and so is a page that is left out", async (t) => {
  const { ask, before, now } = await createScene(t);
  const refused = { code: "aborted", message: /(was changed|is missing|does not match its header)/ };
  await assert.rejects(ask([{ ...offered(now), pages: before.pages }]), refused);
  await assert.rejects(ask([{ ...offered(now), directory: before.directory }]), refused);
  await assert.rejects(ask([{ ...offered(now), pages: [] }]), refused);
  const header = Uint8Array.from(now.header);
  header[40] = (header[40] ?? 0) ^ 1;
  await assert.rejects(ask([{ ...offered(now), header }]), { code: "aborted" });
});

test("a page that was read once is not believed for another state", async (t) => {
  const { ask, before, now } = await createScene(t);
  assert.equal((await ask([offered(now)], origin)).kind, "prepared");
  const mixed = { ...offered(before), header: before.header };
  assert.equal((await ask([mixed])).kind, "again");
});

test("a state past the pin is believed only where headers lead to it, and its leaf waits for the parent's line", async (t) => {
  const { rig, ask, now } = await createScene(t);
  const ahead = await prepareNext(rig, now, "update_allowed_origins", { allowedOrigins: [evil] });
  const prepared = await ask([offered(ahead, [ahead.header])]);
  assert.ok(prepared.kind === "prepared");
  // The parent goes another way: what was decided on the state that never was can never be released.
  const links = await loadHeaders(rig.store, rig.organizationId, 1, now.version);
  await rig.submit(rig.root, "create_user_tag", { userTagName: "other", userIds: [] });
  const newest = await stateOf(rig, rig.organizationId);
  assert.equal(newest.version, ahead.version);
  const rows = prepared.value.map(({ leaf, sealed }) => ({ leaf, sealed }));
  const [outcome] = await rig.link.request("release", { rows, links: [...links, newest.header, ahead.header] });
  assert.equal(outcome?.kind, "refused");
});

test("pages of two states of the parent are never read together: both are asked for again, until they are of one", async (t) => {
  const { rig, now } = await createScene(t);
  const { organizationId, signer } = rig;
  const next = await prepareNext(rig, now, "create_user_tag", { userTagName: "next", userIds: [] });
  const links = [next.header];
  const { authenticity } = openKeyring(signer.rootKey, 1, signer.keyring);
  const withPage = (state: StoredState, page: string): OfferedState => {
    return { ...offered(state, links), pages: state.pages.filter(({ name }) => name === page) };
  };
  const names = ["settings", "members"] as const;
  type Name = (typeof names)[number];
  const wishes = names.map((page) => ({
    kind: "otherState",
    value: { organizationId, page, linksFrom: now.version + 1 },
  }));
  const versions = { now, next };
  for (const cached of [false, true]) {
    const otherPages = createLru<ReadPage>(1_000_000);
    const reader = { memory: signer.memory, line: createLine(authenticity), otherPages, adoptUnknown: false };
    const read = (from: Record<Name, keyof typeof versions>, order: readonly Name[]) => {
      const others = createOtherStates(
        reader,
        names.map((name) => withPage(versions[from[name]], name)),
      );
      for (const name of order) others.page(organizationId, name);
      return others.read.map(({ header }) => header.version);
    };
    // What was read before, of either state, must not make up for what is missing now.
    if (cached) for (const version of ["now", "next"] as const) read({ settings: version, members: version }, names);
    for (const order of [names, names.toReversed()]) {
      for (const mixed of [
        { settings: "now", members: "next" },
        { settings: "next", members: "now" },
      ] as const) {
        assert.throws(
          () => read(mixed, order),
          (error) => {
            assert.ok(error instanceof NeedsMore);
            const asked = order === names ? wishes : wishes.toReversed();
            assert.deepEqual(error.wishes.map(withoutAtHand), asked);
            return true;
          },
        );
      }
      assert.deepEqual(read({ settings: "now", members: "now" }, order), [now.version]);
      assert.deepEqual(read({ settings: "next", members: "next" }, order), [next.version]);
    }
  }
});

test("a header alone will do for a page that was read of that very state, and for no other", async (t) => {
  const { rig, ask, setList, before, now } = await createScene(t);
  const headerOnly = (state: StoredState): OfferedState => ({
    ...offered(state),
    directory: new Uint8Array(0),
    pages: [],
  });
  const atHandOf = async (reply: ReturnType<typeof ask>) => {
    const { kind, value } = await reply;
    assert.equal(kind, "again");
    return (value[0] as Extract<Wish, { kind: "otherState" }>).value.atHand;
  };
  assert.equal(await atHandOf(ask([headerOnly(now)])), undefined, "nothing was read yet");
  assert.equal((await ask([offered(now)], origin)).kind, "prepared");
  assert.ok(await atHandOf(ask([])));
  assert.equal((await ask([headerOnly(now)], origin)).kind, "prepared");
  await assert.rejects(ask([headerOnly(now)]), { message: "could not verify WebAuthN signature" });
  assert.ok(await atHandOf(ask([headerOnly(before)])), "an older one is asked for again");
  await setList([evil]);
  const next = await stateOf(rig, rig.organizationId);
  assert.ok(await atHandOf(ask([headerOnly(now)], origin)), "its time is over");
  assert.ok(await atHandOf(ask([headerOnly(next)], origin)), "of this one no page was read");
  assert.equal((await ask([headerOnly(next), offered(next)])).kind, "prepared");
});
