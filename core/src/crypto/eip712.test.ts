import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "../encoding/hex.ts";
import { encodeType, parseTypedData, type TypedField, typedDataDigest } from "./eip712.ts";
import { nobleCurves } from "./noble_curves.ts";

const mail = {
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "version", type: "string" },
      { name: "chainId", type: "uint256" },
      { name: "verifyingContract", type: "address" },
    ],
    Person: [
      { name: "name", type: "string" },
      { name: "wallet", type: "address" },
    ],
    Mail: [
      { name: "from", type: "Person" },
      { name: "to", type: "Person" },
      { name: "contents", type: "string" },
    ],
  },
  primaryType: "Mail",
  domain: {
    name: "Ether Mail",
    version: "1",
    chainId: 1,
    verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
  },
  message: {
    from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
    to: { name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
    contents: "Hello, Bob!",
  },
} as const;

const digestOf = (value: unknown) => toHex(typedDataDigest(nobleCurves, parseTypedData(JSON.stringify(value))));
const mailDigest = "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2";

/** Typed data whose message has one field `x` of the given type. */
function one(type: string, x: unknown, types: Record<string, TypedField[]> = {}): unknown {
  const declared = { EIP712Domain: [], Root: [{ name: "x", type }], ...types };
  return { types: declared, primaryType: "Root", domain: {}, message: { x } };
}

function refused(value: unknown, why: RegExp): void {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  assert.throws(
    () => parseTypedData(text),
    (error: { code?: string; message?: string }) => {
      assert.equal(error.code, "invalid_argument", text.slice(0, 200));
      assert.match(error.message ?? "", /^invalid EIP-712 typed data: /);
      assert.match(error.message ?? "", why);
      return true;
    },
  );
}

test("the standard's own example has its digest, in every serialization that clients send", () => {
  assert.equal(digestOf(mail), mailDigest);
  assert.equal(digestOf({ ...mail, domain: { ...mail.domain, chainId: "0x1" } }), mailDigest);
  assert.equal(digestOf({ ...mail, domain: { ...mail.domain, chainId: "1" } }), mailDigest);
  const lower = mail.domain.verifyingContract.toLowerCase();
  assert.equal(digestOf({ ...mail, domain: { ...mail.domain, verifyingContract: lower } }), mailDigest);
  const { EIP712Domain: _, ...types } = mail.types;
  assert.equal(digestOf({ ...mail, types }), mailDigest);
  assert.equal(digestOf({ ...mail, metadata: "nobody hashes this" }), mailDigest);
});

test("what policies see is what is hashed: typed, in one spelling, and nothing that no type declares", () => {
  const { primaryType, domain, message } = parseTypedData(
    JSON.stringify({
      ...mail,
      domain: { ...mail.domain, chainId: "0x01", salt: "unsigned" },
      message: { ...mail.message, amount: 5 },
    }),
  );
  assert.equal(primaryType, "Mail");
  assert.deepEqual(
    [...domain],
    [
      ["name", "Ether Mail"],
      ["version", "1"],
      ["chainId", 1n],
      ["verifyingContract", "0xcccccccccccccccccccccccccccccccccccccccc"],
    ],
  );
  assert.deepEqual([...message.keys()], ["from", "to", "contents"]);
  const from = message.get("from");
  assert.ok(from instanceof Map);
  assert.deepEqual(
    [...from],
    [
      ["name", "Cow"],
      ["wallet", "0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826"],
    ],
  );
});

test("an encoded type lists its own declaration first and the others sorted, each once, also in a circle", () => {
  const types = new Map<string, TypedField[]>([
    [
      "Zoo",
      [
        { name: "a", type: "Bee[]" },
        { name: "b", type: "Ant[2][]" },
        { name: "z", type: "Zoo[]" },
      ],
    ],
    ["Ant", [{ name: "home", type: "Zoo[]" }]],
    ["Bee", [{ name: "id", type: "uint8" }]],
    ["Fly", []],
  ]);
  assert.equal(encodeType(types, "Zoo"), "Zoo(Bee[] a,Ant[2][] b,Zoo[] z)Ant(Zoo[] home)Bee(uint8 id)");
  assert.equal(encodeType(types, "Ant"), "Ant(Zoo[] home)Bee(uint8 id)Zoo(Bee[] a,Ant[2][] b,Zoo[] z)");
  assert.equal(encodeType(types, "Fly"), "Fly()");
});

test("a type that refers to itself is signed as far as the data goes", () => {
  const types = {
    EIP712Domain: [],
    Node: [
      { name: "name", type: "string" },
      { name: "children", type: "Node[]" },
    ],
  };
  const leaf = (name: string) => ({ name, children: [] });
  const message = { name: "root", children: [leaf("a"), { name: "b", children: [leaf("c")] }] };
  const digest = digestOf({ types, primaryType: "Node", domain: {}, message });
  const other = { name: "root", children: [leaf("a"), { name: "b", children: [leaf("d")] }] };
  assert.notEqual(digest, digestOf({ types, primaryType: "Node", domain: {}, message: other }));
  // Without an array in between no finite value exists.
  refused(one("Loop", { x: {} }, { Loop: [{ name: "x", type: "Loop" }] }), /`message\.x\.x\.x` is missing/);
});

