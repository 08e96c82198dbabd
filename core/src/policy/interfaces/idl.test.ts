import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { samples } from "../../../test/samples.ts";
import { toBase58 } from "../../encoding/base58.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import type { Value } from "../values/values.ts";
import { decodeInstruction, discriminatorOf, parseIdl } from "./idl.ts";

const rounds = samples.idlInstructions;

function refuses(idl: unknown, why: RegExp): void {
  const text = typeof idl === "string" ? idl : JSON.stringify(idl);
  const message = new RegExp(`^invalid smart contract interface: .*${why.source}`);
  assert.throws(() => parseIdl(text), { name: "Fault", code: "invalid_argument", message });
}

/** An IDL with one instruction `go`, whose discriminator is the byte 7. */
function idlOf(args: unknown, types: unknown = [], accounts: unknown = []) {
  return { instructions: [{ name: "go", discriminator: [7], accounts, args }], types };
}

function decoded(type: unknown, hex: string, types: unknown = []): Value | undefined {
  const idl = parseIdl(JSON.stringify(idlOf([{ name: "x", type }], types)));
  return decodeInstruction(idl, fromHex(`07${hex}`), [])?.args.get("x");
}

/** The newer form of an IDL, and the older one of the same program. */
const newer = {
  address: "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4",
  metadata: { name: "swap", version: "0.1.0", spec: "0.1.0" },
  instructions: [
    {
      name: "swap_route",
      discriminator: [...discriminatorOf("swap_route")],
      accounts: [
        { name: "payer", writable: true, signer: true },
        { name: "token_program", address: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" },
      ],
      args: [
        { name: "plan", type: { vec: { defined: { name: "Step" } } } },
        { name: "in_amount", type: "u64" },
        { name: "owner", type: "pubkey" },
      ],
    },
  ],
  types: [
    {
      name: "Step",
      type: {
        kind: "struct",
        fields: [
          { name: "swap", type: { defined: { name: "Swap" } } },
          { name: "percent", type: "u8" },
        ],
      },
    },
    {
      name: "Swap",
      type: {
        kind: "enum",
        variants: [
          { name: "Saber" },
          { name: "Serum", fields: [{ name: "side", type: { defined: { name: "Side" } } }] },
          { name: "Pair", fields: ["u8", { option: "u16" }] },
        ],
      },
    },
    { name: "Side", type: { kind: "enum", variants: [{ name: "Bid" }, { name: "Ask" }] } },
  ],
};

const older = JSON.parse(
  JSON.stringify({
    version: "0.1.0",
    name: "swap",
    ...newer,
    instructions: newer.instructions.map(({ accounts, args }) => ({
      name: "swapRoute",
      accounts: accounts.map(({ name }, i) => ({ name, isMut: i === 0, isSigner: i === 0 })),
      args,
    })),
  })
    .replaceAll('"pubkey"', '"publicKey"')
    .replaceAll(/\{"defined":\{"name":"(\w+)"\}\}/g, '{"defined":"$1"}'),
);

const step = { saber: "0064", serumAsk: "010132", pairOfSome: "02090105001e", pairOfNone: "0209001e" };
const keys = ["payer1111", "token1111", "more1111"];

test("Anchor's discriminators: of the name in snake case, whichever way the IDL spells it", () => {
  assert.equal(toHex(discriminatorOf("initialize")), "afaf6d1f0d989bed");
  assert.deepEqual(discriminatorOf("swapAToB"), discriminatorOf("swap_a_to_b"));
  assert.deepEqual(discriminatorOf("Initialize"), discriminatorOf("initialize"));
});

test("both forms of an IDL read the same call: accounts by name, arguments by name, types in types", () => {
  const data = fromHex(
    `${toHex(discriminatorOf("swap_route"))}04000000${Object.values(step).join("")}e0d5560000000000${"05".repeat(32)}`,
  );
  const [fromNewer, fromOlder] = [newer, older].map((idl) =>
    decodeInstruction(parseIdl(JSON.stringify(idl)), data, keys),
  );
  assert.equal(fromNewer?.name, "swap_route");
  assert.equal(fromOlder?.name, "swapRoute");
  assert.equal(fromNewer?.discriminator, toHex(discriminatorOf("swap_route")));
  assert.deepEqual(
    fromNewer?.accounts,
    new Map([
      ["payer", "payer1111"],
      ["token_program", "token1111"],
    ]),
  );
  assert.deepEqual({ ...fromOlder, name: "" }, { ...fromNewer, name: "" });
  const variant = (name: string, value: Value) => new Map([[name, value]]);
  const steps: [Value, bigint][] = [
    [variant("Saber", true), 100n],
    [variant("Serum", variant("side", variant("Ask", true))), 50n],
    [variant("Pair", [9n, 5n]), 30n],
    [variant("Pair", [9n, new Map()]), 30n],
  ];
  assert.deepEqual(
    fromNewer?.args,
    new Map<string, Value>([
      [
        "plan",
        steps.map(
          ([swap, percent]) =>
            new Map<string, Value>([
              ["swap", swap],
              ["percent", percent],
            ]),
        ),
      ],
      ["in_amount", 5_690_848n],
      ["owner", toBase58(new Uint8Array(32).fill(5))],
    ]),
  );
});

test("bytes left over, missing bytes, too much data, another discriminator or too few accounts: nothing is read", () => {
  const idl = parseIdl(JSON.stringify(idlOf([{ name: "x", type: "u8" }], [], [{ name: "a" }])));
  assert.deepEqual(decodeInstruction(idl, fromHex("0705"), ["k"])?.args, new Map([["x", 5n]]));
  for (const hex of ["", "07", "070500", "0805"])
    assert.equal(decodeInstruction(idl, fromHex(hex), ["k"]), undefined, hex);
  assert.equal(decodeInstruction(idl, fromHex("0705"), []), undefined);
  const bytes = parseIdl(JSON.stringify(idlOf([{ name: "x", type: { array: ["u8", 1231] } }])));
  assert.equal(decodeInstruction(bytes, new Uint8Array(1232).fill(7), [])?.name, "go");
  const more = parseIdl(JSON.stringify(idlOf([{ name: "x", type: { array: ["u8", 1232] } }])));
  assert.equal(decodeInstruction(more, new Uint8Array(1233).fill(7), []), undefined);
});

test("every type has one encoding", () => {
  assert.equal(decoded("bool", "01"), true);
  assert.equal(decoded("bool", "02"), undefined);
  assert.equal(decoded("u8", "ff"), 255n);
  assert.equal(decoded("i8", "ff"), -1n);
  assert.equal(decoded("u16", "0001"), 256n);
  assert.equal(decoded("i32", "00000080"), -(2n ** 31n));
  assert.equal(decoded("u64", "f".repeat(16)), 2n ** 64n - 1n);
  assert.equal(decoded("i64", "f".repeat(16)), -1n);
  assert.equal(decoded("u128", "f".repeat(32)), "340282366920938463463374607431768211455");
  assert.equal(decoded("i128", `${"0".repeat(30)}80`), "-170141183460469231731687303715884105728");
  assert.equal(decoded("bytes", "03000000abcdef"), "abcdef");
  assert.equal(decoded("string", "02000000c3a9"), "é");
  assert.equal(decoded("string", "02000000c328"), undefined);
  assert.deepEqual(decoded({ option: "u8" }, "0105"), 5n);
  assert.deepEqual(decoded({ option: "u8" }, "00"), new Map());
  assert.equal(decoded({ option: "u8" }, "0205"), undefined);
  assert.deepEqual(decoded({ array: ["u16", 2] }, "01000200"), [1n, 2n]);
  assert.equal(decoded({ vec: "u8" }, "ffffffff00"), undefined);
});

test("floats are the shortest text that means them", () => {
  const f64 = (number: number) => toHex(new Uint8Array(new Float64Array([number]).buffer));
  const f32 = (number: number) => toHex(new Uint8Array(new Float32Array([number]).buffer));
  for (const number of [0.1, 5, -2.5, 1e21, 5e-324]) assert.equal(decoded("f64", f64(number)), String(number));
  for (const number of [0.1, 5, -2.5, 16777217, 3.4028234663852886e38]) {
    const text = decoded("f32", f32(number));
    assert.equal(Math.fround(Number(text)), Math.fround(number));
  }
  assert.equal(decoded("f32", f32(0.1)), "0.1");
  assert.equal(decoded("f64", f64(-0)), "-0");
  assert.equal(decoded("f64", f64(Number.POSITIVE_INFINITY)), "Infinity");
  assert.equal(decoded("f64", f64(Number.NaN)), undefined);
});

test("values that take no bytes cannot be claimed in numbers", () => {
  const types = [{ name: "Unit", type: { kind: "struct" } }];
  assert.deepEqual(decoded({ vec: { defined: "Unit" } }, "02000000", types), [new Map(), new Map()]);
  assert.equal(decoded({ vec: { defined: "Unit" } }, "ffffffff", types), undefined);
  assert.equal(
    decoded({ array: [{ array: [{ array: [{ defined: "Unit" }, 999] }, 999] }, 999] }, "", types),
    undefined,
  );
});

test("aliases and tuple structs are read, in both spellings", () => {
  const types = [
    { name: "A", type: { kind: "type", alias: { defined: { name: "B" } } } },
    { name: "B", type: { kind: "alias", value: { defined: "C" } } },
    { name: "C", type: { kind: "struct", fields: ["u8", "bool"] } },
  ];
  assert.deepEqual(decoded({ defined: "A" }, "0501", types), [5n, true]);
});

test("accounts in groups keep their order and bear both names", () => {
  const accounts = [{ name: "common", accounts: [{ name: "payer" }, { name: "mint" }] }, { name: "payer" }];
  const idl = parseIdl(JSON.stringify(idlOf([], [], accounts)));
  assert.deepEqual(
    decodeInstruction(idl, fromHex("07"), ["k1", "k2", "k3"])?.accounts,
    new Map([
      ["common.payer", "k1"],
      ["common.mint", "k2"],
      ["payer", "k3"],
    ]),
  );
});

test("an IDL that can be misread is refused, and the refusal says where", () => {
  const struct = (name: string, type: unknown) => ({ name, type: { kind: "struct", fields: [{ name: "f", type }] } });
  refuses("{", /not JSON/);
  refuses("[]", /the IDL is not an object/);
  refuses({ instructions: [], types: {} }, /`types` is not a list/);
  refuses({ types: [] }, /`instructions` is not a list/);
  refuses({ types: [], instructions: Array(501).fill(0) }, /more than 500 instructions/);
  refuses(
    idlOf([
      { name: "x", type: "u8" },
      { name: "x", type: "u8" },
    ]),
    /the instruction `go` has `x` twice/,
  );
  refuses(idlOf([{ name: "0", type: "u8" }]), /the name of field 0 of the instruction `go` is not a name/);
  refuses(idlOf([], [], [{ name: "a" }, { name: "a" }]), /the accounts of the instruction `go` has `a` twice/);
  refuses(idlOf([], [], [{ name: "a", signer: true, isSigner: false }]), /has a flag twice with different values/);
  refuses(idlOf([], [], [{ name: "a", writable: "yes" }]), /has a flag that is no boolean/);
  refuses(idlOf(undefined), /the args of the instruction `go` is not a list/);
  for (const type of [
    "u256",
    "u7",
    { hashMap: ["u8", "u8"] },
    { generic: "T" },
    { coption: "u8" },
    {},
    { vec: "u8", option: "u8" },
    { array: ["u8", { generic: "N" }] },
    { array: ["u8", -1] },
  ]) {
    refuses(
      idlOf([{ name: "x", type }]),
      /`x` of the instruction `go` has (a type|the type `.*`) that is not supported/,
    );
  }
  refuses(idlOf([{ name: "x", type: { defined: "No" } }]), /has the type `No`, which is not in `types`/);
  refuses(idlOf([], [struct("A", "u8"), struct("A", "u16")]), /`types` has `A` twice/);
  refuses(
    idlOf([], [struct("A", { vec: { defined: "B" } }), struct("B", { option: { defined: { name: "A" } } })]),
    /the type `A` contains itself/,
  );
  refuses(idlOf([], [struct("A", { defined: "A" })]), /the type `A` contains itself/);
  const chain = (length: number) =>
    Array.from({ length }, (_, i) => struct(`T${i}`, i + 1 < length ? { defined: `T${i + 1}` } : "u8"));
  refuses(idlOf([{ name: "x", type: { defined: "T0" } }], chain(11)), /the type `T0` is nested deeper than 10/);
  refuses(idlOf([], chain(1_000)), /is nested deeper than 10/);
  assert.equal(
    parseIdl(JSON.stringify(idlOf([{ name: "x", type: { defined: "T0" } }], chain(10)))).instructions.size,
    1,
  );
  const zeroCopy = { ...struct("A", "u8"), serialization: "bytemuck" };
  refuses(idlOf([{ name: "x", type: { defined: "A" } }], [zeroCopy]), /the type `A` has a type that is not supported/);
});

test("instructions that data cannot tell apart are refused", () => {
  const instruction = (name: string, discriminator: unknown) => ({ name, discriminator, accounts: [], args: [] });
  const idl = (...instructions: unknown[]) => ({ instructions, types: [] });
  refuses(idl(instruction("a", [1, 2]), instruction("b", [1, 2])), /`b` and `a` cannot be told apart/);
  refuses(
    idl(instruction("a", [1, 2, 3]), instruction("b", [1]), instruction("c", [0, 9])),
    /`b` and `a` cannot be told apart/,
  );
  refuses(
    idl(instruction("a", undefined), instruction("b", [...discriminatorOf("a")])),
    /`b` and `a` cannot be told apart/,
  );
  refuses(idl(instruction("a", [1]), instruction("a", [2])), /`instructions` has `a` twice/);
  for (const discriminator of [[], [256], [1.5], "07", ["7"], Array(33).fill(1)]) {
    refuses(idl(instruction("a", discriminator)), /the discriminator of the instruction `a` is not a list/);
  }
});

test("lists that Anchor leaves out when they are empty may be absent", () => {
  const instruction = { name: "go", discriminator: [7], accounts: [], args: [{ name: "x", type: "u8" }] };
  const absent = ["types", "accounts", "events", "errors", "constants"];
  for (const value of [undefined, null, []]) {
    const lists = Object.fromEntries(absent.map((name) => [name, value]));
    const idl = parseIdl(JSON.stringify({ instructions: [instruction], ...lists }));
    assert.deepEqual(decodeInstruction(idl, fromHex("0705"), [])?.args, new Map([["x", 5n]]));
  }
  refuses({ instructions: [{ ...instruction, args: [{ name: "x", type: { defined: "A" } }] }] }, /not in `types`/);
});

test("types that no instruction needs may be of kinds that we do not read", () => {
  const types = [
    { name: "Account", type: { kind: "struct", fields: [{ name: "m", type: { hashMap: ["u8", "u8"] } }] } },
  ];
  assert.equal(parseIdl(JSON.stringify(idlOf([], types))).instructions.size, 1);
});

test("bent data is read as nothing or as other arguments, and two different data never as the same ones", () => {
  const idl = parseIdl(JSON.stringify(newer));
  const base = fromHex(
    `${toHex(discriminatorOf("swap_route"))}04000000${Object.values(step).join("")}e0d5560000000000${"05".repeat(32)}`,
  );
  const shown = (value: Value): unknown => {
    if (value instanceof Map) return Array.from(value, ([key, part]) => [key, shown(part)]);
    return Array.isArray(value) ? value.map(shown) : String(value);
  };
  const seen = new Map<string, string>();
  const bent = fc
    .tuple(fc.nat(base.length - 1), fc.nat(255), fc.nat(base.length), fc.boolean())
    .map(([at, byte, end, cut]) => {
      const bytes = Uint8Array.from(base);
      bytes[at] = byte;
      return cut ? bytes.subarray(0, end) : bytes;
    });
  fc.assert(
    fc.property(bent, (bytes) => {
      const call = decodeInstruction(idl, bytes, keys);
      if (call === undefined) return;
      const text = JSON.stringify(shown(call.args));
      assert.equal(seen.get(text) ?? toHex(bytes), toHex(bytes));
      seen.set(text, toHex(bytes));
    }),
    { numRuns: rounds, seed: 11 },
  );
  assert.ok(seen.size > 100);
});

test("a bent IDL is read or refused as ours, whatever is in it", () => {
  const text = JSON.stringify(newer);
  const pieces = ["[", "]", "{", "}", '"', ",", "null", "u8", "defined", "vec", "Step", "Swap", "-1", '"kind":"type"'];
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(12), fc.constantFrom(...pieces), (at, length, piece) => {
      try {
        parseIdl(text.slice(0, at) + piece + text.slice(at + length));
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === "invalid_argument", String(error));
      }
    }),
    { numRuns: rounds / 10, seed: 13 },
  );
});
