/** The two activities on interfaces of contracts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { after, organization } from "../../test/members.ts";
import type { Static } from "../fields/schema.ts";
import { put, remove } from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import { createSmartContractInterface } from "./create_smart_contract_interface.ts";
import { deleteSmartContractInterface } from "./delete_smart_contract_interface.ts";

const acme = organization();

const transfer = [
  {
    type: "function",
    name: "transfer",
    inputs: [
      { name: "to", type: "address" },
      { name: "amount", type: "uint256" },
    ],
    outputs: [{ type: "bool" }],
  },
];
const abi = JSON.stringify(transfer, null, 2);
const idl = JSON.stringify({ instructions: [{ name: "initialize", accounts: [], args: [] }], types: [] });

const address = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const program = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";

type Params = Static<typeof createSmartContractInterface.params>;

const ethereum: Params = {
  smartContractAddress: address,
  smartContractInterface: abi,
  type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
  label: "USDC",
};
const solana: Params = {
  smartContractAddress: program,
  smartContractInterface: idl,
  type: "SMART_CONTRACT_INTERFACE_TYPE_SOLANA",
  label: "Swap",
};

function create(params: Params, pages: Pages = acme, context: ContextChanges = {}) {
  return runActivity(createSmartContractInterface, pages, params, context);
}

test("an interface is listed by its address, and its text is a record of its own", () => {
  const { changes, texts, result } = create({ ...ethereum, notes: "a\nb" });
  assert.deepEqual(result, { smartContractInterfaceId: "new 0" });
  assert.deepEqual(changes, [
    put("contractInterface", {
      interfaceId: "new 0",
      type: "ETHEREUM",
      address: address.toLowerCase(),
      label: "USDC",
      notes: "a\nb",
      length: abi.length,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }),
  ]);
  assert.deepEqual(texts, [{ kind: "contractInterface", organizationId: "acme", interfaceId: "new 0", text: abi }]);
});

test("the id of a program is kept as it is, because its letters carry meaning", () => {
  const [change] = create(solana).changes;
  assert.ok(change?.kind === "contractInterface" && change.op === "put");
  const { type, address, notes } = change.value;
  assert.deepEqual({ type, address, notes }, { type: "SOLANA", address: program, notes: "" });
});

for (const [type, wrong] of [
  ["ETHEREUM", "0x"],
  ["ETHEREUM", address.slice(2)],
  ["ETHEREUM", `${address}00`],
  ["ETHEREUM", `0X${address.slice(2)}`],
  ["ETHEREUM", program],
  ["SOLANA", address],
  ["SOLANA", program.slice(1)],
  ["SOLANA", `${program}1`],
  ["SOLANA", program.replace("J", "0")],
] as const) {
  test(`no address on ${type}: ${wrong}`, () => {
    const params = { ...(type === "ETHEREUM" ? ethereum : solana), smartContractAddress: wrong };
    const wanted = type === "ETHEREUM" ? "`0x` and 40 hex digits" : "32 bytes in base58";
    assert.throws(() => create(params), {
      code: "invalid_argument",
      message: `invalid smart contract address: \`${wrong}\` is not ${wanted}`,
    });
  });
}

test("a text that is no interface of its kind is refused, and nothing is made", () => {
  for (const smartContractInterface of ["{", "1", '{"abi": 1}', '[{"type":"function"}]', "[".repeat(500)]) {
    assert.throws(() => create({ ...ethereum, smartContractInterface }), {
      code: "invalid_argument",
      message: /^invalid smart contract interface: /,
    });
  }
  for (const smartContractInterface of ["[]", "{}", '{"instructions":[{}],"types":[]}']) {
    assert.throws(() => create({ ...solana, smartContractInterface }), {
      code: "invalid_argument",
      message: /^invalid smart contract interface: /,
    });
  }
});

test("a contract has one interface at a time, in whatever letters its address is written", () => {
  const pages = after(acme, create(ethereum));
  for (const smartContractAddress of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
    assert.throws(() => create({ ...ethereum, smartContractAddress, label: "Other" }, pages), {
      code: "already_exists",
      message: `smart contract interface new 0 exists for \`${address.toLowerCase()}\`; delete it first`,
    });
  }
  assert.equal(create(solana, pages).changes.length, 1);
  const gone = after(pages, runActivity(deleteSmartContractInterface, pages, { smartContractInterfaceId: "new 0" }));
  assert.equal(create(ethereum, gone).changes.length, 1);
});

test("labels may be alike: what counts is the address", () => {
  const pages = after(acme, create(ethereum));
  const elsewhere = `0x${"11".repeat(20)}`;
  assert.equal(create({ ...ethereum, smartContractAddress: elsewhere }, pages).changes.length, 1);
});

test("their number and their bytes are limited, a sub-organization's by its own numbers", () => {
  const pages = after(acme, create(ethereum));
  const full = (what: string) => ({
    code: "resource_exhausted",
    message: new RegExp(`^organization has reached its limit of ${what}; `),
  });
  const one = { contractInterfacesPerOrganization: 1, contractInterfacesPerSubOrganization: 2 };
  assert.throws(() => create(solana, pages, { limits: one }), full("1 smart contract interfaces"));
  assert.equal(create(solana, pages, { limits: one, parentId: "parent" }).changes.length, 1);
  const bytes = abi.length + idl.length;
  const limited = (limit: number) => ({ limits: { contractInterfaceBytesPerOrganization: limit } });
  assert.equal(create(solana, pages, limited(bytes)).changes.length, 1);
  const message = `${bytes - 1} bytes of smart contract interfaces`;
  assert.throws(() => create(solana, pages, limited(bytes - 1)), full(message));
});

test("the bytes of a text are those of UTF-8", () => {
  const smartContractInterface = JSON.stringify(transfer.map((each) => ({ ...each, notice: "größer 🔑" })));
  const [change] = create({ ...ethereum, smartContractInterface }).changes;
  assert.ok(change?.kind === "contractInterface" && change.op === "put");
  assert.equal(change.value.length, Buffer.byteLength(smartContractInterface));
});

test("an interface is deleted by its id, and one that is not there is named", () => {
  const pages = after(acme, create(ethereum));
  const deleted = (smartContractInterfaceId: string) =>
    runActivity(deleteSmartContractInterface, pages, { smartContractInterfaceId });
  assert.deepEqual(deleted("new 0"), {
    changes: [remove("contractInterface", "new 0")],
    result: { smartContractInterfaceId: "new 0" },
  });
  assert.throws(() => deleted("lost"), {
    code: "not_found",
    message: "unable to find smart contract interface lost in organization acme",
  });
});
