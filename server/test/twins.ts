/**
 * One body prepared twice by a hostile gateway. A world is one signer with its first organization, and a second signer and rotated ones
 * beside it; every trial has one body prepared in two of them, offers both to be released, and says what counts afterwards.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { p256 } from "@noble/curves/nist.js";
import { nodeHpke } from "../src/curves/node_hpke.ts";
import { protocolVersion } from "../src/frames/frame.ts";
import type { Prepared, StoredRecord } from "../src/frames/messages.ts";
import { sealAnswer } from "../src/outbox/oauth2_order.ts";
import { openMessage } from "../src/outbox/sealed_message.ts";
import { openMemory } from "../src/signer/memory/memory.ts";
import { createOperations, type Operations } from "../src/signer/operations.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { sha256 } from "../src/state/digest.ts";
import { attemptKey, leafWishKey } from "../src/state/record_wish.ts";
import { decodeRecord, isKeyRecord, type KeyRecord, recordIdOf } from "../src/state/records.ts";
import { stampEvidence } from "./evidence.ts";
import { encryptTo, exportClient } from "./imports.ts";
import { bundleReader } from "./mail_rig.ts";
import type { Maker } from "./makes_nothing.ts";
import { passkeyParams } from "./passkeys.ts";
import { freshKey } from "./rotation_rig.ts";
import type { Random } from "./seeded_random.ts";
import {
  activityBody,
  createSignerRig,
  createTagBody,
  type SignerRig,
  type StoredState,
  stateAfter,
} from "./signer_rig.ts";
import { createTestIssuers, testIssuer, testIssuerKey, testToken } from "./test_issuers.ts";
import { ethereumVectors } from "./transactions.ts";
import { heldToken } from "./verification_tokens.ts";

const ethereum = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

/** Of the root user, who signs in by it. */
const contact = "root@example.com";

export type World = {
  rig: SignerRig;
  state: StoredState;
  /** Committed records, by id. */
  records: Map<string, StoredRecord>;
  /** Fingerprints of executed activities by their minute, in order. */
  journals: Map<number, Uint8Array[]>;
  /** What later bodies name. */
  walletId: string;
  address: string;
  privateKeyId: string;
  /** Bundles that imports can be encrypted to, one each. */
  targets: { wallet: string[]; privateKey: string[] };
  oauth2CredentialId: string;
  /** The provider's answers by body: it takes each of its codes once. */
  answers: Map<string, Uint8Array>;
  count: number;
  begunMs: number;
};

type Draft = {
  body: Uint8Array;
  records?: readonly string[];
  /** The record of a one-time code. */
  code?: StoredRecord;
  /** The private key of whom else stamps it than the root user. */
  stampedBy?: Uint8Array;
};

