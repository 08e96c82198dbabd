/**
 * No single step of the signer is long, whatever a valid body asks for. What a step takes is told by the processor's time, in
 * proportion to work that is timed in the same process: a slower machine, or a busy one, changes both.
 */
import assert from "node:assert/strict";
import { createECDH, randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Work } from "@keystead/core/work.ts";
import { sha256 as portableSha256 } from "@noble/hashes/sha2.js";
import {
  deepAccounts,
  ethereumTransaction,
  legacyPsbt,
  longAbi,
  longIdl,
  longTypedData,
  privateKeys,
  psbtOfManyFields,
  psbtOfManyOutputs,
} from "../../test/long_bodies.ts";
import { createPolicySigner } from "../../test/policy_signer_rig.ts";
import { sha256 } from "../state/digest.ts";
import { runningDigest } from "../state/journal.ts";
import { emptyPages, encodePageOf, type PageName } from "../state/pages.ts";
import { createJournalCache } from "./decision/journal_cache.ts";

/** So many bytes, hashed in JavaScript, take some thirty milliseconds where the unit costs were measured. */
const mostBytes = 4 * 1024 * 1024;

/** In microseconds of this thread. */
function timed(work: () => void): number {
  const began = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(began);
  return user + system;
}

function bestOfThree(measure: () => number): number {
  return Math.min(...Array.from({ length: 3 }, measure));
}

const most = bestOfThree(() => timed(() => portableSha256(new Uint8Array(mostBytes))));

/** Drives the work to its end and notes each step. */
function driven<T>(work: Work<T>, note: (step: number) => void): T {
  for (;;) {
    let next: IteratorResult<undefined, T> | undefined;
    const step = timed(() => {
      next = work.next();
    });
    note(step);
    if (next?.done === true) return next.value;
  }
}

/** An organization in which dave may do everything, under policies that look into what he signs. */
function createWatched(before: Parameters<typeof createPolicySigner>[0] = {}) {
  const signer = createPolicySigner(before);
  const { operations } = signer.quorum.rig;
  let longest = 0;
  const note = (step: number) => {
    longest = Math.max(longest, step);
  };
  operations.prepare = (request) => driven(operations.preparing(request), note);
  signer.policy("everything", "true");
  signer.policy("outputs", "bitcoin.tx.outputs.any(one, one.address == 'x')");
  signer.policy("typed data", "eth.eip_712.message['texts'].any(one, one == 'x')");
  const addressFormats = ["ADDRESS_FORMAT_COMPRESSED"];
  const bare = { privateKeyName: "Bare", curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats };
  type Made = { privateKeys: [{ privateKeyId: string; addresses: [{ address: string }] }] };
  const made = signer.done<Made>("ann", "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", { privateKeys: [bare] });
  const [{ privateKeyId, addresses }] = made.privateKeys;
  return {
    signer,
    signWith: privateKeyId,
    publicKey: addresses[0].address,
    /** As it comes, once: what is deleted is gone. */
    longestStepOnce(type: string, parameters: object): number {
      longest = 0;
      signer.done("ann", type, parameters);
      return longest;
    },
    /** Of a body that is completed. The best of three turns: the first is compiled on its way, and any may collect garbage. */
    longestStep: (type: string, parameters: () => object, overrides: Record<string, unknown> = {}) =>
      bestOfThree(() => {
        const body = signer.quorum.body(type, parameters(), overrides);
        longest = 0;
        const [own] = signer.bring("dave", body);
        assert.equal(own?.activity?.status, "ACTIVITY_STATUS_COMPLETED", own?.activity?.failure ?? "");
        return longest;
      }),
  };
}

const watched = createWatched();
const { signWith, publicKey } = watched;

function apiKey() {
  const publicKey = createECDH("prime256v1").generateKeys("hex", "compressed");
  return { apiKeyName: randomUUID(), publicKey, curveType: "API_KEY_CURVE_P256" };
}

