import assert from "node:assert/strict";
import { test } from "node:test";
import { createContract, ERC20 } from "micro-eth-signer/abi.js";
import { parameterOf, splitTypes } from "../../../test/abi_encoding.ts";
import { fromHex } from "../../encoding/hex.ts";
import { EvmText, type Value } from "../values/values.ts";
import { decodeCall, parseAbi, selectorOf } from "./abi.ts";

const recipient = "0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7";

function refuses(entries: unknown, why: RegExp): void {
  const text = typeof entries === "string" ? entries : JSON.stringify(entries);
  const message = new RegExp(`^invalid smart contract interface: .*${why.source}`);
  assert.throws(() => parseAbi(text), { name: "Fault", code: "invalid_argument", message });
}

/** An ABI of one function `f` with inputs of these types, named a, b, c … */
function abiOf(types: string) {
  const inputs = splitTypes(types).map((type, i) => parameterOf(type, String.fromCharCode(97 + i)));
  return parseAbi(JSON.stringify([{ type: "function", name: "f", inputs }]));
}

function decoded(types: string, ...words: string[]): readonly Value[] | undefined {
  const selector = selectorOf(`f(${types})`).toString(16).padStart(8, "0");
  const call = decodeCall(abiOf(types), fromHex(selector + words.join("")));
  return call && [...call.args.values()];
}

const word = (hex: string) => hex.padStart(64, "0");
const left = (hex: string) => hex.padEnd(64, "0");
const evm = (text: string) => new EvmText(text);

test("a token transfer that another library encoded is read: name and arguments by the names of the ABI", () => {
  const abi = parseAbi(JSON.stringify(ERC20));
  const data = createContract(ERC20).transfer.encodeInput({ to: recipient, value: 10n ** 18n });
  const call = decodeCall(abi, data);
  assert.equal(call?.name, "transfer");
  assert.deepEqual(
    call?.args,
    new Map<string, Value>([
      ["to", evm(recipient)],
      ["value", 10n ** 18n],
    ]),
  );
});

test("selectors are of canonical signatures: aliases resolved, tuples as their parts", () => {
  assert.equal(selectorOf("transfer(address,uint256)"), 0xa9059cbb);
  const route = "address,address,uint24,address,uint256,uint256,uint256,uint160";
  const swap = { name: "exactInputSingle", inputs: [parameterOf(`(${route})`, "params")] };
  const functions = parseAbi(JSON.stringify([swap])).functions;
  assert.equal(functions.get(0x414bf389)?.signature, `exactInputSingle((${route}))`);
  const [alias] = parseAbi(
    JSON.stringify([{ name: "f", inputs: [{ type: "uint[2]" }, { type: "int" }] }]),
  ).functions.values();
  assert.equal(alias?.signature, "f(uint256[2],int256)");
});

test("tuples are lists by place, and their components have no names", () => {
  const batch = {
    type: "function",
    name: "executeBatch",
    inputs: [
      {
        name: "calls",
        type: "tuple[]",
        components: [
          { name: "to", type: "address" },
          { name: "value", type: "uint256" },
          { name: "data", type: "bytes" },
        ],
      },
    ],
  } as const;
  const calls = [
    { to: recipient, value: 0n, data: fromHex("a9059cbb") },
    { to: recipient, value: 5n, data: new Uint8Array() },
  ];
  const data = createContract([batch]).executeBatch.encodeInput(calls);
  const call = decodeCall(parseAbi(JSON.stringify({ abi: [batch], contractName: "Account" })), data);
  assert.deepEqual(call?.args.get("calls"), [
    [evm(recipient), 0n, evm("0xa9059cbb")],
    [evm(recipient), 5n, evm("0x")],
  ]);
});

test("unnamed inputs go by their place, which no name can be", () => {
  const abi = parseAbi(JSON.stringify([{ name: "f", inputs: [{ type: "bool" }, { name: "", type: "bool" }] }]));
  const data = fromHex(selectorOf("f(bool,bool)").toString(16).padStart(8, "0") + word("1") + word(""));
  assert.deepEqual(
    decodeCall(abi, data)?.args,
    new Map([
      ["0", true],
      ["1", false],
    ]),
  );
  refuses(
    [{ name: "f", inputs: [{ type: "bool" }, { name: "0", type: "bool" }] }],
    /the name of input 1 of `f` is not a name/,
  );
});

