/** Interfaces of contracts, for readers. All texts of an organization together are limited, so they need no pages. */
import { Fault } from "@keystead/core/fault.ts";
import { withoutMac } from "../state/authenticity.ts";
import type { ContractInterface, ContractInterfaceType } from "../state/entities.ts";
import { decodeRecord } from "../state/records.ts";
import { compiled } from "./compiled.ts";
import { type Keyed, readByAge } from "./pieces.ts";
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

/** A text may have hundreds of kilobytes. */
const textsOfPiece = 2;

const nextInterfaces = compiled("contract_interfaces_of_organization", (db, organizationId: string, after: string) =>
  db
    .selectFrom("contract_interfaces")
    .selectAll()
    .where("organization_id", "=", organizationId)
    .where("interface_id", ">", after)
    .orderBy("interface_id")
    .limit(textsOfPiece),
);

/** All interfaces, the oldest first. */
export function listContractInterfaces(store: Store, organizationId: string): Promise<StoredInterface[]> {
  const keyed: Keyed<StoredInterface> = {
    size: textsOfPiece,
    read: async (...asked) => (await nextInterfaces(...asked)).map(toInterface),
    keyOf: ({ interfaceId }) => interfaceId,
  };
  return readByAge(store, organizationId, keyed, ({ createdAtMs }) => createdAtMs);
}

const referencesOfPiece = 256;

const nextReferences = compiled("contract_interface_references", (db, organizationId: string, after: string) =>
  db
    .selectFrom("contract_interfaces")
    .select(["interface_id", "address", "created_at_ms"])
    .where("organization_id", "=", organizationId)
    .where("interface_id", ">", after)
    .orderBy("interface_id")
    .limit(referencesOfPiece),
);

/** All interfaces without their texts, which may be megabytes, the oldest first. */
export async function listInterfaceReferences(store: Store, organizationId: string) {
  const rows = await readByAge(
    store,
    organizationId,
    { size: referencesOfPiece, read: nextReferences, keyOf: (row) => row.interface_id },
    (row) => row.created_at_ms,
  );
  return rows.map((row) => ({ interfaceId: row.interface_id, address: row.address }));
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
