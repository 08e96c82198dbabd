/** What carries secrets over the wire: keys to encrypt to, and bundles encrypted to them. */
import { mnemonicLanguages } from "@keystead/core/keys/word_lists.ts";
import { optional } from "./credentials.ts";
import { Type } from "./schema.ts";

/** 66 or 130 hex digits, `0x` or not; a longer text cannot be a key. */
export const targetPublicKey = Type.String({
  minLength: 1,
  maxLength: 132,
  description: "Public key of the client on P-256, to which the export bundle is encrypted.",
});

export const exportBundle = Type.String({ description: "Bundle encrypted to the target public key." });

export const importBundle = Type.String({ description: "Bundle with the public key to encrypt one import to." });

/** The text of the longest bundle that is read at all. */
export const encryptedBundle = Type.String({
  minLength: 1,
  maxLength: 65_536,
  description: "Bundle encrypted to the public key of an import bundle.",
});

/** The one list behind the others is not on the published wire. */
const wireLanguages = mnemonicLanguages.filter((language) => language !== "MNEMONIC_LANGUAGE_PORTUGUESE");

export const mnemonicLanguage = optional(
  Type.Enum(wireLanguages, { description: "Language of the words; the wallet's own when left out." }),
);
