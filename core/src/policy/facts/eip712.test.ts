import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTypedData } from "../../crypto/eip712.ts";
import { parseAuthorization } from "../../crypto/eip7702.ts";
import { EvmText, type Value } from "../values/values.ts";
import { typedDataStruct } from "./eip712.ts";
import { authorizationStruct } from "./eip7702.ts";

const token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

const permit = {
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ],
    PermitBatch: [
      { name: "permitted", type: "TokenPermissions[]" },
      { name: "spender", type: "address" },
      { name: "deadline", type: "int256" },
      { name: "note", type: "string" },
      { name: "hash", type: "bytes32" },
      { name: "final", type: "bool" },
    ],
    TokenPermissions: [
      { name: "token", type: "address" },
      { name: "amount", type: "uint256" },
    ],
  },
  primaryType: "PermitBatch",
  domain: { name: "Permit2", chainId: 1, verifyingContract: "0x000000000022D473030F116dDEE9F6B43aC78BA3" },
  message: {
    permitted: [
      { token, amount: "5" },
      { token: token.toLowerCase(), amount: "0xff", unknown: "not declared" },
    ],
    spender: token,
    deadline: -1,
    note: "Pay Alice",
    hash: `0x${"AB".repeat(32)}`,
    final: true,
  },
};

const factsOf = (change: Partial<typeof permit> = {}) =>
  typedDataStruct(parseTypedData(JSON.stringify({ ...permit, ...change })));

test("values come by their declared types: numbers, text without its case, structs by name, arrays by place", () => {
  const facts = factsOf();
  assert.equal(facts.primary_type, "PermitBatch");
  const permission = (amount: bigint) =>
    new Map<string, Value>([
      ["token", new EvmText(token)],
      ["amount", amount],
    ]);
  assert.deepEqual(
    facts.message,
    new Map<string, Value>([
      ["permitted", [permission(5n), permission(255n)]],
      ["spender", new EvmText(token)],
      ["deadline", -1n],
      ["note", new EvmText("pay alice")],
      ["hash", new EvmText(`0x${"ab".repeat(32)}`)],
      ["final", true],
    ]),
  );
});

test("the domain shows what it has, and no value for what it lacks", () => {
  assert.deepEqual(factsOf().domain, {
    name: "Permit2",
    chain_id: 1n,
    verifying_contract: new EvmText(permit.domain.verifyingContract),
  });
});

test("a domain field of another type than the standard's has no value", () => {
  const domain = { name: "Permit2", chainId: "1", verifyingContract: permit.domain.verifyingContract };
  const declared = (chainId: string, verifyingContract: string) => ({
    types: {
      ...permit.types,
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "chainId", type: chainId },
        { name: "verifyingContract", type: verifyingContract },
      ],
    },
    domain: domain as unknown as typeof permit.domain,
  });
  assert.deepEqual(factsOf(declared("string", "bytes20")).domain, { name: "Permit2" });
  assert.deepEqual(factsOf(declared("uint64", "string")).domain, { name: "Permit2" });
});

test("letters that only Unicode folds are told apart: the Kelvin sign is no k", () => {
  const facts = factsOf({ message: { ...permit.message, note: "\u212araken" } });
  assert.equal((facts.message as Map<string, Value>).get("note"), "\u212araken");
});

test("a request for the domain alone has an empty message", () => {
  const facts = factsOf({ primaryType: "EIP712Domain" });
  assert.equal(facts.primary_type, "EIP712Domain");
  assert.deepEqual(facts.message, new Map());
});

test("an authorization for every chain shows chain 0", () => {
  const authorization = parseAuthorization(JSON.stringify({ address: token, chainId: "0x0", nonce: "7" }));
  assert.deepEqual(authorizationStruct(authorization), { address: new EvmText(token), chain_id: 0n, nonce: 7n });
});
