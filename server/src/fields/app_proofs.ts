import { appProofScheme } from "../state/app_proof.ts";
import { component } from "./component.ts";
import { type Static, Type } from "./schema.ts";

export const appProofRecord = Type.Object(
  {
    scheme: Type.Enum([appProofScheme]),
    publicKey: Type.String({
      description:
        "Hex of the signer's keys of its start: encryption ‖ signing, 65 bytes each; `get_boot_proof` knows them.",
    }),
    proofPayload: Type.String({
      description: "JSON-serialized payload: its type, the time, the activity and what is proven.",
    }),
    signature: Type.String({ description: "Hex of r ‖ s, over SHA-256 of proofPayload as it is." }),
  },
  { description: "A statement about one execution, signed by the application that executed it." },
);

export const appProof = component<Static<typeof appProofRecord>>("AppProof");
