/** Policies and interfaces of contracts as rows: what one group does to an organization's. */
import { Fault } from "@keystead/core/fault.ts";
import type { ContractInterface, Policy } from "../state/entities.ts";
import type { ContractInterfaceRecord } from "../state/records.ts";
import type { Tables } from "./tables.ts";

/** Undefined: to be deleted. */
export type PolicyPlan = {
  readonly policies: Map<string, Tables["policies"] | undefined>;
  readonly interfaces: Map<string, Tables["contract_interfaces"] | undefined>;
};

/** The text of an interface that comes into the world: the record, and the bytes that it is stored as. */
export type NewInterface = { record: ContractInterfaceRecord; content: Uint8Array };

export function newPolicyPlan(): PolicyPlan {
  return { policies: new Map(), interfaces: new Map() };
}

/** Where each lies, and by which column. */
export const policyTables = {
  policies: { table: "policies", id: "policy_id" },
  interfaces: { table: "contract_interfaces", id: "interface_id" },
} as const satisfies Record<keyof PolicyPlan, { table: keyof Tables; id: string }>;

export function policyRow(organizationId: string, policy: Policy): Tables["policies"] {
  return {
    organization_id: organizationId,
    policy_id: policy.policyId,
    policy_name: policy.policyName,
    effect: policy.effect,
    consensus: policy.consensus,
    condition: policy.condition,
    time: policy.time,
    notes: policy.notes,
    created_at_ms: policy.createdAtMs,
    updated_at_ms: policy.updatedAtMs,
  };
}

/** An interface comes with its text, once, and is never changed. */
export function interfaceRow(
  organizationId: string,
  listed: ContractInterface,
  texts: readonly NewInterface[],
): Tables["contract_interfaces"] {
  const text = texts.find(({ record }) => record.interfaceId === listed.interfaceId);
  if (text === undefined) throw new Fault("internal", "an interface is listed without its text");
  return toInterfaceRow(organizationId, listed, text.content);
}

export function toInterfaceRow(
  organizationId: string,
  listed: ContractInterface,
  record: Uint8Array,
): Tables["contract_interfaces"] {
  return {
    organization_id: organizationId,
    interface_id: listed.interfaceId,
    type: listed.type,
    address: listed.address,
    label: listed.label,
    notes: listed.notes,
    record,
    created_at_ms: listed.createdAtMs,
    updated_at_ms: listed.updatedAtMs,
  };
}
