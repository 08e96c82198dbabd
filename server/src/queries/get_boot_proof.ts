import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { bootProof } from "../fields/boot_proofs.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { findBootProof } from "../store/across.ts";
import { bootProofView } from "../views/boot_proof_view.ts";

/** The start that an app proof is of, however long ago. */
export const getBootProof = defineQuery({
  path: "get_boot_proof",
  summary: "Get what a start of the signer has shown about itself, by its ephemeral key",
  request: Type.Object({
    organizationId,
    ephemeralKey: Type.String({ minLength: 1, maxLength: 512, description: "`publicKey` of an app proof." }),
  }),
  response: Type.Object({ bootProof }),
  async run(store, _caller, { ephemeralKey }, dialect) {
    const found = await findBootProof(store, ephemeralKey.toLowerCase());
    if (found === undefined) throw new Fault("not_found", "no start of the signer had this ephemeral key");
    return { bootProof: bootProofView(found, dialect) };
  },
});