test("overloaded functions are told apart by their selectors", () => {
  const overloads = [
    { type: "function", name: "mint", inputs: [{ name: "amount", type: "uint256" }] },
    { type: "function", name: "mint", inputs: [{ name: "to", type: "address" }] },
  ];
  const abi = parseAbi(JSON.stringify(overloads));
  const call = (signature: string, hex: string) =>
    fromHex(selectorOf(signature).toString(16).padStart(8, "0") + word(hex));
  assert.deepEqual(decodeCall(abi, call("mint(uint256)", "05"))?.args, new Map([["amount", 5n]]));
  assert.deepEqual(decodeCall(abi, call("mint(address)", recipient.slice(2)))?.args, new Map([["to", evm(recipient)]]));
});

test("every atomic type is read in its whole range and not one step beyond it", () => {
  assert.deepEqual(decoded("uint8", word("ff")), [255n]);
  assert.equal(decoded("uint8", word("0100")), undefined);
  assert.deepEqual(decoded("uint256", "f".repeat(64)), [2n ** 256n - 1n]);
  assert.deepEqual(decoded("int8", `${"f".repeat(62)}80`), [-128n]);
  assert.equal(decoded("int8", word("80")), undefined);
  assert.equal(decoded("int8", `${"f".repeat(62)}7f`), undefined);
  assert.deepEqual(decoded("int128", "f".repeat(64)), [-1n]);
  assert.deepEqual(decoded("int256", left("8")), [-(2n ** 255n)]);
  assert.deepEqual(decoded("address", word("11".repeat(20))), [evm(`0x${"11".repeat(20)}`)]);
  assert.equal(decoded("address", word(`01${"11".repeat(20)}`)), undefined);
  assert.deepEqual(decoded("bool", word("1")), [true]);
  assert.equal(decoded("bool", word("2")), undefined);
  assert.equal(decoded("bool", left("1")), undefined);
  assert.deepEqual(decoded("bytes3", left("abcdef")), [evm("0xabcdef")]);
  assert.equal(decoded("bytes3", left("abcdef01")), undefined);
  assert.deepEqual(decoded("bytes32", "f".repeat(64)), [evm(`0x${"f".repeat(64)}`)]);
  assert.deepEqual(decoded("function", left("22".repeat(24))), [evm(`0x${"22".repeat(24)}`)]);
});

test("dynamic values are read from their one place: no overlap, no gap, no loop, nothing left over", () => {
  const twice = "bytes,bytes";
  const one = [word("2"), left("abcd")];
  assert.deepEqual(decoded(twice, word("40"), word("80"), ...one, ...one), [evm("0xabcd"), evm("0xabcd")]);
  assert.equal(decoded(twice, word("40"), word("40"), ...one), undefined, "shared");
  assert.equal(decoded(twice, word("80"), word("40"), ...one, ...one), undefined, "swapped");
  assert.equal(decoded(twice, word("60"), word("a0"), word(""), ...one, ...one), undefined, "a gap");
  assert.equal(decoded(twice, word("40"), word("80"), ...one, ...one, word("")), undefined, "left over");
  assert.equal(decoded(twice, word("40"), word("80"), ...one, word("2"), left("abcdef")), undefined, "padding");
  assert.equal(decoded("bytes", word("0"), ...one), undefined, "an offset to itself");
  assert.equal(decoded("bytes[]", word("20"), word("1"), word("0")), undefined, "an offset to itself in an array");
  assert.equal(decoded("bytes", left("1"), ...one), undefined, "an offset beyond all calls");
  assert.equal(decoded("bytes", word("20"), word("21"), left("ab")), undefined, "a length beyond the call");
  assert.equal(decoded("uint8[]", word("20"), "f".repeat(64)), undefined, "a count beyond all calls");
});

test("text that is not UTF-8 is not shown as something else", () => {
  assert.deepEqual(decoded("string", word("20"), word("3"), left("efbbbf")), ["\ufeff"]);
  assert.equal(decoded("string", word("20"), word("2"), left("c328")), undefined);
});

