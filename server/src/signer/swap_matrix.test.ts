/**
 * Two hundred boxes as the system makes them, of every kind, of three organizations and under two root keys: each opens in its
 * own place and in none of the others. Who can write to the database can swap them as they like.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createGatewayRig, type GatewayRig, type Person } from "../../test/gateway_rig.ts";
import { freshKey, linkTo, signerWith } from "../../test/rotation_rig.ts";
import type { Request } from "../frames/messages.ts";
import { rotateKeys } from "../gateway/operator/rotate_keys.ts";
import { decodePage } from "../state/pages.ts";
import { findDeployment } from "../store/across.ts";
import { keyTables, recordOf } from "../store/key_rows.ts";
import { listSealedLeaves } from "../store/sealed_boxes.ts";
import { secretContext, targetContext } from "./decision/key_records.ts";
import { resultContext } from "./decision/results.ts";
import { keyringContext, type RootKeys } from "./secrets/keyring.ts";
import { createSealer, type SealContext, type Sealer, unseal, versionOf } from "./secrets/seal.ts";

/** A box where it lies: the context that its row, column and page stand for, and the key of its version. */
type Placed = { context: SealContext; rootKey: Uint8Array; version: number; box: Uint8Array };

const accounts = [0, 1, 2].map((n) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/${n}'/0/0`,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
}));

type Place = { organizationId: string; person: Person };

async function furnish(rig: GatewayRig, { organizationId, person }: Place): Promise<void> {
  const within = { organizationId };
  for (let n = 0; n < 5; n++) {
    await rig.submit(person, "create_wallet", { walletName: `Wallet ${n}`, accounts }, within);
  }
  const privateKeys = Array.from({ length: 6 }, (_, n) => ({
    privateKeyName: `Key ${n}`,
    curve: n % 2 === 0 ? "CURVE_ED25519" : "CURVE_P256",
    addressFormats: [],
    privateKeyTags: [],
  }));
  await rig.submit(person, "create_private_keys", { privateKeys }, within);
}

async function startImports(rig: GatewayRig, { organizationId, person }: Place): Promise<void> {
  for (const path of ["init_import_wallet", "init_import_private_key"] as const) {
    for (let n = 0; n < 2; n++) await rig.submit(person, path, { userId: person.userId }, { organizationId });
  }
}

/** Signatures that are committed and sealed, by a gateway that dies before it asks for their release. */
async function leaveResults(rig: GatewayRig, { organizationId, person }: Place): Promise<void> {
  const { operations } = rig.signer;
  const { release } = operations;
  operations.release = () => {
    throw new Error("killed before the release");
  };
  const [account] = await rig.store.db
    .selectFrom("wallet_accounts")
    .select("address")
    .where("organization_id", "=", organizationId)
    .execute();
  for (let n = 0; n < 3; n++) {
    const payload = `0${n}`.repeat(32);
    const options = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };
    const sign = { signWith: account?.address, payload, ...options };
    await assert.rejects(rig.submit(person, "sign_raw_payload", sign, { organizationId }), /killed/);
  }
  operations.release = release;
}

/** Everything in the database that is sealed under this version. */
async function boxesOf({ store }: GatewayRig, rootKey: Uint8Array, version: number): Promise<Placed[]> {
  const found: { context: SealContext; box: Uint8Array }[] = [];
  for (const { table } of Object.values(keyTables)) {
    for (const row of await store.db.selectFrom(table).select(["record", "sealed"]).execute()) {
      found.push({ context: secretContext(recordOf(row)), box: row.sealed });
    }
  }
  for (const { leaf, sealed } of await listSealedLeaves(store, 1_000, 0)) {
    found.push({ context: resultContext(leaf), box: sealed });
  }
  const pages = await store.db.selectFrom("pages").selectAll().where("name", "=", "importTargets").execute();
  for (const { organization_id, content } of pages) {
    for (const { targetId, sealed } of decodePage("importTargets", content).values()) {
      found.push({ context: targetContext(organization_id, targetId), box: Buffer.from(sealed, "base64") });
    }
  }
  const keyring = await findDeployment(store);
  assert.ok(keyring);
  found.push({ context: keyringContext, box: keyring });
  return found.filter(({ box }) => versionOf(box) === version).map((placed) => ({ ...placed, rootKey, version }));
}

type Setup = { rig: GatewayRig; before: Placed[]; all: Placed[]; keys: Required<RootKeys> };

async function createSetup(t: TestContext): Promise<Setup> {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const places: Place[] = [{ organizationId: rig.organizationId, person: rig.root }];
  for (const name of ["ann", "bob"]) {
    const { organizationId, people } = await rig.newSubOrganization(1, [name]);
    assert.ok(people[0]);
    places.push({ organizationId, person: people[0] });
  }
  for (const place of places) {
    await furnish(rig, place);
    await startImports(rig, place);
  }
  for (const place of places) await leaveResults(rig, place);
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  const before = await boxesOf(rig, keys.retiring, 1);
  await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  Object.assign(rig.signer.operations, await signerWith(rig, { current: keys.current }, false));
  rig.dependencies.organizations.forgetAll();
  for (const place of places) await startImports(rig, place);
  return { rig, before, all: [...before, ...(await boxesOf(rig, keys.current, 2))], keys };
}

const countBy = (names: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));

function opens(work: () => Uint8Array): boolean {
  try {
    work();
    return true;
  } catch (error) {
    assert.equal((error as Error).message, "a sealed record does not open");
    return false;
  }
}

function unsealIn({ rootKey, version, context }: Placed, box: Uint8Array): boolean {
  return opens(() => unseal(rootKey, version, context, box));
}