function users() {
  const none = { authenticators: [], oauthProviders: [], userTags: [] };
  return Array.from({ length: 100 }, () => ({ userName: randomUUID(), apiKeys: [apiKey(), apiKey()], ...none }));
}

function policies() {
  const condition = `${"activity.resource == 'x' || ".repeat(120)}activity.kind == 'x'`;
  return Array.from({ length: 50 }, () => ({ policyName: randomUUID(), effect: "EFFECT_ALLOW", condition, notes: "" }));
}

const transactions: Record<string, [type: string, unsignedTransaction: () => string]> = {
  "500 inputs from before SegWit": ["TRANSACTION_TYPE_BITCOIN", () => legacyPsbt(publicKey, 500, 850)],
  "2,850 outputs with addresses": ["TRANSACTION_TYPE_BITCOIN", () => legacyPsbt(publicKey, 1, 2_850)],
  "90,000 fields": ["TRANSACTION_TYPE_BITCOIN", () => psbtOfManyFields(publicKey, 10, 9_000)],
  "an input from a transaction of 50,000 outputs": [
    "TRANSACTION_TYPE_BITCOIN",
    () => psbtOfManyOutputs(publicKey, 50_000),
  ],
  "20,000 addresses in an access list": ["TRANSACTION_TYPE_ETHEREUM", () => ethereumTransaction({ addresses: 20_000 })],
  "500 kB of data": ["TRANSACTION_TYPE_ETHEREUM", () => ethereumTransaction({ dataLength: 500_000 })],
};

const payloads: Record<string, [encoding: string, hashFunction: string, payloads: () => string[]]> = {
  "typed data": ["EIP712", "NO_OP", () => [longTypedData(), longTypedData()]],
  "a megabyte under Keccak": ["TEXT_UTF8", "KECCAK256", () => ["x".repeat(1_000_000)]],
  "a thousand digests": ["HEXADECIMAL", "NO_OP", () => Array(1_000).fill("00".repeat(32))],
};

let contracts = 0;
const ofContract = (smartContractInterface: string, type: string, smartContractAddress: string) => ({
  ...{ smartContractInterface, smartContractAddress },
  ...{ type: `SMART_CONTRACT_INTERFACE_TYPE_${type}`, label: randomUUID() },
});
const nextAddress = () => `0x${(++contracts).toString(16).padStart(40, "0")}`;

const others: Record<string, [type: string, parameters: () => object]> = {
  "an ABI of 400 KiB": ["CREATE_SMART_CONTRACT_INTERFACE", () => ofContract(longAbi(), "ETHEREUM", nextAddress())],
  "an IDL of 400 KiB": [
    "CREATE_SMART_CONTRACT_INTERFACE",
    () => ofContract(longIdl(), "SOLANA", "11111111111111111111111111111111"),
  ],
  "100 private keys with four Taproot addresses": ["CREATE_PRIVATE_KEYS_V2", () => privateKeys("CURVE_SECP256K1")],
  "a wallet of 100 accounts, ten levels deep": [
    "CREATE_WALLET",
    () => ({ walletName: randomUUID(), accounts: deepAccounts() }),
  ],
  "100 users": ["CREATE_USERS_V3", () => ({ users: users() })],
  "50 policies of 3,400 characters": ["CREATE_POLICIES", () => ({ policies: policies() })],
};

const bodies: [what: string, type: string, parameters: () => object][] = [
  ...Object.entries(transactions).map(([what, [type, transaction]]): (typeof bodies)[number] => {
    const unsignedTransaction = transaction();
    return [what, "SIGN_TRANSACTION_V2", () => ({ signWith, type, unsignedTransaction })];
  }),
  ...Object.entries(payloads).map(([what, [encoding, hashFunction, texts]]): (typeof bodies)[number] => {
    const how = { encoding: `PAYLOAD_ENCODING_${encoding}`, hashFunction: `HASH_FUNCTION_${hashFunction}` };
    return [what, "SIGN_RAW_PAYLOADS", () => ({ signWith, ...how, payloads: texts() })];
  }),
  ...Object.entries(others).map(([what, [type, parameters]]): (typeof bodies)[number] => [what, type, parameters]),
];

