import { defineQuery } from "../endpoints/define_query.ts";
import { contractInterface } from "../fields/contract_interfaces.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { listContractInterfaces } from "../store/contract_interfaces.ts";
import { contractInterfaceView } from "../views/policy_view.ts";

export const listSmartContractInterfaces = defineQuery({
  path: "list_smart_contract_interfaces",
  summary: "List the interfaces of all contracts",
  request: Type.Object({ organizationId }),
  response: Type.Object({ smartContractInterfaces: Type.Array(contractInterface) }),
  run: async (store, _caller, { organizationId }) => ({
    smartContractInterfaces: await mapWithBreaths(await listContractInterfaces(store, organizationId), (each) =>
      contractInterfaceView(organizationId, each),
    ),
  }),
});