/** One row for each activity that makes or draws something, and which of the world's records it looks at. */
export const makers: Readonly<Record<Maker, (world: World) => Draft>> = {
  create_wallet: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_CREATE_WALLET", { walletName: newName(world), accounts: [ethereum] }),
  }),
  create_wallet_accounts: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", {
      walletId: world.walletId,
      accounts: [{ ...ethereum, path: `m/44'/60'/${++world.count}'/0/0` }],
    }),
    records: [world.walletId],
  }),
  create_private_keys: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", {
      privateKeys: ["CURVE_ED25519", "CURVE_P256"].map((curve) => ({
        privateKeyName: newName(world),
        curve,
        privateKeyTags: [],
        addressFormats: [],
      })),
    }),
  }),
  create_sub_organization: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", {
      subOrganizationName: newName(world),
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: "root", apiKeys: [ownApiKey(world)], authenticators: [], oauthProviders: [] }],
      wallet: { walletName: "Main", accounts: [ethereum] },
    }),
  }),
  init_import_wallet: ({ rig }) => ({
    body: activityBody(rig, "ACTIVITY_TYPE_INIT_IMPORT_WALLET", { userId: rig.orders.birth.userId }),
  }),
  init_import_private_key: ({ rig }) => ({
    body: activityBody(rig, "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY", { userId: rig.orders.birth.userId }),
  }),
  import_wallet: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_IMPORT_WALLET", {
      userId: world.rig.orders.birth.userId,
      walletName: newName(world),
      encryptedBundle: encryptTo(takeTarget(world, "wallet"), newSentence()),
      accounts: [ethereum],
    }),
  }),
  import_private_key: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", {
      userId: world.rig.orders.birth.userId,
      privateKeyName: newName(world),
      encryptedBundle: encryptTo(takeTarget(world, "privateKey"), p256.utils.randomSecretKey()),
      curve: "CURVE_P256",
      addressFormats: [],
    }),
  }),
  stamp_login: ({ rig }) => ({
    body: activityBody(rig, "ACTIVITY_TYPE_STAMP_LOGIN", { publicKey: newApiKey().publicKey }),
  }),
  oauth_login: ({ rig }) => {
    const { publicKey } = newApiKey();
    const oidcToken = testToken(rig.clock.nowMs, {}, publicKey);
    return { body: activityBody(rig, "ACTIVITY_TYPE_OAUTH_LOGIN", { oidcToken, publicKey }) };
  },
  oauth: ({ rig }) => {
    const { targetPublicKey } = exportClient();
    const oidcToken = testToken(rig.clock.nowMs, {}, targetPublicKey);
    return { body: activityBody(rig, "ACTIVITY_TYPE_OAUTH", { oidcToken, targetPublicKey }) };
  },
  otp_login: ({ rig }) => ({
    body: activityBody(rig, "ACTIVITY_TYPE_OTP_LOGIN", {
      verificationToken: heldToken(rig, { contact, unbound: true }).token,
      publicKey: newApiKey().publicKey,
    }),
  }),
  create_read_write_session: ({ rig }) => ({
    body: activityBody(rig, "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", {
      targetPublicKey: exportClient().targetPublicKey,
    }),
  }),
  init_otp: (world) => ({ body: codeBody(world, "ACTIVITY_TYPE_INIT_OTP_V2", newEmail(world)) }),
  verify_otp: (world) => {
    const { otpId, otpCode, code } = startCode(world, codeBody(world, "ACTIVITY_TYPE_INIT_OTP_V2", newEmail(world)));
    return { body: activityBody(world.rig, "ACTIVITY_TYPE_VERIFY_OTP", { otpId, otpCode }), code };
  },
  init_otp_auth: (world) => ({ body: signInCodeBody(world) }),
  otp_auth: (world) => {
    const { otpId, otpCode, code } = startCode(world, signInCodeBody(world));
    const { targetPublicKey } = exportClient();
    return { body: activityBody(world.rig, "ACTIVITY_TYPE_OTP_AUTH", { otpId, otpCode, targetPublicKey }), code };
  },
  recover_user: (world) => {
    const email = newEmail(world);
    const userId = newUserId(world, email);
    const { targetPublicKey, open } = bundleReader();
    const parameters = { email, targetPublicKey, emailCustomization: { appName: "App" } };
    const body = activityBody(world.rig, "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2", parameters);
    const sent = prepareIn(world, world.rig.operations, world.state, { body });
    settle(world, sent);
    return {
      body: activityBody(world.rig, "ACTIVITY_TYPE_RECOVER_USER", {
        userId,
        authenticator: passkeyParams(++world.count),
      }),
      stampedBy: open(mailedIn(world, sent)),
    };
  },
  oauth2_authenticate: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", {
      oauth2CredentialId: world.oauth2CredentialId,
      authCode: newName(world),
      redirectUri: "https://a.example",
      codeVerifier: "verifier",
      nonce: "00",
    }),
  }),
  email_auth: (world) => ({ body: mailBody(world, "ACTIVITY_TYPE_EMAIL_AUTH_V3") }),
  init_user_email_recovery: (world) => ({ body: mailBody(world, "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2") }),
  // Of a body from the future the end is told by the signer's clock, which may have gone on.
  create_read_only_session: ({ rig }) => ({
    body: activityBody(
      rig,
      "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION",
      {},
      { timestampMs: String(rig.clock.nowMs - 1_000) },
    ),
  }),
  create_authenticators: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", {
      // One user would have too many before long.
      userId: newUserId(world),
      authenticators: [passkeyParams(++world.count)],
    }),
  }),
  sign_raw_payload: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", {
      ...signed(world),
      payload: toHex(freshKey()),
    }),
    records: [world.privateKeyId],
  }),
  sign_raw_payloads: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", {
      ...signed(world),
      payloads: [toHex(freshKey()), toHex(freshKey())],
    }),
    records: [world.privateKeyId],
  }),
  sign_transaction: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", {
      signWith: world.address,
      unsignedTransaction: ethereumVectors.eip1559.unsigned,
      type: "TRANSACTION_TYPE_ETHEREUM",
    }),
    records: [...world.records.keys()].slice(0, 2),
  }),
  export_wallet: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_EXPORT_WALLET", {
      walletId: world.walletId,
      targetPublicKey: exportClient().targetPublicKey,
    }),
    records: [world.walletId],
  }),
  export_wallet_account: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", {
      address: world.address,
      targetPublicKey: exportClient().targetPublicKey,
    }),
    records: [...world.records.keys()].slice(0, 2),
  }),
  export_private_key: (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY", {
      privateKeyId: world.privateKeyId,
      targetPublicKey: exportClient().targetPublicKey,
    }),
    records: [world.privateKeyId],
  }),
};