test("the domain alone can be signed, as wallets do: then there is no message", () => {
  const { domain, types } = mail;
  const parsed = parseTypedData(JSON.stringify({ types, domain, primaryType: "EIP712Domain" }));
  assert.equal(parsed.message.size, 0);
  const separator = "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f";
  const expected = nobleCurves.keccak256(Buffer.from(`1901${separator}`, "hex"));
  assert.equal(toHex(typedDataDigest(nobleCurves, parsed)), toHex(expected));
});

test("a name with a colon, as a large exchange has it, is a name; one that could end a declaration is none", () => {
  const types = { EIP712Domain: [], "Exchange:Send": [{ name: "@to", type: "address" }] };
  const message = { "@to": `0x${"11".repeat(20)}` };
  const primaryType = "Exchange:Send";
  assert.equal(
    encodeType(parseTypedData(JSON.stringify({ types, primaryType, domain: {}, message })).types, primaryType),
    "Exchange:Send(address @to)",
  );
  for (const name of ["A(uint8 a)B", "A,B", "A B", "A[]", "A]", "(", "", " ", "Ä", "a".repeat(129)]) {
    refused({ ...(one("bool", true) as object), types: { [name]: [] } }, /a name that cannot be a struct's/);
    refused(one("T", {}, { T: [{ name, type: "bool" }] }), /no usable name/);
  }
  for (const name of ["uint256", "uint7", "int", "bytes33", "bytes", "address", "bool", "string"]) {
    refused(one("bool", true, { [name]: [] }), /a name that cannot be a struct's/);
  }
});

test("integers are numbers, decimal or 0x text, within their type; nothing is guessed", () => {
  const same = digestOf(one("uint256", 255));
  for (const x of ["255", "0xff", "0xFF", "0x00ff", 255.0, 2.55e2]) assert.equal(digestOf(one("uint256", x)), same);
  assert.equal(digestOf(one("uint", 1)), digestOf(one("uint", "1")));
  assert.notEqual(digestOf(one("uint", 1)), digestOf(one("uint256", 1)));
  assert.equal(digestOf(one("int8", -128)), digestOf(one("int8", "-128")));
  const largest = (2n ** 256n - 1n).toString();
  assert.equal(digestOf(one("uint256", largest)), digestOf(one("uint256", `0x${"f".repeat(64)}`)));
  const wrong: [string, unknown[]][] = [
    ["uint256", [(2n ** 256n).toString(), `0x1${"0".repeat(64)}`, "-1", -1, "", " 1", "1 ", "+1", "01", "1.0", "1e3"]],
    ["uint256", [1.5, null, true, [], {}, "0x", "-0x1", "0b1", "١", "9".repeat(79), `0x${"0".repeat(65)}`]],
    ["uint8", [256, "0x100", -1]],
    ["int8", [128, -129, "0x80"]],
    ["bool", [0, 1, "true", null, "0x1"]],
    ["address", ["0x", `0x${"1".repeat(39)}`, `0x${"1".repeat(41)}`, "1".repeat(40), `0X${"1".repeat(40)}`, 1, null]],
    ["bytes", ["", "00", "0x0", "0xzz", 0, [], null]],
    ["bytes4", ["0x000000", "0x0000000000", "0x", "0000"]],
    ["string", [1, null, [], {}, true]],
    ["uint8[]", [1, "1", {}, null, [[1]], [256]]],
    ["uint8[2]", [[1], [1, 2, 3], []]],
    ["Root", [1, null, [], "x", {}]],
  ];
  let cases = 0;
  for (const [type, values] of wrong) {
    for (const x of values) {
      refused(one(type, x), /`message\.x/);
      cases++;
    }
  }
  assert.equal(cases, 70);
});

test("unknown and impossible types are refused, also where no value uses them", () => {
  const types = ["uint7", "uint0", "uint264", "bytes0", "bytes33", "Uint256", "", "[]", "x", "uint8[0]", "uint8[01]"];
  const others = ["uint8[-1]", "uint8[1.5]", "uint8[", "uint8]", "uint8[]x", "uint8 []", "function", "fixed128x18"];
  for (const type of [...types, ...others, "bool[1000000]", `bool${"[]".repeat(200)}`, " bool", "Root(uint8 a)"]) {
    refused(one(type, 1), /has an unknown type/);
    refused(one("bool", true, { Unused: [{ name: "a", type }] }), /has an unknown type/);
  }
});

test("a document that two readers could read differently is refused", () => {
  const text = JSON.stringify(mail);
  refused("", /not JSON/);
  refused("[]", /not an object/);
  refused("null", /not an object/);
  refused(text.replace('"primaryType":"Mail"', '"primaryType":"Mail","primaryType":"Person"'), /duplicate key/);
  refused(text.replace('"chainId":1', '"chainId":9007199254740993'), /beyond 2\^53/);
  refused(text.replace("Hello", "\ud800"), /not Unicode/);
  refused({ ...mail, primaryType: "Other" }, /`primaryType`/);
  refused({ ...mail, primaryType: "toString" }, /`primaryType`/);
  refused({ ...mail, primaryType: 1 }, /`primaryType`/);
  refused({ ...mail, types: [] }, /`types` is not an object/);
  refused({ ...mail, types: { ...mail.types, Mail: {} } }, /not a list of fields/);
  refused({ ...mail, types: { ...mail.types, Mail: [null] } }, /is not an object/);
  refused({ ...mail, types: { ...mail.types, Mail: [{ name: "a" }] } }, /unknown type/);
  refused({ ...mail, domain: undefined }, /`domain` is not an object/);
  refused({ ...mail, domain: { name: "Ether Mail" } }, /`domain\.version` is missing/);
  refused({ ...mail, message: undefined }, /`message` is not an object/);
  refused({ ...mail, message: { ...mail.message, contents: undefined } }, /`message\.contents` is missing/);
  const twice = [
    { name: "a", type: "bool" },
    { name: "a", type: "bool" },
  ];
  refused(one("T", { a: true }, { T: twice }), /declares a field twice/);
  refused({ ...mail, types: { Mail: [] }, domain: { chain: 1 } }, /must declare `EIP712Domain`/);
  const { domain, ...rest } = one("bool", true) as Record<string, unknown>;
  refused({ ...rest, domain: null }, /`domain` is not an object/);
  assert.deepEqual(domain, {});
});

test("an empty domain is refused where its type is missing: the serializer that sent it has lost the domain", () => {
  const why =
    "`domain` is {} and `types` has no EIP712Domain, so the signature would hold for no contract; add EIP712Domain to `types`";
  const { EIP712Domain: _, ...types } = mail.types;
  const lost = { ...mail, types, domain: {} };
  assert.throws(() => parseTypedData(JSON.stringify(lost)), { code: "invalid_argument", message: why });
  const meant = { ...lost, types: { ...types, EIP712Domain: [] } };
  assert.equal(parseTypedData(JSON.stringify(meant)).domain.size, 0);
  assert.notEqual(digestOf(meant), mailDigest);
  const alone = { types: {}, primaryType: "EIP712Domain", domain: {} };
  assert.equal(digestOf(alone), digestOf({ ...alone, types: { EIP712Domain: [] } }));
});

test("a domain with types of its own is taken as declared", () => {
  // Some chains write the contract's name and a salt as text.
  const types = { EIP712Domain: [{ name: "verifyingContract", type: "string" }], Root: [{ name: "x", type: "bool" }] };
  const document = { types, primaryType: "Root", domain: { verifyingContract: "cosmos" }, message: { x: true } };
  assert.equal(parseTypedData(JSON.stringify(document)).domain.get("verifyingContract"), "cosmos");
});

test("more than a signer should hash for one request is refused", () => {
  const many = (length: number) => Array.from({ length }, () => 0);
  assert.equal(digestOf(one("uint8[]", many(4_000))).length, 64);
  refused(one("uint8[]", many(4_096)), /more than 4096 values/);
  refused(one("string", "x".repeat(128 * 1024)), /longer than 131072 bytes/);
  const types = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`T${i}`, []]));
  refused(one("bool", true, types), /more than 100 types/);
  // Ninety types in a ring are ninety texts to hash, each naming them all.
  const name = (i: number) => `Type${"x".repeat(40)}${i % 90}`;
  const ring = Object.fromEntries(
    Array.from({ length: 90 }, (_, i) => [name(i), [{ name: "next", type: `${name(i + 1)}[]` }]]),
  );
  const root = Array.from({ length: 90 }, (_, i) => ({ name: `f${i}`, type: name(i) }));
  const message = Object.fromEntries(root.map((field) => [field.name, { next: [] }]));
  const entangled = { types: { EIP712Domain: [], ...ring, Root: root }, primaryType: "Root", domain: {}, message };
  assert.throws(() => digestOf(entangled), { code: "invalid_argument", message: /refer to each other too often/ });
  refused(one("bool", JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`)), /nested deeper/);
});

test("a refusal repeats no value that was sent", () => {
  const secret = "a very private message";
  for (const value of [one("address", secret), one("uint8", secret), one("Root", secret), one("bytes", secret)]) {
    assert.throws(
      () => parseTypedData(JSON.stringify(value)),
      (error: Error) => !error.message.includes(secret),
    );
  }
});
