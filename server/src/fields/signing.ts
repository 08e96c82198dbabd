/** What the signing activities have in common on the wire. */
import { Type } from "./schema.ts";

/** An account or private key as a request names it. No address is longer than this. */
export const signWith = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Address of a wallet account or private key, or the id of a private key.",
});

export const payload = Type.String({ maxLength: 1024 * 1024, description: "What to sign, as `encoding` says." });

export const payloadChoices = {
  encoding: Type.Enum(
    [
      "PAYLOAD_ENCODING_HEXADECIMAL",
      "PAYLOAD_ENCODING_TEXT_UTF8",
      "PAYLOAD_ENCODING_EIP712",
      "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
    ],
    { description: "How the payload's text becomes bytes." },
  ),
  hashFunction: Type.Enum(
    ["HASH_FUNCTION_NO_OP", "HASH_FUNCTION_SHA256", "HASH_FUNCTION_KECCAK256", "HASH_FUNCTION_NOT_APPLICABLE"],
    { description: "What is done to these bytes before they are signed; NOT_APPLICABLE for Ed25519." },
  ),
};

export const signature = Type.Object({
  r: Type.String({ description: "First half of the signature: 64 hex digits." }),
  s: Type.String({ description: "Second half of the signature: 64 hex digits." }),
  v: Type.String({ description: "`00` or `01`: which of the possible public keys it is. `00` where there is one." }),
});

/** In hex, with or without `0x`. */
export const unsignedTransaction = Type.String({
  minLength: 1,
  // No body is longer.
  maxLength: 1024 * 1024,
  description: "The unsigned transaction in hex; a PSBT for Bitcoin.",
});

export const transactionType = Type.Enum(
  [
    "TRANSACTION_TYPE_ETHEREUM",
    "TRANSACTION_TYPE_SOLANA",
    "TRANSACTION_TYPE_TRON",
    "TRANSACTION_TYPE_BITCOIN",
    "TRANSACTION_TYPE_TEMPO",
  ],
  { description: "Which chain's transaction it is." },
);
