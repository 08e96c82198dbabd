import assert from "node:assert/strict";
import { test } from "node:test";
import type { TransactionType } from "@keystead/core/chains/transactions.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import type { AddressFormat } from "@keystead/core/keys/address_formats.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { junkAccount, junkKey, junkPrivateKey } from "../../test/known_keys.ts";
import { organization, person } from "../../test/members.ts";
import { bitcoinPsbt, ethereumVectors, type PsbtScript, tempoVector, tronTransfer } from "../../test/transactions.ts";
import type { NewRecord } from "../endpoints/key_access.ts";
import { signTransaction } from "./sign_transaction.ts";

const pages = organization({ users: [person("ann")] });

function sign(records: readonly NewRecord[], signWith: string, type: TransactionType, unsignedTransaction: string) {
  const keys = testKeyAccess({ records });
  return runActivity(signTransaction, pages, { signWith, type, unsignedTransaction }, { keys }).result
    .signedTransaction;
}

const path = "m/44'/60'/0'/0/0";

function accountOf(addressFormat: AddressFormat, curve: Curve = "CURVE_SECP256K1", at = path) {
  return junkAccount("acme", { curve, path: at, addressFormat });
}

/** With an account of the format on the key that the vectors are made with. */
function signAs(addressFormat: AddressFormat, type: TransactionType, unsigned: string): string {
  const account = accountOf(addressFormat);
  return sign([account], account.record.address, type, unsigned);
}

const bareKey = junkPrivateKey("acme", { curve: "CURVE_SECP256K1", path });
const { privateKeyId } = bareKey.record;

test("Ethereum: every type comes out as viem signs it, with or without 0x", () => {
  for (const [name, { unsigned, signed }] of Object.entries(ethereumVectors)) {
    assert.equal(signAs("ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_ETHEREUM", unsigned), signed, name);
    assert.equal(signAs("ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_ETHEREUM", `0x${unsigned}`), signed, name);
  }
});

test("Tempo: as the chain's own library signs it", () => {
  const { unsigned, signed } = tempoVector;
  assert.equal(signAs("ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_TEMPO", unsigned), signed);
});

test("Tron: the raw transaction and the signature of its id, in one message that is ready to be sent", () => {
  const signed = signAs("ADDRESS_FORMAT_TRON", "TRANSACTION_TYPE_TRON", tronTransfer);
  const raw = fromHex(tronTransfer);
  // Field 1 is the raw message, field 2 the signature of 65 bytes.
  const head = `0a${toHex(Uint8Array.of((raw.length & 0x7f) | 0x80, raw.length >> 7))}${tronTransfer}1241`;
  assert.equal(signed.slice(0, head.length), head);
  const signature = fromHex(signed.slice(head.length));
  assert.equal(signature.length, 65);
  const recovered = Uint8Array.of((signature[64] ?? 0) - 27, ...signature.subarray(0, 64));
  assert.equal(
    toHex(secp256k1.recoverPublicKey(recovered, sha256(raw), { prehash: false })),
    toHex(junkKey("CURVE_SECP256K1", path).publicKey.compressed),
  );
});

/** Our key pays and a stranger signs too; nothing is called. */
function solanaTransaction(prefix: string, keys: readonly Uint8Array[]): { slots: string; message: string } {
  const blockhash = "09".repeat(32);
  const tables = prefix === "" ? "" : "00";
  const message = `${prefix}020000${toHex(Uint8Array.of(keys.length))}${keys.map(toHex).join("")}${blockhash}00${tables}`;
  return { slots: `02${"00".repeat(64)}${"77".repeat(64)}`, message };
}

test("Solana: the key's slot is filled, the others stay, legacy and version 0", () => {
  const account = accountOf("ADDRESS_FORMAT_SOLANA", "CURVE_ED25519", "m/44'/501'/0'/0'");
  const publicKey = fromHex(account.record.publicKey);
  const stranger = new Uint8Array(32).fill(3);
  for (const prefix of ["", "80"]) {
    const { slots, message } = solanaTransaction(prefix, [publicKey, stranger]);
    const signed = sign([account], account.record.address, "TRANSACTION_TYPE_SOLANA", slots + message);
    assert.equal(signed.slice(0, 2), "02");
    assert.equal(signed.slice(130), "77".repeat(64) + message);
    assert.ok(ed25519.verify(fromHex(signed.slice(2, 130)), fromHex(message), publicKey));
  }
  const { slots, message } = solanaTransaction("", [stranger, new Uint8Array(32).fill(4), publicKey]);
  assert.throws(() => sign([account], account.record.address, "TRANSACTION_TYPE_SOLANA", slots + message), {
    errorCode: "INVALID_TRANSACTION",
    message: "failed to parse transaction: the signing key is not among its signers",
  });
});

const scripts: readonly PsbtScript[] = ["p2pkh", "p2sh", "p2wpkh", "p2wsh", "p2tr"];

test("Bitcoin: an address signs its own inputs and leaves the others, as another library does", () => {
  for (const network of ["MAINNET", "TESTNET", "SIGNET", "REGTEST"]) {
    for (const script of scripts) {
      const format = `ADDRESS_FORMAT_BITCOIN_${network}_${script.toUpperCase()}` as AddressFormat;
      assert.equal(signAs(format, "TRANSACTION_TYPE_BITCOIN", bitcoinPsbt()), bitcoinPsbt([script]), format);
    }
  }
});

test("Bitcoin: a key without an address signs whatever is locked to it", () => {
  assert.equal(sign([bareKey], privateKeyId, "TRANSACTION_TYPE_BITCOIN", bitcoinPsbt()), bitcoinPsbt(scripts));
  assert.equal(signAs("ADDRESS_FORMAT_UNCOMPRESSED", "TRANSACTION_TYPE_BITCOIN", bitcoinPsbt()), bitcoinPsbt(scripts));
});

