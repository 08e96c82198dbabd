/**
 * After many activities that make, use, export and import keys, send codes and sign people in, no secret is anywhere but in the signer, and
 * no code that was not typed yet, client secret or provider's token anywhere but in signer and courier: not in the gateway's memory, nor in the database and its log, nor in what was
 * printed, nor in any file of the data folder but the root key's own. Every secret is known here: some the test imported, exported or was
 * sent, and the root key opens all. A sample here, 1,000 activities with `npm run figures`.
 */
import assert from "node:assert/strict";
import { createECDH, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { type TestContext, test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { dialects, testSource } from "@keystead/e2e/databases.ts";
import { ownClient } from "@keystead/e2e/keys/own_client.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { closeStore, openStore, type PostgresStore, type Store } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { everyValue } from "../../../server/test/every_value.ts";
import { sentenceSpellings, spellings } from "../../../server/test/secret_spellings.ts";
import { type CodeReceivers, heldContact, startCodeReceivers } from "./code_receivers.ts";
import { type IdentityWork, identityActivitiesPerRound, startIdentityWork } from "./identity_work.ts";
import {
  firstSealer,
  type OpenedCode,
  openBearerValues,
  openCodes,
  openDeployment,
  openRecords,
  openTargets,
  type Secret,
} from "./known_secrets.ts";
import { memoryTrouble, readMemory } from "./process_memory.ts";
import { createScanner, type Needle, type Scanner } from "./scanner.ts";
import { startCode, type UnansweredCode } from "./unanswered_codes.ts";
import { activitiesPerRound, type Work, work } from "./work.ts";

const rounds = samples.secretRounds;
const options = { timeout: testTimeoutMs };

/** Enough words in a row that no word list has them in this order. */
const wordsTogether = 4;

/**
 * No secret is searched for in fewer bytes, except codes. These are searched for as they are, so that they are found whatever is around
 * them. Nine characters out of 32 can be told from anything else: if a GiB of hay were nothing but such characters, one of 128 codes would
 * be in it by chance once in 250 runs, and hay is not like that.
 */
const leastLength = 16;
const codeLength = 9;

function needlesOf(secrets: readonly Secret[]): Needle[] {
  return secrets.flatMap(({ name, bytes, isSentence, isCode }) => {
    const spelled =
      isSentence === true ? sentenceSpellings(Buffer.from(bytes).toString(), wordsTogether) : spellings(bytes);
    const least = isCode === true ? codeLength : leastLength;
    // Four of the shortest words are too short for the search; the whole sentence is not.
    const longEnough = spelled.filter((spelling) => spelling.bytes.length >= least);
    return longEnough.map((spelling) => ({ name: `${name} as ${spelling.as}`, bytes: spelling.bytes }));
  });
}

/** Every secret of the deployment. Those that clients saw must be among them, or the search would be for something else. */
async function everySecret(store: Store, rootKey: Uint8Array, apiPrivateKey: string, done: Work): Promise<Secret[]> {
  const sealer = firstSealer(rootKey);
  const records = await openRecords(store, sealer);
  for (const { kind, id, text } of done.moved) {
    const found = records.find(({ record }) => {
      if (record.kind === "wallet") return kind === "wallet" && record.walletId === id;
      if (record.kind === "walletAccount") return kind === "walletAccount" && record.address === id;
      return kind === "privateKey" && record.privateKeyId === id;
    });
    const known = found?.secrets.map(({ bytes, isSentence, name }) =>
      isSentence === true || name.startsWith("passphrase") ? Buffer.from(bytes).toString() : toHex(bytes),
    );
    for (const part of text.split("\n")) assert.ok(known?.includes(part), `${kind} ${id} is not what clients see`);
  }
  const targets = await openTargets(store, sealer);
  // Each failed import leaves its target, and only so many wait.
  assert.ok(targets.length > 0);
  return [
    ...records.flatMap(({ secrets }) => secrets),
    ...done.mistyped.map((words, n) => ({
      name: `mistyped words ${n}`,
      bytes: Buffer.from(words),
      isSentence: true,
    })),
    ...targets,
    ...(await openDeployment(store, sealer)),
    { name: "root key", bytes: rootKey },
    { name: "API key of the first user", bytes: fromHex(apiPrivateKey) },
  ];
}

/** What nobody has typed yet. What was sent must be among it, and each key be the one that clients were given the other half of. */
async function untypedSecrets(
  codes: readonly OpenedCode[],
  started: readonly UnansweredCode[],
  { codeTo }: CodeReceivers,
): Promise<Secret[]> {
  assert.equal(codes.length, started.length);
  for (const { otpId, contact, targetPublicKey } of started) {
    const opened = codes.find((each) => each.otpId === otpId);
    assert.ok(opened !== undefined);
    assert.equal(Buffer.from(opened.code.bytes).toString(), await codeTo(contact));
    if (targetPublicKey === undefined) continue;
    const target = createECDH("prime256v1");
    target.setPrivateKey(opened.target.bytes);
    assert.equal(target.getPublicKey("hex"), targetPublicKey);
  }
  return codes.flatMap(({ code, target }) => [code, target]);
}

/** Those files alone exist to hold a secret. */
const secretFiles = ["root.key", "bootstrap.json"];

function filesBelow(folder: string, wanted: (path: string) => boolean = () => true): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter(wanted)
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/**
 * Of PostgreSQL all but other tests' databases: the tables' own files, the write-ahead log, and whatever else it keeps. In words, why
 * they cannot be had.
 */
async function postgresFiles({ pool }: PostgresStore): Promise<string[] | string> {
  try {
    await pool.query("checkpoint");
    const { rows } = await pool.query<{ folder: string; oid: string }>(
      "select current_setting('data_directory') as folder, oid::text from pg_database where datname = current_database()",
    );
    const [{ folder, oid } = { folder: "", oid: "" }] = rows;
    const own = join("base", oid) + sep;
    return filesBelow(folder, (name) => !name.startsWith(`base${sep}`) || name.startsWith(own));
  } catch (error) {
    return `the database server's files are not for this user: ${(error as Error).message}`;
  }
}

/** Bytes that were copied, because they change or go away, and paths of files that stay. */
type Hay = { name: string; parts: readonly (Uint8Array | string)[]; isGateways?: boolean };

function search(scanner: Scanner, { parts }: Hay): { found: Set<string>; length: number } {
  const found = new Set<string>();
  let length = 0;
  for (const part of parts) {
    const result =
      typeof part === "string" ? scanner.scanFile(part) : { found: scanner.scan(part), length: part.length };
    for (const name of result.found) found.add(name);
    length += result.length;
  }
  return { found, length };
}

/**
 * What must be found where the gateway's own matters are, so that finding nothing else means something. A name beyond Latin-1 lies in
 * its memory with two bytes for each character.
 */
async function plantMarkers(server: KeysteadServer): Promise<Needle[]> {
  const [narrow, wide] = [`marker ${randomUUID()}`, `Ω marker ${randomUUID()}`];
  const { sdk } = await ownClient(server);
  for (const walletName of [narrow, wide]) await sdk.createWallet({ walletName, accounts: [] });
  await sdk.listWallets({});
  return [
    { name: "narrow", bytes: Buffer.from(narrow) },
    { name: "wide", bytes: Buffer.from(wide) },
    { name: "wide in memory", bytes: Buffer.from(wide, "utf16le") },
    { name: "address", bytes: Buffer.from(server.url) },
  ];
}

type Memory = { gateway: Buffer[]; signer: Buffer[]; courier: Buffer[]; trouble: string | undefined };

/** The courier's first: its mail server does not let it wait for long. */
async function readMemories(server: KeysteadServer): Promise<Memory> {
  const { gateway = 0, signer = 0, courier = 0 } = process.platform === "linux" ? await server.children() : {};
  const trouble = memoryTrouble(courier) ?? memoryTrouble(gateway) ?? memoryTrouble(signer);
  if (trouble === undefined) {
    return { courier: readMemory(courier), gateway: readMemory(gateway), signer: readMemory(signer), trouble };
  }
  if (process.env.KEYSTEAD_CI === "1") throw new Error(trouble);
  return { courier: [], gateway: [], signer: [], trouble };
}

type Observed = {
  done: Work;
  markers: Needle[];
  /** Its mail was being sent when the memories were read. */
  held: UnansweredCode;
  memory: Memory;
  /** Of the folder `database`. */
  copies: { name: string; bytes: Buffer }[];
};

/** Works, and looks while the server runs: a database that is closed has no write-ahead log any more. */
async function observe(server: KeysteadServer, receivers: CodeReceivers, identities: IdentityWork): Promise<Observed> {
  const done = await work(server, rounds);
  done.activities += await identities.run(server, rounds);
  assert.equal(done.activities, rounds * (activitiesPerRound + identityActivitiesPerRound));
  const markers = await plantMarkers(server);
  // They have gone wherever they ever go.
  for (const { contact } of done.codes) await receivers.codeTo(contact);
  const held = await startCode(server, "ACTIVITY_TYPE_INIT_OTP_V3", "OTP_TYPE_EMAIL", heldContact);
  await receivers.codeTo(heldContact);
  const memory = await readMemories(server);
  const paths = filesBelow(join(server.dataFolder, "database"));
  const copies = paths.map((path) => ({ name: basename(path), bytes: readFileSync(path) }));
  receivers.letGo();
  return { done, markers, held, memory, copies };
}

/** Codes that it sends, its keys, and what it sends to providers and gets from them. */
const couriersOwn = /^(code|courier key|statement key|client secret|provider's token|authCode of|codeVerifier of) /;

for (const dialect of dialects) {
  const count = rounds * (activitiesPerRound + identityActivitiesPerRound);
  const title = `${dialect}: ${count} activities leave no secret outside the signer, and no code or client secret outside signer and courier`;
  test(title, options, async (t: TestContext) => {
    const source = await testSource(t, dialect);
    if (source === undefined) return;
    const dataFolder = freshDataFolder(t);
    const receivers = await startCodeReceivers(t);
    const identities = await startIdentityWork();
    const env = { ...receivers.env, ...identities.env };
    const databaseUrl = source.kind === "postgres" ? { databaseUrl: source.url } : {};
    const server = await startKeystead({ dataFolder, env, ...databaseUrl });
    t.after(() => server.stop());
    const { done, markers, held, memory, copies } = await observe(server, receivers, identities);
    await server.stop();

    const folder = join(dataFolder, "database");
    const store = await openStore(source.kind === "sqlite" ? { kind: "sqlite", folder } : source);
    t.after(() => closeStore(store));
    const rootKey = Uint8Array.from(readFileSync(join(dataFolder, "root.key")));
    const sealer = firstSealer(rootKey);
    const secrets = [
      ...(await everySecret(store, rootKey, server.bootstrap.apiPrivateKey, done)),
      ...(await untypedSecrets(await openCodes(store, sealer), [...done.codes, held], receivers)),
      ...identities.secrets(),
    ];
    const needles = needlesOf(secrets);
    // Tokens and typed codes that can still be used. The gateway has them in its memory while it deals with them.
    const bearer = (await openBearerValues(store, sealer)).flatMap(({ name, text }) =>
      spellings(Buffer.from(text)).map(({ as, bytes }) => ({ name: `${name} as ${as}`, bytes })),
    );
    for (const field of ["oidcToken of ACTIVITY_TYPE_OAUTH_LOGIN ", "authCode of ACTIVITY_TYPE_OAUTH2_AUTHENTICATE "]) {
      assert.ok(
        bearer.some(({ name }) => name.startsWith(field)),
        `nothing is searched for as ${field}`,
      );
    }
    const scanner = createScanner([...needles, ...bearer, ...markers], codeLength);
    t.diagnostic(
      `${dialect}: ${done.activities} activities; ${secrets.length} secrets in ${needles.length} spellings, ${done.codes.length + 1} of them codes that nobody typed`,
    );

    const expectOnly = (hay: Hay, expected: readonly string[], skip: string | false = false) =>
      t.test(hay.name, { skip }, (t) => {
        const { found, length } = search(scanner, hay);
        const allowed = hay.isGateways === true ? [...markers, ...bearer] : markers;
        const hits = [...found].filter((name) => !allowed.some((needle) => needle.name === name));
        t.diagnostic(`${dialect}, ${hay.name}: ${(length / 2 ** 20).toFixed(1)} MiB, ${hits.length} hits`);
        assert.deepEqual(hits, []);
        for (const name of expected) assert.ok(found.has(name), `the search does not find ${name}`);
      });
    const { trouble = false } = memory;
    const inGateway = { name: "the gateway's memory", parts: memory.gateway, isGateways: true };
    await expectOnly(inGateway, ["narrow", "wide in memory"], trouble);
    await t.test(
      "the same search finds the root key and that of codes in the signer's memory",
      { skip: trouble },
      () => {
        const { found } = search(scanner, { name: "the signer's memory", parts: memory.signer });
        assert.ok(found.has("root key as raw"));
        for (const label of ["otp-code", "otp-target"]) assert.ok(found.has(`key ${label} in its inner block as raw`));
      },
    );
    await t.test("the same search finds a code that is being sent in the courier's memory", { skip: trouble }, () => {
      const { found } = search(scanner, { name: "the courier's memory", parts: memory.courier });
      assert.ok(found.has(`code ${held.otpId} as raw`));
      assert.ok(found.has("courier key as raw"));
      const others = [...found].filter((name) => !couriersOwn.test(name));
      assert.deepEqual(others, [], "a courier has codes, its own keys and what it exchanges, and no other secret");
    });
    if (store.dialect === "sqlite") {
      const names = copies.map(({ name }) => name).filter((name) => name.startsWith("keystead.db"));
      assert.deepEqual(names.sort(), ["keystead.db", "keystead.db-shm", "keystead.db-wal"]);
      await expectOnly({ name: "the database's files", parts: copies.map(({ bytes }) => bytes) }, ["narrow", "wide"]);
    } else {
      const files = await postgresFiles(store);
      const [parts, away] = typeof files === "string" ? [[], files] : [files, false as const];
      await expectOnly({ name: "the database's files", parts }, ["narrow", "wide"], away);
    }
    await expectOnly({ name: "every value in the database", parts: await everyValue(store) }, ["narrow", "wide"]);
    await expectOnly({ name: "what was printed", parts: [Buffer.from(server.output())] }, ["address"]);
    const others = filesBelow(dataFolder, (name) => !secretFiles.includes(name));
    assert.ok(others.includes(join(dataFolder, "signer", "memory")));
    await expectOnly({ name: "the other files of the data folder", parts: others }, []);
  });
}
