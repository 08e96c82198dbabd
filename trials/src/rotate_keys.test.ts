/**
 * `keystead keys rotate`, killed again and again, the signer, the gateway, the launcher or all of them: every secret opens in
 * between, every key signs and comes out in the end, and nothing is left under an old root key. A sample here, 200 kills on
 * each database with `npm run figures`. KEYSTEAD_SEED repeats a run's choices (not its timing).
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { dialects, testSource } from "@keystead/e2e/databases.ts";
import { ownClient } from "@keystead/e2e/keys/own_client.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { versionOfCurrent } from "@keystead/server/signer/secrets/keyring.ts";
import { createSealer, versionOf } from "@keystead/server/signer/secrets/seal.ts";
import { recordIdOf } from "@keystead/server/state/records.ts";
import { findDeployment } from "@keystead/server/store/across.ts";
import { keyTables } from "@keystead/server/store/key_rows.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../core/test/patience.ts";
import { isFull, samples } from "../../core/test/samples.ts";
import { type Random, seededRandom } from "../../core/test/seeded_random.ts";
import { kill, type Rotation, rootKeysAt, rotate, type Target, targets, untilJoined } from "./rotation.ts";
import { openRecords } from "./secrets/known_secrets.ts";

/** Wallets with nine accounts each, ten secrets, and as many private keys as wallets. */
const wallets = samples.serverRotationWallets;
const records = wallets * 11;
const kills = samples.serverRotationKills;
/** How often, in kills, a server is started in between. */
const serveEvery = samples.serverRotationKillsPerStart;
/** Of the kills in full, so many at least leave some boxes under the old key and some under the next. */
const fewMidway = kills / 4;
const options = { skip: process.platform !== "linux" && "needs /proc", timeout: testTimeoutMs };

const accounts = Array.from({ length: 9 }, (_, n) => ({
  curve: "CURVE_SECP256K1" as const,
  pathFormat: "PATH_FORMAT_BIP32" as const,
  path: `m/44'/60'/${n}'/0/0`,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM" as const,
}));

/** What clients know of their keys: how to name them, what each signs, and what came out of some. */
type Keys = {
  signers: string[];
  signatures: string[];
  walletIds: string[];
  privateKeyIds: string[];
  exports: string[];
};

async function createKeys(server: KeysteadServer): Promise<Keys> {
  const { sdk } = await ownClient(server);
  const keys: Keys = { signers: [], signatures: [], walletIds: [], privateKeyIds: [], exports: [] };
  const key = { curve: "CURVE_P256" as const, addressFormats: [], privateKeyTags: [] };
  for (let n = 0; n < wallets; n++) {
    const { walletId, addresses } = await sdk.createWallet({ walletName: `Wallet ${n}`, accounts });
    keys.walletIds.push(walletId);
    keys.signers.push(...addresses);
    const made = await sdk.createPrivateKeys({ privateKeys: [{ ...key, privateKeyName: `Key ${n}` }] });
    keys.privateKeyIds.push(...made.privateKeys.map(({ privateKeyId = "" }) => privateKeyId));
  }
  keys.signers.push(...keys.privateKeyIds);
  keys.signatures.push(...(await signatures(server, keys.signers)));
  keys.exports.push(...(await takeOut(server, keys)));
  return keys;
}

/** The signature that a key gives is the same for ever: the one thing a key must still be able to do. */
async function signatures(server: KeysteadServer, signers: readonly string[]): Promise<string[]> {
  const { sdk } = await ownClient(server);
  const made: string[] = [];
  for (const signWith of signers) {
    const { r, s } = await sdk.signRawPayload({
      signWith,
      payload: "5a".repeat(32),
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_NO_OP",
    });
    made.push(`${r} ${s}`);
  }
  return made;
}

/** Every wallet's words, one account of each, and every private key. */
async function takeOut(server: KeysteadServer, { walletIds, privateKeyIds, signers }: Keys): Promise<string[]> {
  const { bundles } = await ownClient(server);
  const out: string[] = [];
  for (const walletId of walletIds) out.push(await bundles.exportWallet(walletId));
  for (const privateKeyId of privateKeyIds) out.push(await bundles.exportPrivateKey(privateKeyId));
  for (const n of walletIds.keys()) out.push(await bundles.exportAccount(signers[n * 9 + (n % 9)] ?? ""));
  return out;
}