/** Older forms that make something which the newest cannot. */
export const olderMakers: Readonly<Record<string, (world: World) => Draft>> = {
  "create_sub_organization with private keys": (world) => ({
    body: activityBody(world.rig, "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3", {
      subOrganizationName: newName(world),
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: "root", apiKeys: [ownApiKey(world)], authenticators: [] }],
      privateKeys: ["CURVE_SECP256K1", "CURVE_ED25519"].map((curve) => ({
        privateKeyName: newName(world),
        curve,
        privateKeyTags: [],
        addressFormats: [],
      })),
    }),
  }),
};

/** Where the second one is prepared. The first is on the world's own signer, on its newest state. */
export const situations = [
  "same state",
  "later state",
  "after a restart",
  "second signer",
  "across a rotation",
] as const;
export type Situation = (typeof situations)[number];

export function createWorld(): World {
  const rig = createSignerRig({ nowMs: Date.now() });
  const world: World = {
    rig,
    state: rig.born,
    records: new Map(),
    journals: new Map(),
    walletId: "",
    address: "",
    privateKeyId: "",
    oauth2CredentialId: "",
    targets: { wallet: [], privateKey: [] },
    answers: new Map(),
    count: 0,
    begunMs: rig.clock.nowMs,
  };
  const { userId } = rig.orders.birth;
  const features = ["FEATURE_NAME_EMAIL_AUTH", "FEATURE_NAME_EMAIL_RECOVERY", "FEATURE_NAME_OTP_EMAIL_AUTH"];
  for (const body of [
    ...features.map((name) => activityBody(rig, "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", { name, value: "" })),
    activityBody(rig, "ACTIVITY_TYPE_UPDATE_USER_EMAIL", { userId, userEmail: contact }),
    activityBody(rig, "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", {
      userId,
      oauthProviders: [{ providerName: "issuer", oidcToken: testToken(rig.clock.nowMs) }],
    }),
  ]) {
    settle(world, prepareIn(world, rig.operations, world.state, { body }));
  }
  const wallet = actNow(world, "create_wallet");
  world.walletId = wallet.walletId;
  world.address = wallet.addresses[0];
  world.privateKeyId = actNow(world, "create_private_keys").privateKeys[0].privateKeyId;
  world.oauth2CredentialId = newOauth2Credential(world);
  return world;
}

