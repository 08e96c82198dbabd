import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { privateKey } from "../fields/private_keys.ts";
import { Type } from "../fields/schema.ts";
import { findPrivateKey } from "../store/private_keys.ts";
import { privateKeyView } from "../views/private_key_view.ts";

export const getPrivateKey = defineQuery({
  path: "get_private_key",
  summary: "Get one private key with its addresses",
  request: Type.Object({ organizationId, privateKeyId: id }),
  response: Type.Object({ privateKey }),
  async run(store, _caller, { organizationId, privateKeyId }) {
    const found = await findPrivateKey(store, organizationId, privateKeyId);
    if (found === undefined) {
      throw new Fault("not_found", `unable to find private key ${privateKeyId} in organization ${organizationId}`);
    }
    return { privateKey: privateKeyView(found) };
  },
});
