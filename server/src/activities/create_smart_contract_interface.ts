import { Fault } from "@keystead/core/fault.ts";
import { parsingInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import { costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import {
  interfaceType,
  interfaceTypes,
  smartContractAddress,
  smartContractInterface,
} from "../fields/contract_interfaces.ts";
import { optional } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { notes } from "../fields/policies.ts";
import { Type } from "../fields/schema.ts";
import { findInterfaceAt, parseContractAddress } from "../rules/contract_interfaces.ts";
import { put } from "../state/entities.ts";

/**
 * Creates the interface by which calls of one contract or program are read, so that policies can name functions and arguments. A
 * contract has one at a time: which of two a policy meant would be anybody's guess.
 */
export const createSmartContractInterface = defineActivity({
  path: "create_smart_contract_interface",
  type: "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE",
  intentKey: "createSmartContractInterfaceIntent",
  resultKey: "createSmartContractInterfaceResult",
  summary: "Create the interface that calls of a contract are read by",
  params: Type.Object({
    smartContractAddress,
    smartContractInterface,
    type: interfaceType,
    label: name("Human-readable name of the interface."),
    notes: optional(notes),
  }),
  result: Type.Object({ smartContractInterfaceId: id }),
  cost: ({ smartContractInterface: text }) => costOfText(text.length, unitCosts.contractInterface),
  state: ({ contractInterfaces }) => contractInterfaces,
  *run(page, { smartContractAddress, smartContractInterface: text, type: wireType, label, notes }, context) {
    const { organizationId, nowMs } = context;
    const type = interfaceTypes[wireType];
    const address = parseContractAddress(type, smartContractAddress);
    const holder = findInterfaceAt(page, type, address);
    if (holder !== undefined) {
      throw new Fault(
        "already_exists",
        `smart contract interface ${holder.interfaceId} exists for \`${address}\`; delete it first`,
      );
    }
    const length = Buffer.byteLength(text);
    checkLimit("contractInterfaces", page.size + 1, context);
    checkLimit(
      "contractInterfaceBytes",
      page.values().reduce((sum, each) => sum + each.length, length),
      context,
    );
    yield* parsingInterface(type, text);
    const interfaceId = context.newId();
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    return {
      changes: [put("contractInterface", { interfaceId, type, address, label, notes: notes ?? "", length, ...times })],
      texts: [{ kind: "contractInterface", organizationId, interfaceId, text }],
      result: { smartContractInterfaceId: interfaceId },
    };
  },
});
