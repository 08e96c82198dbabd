/** create_smart_contract_interface, delete_smart_contract_interface, and what reads interfaces. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { toBase58 } from "@keystead/core/encoding/base58.ts";
import { exhausted, invalid } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, queryEntry } from "./entry.ts";
import { badName, exists, noSuchInterface } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { added } from "./keys.ts";
import { limits } from "./limits.ts";
import { byId } from "./people.ts";
import type { Place } from "./stage.ts";

export type InterfaceParams = {
  smartContractAddress: string;
  smartContractInterface: string;
  type: string;
  label: string;
  notes?: string;
};

/** With white space, which must come back. */
const abi = JSON.stringify(
  [{ type: "function", name: "transfer", inputs: [{ name: "to", type: "address" }], outputs: [] }],
  null,
  2,
);
const idl = JSON.stringify({ instructions: [{ name: "initialize", accounts: [], args: [] }], types: [] });

export function interfaceParams(more: Partial<InterfaceParams> = {}): InterfaceParams {
  return {
    smartContractAddress: `0x${randomBytes(20).toString("hex").toUpperCase()}`,
    smartContractInterface: abi,
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
    label: `Contract ${randomUUID()}`,
    notes: "Two\nlines.",
    ...more,
  };
}

const program = (): Partial<InterfaceParams> => ({
  smartContractAddress: toBase58(randomBytes(32)),
  smartContractInterface: idl,
  type: "SMART_CONTRACT_INTERFACE_TYPE_SOLANA",
});

export async function newInterface(
  fixture: Fixture,
  place: Place = fixture.place,
  more: Partial<InterfaceParams> = {},
): Promise<string> {
  const parameters = interfaceParams(more);
  const made = await fixture.done("create_smart_contract_interface", parameters, place.root, place);
  return made.smartContractInterfaceId;
}

/** An interface as it is shown, against what was asked for. */
function checkInterface(shown: Json, asked: InterfaceParams, organizationId: string): void {
  const { smartContractInterfaceId, createdAt, updatedAt, ...rest } = shown;
  const isEthereum = asked.type.endsWith("ETHEREUM");
  assert.deepEqual(rest, {
    notes: "",
    ...asked,
    organizationId,
    type: isEthereum ? "ETHEREUM" : "SOLANA",
    smartContractAddress: isEthereum ? asked.smartContractAddress.toLowerCase() : asked.smartContractAddress,
  });
  assert.deepEqual(createdAt, updatedAt);
}

export const createSmartContractInterface = activityEntry<InterfaceParams>({
  good: () => interfaceParams(),
  required: ["smartContractAddress", "smartContractInterface", "type", "label"],
  result: ({ label }, { after }) => ({
    smartContractInterfaceId: byId(after.interfaces, "label", label)?.smartContractInterfaceId,
  }),
  shows(asked, { before, after }, { place }) {
    const [made, ...others] = added(before.interfaces, after.interfaces, "smartContractInterfaceId");
    assert.deepEqual(others, []);
    checkInterface(made, asked, place.organizationId);
  },
  bad: [
    {
      name: "an empty label",
      bend: (good) => ({ ...good, label: "" }),
      refusal: invalid("invalid request body: field `parameters.label` must not have fewer than 1 characters"),
    },
    {
      name: "a label with a line break",
      bend: (good) => ({ ...good, label: "a\nb" }),
      refusal: invalid(`invalid request body: field \`parameters.label\` ${badName}`),
    },
    {
      name: "a type that is none",
      bend: (good) => ({ ...good, type: "SMART_CONTRACT_INTERFACE_TYPE_NONE" }),
      refusal: invalid(/^invalid request body: field `parameters\.type` must be one of /),
    },
    {
      name: "an address of the other chain",
      bend: (good) => ({ ...good, smartContractAddress: program().smartContractAddress }),
      refusal: ({ smartContractAddress }) =>
        invalid(`invalid smart contract address: \`${smartContractAddress}\` is not \`0x\` and 40 hex digits`),
      kept: "FAILED",
    },
    {
      name: "a program's id of the other chain",
      bend: (good) => ({ ...good, ...program(), smartContractAddress: good.smartContractAddress }),
      refusal: ({ smartContractAddress }) =>
        invalid(`invalid smart contract address: \`${smartContractAddress}\` is not 32 bytes in base58`),
      kept: "FAILED",
    },
    ...["not JSON", "{}", '[{"type":"function","name":1}]', `"${"x".repeat(410_000)}"`].map((text) => ({
      name: `the ABI ${text.slice(0, 20)}`,
      bend: (good: InterfaceParams) => ({ ...good, smartContractInterface: text }),
      refusal: invalid(/^invalid smart contract interface: /),
      kept: "FAILED" as const,
    })),
    {
      name: "an IDL that is none",
      bend: (good) => ({ ...good, ...program(), smartContractInterface: "[]" }),
      refusal: invalid(/^invalid smart contract interface: /),
      kept: "FAILED",
    },
    {
      name: "a second one for an address, in other letters",
      bend: async (good, fixture) => {
        await newInterface(fixture, fixture.place, { smartContractAddress: good.smartContractAddress.toLowerCase() });
        return good;
      },
      refusal: exists(/^smart contract interface [0-9a-f-]{36} exists for `0x[0-9a-f]{40}`; delete it first$/),
      kept: "FAILED",
    },
  ],
  foreign: [],
  also: {
    "an IDL, without notes": async (fixture) => {
      const { notes: _, ...asked } = interfaceParams(program());
      const { smartContractInterfaceId } = await fixture.done("create_smart_contract_interface", asked);
      const { smartContractInterface } = await fixture.ask("get_smart_contract_interface", {
        smartContractInterfaceId,
      });
      checkInterface(smartContractInterface, asked, fixture.place.organizationId);
    },
    "the last that fits, and one more": async (fixture) => {
      const limit = limits.contractInterfacesPerOrganization;
      const { smartContractInterfaces } = await fixture.ask("list_smart_contract_interfaces");
      for (let count = smartContractInterfaces.length; count < limit; count++) await newInterface(fixture);
      const answer = await fixture.submit("create_smart_contract_interface", interfaceParams());
      assertRefused(
        answer,
        exhausted(new RegExp(`^organization has reached its limit of ${limit} smart contract interfaces; `)),
      );
    },
  },
});

