/**
 * Tron's transactions by the published clients. What comes back is what a node takes for `broadcasthex`; ethers and Node's own
 * SHA-256 find in it the address that signed.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TestContext } from "node:test";
import { DEFAULT_TRON_ACCOUNTS } from "@turnkey/sdk-server";
import { decodeBase58, encodeBase58, getBytes, recoverAddress, Signature, toBeHex } from "ethers";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person, refusalOf } from "../published/clients.ts";

const type = "TRANSACTION_TYPE_TRON";
const someone = new Uint8Array(21).fill(0x41);
/** USDT on the main chain. */
const token = toAddressBytes("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t");

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** The byte 0x41 and the twenty that Ethereum would make of the same key. */
function toAddressBytes(address: string): Uint8Array {
  return getBytes(toBeHex(decodeBase58(address), 25)).slice(0, 21);
}

function toAddress(bytes: Uint8Array): string {
  return encodeBase58(Buffer.concat([bytes, sha256(sha256(bytes)).subarray(0, 4)]));
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) + 0x80, ...varint(Math.floor(value / 0x80))];
}

/** A field of a protobuf message: an integer, or bytes, which may be a message themselves. */
function field(number: number, value: number | string | Uint8Array): Buffer {
  if (typeof value === "number") return Buffer.from([...varint(number * 8), ...varint(value)]);
  const content = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), content]);
}

/** `Transaction.raw` with one contract, as nodes hand it out in `raw_data_hex`. */
function rawData(number: number, name: string, parameter: readonly Buffer[], feeLimit: readonly Buffer[] = []): Buffer {
  const any = [field(1, `type.googleapis.com/protocol.${name}`), field(2, Buffer.concat(parameter))];
  return Buffer.concat([
    field(1, Buffer.from("5c1f", "hex")),
    field(4, Buffer.from("9a3b7f01d2c4e6f8", "hex")),
    field(8, 1_900_000_060_000),
    field(11, Buffer.concat([field(1, number), field(2, Buffer.concat(any))])),
    field(14, 1_900_000_000_000),
    ...feeLimit,
  ]);
}

/** One TRX, and one USDT by the token's `transfer(address,uint256)`. */
function transactionsOf(owner: Uint8Array): Record<string, Buffer> {
  const call = `a9059cbb${"00".repeat(12)}${Buffer.from(someone).toString("hex", 1)}${toBeHex(1_000_000, 32).slice(2)}`;
  return {
    TransferContract: rawData(1, "TransferContract", [field(1, owner), field(2, someone), field(3, 1_000_000)]),
    TriggerSmartContract: rawData(
      31,
      "TriggerSmartContract",
      [field(1, owner), field(2, token), field(4, Buffer.from(call, "hex"))],
      [field(18, 100_000_000)],
    ),
  };
}

/** The 65 bytes r‖s‖v at the end of a signed transaction, around which nothing but the raw one may stand. */
function signatureOf(signedTransaction: string, raw: Buffer): Signature {
  const signed = Buffer.from(signedTransaction, "hex");
  const rsv = signed.subarray(-65);
  assert.deepEqual(signed, Buffer.concat([field(1, raw), field(2, rsv)]));
  // Refuses an s in the upper half.
  return Signature.from(`0x${rsv.toString("hex")}`);
}

/** The address whose key signed a transaction's id. */
function signerOf(raw: Buffer, signature: Signature): string {
  const hash = recoverAddress(`0x${sha256(raw).toString("hex")}`, signature);
  return toAddress(getBytes(`0x41${hash.slice(2)}`));
}

export async function tronTransactions(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;
  const { addresses } = await sdk.createWallet({ walletName: "Wallet", accounts: DEFAULT_TRON_ACCOUNTS });
  const address = at(addresses, 0);
  assert.match(address, /^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  assert.equal(toAddress(toAddressBytes(address)), address);

  const byServerClient = async (signWith: string, unsignedTransaction: string) =>
    (await sdk.signTransaction({ signWith, unsignedTransaction, type })).signedTransaction;
  const byHttpClient = async (signWith: string, unsignedTransaction: string) => {
    const { activity } = await http.signTransaction({
      type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
      timestampMs: String(Date.now()),
      organizationId,
      parameters: { signWith, unsignedTransaction, type },
    });
    return activity.result.signTransactionResult?.signedTransaction ?? assert.fail("it was not signed");
  };

  for (const [name, raw] of Object.entries(transactionsOf(toAddressBytes(address)))) {
    await t.test(`a ${name} comes back whole, with its sender's signature of its id`, async () => {
      const hex = raw.toString("hex");
      const signed = await byServerClient(address, hex);
      const signature = signatureOf(signed, raw);
      assert.equal(signerOf(raw, signature), address);
      assert.equal(await byHttpClient(address, `0x${hex}`), signed);

      // Libraries that sign the id by itself get the same signature.
      const { r, s, v } = await sdk.signRawPayload({
        signWith: address,
        payload: hex,
        encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
        hashFunction: "HASH_FUNCTION_SHA256",
      });
      assert.deepEqual([`0x${r}`, `0x${s}`, Number(v)], [signature.r, signature.s, signature.yParity]);
    });
  }

  await t.test("a private key signs by its address and by its id", async () => {
    const { privateKeys } = await sdk.createPrivateKeys({
      privateKeys: [
        {
          privateKeyName: "Key",
          curve: "CURVE_SECP256K1",
          privateKeyTags: [],
          addressFormats: ["ADDRESS_FORMAT_TRON"],
        },
      ],
    });
    const { privateKeyId = "", addresses: [{ address = "" } = {}] = [] } = at(privateKeys, 0);
    const raw = at(Object.values(transactionsOf(toAddressBytes(address))), 0);
    const signed = await byServerClient(address, raw.toString("hex"));
    assert.equal(signerOf(raw, signatureOf(signed, raw)), address);
    assert.equal(await byServerClient(privateKeyId, raw.toString("hex")), signed);
  });

  await t.test("one that is signed, or has a byte too few or too many, is refused", async () => {
    const raw = at(Object.values(transactionsOf(toAddressBytes(address))), 0).toString("hex");
    for (const bad of [await byServerClient(address, raw), raw.slice(0, -2), `${raw}00`]) {
      const refusal = await refusalOf(byServerClient(address, bad));
      assert.equal(refusal.code, 3);
      assert.match(refusal.message, /^Turnkey error 3: failed to parse transaction: /);
    }
  });
}