test("Bitcoin: signatures of several addresses gather in one PSBT", () => {
  let psbt = bitcoinPsbt();
  for (const script of scripts) {
    const format = `ADDRESS_FORMAT_BITCOIN_MAINNET_${script.toUpperCase()}` as AddressFormat;
    psbt = signAs(format, "TRANSACTION_TYPE_BITCOIN", psbt);
  }
  assert.equal(psbt, bitcoinPsbt(scripts));
});

test("a bare key signs for every chain of its curve", () => {
  const { unsigned, signed } = ethereumVectors.eip1559;
  assert.equal(sign([bareKey], privateKeyId, "TRANSACTION_TYPE_ETHEREUM", unsigned), signed);
  assert.equal(signAs("ADDRESS_FORMAT_COMPRESSED", "TRANSACTION_TYPE_ETHEREUM", unsigned), signed);
  const tron = signAs("ADDRESS_FORMAT_TRON", "TRANSACTION_TYPE_TRON", tronTransfer);
  assert.equal(sign([bareKey], privateKeyId, "TRANSACTION_TYPE_TRON", tronTransfer), tron);
});

test("a key on another curve is refused before the transaction is read", () => {
  const solana = accountOf("ADDRESS_FORMAT_SOLANA", "CURVE_ED25519");
  const p256 = accountOf("ADDRESS_FORMAT_COMPRESSED", "CURVE_P256");
  const onSecp256k1 = ["ETHEREUM", "TEMPO", "TRON", "BITCOIN"] as const;
  for (const { record } of [solana, p256]) {
    for (const chain of onSecp256k1) {
      assert.throws(() => sign([solana, p256], record.address, `TRANSACTION_TYPE_${chain}`, "no hex"), {
        code: "invalid_argument",
        message: `invalid curve: TRANSACTION_TYPE_${chain} is signed with a key on CURVE_SECP256K1`,
      });
    }
  }
  assert.throws(() => sign([bareKey], privateKeyId, "TRANSACTION_TYPE_SOLANA", ""), {
    code: "invalid_argument",
    message: "invalid curve: TRANSACTION_TYPE_SOLANA is signed with a key on CURVE_ED25519",
  });
});

test("an address of another chain is refused, though its key could sign", () => {
  const refused: [AddressFormat, TransactionType, Curve?][] = [
    ["ADDRESS_FORMAT_TRON", "TRANSACTION_TYPE_ETHEREUM"],
    ["ADDRESS_FORMAT_COSMOS", "TRANSACTION_TYPE_TEMPO"],
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_TRON"],
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_BITCOIN"],
    ["ADDRESS_FORMAT_DOGE_MAINNET", "TRANSACTION_TYPE_BITCOIN"],
    ["ADDRESS_FORMAT_SPARK_MAINNET", "TRANSACTION_TYPE_BITCOIN"],
    ["ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR", "TRANSACTION_TYPE_ETHEREUM"],
    ["ADDRESS_FORMAT_SUI", "TRANSACTION_TYPE_SOLANA", "CURVE_ED25519"],
  ];
  for (const [format, type, curve] of refused) {
    const account = accountOf(format, curve);
    assert.throws(() => sign([account], account.record.address, type, ethereumVectors.legacy.unsigned), {
      code: "invalid_argument",
      message: `invalid address format: ${type} is not signed with an ${format}`,
    });
  }
});

test("what is no unsigned transaction of its type is refused with the published text", () => {
  const refused: [AddressFormat, TransactionType, string][] = [
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_ETHEREUM", "xyz"],
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_ETHEREUM", "0x"],
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_ETHEREUM", ethereumVectors.eip1559.signed],
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_ETHEREUM", `${ethereumVectors.eip1559.unsigned}00`],
    ["ADDRESS_FORMAT_ETHEREUM", "TRANSACTION_TYPE_TEMPO", ethereumVectors.eip1559.unsigned],
    ["ADDRESS_FORMAT_TRON", "TRANSACTION_TYPE_TRON", "00"],
    ["ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR", "TRANSACTION_TYPE_BITCOIN", "70736274ff"],
  ];
  for (const [format, type, unsigned] of refused) {
    const refusal = {
      code: "invalid_argument",
      errorCode: "INVALID_TRANSACTION",
      message: /^failed to parse transact/,
    };
    assert.throws(() => signAs(format, type, unsigned), refusal, `${type} ${unsigned}`);
  }
});

test("there is nothing to sign with", () => {
  const [account, other] = [accountOf("ADDRESS_FORMAT_ETHEREUM"), accountOf("ADDRESS_FORMAT_TRON")];
  const missing = { code: "not_found", message: "Could not find any resource to sign with." };
  const { unsigned } = ethereumVectors.legacy;
  assert.throws(() => sign([], account.record.address, "TRANSACTION_TYPE_ETHEREUM", unsigned), missing);
  assert.throws(() => sign([other], account.record.address, "TRANSACTION_TYPE_ETHEREUM", unsigned), missing);
});

test("the first version names a private key by its id", () => {
  const [v1] = signTransaction.versions ?? [];
  const params = { unsignedTransaction: "00", type: "TRANSACTION_TYPE_ETHEREUM" };
  assert.deepEqual(v1?.translate({ privateKeyId: "k", ...params } as never), { signWith: "k", ...params });
});

test("the key it signs with is looked for, and policies see it", () => {
  const params = { signWith: "x", unsignedTransaction: "00", type: "TRANSACTION_TYPE_TRON" } as const;
  assert.deepEqual(signTransaction.records?.(params), [{ by: "signWith", signWith: "x" }]);
  assert.deepEqual(signTransaction.policySubject?.(params), { by: "signWith", signWith: "x" });
});