/** The rows as a kill has left them, for the next run too: a database that is opened is put in order, so it is a copy that is. */
async function lookAside(source: StoreSource, dataFolder: string) {
  if (source.kind === "postgres") return look(source, dataFolder);
  const folder = `${dataFolder}.aside`;
  cpSync(source.folder, folder, { recursive: true });
  try {
    return await look({ ...source, folder }, dataFolder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Every secret behind the records, opened with the keys that lie in the data folder, and how many boxes are of each version. */
async function look(source: StoreSource, dataFolder: string) {
  const store = await openStore(source);
  try {
    const keys = rootKeysAt(dataFolder);
    const keyring = await findDeployment(store);
    assert.ok(keyring);
    const version = versionOfCurrent(keys, keyring);
    const opened = await openRecords(store, createSealer(keys.current, version, keys.retiring));
    const secrets = opened.map(({ record, secrets }) => {
      return `${recordIdOf(record)} ${secrets.map(({ bytes }) => toHex(bytes)).join(" ")}`;
    });
    const versions = await versionsOf(store);
    return { secrets: secrets.sort(), versions, keyringVersion: versionOf(keyring) };
  } finally {
    await closeStore(store);
  }
}

async function versionsOf({ db }: Store): Promise<Map<number | undefined, number>> {
  const versions = new Map<number | undefined, number>();
  for (const { table } of Object.values(keyTables)) {
    for (const { sealed } of await db.selectFrom(table).select("sealed").execute()) {
      const version = versionOf(sealed);
      versions.set(version, (versions.get(version) ?? 0) + 1);
    }
  }
  return versions;
}

for (const dialect of dialects) {
  test(
    `${dialect}: ${kills} kills in rotations of ${records} secrets: all open, sign and come out`,
    options,
    async (t) => {
      const source = await testSource(t, dialect);
      if (source === undefined) return;
      const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
      t.diagnostic(`KEYSTEAD_SEED=${seed}`);
      await rotateUnderKills(t, source, seededRandom(seed));
    },
  );
}

async function rotateUnderKills(t: TestContext, source: StoreSource, random: Random): Promise<void> {
  const env: Record<string, string> = source.kind === "postgres" ? { DATABASE_URL: source.url } : {};
  const dataFolder = freshDataFolder(t);
  const place: StoreSource =
    source.kind === "postgres" ? source : { kind: "sqlite", folder: join(dataFolder, "database") };
  const start = async () => {
    const server = await startKeystead({ dataFolder, env });
    t.after(() => server.stop());
    return server;
  };
  const first = await start();
  const keys = await createKeys(first);
  const { organizationId } = first.bootstrap;
  await first.stop();
  const { secrets } = await look(place, dataFolder);
  assert.equal(secrets.length, records);

  const rootKeys = new Set([toHex(rootKeysAt(dataFolder).current)]);
  let finished = 0;
  const finish = (rotation: Rotation) => {
    assert.equal(rotation.process.exitCode, 0, rotation.said());
    assert.match(rotation.said(), /sealed anew under the next root key: \d+ secret\(s\)/);
    const { current, retiring } = rootKeysAt(dataFolder);
    assert.equal(retiring, undefined);
    assert.equal(rootKeys.has(toHex(current)), false, "it is another key each time");
    rootKeys.add(toHex(current));
    finished += 1;
  };

  // One in peace, to know how long there is something to be killed.
  const peaceful = rotate(dataFolder, env);
  const joinedAtMs = await untilJoined(peaceful);
  await peaceful.ended;
  let workMs = performance.now() - joinedAtMs;
  finish(peaceful);

  const killed: Record<Target, number> = { signer: 0, gateway: 0, launcher: 0, all: 0 };
  let total = 0;
  let midway = 0;
  for (let attempt = 0; total < kills; attempt++) {
    const target = targets[attempt % targets.length] as Target;
    const rotation = rotate(dataFolder, env);
    const chance = random.next();
    const startedAtMs = chance < 0.9 ? await untilJoined(rotation) : performance.now();
    // The boxes are sealed anew in the last part; before that, the processes start.
    await pause(workMs * (chance < 0.75 ? 1 - 0.4 * random.next() : random.next()));
    if (!(await kill(rotation, target))) {
      await rotation.ended;
      finish(rotation);
      // Machines are busy at times.
      if (chance < 0.9) workMs = (workMs + performance.now() - startedAtMs) / 2;
      continue;
    }
    // One that had done its work may still say so; the next run then has nothing left to do but the end.
    if (rotation.process.exitCode === 0) finish(rotation);
    killed[target] += 1;
    total += 1;
    const { secrets: now, versions } = await lookAside(place, dataFolder);
    assert.deepEqual(now, secrets);
    if (versions.size > 1) midway += 1;
    // Whatever it had come to, the server starts and signs.
    if (total % serveEvery === 0) {
      const server = await start();
      const some = [...keys.signers.keys()].filter((at) => (at + total) % 7 === 0);
      const made = await signatures(
        server,
        some.map((at) => keys.signers[at] ?? ""),
      );
      assert.deepEqual(
        made,
        some.map((at) => keys.signatures[at]),
      );
      await server.stop();
    }
  }

  const last = rotate(dataFolder, env);
  await last.ended;
  finish(last);
  assert.equal(existsSync(join(dataFolder, "root.key.next")), false);
  const end = await look(place, dataFolder);
  assert.deepEqual(end.secrets, secrets);
  // Each rotation that came to its end has counted the version up by one, and nothing is left behind it. A launcher that was killed
  // right behind the last step has come to its end too, without a chance to say so.
  const [[version = 0, count] = []] = end.versions;
  assert.deepEqual([end.versions.size, count, end.keyringVersion], [1, records, version]);
  const unsaid = version - 1 - finished;
  assert.ok(unsaid >= 0 && unsaid <= killed.launcher + killed.all, `${unsaid} rotations ended without saying so`);
  const server = await start();
  assert.equal(server.bootstrap.organizationId, organizationId);
  assert.deepEqual(await signatures(server, keys.signers), keys.signatures);
  assert.deepEqual(await takeOut(server, keys), keys.exports);
  const { sdk } = await ownClient(server);
  assert.ok((await sdk.createWallet({ walletName: "After", accounts: [] })).walletId);
  await server.stop();
  t.diagnostic(
    `${source.kind}: ${records} secrets; ${total} kills (signer ${killed.signer}, gateway ${killed.gateway}, ` +
      `launcher ${killed.launcher}, all ${killed.all}), ${finished} rotations came to their end; after each kill all secrets ` +
      `opened, ${midway} times with some under the old root key and some under the next; ` +
      `in the end ${keys.signers.length} keys sign, ${keys.exports.length} come out, 0 boxes under an old key`,
  );
  if (isFull) assert.ok(midway >= fewMidway, `only ${midway} of ${total} kills came between two root keys`);
}
