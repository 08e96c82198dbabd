import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { bootProof } from "../fields/boot_proofs.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { findNewestBootProof } from "../store/across.ts";
import { appsOf, bootProofView } from "../views/boot_proof_view.ts";

/** The newest start of the signer, by the name or the id of any program that it stands for. */
export const getLatestBootProof = defineQuery({
  path: "get_latest_boot_proof",
  summary: "Get what the newest start of a program has shown about itself",
  request: Type.Object({
    organizationId,
    appName: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "Name or id of the program, as /.well-known/keystead.json lists them in `apps`.",
    }),
  }),
  response: Type.Object({ bootProof }),
  async run(store, _caller, { appName }, dialect) {
    const found = await findNewestBootProof(store);
    const wanted = appName.toLowerCase();
    const isKnown = found && appsOf(found.organizationId).some(({ name, id }) => name === wanted || id === wanted);
    if (!isKnown) throw new Fault("not_found", `there is no app \`${appName}\``);
    return { bootProof: bootProofView(found, dialect) };
  },
});