export const deleteSmartContractInterface = activityEntry<{ smartContractInterfaceId: string }>({
  good: async (fixture) => ({ smartContractInterfaceId: await newInterface(fixture) }),
  required: ["smartContractInterfaceId"],
  result: ({ smartContractInterfaceId }) => ({ smartContractInterfaceId }),
  shows({ smartContractInterfaceId }, { before, after }) {
    assert.deepEqual(
      after.interfaces,
      before.interfaces.filter((each) => each.smartContractInterfaceId !== smartContractInterfaceId),
    );
  },
  bad: [],
  foreign: [
    {
      name: "an interface",
      bend: (_, { smartContractInterfaceId }) => ({ smartContractInterfaceId }),
      refusal: noSuchInterface,
    },
  ],
  also: {
    "its address is free": async (fixture) => {
      const { smartContractAddress } = interfaceParams();
      const smartContractInterfaceId = await newInterface(fixture, fixture.place, { smartContractAddress });
      await fixture.done("delete_smart_contract_interface", { smartContractInterfaceId });
      await newInterface(fixture, fixture.place, { smartContractAddress });
    },
  },
});

export const getSmartContractInterface = queryEntry<{ smartContractInterfaceId: string }>({
  good: async (fixture, place) => ({ smartContractInterfaceId: await newInterface(fixture, place) }),
  required: ["smartContractInterfaceId"],
  answer: async ({ smartContractInterfaceId }, { smartContractInterface: shown, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { smartContractInterfaces } = await fixture.ask("list_smart_contract_interfaces");
    assert.deepEqual(shown, byId(smartContractInterfaces, "smartContractInterfaceId", smartContractInterfaceId));
    const { smartContractAddress, label } = shown;
    checkInterface(shown, interfaceParams({ smartContractAddress, label }), fixture.place.organizationId);
  },
  bad: [],
  foreign: [
    {
      name: "an interface",
      bend: (_, { smartContractInterfaceId }) => ({ smartContractInterfaceId }),
      refusal: noSuchInterface,
    },
  ],
});

const listed = { label: "Listed", smartContractAddress: `0x${"ab".repeat(20)}` };

export const listSmartContractInterfaces = queryEntry<object>({
  good: async (fixture, place) => {
    await newInterface(fixture, place, listed);
    return {};
  },
  required: [],
  answer: (_, { smartContractInterfaces, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.equal(smartContractInterfaces.length, 1);
    checkInterface(smartContractInterfaces[0], interfaceParams(listed), fixture.place.organizationId);
  },
  bad: [],
  foreign: [],
});
