/** The published client's side of imports and exports, for tests that stand where the client stands. */
import { openMessage, sealMessage } from "@keystead/core/crypto/hpke.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { nodeHpke } from "../src/curves/node_hpke.ts";

const utf8 = new TextEncoder();

/** What a bundle of ours says under its signature. */
export function signedPart(bundle: string): Record<string, string> {
  const { data } = JSON.parse(bundle) as { data: string };
  return JSON.parse(Buffer.from(data, "hex").toString("utf8"));
}

/** An `encryptedBundle` for the target of an `importBundle`. */
export function encryptTo(importBundle: string, plaintext: Uint8Array | string): string {
  const target = fromHex(signedPart(importBundle).targetPublic ?? "");
  const bytes = typeof plaintext === "string" ? utf8.encode(plaintext) : plaintext;
  const { enc, ciphertext } = sealMessage(nodeHpke, target, bytes);
  return JSON.stringify({ encappedPublic: toHex(enc), ciphertext: toHex(ciphertext) });
}

/** A key pair to export to, and what opens the bundle. */
export function exportClient(): { targetPublicKey: string; read(exportBundle: string): Uint8Array } {
  const key = nodeHpke.generateKey();
  return {
    targetPublicKey: toHex(nodeHpke.publicKey(key)),
    read(exportBundle) {
      const { encappedPublic = "", ciphertext = "" } = signedPart(exportBundle);
      return openMessage(nodeHpke, key, fromHex(encappedPublic), fromHex(ciphertext));
    },
  };
}
