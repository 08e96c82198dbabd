import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { getContractInterface } from "../rules/contract_interfaces.ts";
import { remove } from "../state/entities.ts";

/** Deletes an interface. Policies that name functions or arguments of its contract find none from then on. */
export const deleteSmartContractInterface = defineActivity({
  path: "delete_smart_contract_interface",
  type: "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE",
  intentKey: "deleteSmartContractInterfaceIntent",
  resultKey: "deleteSmartContractInterfaceResult",
  summary: "Delete the interface of a contract",
  params: Type.Object({ smartContractInterfaceId: id }),
  result: Type.Object({ smartContractInterfaceId: id }),
  state: ({ contractInterfaces }) => contractInterfaces,
  run(page, { smartContractInterfaceId }, { organizationId }) {
    getContractInterface(page, organizationId, smartContractInterfaceId);
    return { changes: [remove("contractInterface", smartContractInterfaceId)], result: { smartContractInterfaceId } };
  },
});
