import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { contractInterface } from "../fields/contract_interfaces.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { findContractInterface } from "../store/contract_interfaces.ts";
import { contractInterfaceView } from "../views/policy_view.ts";

export const getSmartContractInterface = defineQuery({
  path: "get_smart_contract_interface",
  summary: "Get the interface of one contract",
  request: Type.Object({ organizationId, smartContractInterfaceId: id }),
  response: Type.Object({ smartContractInterface: contractInterface }),
  async run(store, _caller, { organizationId, smartContractInterfaceId: interfaceId }) {
    const found = await findContractInterface(store, organizationId, interfaceId);
    if (found === undefined) {
      const message = `unable to find smart contract interface ${interfaceId} in organization ${organizationId}`;
      throw new Fault("not_found", message);
    }
    return { smartContractInterface: contractInterfaceView(organizationId, found) };
  },
});