test("calls that are cut off, too long, too many or of no function in the ABI are read as nothing", () => {
  const abi = abiOf("uint8[]");
  const selector = selectorOf("f(uint8[])").toString(16).padStart(8, "0");
  assert.equal(decodeCall(abi, fromHex(selector.slice(2))), undefined);
  assert.equal(decodeCall(abi, new Uint8Array()), undefined);
  assert.equal(decodeCall(abi, fromHex(`deadbeef${word("20")}${word("")}`)), undefined);
  assert.equal(decoded("uint8[]", word("20"), word("1").slice(2)), undefined);
  const items = (count: number) => decoded("uint8[]", word("20"), word(count.toString(16)), "0".repeat(64 * count));
  assert.equal(items(9_999)?.length, 1);
  assert.equal(items(10_000), undefined);
  const megabyte = 1024 * 1024;
  const bytes = (length: number) => decoded("bytes", word("20"), word(length.toString(16)), "0".repeat(2 * length));
  assert.equal(bytes(megabyte - 64)?.length, 1);
  assert.equal(bytes(megabyte), undefined);
});

test("an ABI that can be misread is refused, and the refusal says where", () => {
  const f = (...inputs: unknown[]) => [{ type: "function", name: "f", inputs }];
  refuses("[", /not JSON: it ends too early, at position 1$/);
  refuses('[{"type": }]', /not JSON/);
  refuses('[{"type": "function" "name": "secret"}]', /not JSON at position 21$/);
  refuses("{}", /the ABI is not a list/);
  refuses("7", /the ABI is not an object/);
  refuses('[{"type":"event","type":"function"}]', /duplicate key/);
  refuses([7], /entry 0 is not an object/);
  refuses([{ type: "struct", name: "f" }], /entry 0 is of no known type/);
  refuses([{ type: "function", name: "f(uint256)", inputs: [] }], /the name of entry 0 is not a name/);
  refuses([{ type: "function", inputs: [] }], /the name of entry 0 is not a name/);
  refuses([...f(), ...f()], /`f\(\)` and `f\(\)` have the same selector/);
  // Two names that hash alike: a policy that names one would allow calls of the other.
  refuses(
    [
      { name: "burn", inputs: [{ type: "uint256" }] },
      { name: "collate_propagate_storage", inputs: [{ type: "bytes16" }] },
    ],
    /`collate_propagate_storage\(bytes16\)` and `burn\(uint256\)` have the same selector/,
  );
  refuses(f({ name: "a", type: "bool" }, { name: "a", type: "bool" }), /`f` has `a` twice/);
  refuses(f({ name: "a" }), /input 0 of `f` has no type/);
  for (const type of [
    "uint7",
    "uint264",
    "bytes33",
    "bytes0",
    "fixed128x18",
    "uint256[0]",
    "uint256[-1]",
    "uint256[",
    "Uint256",
    "tuple2",
    "uint256[1]x",
  ]) {
    refuses(f({ name: "a", type }), /input 0 of `f` has the unknown type/);
  }
  refuses(f({ name: "a", type: "uint7" }), /input 0 of `f` has the unknown type `uint7`$/);
  refuses(f({ name: "a", type: "uint256[0]" }), /has the unknown type `uint256\[0\]`$/);
  refuses(f({ name: "a", type: "tuple" }), /the components of input 0 of `f` is not a list/);
  refuses(f({ name: "a", type: "tuple", components: [] }), /input 0 of `f` is a tuple of nothing/);
  refuses(f({ name: "a", type: "bool", components: [{ type: "bool" }] }), /has components, but is no tuple/);
  refuses(
    f({ name: "a", type: "tuple", components: [{ type: "bool" }, { type: "no" }] }),
    /input 0 of `f`\[1\] has the unknown type/,
  );
  refuses(f({ name: "a", type: `bool${"[]".repeat(16)}` }), /nested deeper than 16/);
  refuses(f({ name: "a", type: "bool[99999][99999]" }), /larger than any call/);
  refuses(f(...Array.from({ length: 257 }, () => ({ type: "bool" }))), /more than 256 inputs/);
  refuses(
    Array.from({ length: 501 }, (_, i) => ({ name: `f${i}` })),
    /more than 500 functions/,
  );
  refuses(`["${"x".repeat(400 * 1024)}"]`, /longer than 409600 bytes/);
});
