/** Interfaces of contracts, as the state lists them. */
import { fromBase58 } from "@keystead/core/encoding/base58.ts";
import { Fault } from "@keystead/core/fault.ts";
import { createAside } from "../state/aside.ts";
import type { ContractInterface, ContractInterfaceType } from "../state/entities.ts";
import type { ContractInterfacesPage } from "../state/pages.ts";

export function getContractInterface(
  page: ContractInterfacesPage,
  organizationId: string,
  interfaceId: string,
): ContractInterface {
  const found = page.get(interfaceId);
  if (found === undefined) {
    throw new Fault(
      "not_found",
      `unable to find smart contract interface ${interfaceId} in organization ${organizationId}`,
    );
  }
  return found;
}

const indexes = createAside<ContractInterfacesPage, ReadonlyMap<string, ContractInterface>>();

/** The interface that calls of this address are read by. Pages never change, so each is put in order once. */
export function findInterfaceAt(
  page: ContractInterfacesPage,
  type: ContractInterfaceType,
  address: string,
): ContractInterface | undefined {
  let index = indexes.get(page);
  if (index === undefined) {
    index = new Map(page.values().map((each) => [placeOf(each.type, each.address), each]));
    indexes.set(page, index);
  }
  return index.get(placeOf(type, address));
}

/** What all interfaces that one request is read by may be together. Reading them takes the signer a quarter of a second at most. */
const maxTogether = { count: 64, bytes: 2 * 1024 * 1024 } as const;

/** The interfaces of those contracts that have one. Refuses more of them, or longer ones, than one request may take. */
export function interfacesAt(
  page: ContractInterfacesPage,
  contracts: readonly { type: ContractInterfaceType; address: string }[],
): readonly ContractInterface[] {
  const listed = contracts.flatMap(({ type, address }) => findInterfaceAt(page, type, address) ?? []);
  const bytes = listed.reduce((sum, { length }) => sum + length, 0);
  if (listed.length <= maxTogether.count && bytes <= maxTogether.bytes) return listed;
  throw new Fault(
    "invalid_argument",
    `the smart contract interfaces of what this calls are too much together: ${listed.length} with ${bytes} bytes ` +
      `where ${maxTogether.count} with ${maxTogether.bytes} are taken; split it, or delete interfaces`,
  );
}

function placeOf(type: ContractInterfaceType, address: string): string {
  return `${type} ${spellings[type].normalise(address)}`;
}

/** How addresses are written, and in which form they are kept and compared. */
const spellings = {
  ETHEREUM: {
    normalise: (address: string) => address.toLowerCase(),
    isAddress: (address: string) => /^0x[0-9a-fA-F]{40}$/.test(address),
    wanted: "`0x` and 40 hex digits",
  },
  SOLANA: {
    normalise: (address: string) => address,
    isAddress: isProgramId,
    wanted: "32 bytes in base58",
  },
} as const satisfies Record<ContractInterfaceType, unknown>;

function isProgramId(address: string): boolean {
  try {
    return fromBase58(address).length === 32;
  } catch {
    return false;
  }
}

/** The address in the form that is kept. */
export function parseContractAddress(type: ContractInterfaceType, address: string): string {
  const { isAddress, normalise, wanted } = spellings[type];
  if (!isAddress(address)) {
    throw new Fault("invalid_argument", `invalid smart contract address: \`${address}\` is not ${wanted}`);
  }
  return normalise(address);
}