function newName(world: World): string {
  world.count += 1;
  return `Name ${world.count}`;
}

function newEmail(world: World): string {
  world.count += 1;
  return `user${world.count}@example.com`;
}

/** One contact is sent few codes. */
function codeBody({ rig }: World, type: string, contact: string): Uint8Array {
  const form = { otpLength: 6, alphanumeric: false };
  return activityBody(rig, type, { otpType: "OTP_TYPE_EMAIL", contact, appName: "App", ...form });
}

/** For a user of its own. */
function signInCodeBody(world: World): Uint8Array {
  const email = newEmail(world);
  newUserId(world, email);
  return codeBody(world, "ACTIVITY_TYPE_INIT_OTP_AUTH_V3", email);
}

/** A code that was sent: its record, and what the contact reads. */
function startCode(world: World, body: Uint8Array): { otpId: string; otpCode: string; code: StoredRecord } {
  const started = prepareIn(world, world.rig.operations, world.state, { body });
  settle(world, started);
  const [made] = started[0]?.codes ?? [];
  if (made === undefined) throw new Error("no code was started");
  const code = { content: made.content, sealed: new Uint8Array() };
  return { otpId: made.otpId, otpCode: mailedIn(world, started), code };
}

/** What the courier would mail of it. */
function mailedIn({ rig }: World, [own]: readonly Prepared[]): string {
  const { courierKey } = openKeyring(rig.rootKey, 1, rig.keyring);
  const [message] = own?.outbox ?? [];
  const { organizationId } = rig.orders.birth;
  const opened = message && openMessage(courierKey, { organizationId, messageId: message.messageId }, message.sealed);
  if (opened === undefined) throw new Error("nothing was sent");
  return opened.code;
}

const oauth2Client = { provider: "OAUTH2_PROVIDER_ALPHA", clientId: "client" } as const;

function newOauth2Credential(world: World): string {
  const { publicKeys } = openKeyring(world.rig.rootKey, 1, world.rig.keyring);
  const secret = sealClientSecret(
    nodeHpke,
    fromHex(publicKeys.clientSecretEncryption),
    freshKey().slice(0, 12),
    Buffer.from("s3cret"),
  );
  const parameters = { ...oauth2Client, encryptedClientSecret: toHex(secret) };
  const body = activityBody(world.rig, "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", parameters);
  return settle(world, prepareIn(world, world.rig.operations, world.state, { body })).oauth2CredentialId;
}

/** The courier's answer to the signer's order for this body. */
function answerFor({ rig, answers }: World, body: Uint8Array): Uint8Array {
  const { courierKey } = openKeyring(rig.rootKey, 1, rig.keyring);
  const fingerprint = sha256(body);
  const known = answers.get(toHex(fingerprint));
  const place = { organizationId: rig.orders.birth.organizationId, fingerprint };
  const exchanged = { userId: "1", bearerToken: "token", exchangedAtMs: rig.clock.nowMs };
  const answer = known ?? sealAnswer(courierKey, place, oauth2Client, exchanged);
  answers.set(toHex(fingerprint), answer);
  return answer;
}

/** For a user of its own: one contact is sent few messages. */
function mailBody(world: World, type: string): Uint8Array {
  const email = newEmail(world);
  newUserId(world, email);
  const { targetPublicKey } = exportClient();
  return activityBody(world.rig, type, { email, targetPublicKey, emailCustomization: { appName: "App" } });
}

function newUserId(world: World, userEmail?: string): string {
  const user = {
    userName: newName(world),
    ...(userEmail !== undefined && { userEmail }),
    apiKeys: [newApiKey()],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  };
  const body = activityBody(world.rig, "ACTIVITY_TYPE_CREATE_USERS_V4", { users: [user] });
  return settle(world, prepareIn(world, world.rig.operations, world.state, { body })).userIds[0];
}

