import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContractInterface } from "../state/entities.ts";
import { findInterfaceAt, interfacesAt } from "./contract_interfaces.ts";

const addressOf = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;

function pageOf(count: number, length: number): ReadonlyMap<string, ContractInterface> {
  const entry = { type: "ETHEREUM", label: "L", notes: "", length, createdAtMs: 1, updatedAtMs: 1 } as const;
  return new Map(
    Array.from({ length: count }, (_, i) => [`${i}`, { ...entry, interfaceId: `${i}`, address: addressOf(i) }]),
  );
}

const contracts = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ type: "ETHEREUM" as const, address: addressOf(i) }));

test("those of the contracts that have one are found, and the others are passed by", () => {
  const page = pageOf(2, 10);
  assert.deepEqual(
    interfacesAt(page, [...contracts(3), { type: "SOLANA", address: addressOf(0) }]).map(
      ({ interfaceId }) => interfaceId,
    ),
    ["0", "1"],
  );
  assert.equal(findInterfaceAt(page, "ETHEREUM", addressOf(1).toUpperCase().replace("X", "x"))?.interfaceId, "1");
});

test("what one request is read by is bounded in number and in length, and the refusal says both", () => {
  assert.equal(interfacesAt(pageOf(64, 32_768), contracts(64)).length, 64);
  assert.throws(() => interfacesAt(pageOf(65, 1), contracts(65)), {
    code: "invalid_argument",
    message:
      "the smart contract interfaces of what this calls are too much together: 65 with 65 bytes where 64 with 2097152 are taken; split it, or delete interfaces",
  });
  assert.throws(() => interfacesAt(pageOf(6, 400_000), contracts(6)), {
    message: /: 6 with 2400000 bytes where 64 with 2097152 are taken/,
  });
});
