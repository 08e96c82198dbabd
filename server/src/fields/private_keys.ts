/** Private keys as requests describe them and as answers show them. */
import { addressFormatNames } from "@keystead/core/keys/address_formats.ts";
import { curveNames } from "@keystead/core/keys/key_curves.ts";
import { component } from "./component.ts";
import { optional } from "./credentials.ts";
import { ids } from "./ids.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

const curve = Type.Enum([...curveNames], { description: "Curve of the key." });

/** May be empty: a key that signs or decrypts needs no address. */
const addressFormats = Type.Array(Type.Enum([...addressFormatNames], { description: "How the address is written." }), {
  maxItems: 100,
});

export const privateKeyParams = Type.Object({
  privateKeyName: name("Human-readable name of the private key."),
  curve,
  /** Required by the published schema, and yet left out in a published sample. */
  privateKeyTags: optional(ids),
  addressFormats,
});

export type PrivateKeyParams = Static<typeof privateKeyParams>;

export const privateKeyAddress = Type.Object({
  format: Type.String({ description: "`ADDRESS_FORMAT_…`: how the address is written." }),
  address: Type.String({ description: "The address." }),
});

export const privateKeyResult = Type.Object({
  privateKeyId: Type.String({ description: "Unique identifier of the private key." }),
  addresses: Type.Array(privateKeyAddress),
});

const text = (description: string) => Type.String({ description });

export const privateKeyRecord = Type.Object(
  {
    privateKeyId: text("Unique identifier of the private key."),
    publicKey: text("Public component of the key pair, in hex; uncompressed where the curve has that form."),
    privateKeyName: text("Human-readable name of the private key."),
    curve,
    addresses: Type.Array(privateKeyAddress),
    privateKeyTags: Type.Array(Type.String(), { description: "Ids of the private key's tags." }),
    createdAt: timestamp,
    updatedAt: timestamp,
    exported: Type.Boolean({ description: "Whether it has been exported." }),
    imported: Type.Boolean({ description: "Whether it came by import." }),
  },
  { description: "A key pair outside of any wallet." },
);

export const privateKey = component<Static<typeof privateKeyRecord>>("PrivateKey");
