/**
 * What a gateway or a database keeps back, and `check-log` names. Each case is honest up to one step: something is released that is
 * never committed, decided on that is never shown, or taken away or moved afterwards.
 */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { leafEvents } from "@keystead/core/log/leaf_words.ts";
import { encodeStatement, statementMessage } from "@keystead/core/log/released.ts";
import { stampEvidence } from "../../../test/evidence.ts";
import {
  type ActivityPath,
  createGatewayRig,
  type GatewayRig,
  newUser,
  type Person,
} from "../../../test/gateway_rig.ts";
import { exportClient } from "../../../test/imports.ts";
import { prepareOnce } from "../../../test/prepare_once.ts";
import { checkingSigner, leafOf, openLogOn } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import type { Prepared } from "../../frames/messages.ts";
import type { SignerLink } from "../../gateway/link/signer_link.ts";
import { checkLog } from "../../gateway/operator/check_log.ts";
import { toCommitItem } from "../../gateway/submit/to_commit_item.ts";
import { sha256 } from "../../state/digest.ts";
import type { RecordWish } from "../../state/record_wish.ts";
import { findActivityByFingerprint } from "../../store/activities.ts";
import { commitGroup } from "../../store/commit.ts";
import { loadState } from "../../store/organizations.ts";
import { openKeyring } from "../secrets/keyring.ts";

type TargetOrganization = { organizationId: string; people: [Person, Person, Person] };

type Setup = {
  rig: GatewayRig;
  /** One suffices here. */
  free: TargetOrganization;
  /** Two of three are needed here. */
  strict: TargetOrganization;
};

async function createSetup(t: Parameters<typeof createGatewayRig>[0]): Promise<Setup> {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const names = ["ann", "bob", "cleo"];
  const [free, strict] = [await rig.newSubOrganization(1, names), await rig.newSubOrganization(2, names)];
  for (const { organizationId, people } of [free, strict]) {
    for (const person of people.slice(0, 2)) {
      await rig.submit(
        person,
        "create_user_tag",
        { userTagName: `of ${person.userName}`, userIds: [] },
        { organizationId },
      );
    }
  }
  return { rig, free: free as TargetOrganization, strict: strict as TargetOrganization };
}

