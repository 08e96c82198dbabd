/** Interfaces of contracts as requests bring them and as answers show them. */
import { component } from "./component.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

/** No address of either kind is longer. */
export const smartContractAddress = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Address of the contract, or id of the program.",
});

/** Longer than any that is taken, which says so with its own words. */
export const smartContractInterface = Type.String({
  minLength: 1,
  maxLength: 1024 * 1024,
  description: "The ABI or IDL: JSON as text, at most 400 KiB.",
});

export const interfaceTypes = {
  SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM: "ETHEREUM",
  SMART_CONTRACT_INTERFACE_TYPE_SOLANA: "SOLANA",
} as const;

export const interfaceType = Type.Enum(
  ["SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "SMART_CONTRACT_INTERFACE_TYPE_SOLANA"],
  { description: "Whether it is an ABI or an IDL." },
);

const text = (description: string) => Type.String({ description });

export const contractInterfaceRecord = Type.Object(
  {
    organizationId: text("The organization it belongs to."),
    smartContractInterfaceId: text("Unique identifier of the interface."),
    smartContractAddress: text("Address of the contract, in lower case on Ethereum; or id of the program."),
    smartContractInterface: text("The ABI or IDL as it came: JSON as text."),
    type: Type.Enum(["ETHEREUM", "SOLANA"], { description: "Whether it is an ABI or an IDL." }),
    label: text("Human-readable name of the interface."),
    notes: text("Notes for people."),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "How calls of a contract or program are read, for policies." },
);

export const contractInterface = component<Static<typeof contractInterfaceRecord>>("SmartContractInterface");