/** What the world's private key signs, without hashing it anew. */
function signed({ privateKeyId: signWith }: World) {
  return { signWith, encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" };
}

function newSentence(): string {
  return Buffer.from(
    toSentence(nobleKeyMaths, { entropy: freshKey().slice(0, 16), language: "MNEMONIC_LANGUAGE_ENGLISH" }),
  ).toString("utf8");
}

function newApiKey() {
  const publicKey = toHex(p256.getPublicKey(p256.utils.randomSecretKey()));
  return { apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" };
}

/** The key that stamps everything here, so that the new organization's keys can be used, too. */
function ownApiKey({ rig: { orders } }: World) {
  return { apiKeyName: "key", publicKey: orders.birth.apiPublicKey, curveType: "API_KEY_CURVE_P256" };
}

function takeTarget(world: World, kind: "wallet" | "privateKey"): string {
  const path = kind === "wallet" ? "init_import_wallet" : "init_import_private_key";
  return world.targets[kind].pop() ?? actNow(world, path).importBundle;
}

/** Prepares, whatever the signer asks for first. */
export function prepareIn(world: World, operations: Operations, state: StoredState, draft: Draft) {
  const { body, records = [], code, stampedBy } = draft;
  const brought = [...records.map((id) => world.records.get(id)), code].filter((record) => record !== undefined);
  return prepareWith(world, operations, state, body, brought, stampedBy);
}

/** The same with records from wherever they are. */
function prepareWith(
  world: World,
  operations: Operations,
  state: StoredState,
  body: Uint8Array,
  brought: readonly StoredRecord[],
  stampedBy = world.rig.apiPrivateKey,
): Prepared[] {
  const wishes: string[] = [];
  const statements: Uint8Array[] = [];
  let journal: Uint8Array | undefined;
  for (let attempt = 0; attempt < 5; attempt++) {
    const offered = { ...state, links: [] };
    const evidence = stampEvidence(signStamp(stampedBy, "SIGNATURE_SCHEME_TK_API_P256", body));
    const none = { subOrganizationId: undefined, target: undefined, pages: [], others: [], statements };
    const reply = operations.prepare({ body, evidence, state: offered, journal, records: brought, wishes, ...none });
    if (reply.kind === "prepared") return [...reply.value];
    for (const wish of reply.value) {
      if (wish.kind === "record") wishes.push(wish.value.wish);
      // A hostile gateway has nothing to show for it.
      if (wish.kind === "leaf") wishes.push(leafWishKey(wish.value));
      if (wish.kind === "attempt") wishes.push(attemptKey(wish.value.otpId));
      if (wish.kind === "oauth2") statements.push(answerFor(world, body));
      if (wish.kind === "issuer") statements.push(statementFor(world));
      if (wish.kind === "journal") journal = Buffer.concat(world.journals.get(wish.value.slot) ?? []);
    }
  }
  throw new Error("the signer misses something that there is not");
}

/** What the courier says about the issuer of all tokens here. */
function statementFor({ rig }: World): Uint8Array {
  const { statementMac } = openKeyring(rig.rootKey, 1, rig.keyring);
  return createTestIssuers(statementMac, rig.clock).statement(testIssuer, [testIssuerKey], rig.clock.nowMs);
}

/** Which rows are released. */
export function release(operations: Operations, rows: readonly Prepared[]): boolean[] {
  return answersTo(operations, rows).map(({ kind }) => kind === "released");
}

/** The results that come out with them, those that were sealed among them. */
export function releasedResults(operations: Operations, rows: readonly Prepared[]): string[] {
  return answersTo(operations, rows).flatMap((answer, index) =>
    answer.kind === "released" ? (answer.value.result ?? rows[index]?.activity?.result ?? []) : [],
  );
}

function answersTo(operations: Operations, rows: readonly Prepared[]) {
  return operations.release({ rows: rows.map(({ leaf, sealed }) => ({ leaf, sealed })), links: [] });
}

/** What a database holds after the commit. */
export function commit(world: World, [own]: readonly Prepared[]): void {
  if (own?.next === undefined) return;
  world.state = stateAfter(world.state, own);
  for (const { content, sealed } of own.records) {
    const record = decodeRecord(withoutMac(content));
    if (isKeyRecord(record)) world.records.set(recordIdOf(record), { content, sealed });
  }
  if (own.activity?.slot === undefined) return;
  const { slot, fingerprint } = own.activity;
  world.journals.set(slot, [...(world.journals.get(slot) ?? []), fingerprint]);
}

function actNow(world: World, path: Maker) {
  return settle(world, prepareIn(world, world.rig.operations, world.state, makers[path](world)));
}

function tagNow(world: World): void {
  const body = createTagBody(world.rig, newName(world));
  settle(world, prepareIn(world, world.rig.operations, world.state, { body }));
}

function settle(world: World, prepared: readonly Prepared[]) {
  const isReleased = release(world.rig.operations, prepared).every(Boolean);
  if (!isReleased || prepared[0]?.activity?.status !== "ACTIVITY_STATUS_COMPLETED") {
    throw new Error(`an honest act is ${prepared[0]?.activity?.failure ?? "not released"}`);
  }
  commit(world, prepared);
  return JSON.parse(prepared[0]?.activity?.result ?? "{}");
}

export type Pair = {
  first: readonly Prepared[];
  second: readonly Prepared[];
  operations: Operations;
  /** Leaves nothing open of a signer that was started for this pair. */
  close(): void;
};

/** The body twice; `operations` is who is asked to release both. */
export function prepareTwice(world: World, draft: Draft, situation: Situation, random: Random): Pair {
  const { rig } = world;
  const first = prepareIn(world, rig.operations, world.state, draft);
  // Mostly within the same millisecond, where times do not tell twins apart.
  if (random.below(4) === 0) rig.clock.nowMs += random.below(90_000);
  if (situation === "later state") tagNow(world);
  const { operations, releasing, close = () => undefined } = signerFor(world, situation);
  const second = prepareIn(world, operations, world.state, draft);
  return { first, second, operations: releasing ?? operations, close };
}

type Second = { operations: Operations; releasing?: Operations; close?: () => void };

function signerFor(world: World, situation: Situation): Second {
  if (situation === "after a restart") {
    world.rig = world.rig.restart();
    return { operations: world.rig.operations };
  }
  if (situation === "second signer") {
    const folder = mkdtempSync(join(tmpdir(), "keystead-twin-"));
    const memory = openMemory(folder, world.rig.rootKey);
    // A memory takes no code that is older than itself.
    memory.codes.begin(world.begunMs);
    const operations = startOn(world.rig, { current: world.rig.rootKey }, memory, { adoptUnknown: true });
    const close = () => {
      memory.close();
      rmSync(folder, { recursive: true });
    };
    return { operations, releasing: world.rig.operations, close };
  }
  if (situation === "across a rotation") {
    const keys = { current: freshKey(), retiring: world.rig.rootKey };
    return { operations: startOn(world.rig, keys, world.rig.memory, { reseal: true }) };
  }
  return { operations: world.rig.operations };
}

function startOn(
  { orders, clock, keyring }: SignerRig,
  keys: Parameters<typeof createOperations>[0],
  memory: SignerRig["memory"],
  change: Partial<SignerRig["orders"]>,
): Operations {
  const operations = createOperations(
    keys,
    memory,
    { ...orders, ...change },
    () => clock.nowMs,
    () => undefined,
  );
  operations.hello({ protocol: protocolVersion, keyring });
  return operations;
}

/** What came of keys that somebody wanted to use: the ids of those that signed or were exported, and why the others were not. */
export type Tried = { used: string[]; refusals: string[] };

/**
 * Has each key of a preparation sign or be exported, under its own id and with its own records, after `counted` is committed: its twin.
 * Keys of a new organization are used there, by its own root user.
 */
export function tryKeys(
  world: World,
  operations: Operations,
  prepared: readonly Prepared[],
  [, birth]: readonly Prepared[],
): Tried {
  const born = birth && { ...world, state: stateAfter(undefined, birth), records: new Map(), journals: new Map() };
  const brought = prepared.flatMap(({ records }) => records.map(({ content, sealed }) => ({ content, sealed })));
  const tried: Tried = { used: [], refusals: [] };
  for (const [id, record] of keysOf(prepared)) {
    const { organizationId } = record;
    const place = organizationId === world.rig.orders.birth.organizationId ? world : born;
    if (place === undefined) throw new Error("a key of an organization that was never born");
    try {
      const asked = prepareWith(place, operations, place.state, useBody(world, record), brought);
      const { status, failure } = asked[0]?.activity ?? {};
      const isUsed = status === "ACTIVITY_STATUS_COMPLETED" && release(operations, asked).every(Boolean);
      if (isUsed) {
        tried.used.push(id);
        commit(place, asked);
      } else tried.refusals.push(failure ?? "not released");
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      tried.refusals.push(error.message);
    }
  }
  return tried;
}

/** A body that needs the key's secret. */
function useBody({ rig }: World, record: KeyRecord): Uint8Array {
  const { organizationId } = record;
  if (record.kind === "walletAccount") {
    const type = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
    const choices = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };
    const parameters = { signWith: record.address, payload: toHex(freshKey()), ...choices };
    return activityBody(rig, type, parameters, { organizationId });
  }
  const { targetPublicKey } = exportClient();
  const type = record.kind === "wallet" ? "ACTIVITY_TYPE_EXPORT_WALLET" : "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY";
  const named = record.kind === "wallet" ? { walletId: record.walletId } : { privateKeyId: record.privateKeyId };
  return activityBody(rig, type, { ...named, targetPublicKey }, { organizationId });
}

/** Keys by id, of an activity's own organization and of what it brings into the world. */
export function keysOf(prepared: readonly Prepared[]): Map<string, KeyRecord> {
  const records = prepared.flatMap(({ records }) => records.map(({ content }) => decodeRecord(withoutMac(content))));
  return new Map(records.filter(isKeyRecord).map((record) => [recordIdOf(record), record]));
}

/** Equal for two preparations that are the same act: the same states, the same records, and the same result. */
export function effectOf(prepared: readonly Prepared[]): string {
  const states = prepared.map(({ next }) => toHex(next?.header ?? new Uint8Array()));
  const records = prepared.flatMap(({ records }) => records.map(({ content }) => toHex(sha256(content))));
  return [...states, ...records, resultText(prepared[0]?.activity?.result)].join(" ");
}

/**
 * A result without the name of the leaf that it came with, and without a token's signature: each preparation has another. A verification
 * token lasts so long from when it was made: of two with one id that ends later which could have been made later alone.
 */
export function resultText(result: string | undefined): string {
  const { leaf: _, session, oidcToken, verificationToken, ...made } = JSON.parse(result ?? "{}");
  if (made.sessionExpiry !== undefined) return JSON.stringify({ ...made, said: said(session) });
  if (oidcToken !== undefined) return JSON.stringify({ ...made, claims: claimsOf(oidcToken) });
  if (verificationToken === undefined) return JSON.stringify({ session, ...made });
  const { exp: _exp, ...claims } = claimsOf(verificationToken);
  return JSON.stringify({ ...made, tokenEndsAtMs: undefined, claims });
}

/** Of a token; none where the row does not show it. */
function claimsOf(token: string): Record<string, unknown> {
  const [, claims] = token.split(".");
  return claims === undefined ? {} : JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
}

/** What a read-only session says, up to its signature: whose it is, and until when. */
function said(session: string): string {
  return Buffer.from(session, "base64url").subarray(0, -64).toString("hex");
}
