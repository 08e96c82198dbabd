import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { bytes, struct } from "@keystead/core/encoding/layout.ts";
import { addressFormatNames, addressFormats } from "@keystead/core/keys/address_formats.ts";
import { publicKeyOf } from "@keystead/core/keys/key_curves.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { maxStatementBytes } from "@keystead/core/oidc/issuer_statement.ts";
import { maxBodyBytes, serverLimits } from "../gateway/http/http_limits.ts";
import { maxJournalEntries } from "../state/journal.ts";
import { maxFactsLength, maxPagesLength, maxStateLength, rootQuorumReserve } from "../state/pages.ts";
import { encodeRecord, type KeyRecord } from "../state/records.ts";
import { encodeFrame, maxFrameLength } from "./frame.ts";

test("a frame beyond the bound is not sent", () => {
  const content = new Uint8Array(maxFrameLength + 1);
  assert.throws(() => encodeFrame("prepare", 1, struct({ content: bytes }), { content }), {
    code: "resource_exhausted",
  });
});

const kib = 1024;
const mib = 1024 * kib;

/** As many headers lead from an older pin to this state, at least: an hour of three changes a second. */
const headers = 10_000 * 200;

/** A directory with all pages of key facts, and the pages of journals and logs, which no limit counts. */
const uncounted = 256 * kib;

/** What any decision may need: full pages, a full minute, and a body of the largest size with its evidence. */
const always = {
  pages: maxStateLength + rootQuorumReserve,
  uncounted,
  journal: maxJournalEntries * 32,
  body: maxBodyBytes,
  evidence: serverLimits.headerBytes,
  headers,
};

/** The body that is voted on, or the signer's box of it. */
const target = maxBodyBytes + 4 * kib;

/** Pages of the parent, each with its directory: who acts there, what its auth proxy may, a session's profile. At most they are all. */
const parent = maxPagesLength + rootQuorumReserve + 5 * uncounted;

/** All pages of key facts, as long as the root quorum can make them. */
const keyFacts = 256 * maxFactsLength.rootQuorum;

/** Two of each of the 16 issuers that one request may name, and of one that is refused: one from before they replaced their keys. */
const statements = 2 * 17 * maxStatementBytes;

/** With its box, MAC and lengths. */
const lengthOf = (record: KeyRecord) => encodeRecord(record).length + 256;

// A name has at most 255 characters, of four bytes each.
const longestName = "\u{1f511}".repeat(255);
const id = randomUUID();
const bound = { tag: "0".repeat(64), madeIn: { boot: "0".repeat(32), number: 2 ** 40 }, createdAtMs: 2 ** 41 };

/** With an address in every format that its curve has. */
function longestPrivateKey(): KeyRecord {
  const publicKey = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", new Uint8Array(32).fill(1));
  const addresses = addressFormatNames.flatMap((format) => {
    const { curves }: { curves: Partial<Record<string, { encode(key: typeof publicKey): string }>> } =
      addressFormats[format];
    const use = curves.CURVE_SECP256K1;
    return use === undefined ? [] : { format, address: use.encode(publicKey) };
  });
  return {
    ...{ kind: "privateKey", organizationId: id, privateKeyId: id, privateKeyName: longestName, imported: false },
    ...{ curve: "CURVE_SECP256K1", publicKey: toHex(publicKey.uncompressed), addresses, ...bound },
  };
}

const longestAccount: KeyRecord = {
  ...{ kind: "walletAccount", organizationId: id, walletAccountId: id, walletId: id, name: longestName },
  ...{ wallet: { walletName: longestName, imported: false }, curve: "CURVE_SECP256K1", path: "0".repeat(1_000) },
  ...{ addressFormat: "ADDRESS_FORMAT_ETHEREUM", address: "0".repeat(200), publicKey: "0".repeat(66), ...bound },
};

/** What one decision needs beside that. Whatever its parameters are, it is one of these. */
const cases: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  "a thousand accounts that are deleted, by a vote": {
    ...{ target, keyFacts, records: 1_000 * lengthOf(longestAccount) },
  },
  "a thousand private keys that are deleted, by a vote": {
    ...{ target, keyFacts, records: 1_000 * lengthOf(longestPrivateKey()) },
  },
  "the tag of two thousand private keys, by a vote": {
    ...{ target, keyFacts, records: 2_000 * lengthOf(longestPrivateKey()) },
  },
  "a thousand private keys in a session whose profile is the parent's": {
    ...{ parent, keyFacts, records: 1_000 * lengthOf(longestPrivateKey()) },
  },
  "a transaction that two MiB of interfaces read, every character of them escaped, by a vote": {
    ...{ target, parent, keyFacts: 2 * maxFactsLength.rootQuorum, records: 2 * 2 * mib + lengthOf(longestAccount) },
  },
  "what the parent does, or the auth proxy, with tokens of many issuers": { target, parent, statements },
  "a sign-up with tokens of many issuers, and a hundred private keys": {
    ...{ target, statements, keyFacts: 100 * maxFactsLength.rootQuorum, records: 100 * lengthOf(longestPrivateKey()) },
  },
};

const leftOf = (needs: Readonly<Record<string, number>>) =>
  Object.values({ ...always, ...needs }).reduce((left, length) => left - length, maxFrameLength);

for (const [name, needs] of Object.entries(cases)) {
  test(`everything that one decision can need at once goes into a frame: ${name}`, (t) => {
    t.diagnostic(`${leftOf(needs)} bytes are left`);
    assert.ok(leftOf(needs) >= 0, `${leftOf(needs)}`);
  });
}
