/** Interfaces of contracts, for readers. All texts of an organization together are limited, so they need no pages. */
import { Fault } from "@keystead/core/fault.ts";
import { withoutMac } from "../state/authenticity.ts";
import type { ContractInterface, ContractInterfaceType } from "../state/entities.ts";
import { decodeRecord } from "../state/records.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** With its text. */
export type StoredInterface = Omit<ContractInterface, "length"> & { text: string };

const interfaceById = compiled("contract_interface_by_id", (db, organizationId: string, interfaceId: string) =>
  db
    .selectFrom("contract_interfaces")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("interface_id", "=", interfaceId),
);

export async function findContractInterface(
  store: Store,
  organizationId: string,
  interfaceId: string,
): Promise<StoredInterface | undefined> {
  const [row] = await interfaceById(store, organizationId, interfaceId);
  return row && toInterface(row);
}

const interfacesOf = compiled("contract_interfaces_of_organization", (db, organizationId: string) =>
  db
    .selectFrom("contract_interfaces")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("interface_id"),
);

/** All interfaces, the oldest first. */
export async function listContractInterfaces(store: Store, organizationId: string): Promise<StoredInterface[]> {
  return (await interfacesOf(store, organizationId)).map(toInterface);
}

const referencesOf = compiled("contract_interface_references", (db, organizationId: string) =>
  db
    .selectFrom("contract_interfaces")
    .select(["interface_id", "address"])
    .where("organization_id", "=", organizationId)
    .orderBy("created_at_ms")
    .orderBy("interface_id"),
);

/** All interfaces without their texts, which may be megabytes, the oldest first. */
export async function listInterfaceReferences(store: Store, organizationId: string) {
  return (await referencesOf(store, organizationId)).map((row) => ({
    interfaceId: row.interface_id,
    address: row.address,
  }));
}

function toInterface(row: Tables["contract_interfaces"]): StoredInterface {
  const record = decodeRecord(withoutMac(row.record));
  if (record.kind !== "contractInterface") throw new Fault("internal", "the record of an interface is another's");
  return {
    interfaceId: row.interface_id,
    type: row.type as ContractInterfaceType,
    address: row.address,
    label: row.label,
    notes: row.notes,
    text: record.text,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
