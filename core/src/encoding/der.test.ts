import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import fc from "fast-check";
import { parseEcdsaDer, parseStrictEcdsaDer, toEcdsaDer } from "./der.ts";
import { fromHex, toHex } from "./hex.ts";

const integer = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.tuple(fc.nat(31), fc.uint8Array({ minLength: 32, maxLength: 32 })).map(([n, x]) => x.fill(0, 0, n)),
);

test("r and s survive, and what we write is what noble writes", () => {
  fc.assert(
    fc.property(integer, integer, (r, s) => {
      const rs = Uint8Array.of(...r, ...s);
      const der = toEcdsaDer(rs);
      assert.deepEqual(parseEcdsaDer(der), rs);
      assert.deepEqual(parseStrictEcdsaDer(der), rs);
      const [rValue, sValue] = [BigInt(`0x${toHex(r)}`), BigInt(`0x${toHex(s)}`)];
      const { ORDER } = p256.Point.Fn;
      if (rValue === 0n || sValue === 0n || rValue >= ORDER || sValue >= ORDER) return;
      assert.equal(toHex(der), new p256.Signature(rValue, sValue).toHex("der"));
    }),
    { seed: 4, numRuns: 500 },
  );
});

test("integers with superfluous leading zeros, as a wallet client writes them, are read unchanged", () => {
  const [r, s] = [`00${"7f".repeat(31)}`, `00${"01".repeat(31)}`];
  assert.equal(toHex(parseEcdsaDer(fromHex(`30440220${r}0220${s}`))), r + s);
  assert.equal(toHex(parseEcdsaDer(fromHex(`3046022100${r}022100${s}`))), r + s);
});

test("the strict reader refuses superfluous zeros and takes the one that keeps an integer positive", () => {
  const one = "020101";
  for (const hex of [`300702020001${one}`, `3007${one}0202007f`, `300702020000${one}`]) {
    assert.equal(parseEcdsaDer(fromHex(hex)).length, 64);
    assert.throws(() => parseStrictEcdsaDer(fromHex(hex)), { code: "invalid_argument", message: /superfluous zero/ });
  }
  assert.equal(parseStrictEcdsaDer(fromHex(`300702020080${one}`))[31], 0x80);
  assert.equal(parseStrictEcdsaDer(fromHex(`3006020100${one}`))[31], 0);
});

test("every length of integer from 1 to 33 bytes is read", () => {
  for (let length = 1; length <= 33; length++) {
    const value = length === 33 ? `00${"ff".repeat(32)}` : "7f".repeat(length);
    const der = fromHex(
      `30${(length + 5).toString(16).padStart(2, "0")}02${length.toString(16).padStart(2, "0")}${value}020101`,
    );
    assert.equal(toHex(parseEcdsaDer(der).subarray(0, 32)), value.padStart(64, "0").slice(-64));
  }
});

test("everything else is refused", () => {
  const one = "020101";
  for (const [why, hex] of [
    ["empty", ""],
    ["no content", "3000"],
    ["not a sequence", `3106${one}${one}`],
    ["one integer", `3003${one}`],
    ["three integers", `3009${one}${one}${one}`],
    ["trailing byte outside", `3006${one}${one}00`],
    ["trailing byte inside", `3007${one}${one}00`],
    ["sequence too short", `3005${one}${one}`],
    ["sequence too long", `3007${one}${one}`],
    ["long-form sequence length", `308106${one}${one}`],
    ["indefinite length", `3080${one}${one}0000`],
    ["long-form integer length", `300702810101${one}`],
    ["empty integer", `30050200${one}`],
    ["empty second integer", `3005${one}0200`],
    ["negative r", `3006020180${one}`],
    ["negative s", `3006${one}0201ff`],
    ["another tag", `3006030101${one}`],
    ["integer beyond the end", `30060201010221${"01"}`],
    ["33 significant bytes", `30260221${"01".repeat(33)}${one}`],
    ["34 bytes, zero padded", `302702220000${"01".repeat(32)}${one}`],
    ["truncated", "300602010102"],
    ["raw r‖s", "01".repeat(64)],
  ] as const) {
    assert.throws(() => parseEcdsaDer(fromHex(hex)), { code: "invalid_argument" }, why);
    assert.throws(() => parseStrictEcdsaDer(fromHex(hex)), { code: "invalid_argument" }, why);
  }
});

test("mutated signatures are read as what they say or refused with our own code", () => {
  const valid = toEcdsaDer(p256.sign(new Uint8Array(3), new Uint8Array(32).fill(7)));
  fc.assert(
    fc.property(fc.nat(valid.length - 1), fc.nat(255), fc.nat(3), (at, byte, cut) => {
      const mutated = valid.map((b, i) => (i === at ? byte : b)).subarray(0, valid.length - cut);
      try {
        assert.equal(parseEcdsaDer(mutated).length, 64);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_argument");
      }
    }),
    { seed: 5, numRuns: 2000 },
  );
});