/** The box with another version written on it. */
function renamed(box: Uint8Array, version: number): Uint8Array {
  const copy = Uint8Array.from(box);
  new DataView(copy.buffer).setUint32(1, version);
  return copy;
}

test("200 boxes in each other's places, and each with one thing about its place changed: none opens", async (t) => {
  const { all } = await createSetup(t);
  assert.deepEqual(countBy(all.map(({ context, version }) => `${context.purpose} ${version}`)), {
    "records.wallet 1": 15,
    "records.walletAccount 1": 45,
    "records.privateKey 1": 18,
    "leaves.sealed 1": 9,
    "importTargets.privateKey 1": 12,
    "deployment.keyring 1": 1,
    "records.wallet 2": 15,
    "records.walletAccount 2": 45,
    "records.privateKey 2": 18,
    "leaves.sealed 2": 9,
    "importTargets.privateKey 2": 12,
    "deployment.keyring 2": 1,
  });

  let swapped = 0;
  for (const [at, place] of all.entries()) {
    for (const [of, { box }] of all.entries()) {
      const own = of === at;
      assert.equal(unsealIn(place, box), own, `box ${of} in place ${at}`);
      if (own) continue;
      // Nor if the version that is written on it were the place's.
      assert.equal(unsealIn(place, renamed(box, place.version)), false, `box ${of}, renamed, in place ${at}`);
      swapped += 1;
    }
  }
  t.diagnostic(`${all.length} boxes in ${all.length} places: ${swapped} swaps, 0 open`);
  assert.equal(swapped, 200 * 199);

  const different = (pick: (placed: Placed) => string) => [...new Set(all.map(pick))];
  const purposes = different(({ context }) => context.purpose);
  const organizations = different(({ context }) => context.organizationId);
  const records = different(({ context }) => context.recordId);
  let bent = 0;
  const refuse = (place: Placed, box = place.box) => {
    if (unsealIn(place, box)) assert.fail(`opened in ${JSON.stringify(place.context)}, version ${place.version}`);
    bent += 1;
  };
  for (const place of all) {
    const { context, version, box } = place;
    const others = (names: readonly string[], own: string) => names.filter((name) => name !== own);
    for (const purpose of others(purposes, context.purpose)) refuse({ ...place, context: { ...context, purpose } });
    for (const organizationId of others(organizations, context.organizationId)) {
      refuse({ ...place, context: { ...context, organizationId } });
    }
    for (const recordId of others(records, context.recordId)) refuse({ ...place, context: { ...context, recordId } });
    for (const other of [0, 1, 2, 3, 2 ** 32 - 1].filter((each) => each !== version)) {
      // The same key under another number, also if that number is written on the box.
      refuse({ ...place, version: other });
      refuse({ ...place, version: other }, renamed(box, other));
    }
    const foreign = all.find((each) => each.version !== version)?.rootKey;
    assert.ok(foreign);
    refuse({ context, version, rootKey: foreign, box });
  }
  t.diagnostic(
    `one of ${purposes.length} purposes, ${organizations.length} organizations, ${records.length} ids or the version changed: ${bent} times, 0 open`,
  );
});

test("every bit of 20 boxes flipped: none opens, also not while both root keys are at hand", async (t) => {
  const { all, keys } = await createSetup(t);
  const kinds = Map.groupBy(all, ({ context, version }) => `${context.purpose} ${version}`);
  // Twelve kinds: one or two of each, so that short and long ones of both versions are among them.
  const firsts = [...kinds.values()].flatMap((boxes) => boxes.slice(0, 1));
  const seconds = [...kinds.values()].flatMap((boxes) => boxes.slice(1, 2));
  const chosen = [...firsts, ...seconds].slice(0, 20);
  assert.equal(chosen.length, 20);
  const rotating: Sealer = createSealer(keys.current, 2, keys.retiring);
  let flips = 0;
  for (const { context, rootKey, version, box } of chosen) {
    const alone = createSealer(rootKey, version);
    for (const sealer of [alone, rotating]) assert.ok(opens(() => sealer.unseal(context, box)));
    for (let bit = 0; bit < box.length * 8; bit++) {
      const altered = Uint8Array.from(box);
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      for (const sealer of [alone, rotating]) {
        assert.ok(!opens(() => sealer.unseal(context, altered)), `${context.purpose}, bit ${bit}`);
      }
      flips += 1;
    }
  }
  t.diagnostic(`${chosen.length} boxes: ${flips} bits flipped, 0 open`);
});

test("no record is sealed anew with another's box, row by row", async (t) => {
  const { rig, before, keys } = await createSetup(t);
  const rows: { content: Uint8Array; box: Uint8Array }[] = [];
  for (const { table } of Object.values(keyTables)) {
    for (const { record } of await rig.store.db.selectFrom(table).select("record").execute()) {
      const { purpose, recordId } = secretContext(recordOf({ record }));
      const own = before.find(({ context }) => context.purpose === purpose && context.recordId === recordId);
      assert.ok(own);
      rows.push({ content: record, box: own.box });
    }
  }
  const { reseal } = await signerWith(rig, keys, true);
  const asked = (content: Uint8Array, sealed: Uint8Array): Request<"reseal"> => {
    return { boxes: [{ kind: "record", value: { content, sealed } }] };
  };
  let refused = 0;
  for (const [at, { content }] of rows.entries()) {
    for (const { box } of before) {
      if (box === rows[at]?.box) {
        assert.equal(reseal(asked(content, box)).length, 1);
        continue;
      }
      assert.throws(() => reseal(asked(content, box)), /^Fault: the secret of .* opens under neither root key$/);
      refused += 1;
    }
  }
  t.diagnostic(`${rows.length} records with each of ${before.length} boxes: ${refused} refused, 0 sealed anew`);
  assert.equal(refused, rows.length * (before.length - 1));
});