function inProcess({ signer }: GatewayRig): SignerLink {
  const operations = checkingSigner(signer);
  const request = async (kind: keyof typeof operations, message: never) => operations[kind](message);
  return {
    request: request as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
}

async function report(rig: GatewayRig, link = inProcess(rig)): Promise<{ lines: string[]; ok: boolean }> {
  const { log } = JSON.parse(
    rig.signer.operations.hello({ protocol: protocolVersion, keyring: rig.signer.keyring }).publicKeys,
  );
  return checkLog(rig.store, link, log);
}

/** What the signer makes of a request, and nobody commits. */
async function prepared(
  { rig }: Setup,
  { privateKey }: Person,
  path: ActivityPath,
  parameters: object,
  organizationId: string,
  { target, records = [] }: { target?: Uint8Array; records?: readonly RecordWish[] } = {},
): Promise<readonly Prepared[]> {
  const body = rig.body(path, parameters, { organizationId });
  const stamp = signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  const { prepared: rows, run } = await prepareOnce(rig.dependencies.organizations, organizationId, {
    body,
    evidence: stampEvidence(stamp),
    target,
    records,
    cost: 0,
  });
  run.abandon();
  return rows;
}

const released = ({ rig }: Setup, rows: readonly Prepared[]) =>
  rig.signer.operations.release({ rows: rows.map(({ leaf, sealed }) => ({ leaf, sealed })), links: [] });

const nameOf = (row: Prepared) => `leaf ${leafOf(row).number} of signer boot ${toHex(leafOf(row).boot)}`;

const tag = (userTagName: string) => ({ userTagName, userIds: [] });

/** The body of something that waits, and of a vote on it. */
async function waiting({ rig, strict }: Setup): Promise<{ fingerprint: string; target: Uint8Array }> {
  const { organizationId, people } = strict;
  const { fingerprint } = await rig.submit(people[0], "create_user_tag", tag("wanted"), { organizationId });
  const row = await findActivityByFingerprint(rig.store, organizationId, fingerprint.replace("sha256:", ""));
  assert.ok(row);
  return { fingerprint, target: row.body };
}

/** The act that lists the log of the signer as it is now. */
async function listing(rig: GatewayRig): Promise<Prepared> {
  const state = await loadState(rig.store, rig.organizationId);
  assert.ok(state);
  return openLogOn(rig.signer, state);
}

/** One act for every kind of leaf: the rows that the signer would have committed. */
const kept: Readonly<Record<string, (setup: Setup) => Promise<readonly Prepared[]>>> = {
  COMPLETED: (setup) => prepared(setup, setup.free.people[0], "create_user_tag", tag("x"), setup.free.organizationId),
  "COMPLETED, with a sealed result": async (setup) => {
    const { organizationId, people } = setup.free;
    const made = await setup.rig.submit(
      people[0],
      "create_wallet",
      { walletName: "W", accounts: [] },
      { organizationId },
    );
    const { walletId } = made.result.createWalletResult as { walletId: string };
    const records = [{ by: "id", kind: "wallet", id: walletId }] as const;
    const { targetPublicKey } = exportClient();
    const rows = await prepared(setup, people[0], "export_wallet", { walletId, targetPublicKey }, organizationId, {
      records,
    });
    assert.ok(rows[0]?.sealed);
    return rows;
  },
  FAILED: (setup) => {
    const gone = { userTagIds: ["0aa0aa00-0000-4000-8000-00000000000a"] };
    return prepared(setup, setup.free.people[0], "delete_user_tags", gone, setup.free.organizationId);
  },
  REJECTED: async (setup) => {
    const { rig, free } = setup;
    const { user, privateKey } = newUser("dave");
    const { organizationId, people } = free;
    await rig.submit(people[0], "create_users", { users: [{ ...user, userTags: [] }] }, { organizationId });
    return prepared(setup, { userId: "", userName: "dave", privateKey }, "create_user_tag", tag("x"), organizationId);
  },
  SUBMITTED: (setup) =>
    prepared(setup, setup.strict.people[0], "create_user_tag", tag("x"), setup.strict.organizationId),
  "COMPLETED by a vote": async (setup) => {
    const { fingerprint, target } = await waiting(setup);
    const { organizationId, people } = setup.strict;
    return prepared(setup, people[1], "approve_activity", { fingerprint }, organizationId, { target });
  },
  "REJECTED by a vote": async (setup) => {
    const { fingerprint, target } = await waiting(setup);
    const { organizationId, people } = setup.strict;
    return prepared(setup, people[2], "reject_activity", { fingerprint }, organizationId, { target });
  },
  VOTED: async (setup) => {
    const { rig, strict } = setup;
    const { organizationId, people } = strict;
    const all = { threshold: 3, userIds: people.map(({ userId }) => userId) };
    const raised = await rig.submit(people[0], "update_root_quorum", all, { organizationId });
    await rig.submit(people[1], "approve_activity", { fingerprint: raised.fingerprint }, { organizationId });
    const { fingerprint, target } = await waiting(setup);
    return prepared(setup, people[1], "approve_activity", { fingerprint }, organizationId, { target });
  },
  "BIRTH, with its activity": (setup) => {
    const rootUsers = [newUser("kim").user];
    const parameters = { subOrganizationName: "Child", rootUsers, rootQuorumThreshold: 1 };
    return prepared(setup, setup.rig.root, "create_sub_organization", parameters, setup.rig.organizationId);
  },
  DATABASE_ACCEPTED: async ({ rig }) => {
    const operator = rig.signer.restart({ orders: { acceptDatabase: true } });
    Object.assign(rig.signer.operations, operator.operations);
    rig.signer.memory = operator.memory;
    const heads = await rig.store.db.selectFrom("organizations").select("header").orderBy("organization_id").execute();
    const { leaf } = operator.operations.accept({ headers: heads.map(({ header }) => header), last: true });
    assert.ok(leaf);
    return [await listing(rig), leaf];
  },
  LOG_OPENED: async ({ rig }) => {
    const joined = rig.signer.restart({
      orders: { adoptUnknown: true },
      folder: mkdtempSync(join(tmpdir(), "keystead-host-")),
    });
    Object.assign(rig.signer.operations, joined.operations);
    rig.signer.memory = joined.memory;
    return [await listing(rig)];
  },
  BOOTED: async ({ rig }) => [rig.signer.operations.boot({}).prepared],
};

test("every kind of leaf is among them", () => {
  const kinds = Object.keys(kept).map((name) => name.split(/\W/)[0] ?? "");
  assert.deepEqual(new Set([...kinds, "BOOTED"]), new Set(leafEvents));
});

for (const [kind, keep] of Object.entries(kept)) {
  test(`${kind}: released and never committed, each of its leaves is named`, async (t) => {
    const setup = await createSetup(t);
    assert.deepEqual((await report(setup.rig)).ok, true);
    const rows = await keep(setup);
    const before = (await report(setup.rig)).lines.filter((line) => !line.startsWith("next: "));
    assert.ok(before.length <= 2, "what is only prepared needs no trace");
    assert.ok(released(setup, rows).every(({ kind: outcome }) => outcome === "released"));
    const { lines, ok } = await report(setup.rig);
    assert.equal(ok, false);
    assert.deepEqual(
      lines.slice(0, -2).sort(),
      rows.map((row) => `${nameOf(row)} was RELEASED and is NOT in the database`).sort(),
    );
    assert.match(lines.at(-2) ?? "", /^next: after a restore, /);
    assert.match(lines.at(-1) ?? "", new RegExp(`${rows.length} released ones missing$`));
  });
}

test("a state that was decided on and is kept back is named, though its leaf was never released", async (t) => {
  const setup = await createSetup(t);
  const { rig, free } = setup;
  const { organizationId, people } = free;
  // Of two states at one version the database shows one; what is decided afterwards was decided on the other.
  const [hidden] = await prepared(setup, people[0], "create_user_tag", tag("hidden"), organizationId);
  const state = await rig.store.db
    .selectFrom("organizations")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .executeTakeFirstOrThrow();
  const pages = await rig.store.db
    .selectFrom("pages")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .execute();
  assert.ok(hidden?.next);
  const body = rig.body(
    "delete_user_tags",
    { userTagIds: ["0aa0aa00-0000-4000-8000-00000000000a"] },
    { organizationId },
  );
  const changed = new Map(pages.map(({ name, content }) => [name, content]));
  for (const { name, content } of hidden.next.pages) changed.set(name, content);
  const reply = rig.signer.operations.prepare({
    body,
    evidence: stampEvidence(signStamp(people[0].privateKey, "SIGNATURE_SCHEME_TK_API_P256", body)),
    state: {
      header: hidden.next.header,
      directory: hidden.next.directory,
      pages: Array.from(changed, ([name, content]) => ({ name, content })),
      links: [state.header, hidden.next.header],
    },
    ...{
      subOrganizationId: undefined,
      journal: undefined,
      target: undefined,
      records: [],
      wishes: [],
      pages: [],
      others: [],
      statements: [],
    },
  });
  assert.ok(reply.kind === "prepared");
  const [after] = reply.value;
  assert.ok(after);
  const [shown] = await prepared(setup, people[0], "create_user_tag", tag("shown"), organizationId);
  assert.ok(shown);
  await commitGroup(rig.store, [toCommitItem(shown)], []);
  assert.equal(released(setup, [after])[0]?.kind, "released");
  const item = toCommitItem(after);
  await rig.store.db
    .insertInto("leaves")
    .values({
      ...{ organization_id: organizationId, version: null, header: null, sealed: null },
      ...item.leaf,
      activity_id: null,
    })
    .execute();
  const { lines, ok } = await report(rig);
  assert.equal(ok, false);
  const version = hidden.next.version;
  assert.deepEqual(lines.slice(0, -1), [
    `organization ${organizationId}: the leaf that led to another version ${version}, which was decided on, is MISSING`,
  ]);
});

test("a birth on a state of the parent that is kept back names that state", async (t) => {
  const setup = await createSetup(t);
  const { rig, strict } = setup;
  const born = await rig.store.db.selectFrom("leaves").select("organization_id").where("version", "=", 1).execute();
  assert.ok(born.length >= 3);
  // The leaf that the children's births stand on is the first organization's own birth.
  await rig.store.db
    .deleteFrom("leaves")
    .where("organization_id", "=", rig.organizationId)
    .where("version", "=", 1)
    .execute();
  const { lines } = await report(rig);
  const said = `organization ${rig.organizationId}: the leaf that led to version 1, on which organization ${strict.organizationId} was born, is MISSING`;
  assert.ok(lines.includes(said), lines.join("\n"));
});

const deletions = {
  "in the middle": (version: number) => ["version", "=", version - 1] as const,
  "the newest": (version: number) => ["version", "=", version] as const,
  "all of an organization": () => ["number", ">", 0] as const,
};

for (const [which, where] of Object.entries(deletions)) {
  test(`leaves that were deleted, ${which}, are named one by one`, async (t) => {
    const { rig, free } = await createSetup(t);
    const { organizationId } = free;
    const { version } = await rig.store.db
      .selectFrom("organizations")
      .select("version")
      .where("organization_id", "=", organizationId)
      .executeTakeFirstOrThrow();
    const [column, operator, value] = where(version);
    const gone = await rig.store.db
      .deleteFrom("leaves")
      .where("organization_id", "=", organizationId)
      .where(column, operator, value)
      .returningAll()
      .execute();
    assert.ok(gone.length > 0);
    const { lines, ok } = await report(rig);
    assert.equal(ok, false);
    for (const { boot, number } of gone) {
      assert.ok(
        lines.includes(`leaf ${number} of signer boot ${boot} was RELEASED and is NOT in the database`),
        lines.join("\n"),
      );
    }
  });
}

test("a leaf in another's place fills no gap: neither its own organization's nor another's", async (t) => {
  const { rig, free, strict } = await createSetup(t);
  const at = (organizationId: string, version: number) =>
    rig.store.db
      .selectFrom("leaves")
      .selectAll()
      .where("organization_id", "=", organizationId)
      .where("version", "=", version)
      .executeTakeFirstOrThrow();
  const [own, theirs] = [await at(free.organizationId, 2), await at(strict.organizationId, 2)];
  const put = (columns: object) =>
    rig.store.db
      .updateTable("leaves")
      .set(columns)
      .where("organization_id", "=", own.organization_id)
      .where("boot", "=", own.boot)
      .where("number", "=", own.number)
      .execute();
  const missing = `leaf ${own.number} of signer boot ${own.boot} was RELEASED and is NOT in the database`;
  await put({ leaf: theirs.leaf, header: theirs.header });
  const swapped = await report(rig);
  assert.ok(swapped.lines.includes(missing));
  assert.ok(swapped.lines.some((line) => line.includes(`of organization ${strict.organizationId}, OUT OF PLACE`)));
  assert.ok(swapped.lines.includes(`organization ${free.organizationId}: the leaf that led to version 2 is MISSING`));
  // The right leaf under another version.
  await put({ leaf: own.leaf, header: own.header, version: 99 });
  assert.ok((await report(rig)).lines.some((line) => line.endsWith("OUT OF PLACE")));
  // Bytes that nobody wrote, and more of them than a frame carries.
  await put({ leaf: new Uint8Array(9 * 1024 * 1024), version: 2 });
  const forged = await report(rig);
  assert.ok(
    forged.lines.includes(
      `leaf ${own.number} of signer boot ${own.boot} of organization ${own.organization_id} in the database is NOT the signer's`,
    ),
  );
  assert.ok(forged.lines.includes(missing));
});

test("a statement is taken whole or not at all: no page twice, of another deployment, or signed by anybody else", async (t) => {
  const { rig } = await createSetup(t);
  const { authenticity: _, ...keyring } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const empty = { deploymentId: keyring.deploymentId, timeMs: 1, page: 0, pages: 1, ranges: [] };
  const answering = (change: (page: number) => Partial<typeof empty>, sign = keyring.signWithLogKey): SignerLink => ({
    ...inProcess(rig),
    request: (async (kind: string, { page }: { page: number }) => {
      assert.equal(kind, "statement");
      const statement = encodeStatement({ ...empty, ...change(page) });
      return { statement, signature: sign(statementMessage(statement)) };
    }) as unknown as SignerLink["request"],
  });
  const refused = { code: "failed_precondition", message: /the signer returned another page of its statement/ };
  await assert.rejects(
    report(
      rig,
      answering(() => ({ pages: 2 })),
    ),
    refused,
  );
  await assert.rejects(
    report(
      rig,
      answering((page) => ({ page, pages: 3 - page })),
    ),
    refused,
  );
  await assert.rejects(
    report(
      rig,
      answering((page) => ({ page, pages: 2, deploymentId: sha256(String(page)).subarray(0, 16) })),
    ),
    refused,
  );
  const stranger = (message: Uint8Array) => sha256(message);
  await assert.rejects(
    report(
      rig,
      answering((page) => ({ page }), stranger),
    ),
    { code: "unauthenticated" },
  );
});