for (const [what, type, parameters] of bodies) {
  test(`no step of the signer is long: ${what}`, (t) => {
    const step = watched.longestStep(`ACTIVITY_TYPE_${type}`, parameters);
    t.diagnostic(`${step} of ${most} µs`);
    assert.ok(step <= most, `${step} of ${most} µs`);
  });
}

function thousandKeys({ signer }: ReturnType<typeof createWatched>): string[] {
  const made = Array.from({ length: 10 }, () =>
    signer.done<{ privateKeys: { privateKeyId: string }[] }>(
      "ann",
      "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
      privateKeys("CURVE_ED25519", []),
    ),
  );
  return made.flatMap((one) => one.privateKeys.map(({ privateKeyId }) => privateKeyId));
}

test("no step of the signer is long: a thousand keys that are deleted, or tagged", () => {
  const privateKeyIds = thousandKeys(watched);
  const tag = () => ({ privateKeyTagName: randomUUID(), privateKeyIds });
  const tagged = watched.longestStep("ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG", tag);
  const doomed = () => ({ privateKeyIds, deleteWithoutExport: true });
  const deleted = watched.longestStep("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", doomed);
  assert.ok(Math.max(tagged, deleted) <= most, `${tagged} and ${deleted} of ${most} µs`);
});

test("no step of the signer is long: a thousand keys that are deleted after 700,000 others", (t) => {
  const pages = Array.from({ length: 256 }, (_, at) => {
    const key = at.toString(16).padStart(2, "0");
    const ids = randomBytes(16 * 2_750);
    const gone = Array.from({ length: 2_750 }, (_, index) => {
      ids[16 * index] = at;
      return ids.toString("base64url", 16 * index, 16 * index + 16);
    });
    const keyFacts = new Map([[key, { facts: new Map(), gone: gone.join("") }]]);
    const name: PageName = `keyFacts/${key}`;
    return { name, content: encodePageOf({ ...emptyPages, keyFacts }, name) };
  });
  const own = createWatched({ pages });
  const steps = Array.from({ length: 3 }, () =>
    own.longestStepOnce("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", {
      privateKeyIds: thousandKeys(own),
      deleteWithoutExport: true,
    }),
  );
  t.diagnostic(`${steps.join(", ")} of ${most} µs`);
  assert.ok(Math.min(...steps) <= most, `${steps.join(", ")} of ${most} µs`);
});

test("no step of the signer is long: decisions of an organization of four megabytes, proven to others", (t) => {
  const { signer, longestStep } = createWatched({ pagesLength: 4_000_000 });
  const members = signer.quorum.state.pages.find(({ name }) => name === "members");
  assert.ok((members?.content.length ?? 0) > 3_900_000);
  const tag = () => ({ userTagName: randomUUID(), userIds: [] });
  const step = longestStep("ACTIVITY_TYPE_CREATE_USER_TAG", tag, { generateAppProofs: true });
  t.diagnostic(`${step} of ${most} µs`);
  assert.ok(step <= most, `${step} of ${most} µs`);
});

test("no step of the signer is long: the journal of a full minute", () => {
  const count = 190_000;
  const entries = new Uint8Array(32 * count);
  let digest: Uint8Array = new Uint8Array(32);
  for (let at = 0; at < count; at++) {
    const fingerprint = sha256(String(at));
    entries.set(fingerprint, 32 * at);
    digest = runningDigest(digest, fingerprint);
  }
  const step = bestOfThree(() => {
    let longest = 0;
    const looking = createJournalCache().looking("o", { slot: 1, count, digest }, sha256("7"), entries);
    const note = (each: number) => {
      longest = Math.max(longest, each);
    };
    assert.equal(driven(looking, note), true);
    return longest;
  });
  assert.ok(step <= most, `${step} of ${most} µs`);
});
