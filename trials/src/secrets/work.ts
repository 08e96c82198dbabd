/** What people do with keys, so that their secrets pass by wherever they ever do. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type Curve, curveNames, generatePrivateKey } from "@keystead/core/keys/key_curves.ts";
import { parseSentence, toSentence } from "@keystead/core/keys/mnemonic.ts";
import { ownClient } from "@keystead/e2e/keys/own_client.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { nodeKeyMaths } from "@keystead/server/curves/node_key_maths.ts";
import { createCodeStarter, type UnansweredCode } from "./unanswered_codes.ts";

export const activitiesPerRound = 16;

const formats = {
  CURVE_SECP256K1: "ADDRESS_FORMAT_ETHEREUM",
  CURVE_ED25519: "ADDRESS_FORMAT_SOLANA",
  CURVE_P256: "ADDRESS_FORMAT_COMPRESSED",
} as const satisfies Record<Curve, string>;

const accounts = curveNames.map((curve) => ({
  curve,
  pathFormat: "PATH_FORMAT_BIP32" as const,
  path: "m/44'/60'/0'/0'",
  addressFormat: formats[curve],
}));

const lengths = [12, 15, 18, 21, 24];
const random = (size: number) => new Uint8Array(randomBytes(size));
const newSentence = (length: number) =>
  Buffer.from(
    toSentence(nodeKeyMaths, { entropy: random((length * 4) / 3), language: "MNEMONIC_LANGUAGE_ENGLISH" }),
  ).toString();

/** Words whose checksum does not match: a secret all the same, that somebody has mistyped. */
function mistyped(sentence: string): string {
  const words = sentence.split(" ");
  for (const word of words) {
    const wrong = [...words.slice(0, -1), word].join(" ");
    try {
      parseSentence(nodeKeyMaths, Buffer.from(wrong));
    } catch {
      return wrong;
    }
  }
  throw new Error("every word fits");
}

/** What clients got out and put in: the words or hex digits, and whose they are. */
export type Moved = { kind: "wallet" | "walletAccount" | "privateKey"; id: string; text: string };
export type Work = { activities: number; moved: Moved[]; mistyped: string[]; codes: UnansweredCode[] };

/** Of each round sixteen activities: keys made, used, taken out and brought in, one import that fails, and two codes. */
export async function work(server: KeysteadServer, rounds: number): Promise<Work> {
  const { sdk, bundles, userId } = await ownClient(server);
  const done: Work = { activities: 0, moved: [], mistyped: [], codes: [] };
  const codes = await createCodeStarter(server, sdk, rounds);
  const did = async <T>(activity: Promise<T>): Promise<T> => {
    done.activities += 1;
    return activity;
  };
  const sign = (signWith: string, curve: Curve) =>
    sdk.signRawPayload({
      signWith,
      payload: toHex(random(32)),
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: curve === "CURVE_ED25519" ? "HASH_FUNCTION_NOT_APPLICABLE" : "HASH_FUNCTION_NO_OP",
    });

  for (let n = 0; n < rounds; n++) {
    const at = n % curveNames.length;
    const curve = curveNames[at] as Curve;
    const mnemonicLength = lengths[n % lengths.length] as 12;

    const wallet = await did(sdk.createWallet({ walletName: `Wallet ${n}`, accounts, mnemonicLength }));
    const address = wallet.addresses[at] ?? "";
    const key = { privateKeyName: `Key ${n}`, curve, addressFormats: [], privateKeyTags: [] };
    const { privateKeys } = await did(sdk.createPrivateKeys({ privateKeys: [key] }));
    const privateKeyId = privateKeys[0]?.privateKeyId ?? "";
    await did(sign(address, curve));
    await did(sign(privateKeyId, curve));
    done.moved.push(
      { kind: "wallet", id: wallet.walletId, text: await did(bundles.exportWallet(wallet.walletId)) },
      { kind: "walletAccount", id: address, text: await did(bundles.exportAccount(address)) },
      { kind: "privateKey", id: privateKeyId, text: await did(bundles.exportPrivateKey(privateKeyId)) },
    );

    const sentence = newSentence(mnemonicLength);
    const text = n % 2 === 0 ? sentence : `${sentence}\n--PASS--\nmy pass phrase ${randomUUID()}`;
    const encryptedBundle = await did(bundles.encryptWallet(text));
    const walletName = `Imported ${n}`;
    const imported = await did(sdk.importWallet({ userId, walletName, encryptedBundle, accounts }));
    await did(sign(imported.addresses[at] ?? "", curve));
    done.moved.push({ kind: "wallet", id: imported.walletId, text: text.replace("\n--PASS--", "") });

    const secret = toHex(generatePrivateKey(curve, random));
    const bundle = await did(bundles.encryptPrivateKey(secret));
    const names = { userId, privateKeyName: `Imported ${n}`, curve, addressFormats: [] };
    const { privateKeyId: id } = await did(sdk.importPrivateKey({ ...names, encryptedBundle: bundle }));
    done.moved.push({ kind: "privateKey", id, text: secret });

    const wrong = mistyped(newSentence(mnemonicLength));
    const wrongBundle = await did(bundles.encryptWallet(wrong));
    const refused = did(sdk.importWallet({ userId, walletName: "Never", encryptedBundle: wrongBundle, accounts: [] }));
    await assert.rejects(refused, /checksum does not match/);
    done.mistyped.push(wrong);

    done.codes.push(await did(codes.start("OTP_TYPE_EMAIL", n)), await did(codes.start("OTP_TYPE_SMS", n)));
  }
  return done;
}
