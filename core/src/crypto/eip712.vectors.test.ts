import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors } from "../../test/vectors.ts";
import { toHex } from "../encoding/hex.ts";
import { hashStruct, parseTypedData, type TypedField, typedDataDigest } from "./eip712.ts";
import { nobleCurves } from "./noble_curves.ts";

type Case = {
  name: string;
  domain: Record<string, unknown>;
  primaryType: string;
  types: Record<string, TypedField[]>;
  data: Record<string, unknown>;
  /** typeHash and the encoded fields of the message. */
  encoded: string;
  digest: string;
};

const domainTypes: Record<string, string> = {
  name: "string",
  version: "string",
  chainId: "uint256",
  verifyingContract: "address",
  salt: "bytes32",
};

test("every case of ethers' typed-data.json has its digest, with the domain's type left out and with it declared", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<Case[]>("ethers/typed-data.json");
  let withoutDomain = 0;
  for (const { name, domain, primaryType, types, data, encoded, digest } of cases) {
    const declared = Object.keys(domainTypes)
      .filter((field) => Object.hasOwn(domain, field))
      .map((field) => ({ name: field, type: domainTypes[field] ?? "" }));
    for (const sent of [types, { EIP712Domain: declared, ...types }]) {
      if (sent === types && declared.length === 0) {
        assert.throws(() => parseTypedData(JSON.stringify({ types, primaryType, domain, message: data })), /is \{\}/);
        withoutDomain++;
        continue;
      }
      const parsed = parseTypedData(JSON.stringify({ types: sent, primaryType, domain, message: data }));
      assert.equal(`0x${toHex(typedDataDigest(nobleCurves, parsed))}`, digest, name);
      const struct = hashStruct(nobleCurves, parsed.types, primaryType, parsed.message);
      const published = nobleCurves.keccak256(Buffer.from(encoded.slice(2), "hex"));
      assert.equal(toHex(struct), toHex(published), name);
    }
  }
  assert.deepEqual([cases.length, withoutDomain], [87, 4]);
});
