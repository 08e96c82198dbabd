import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../fault.ts";
import { parseTimestamp } from "./timestamp_literal.ts";

const accepted: readonly [text: string, ms: number][] = [
  ["1970-01-01T00:00:00Z", 0],
  ["2025-02-01T00:00:00Z", 1_738_368_000_000],
  ["2025-02-01t00:00:00z", 1_738_368_000_000],
  ["2025-02-01T00:00:00+00:00", 1_738_368_000_000],
  ["2025-02-01T00:00:00-00:00", 1_738_368_000_000],
  ["2024-02-29T23:59:59.999Z", 1_709_251_199_999],
  ["2024-02-29T23:59:59.9Z", 1_709_251_199_900],
  ["2024-02-29T23:59:59.999000000Z", 1_709_251_199_999],
  ["0001-01-01T00:00:00Z", -62_135_596_800_000],
  ["9999-12-31T23:59:59.999Z", 253_402_300_799_999],
];

for (const [text, ms] of accepted) {
  test(`the timestamp ${text} is read to the millisecond`, () => assert.equal(parseTimestamp(text), ms));
}

const refused: readonly [text: string, why: RegExp][] = [
  ["", /expected RFC 3339/],
  ["2025-02-01", /expected RFC 3339/],
  ["2025-02-01T00:00:00", /expected RFC 3339/],
  ["2025-02-01 00:00:00Z", /expected RFC 3339/],
  ["2025-02-01T00:00Z", /expected RFC 3339/],
  ["25-02-01T00:00:00Z", /expected RFC 3339/],
  ["+02025-02-01T00:00:00Z", /expected RFC 3339/],
  ["2025-02-01T00:00:00.Z", /expected RFC 3339/],
  ["2025-02-01T00:00:00Z\n", /expected RFC 3339/],
  [" 2025-02-01T00:00:00Z", /expected RFC 3339/],
  ["2025-02-01T00:00:00+01:00", /expected UTC/],
  ["2025-02-01T00:00:00-05:00", /expected UTC/],
  ["2025-02-01T00:00:00.0001Z", /finer than a millisecond/],
  ["2025-02-30T00:00:00Z", /no such date/],
  ["2025-02-29T00:00:00Z", /no such date/],
  ["2025-00-01T00:00:00Z", /no such date/],
  ["2025-13-01T00:00:00Z", /no such date/],
  ["2025-01-00T00:00:00Z", /no such date/],
  ["2025-01-01T24:00:00Z", /no such date/],
  ["2025-01-01T00:60:00Z", /no such date/],
  ["2016-12-31T23:59:60Z", /no such date/],
  ["9999-12-31T24:00:00Z", /no such date/],
];

for (const [text, why] of refused) {
  test(`the timestamp ${JSON.stringify(text)} is refused and the message says why`, () => {
    assert.throws(() => parseTimestamp(text), { name: "Fault", code: "invalid_argument", message: why });
  });
}

test("every moment of four-digit years survives being written and read", () => {
  const years = {
    min: new Date("0000-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  };
  fc.assert(fc.property(fc.date(years), (date) => assert.equal(parseTimestamp(date.toISOString()), date.getTime())));
});

test("no text makes the reader fail with anything but a refusal", () => {
  const digits = fc.string({ unit: fc.constantFrom(..."0123456789-:TZ.+ "), maxLength: 30 });
  fc.assert(
    fc.property(fc.oneof(fc.string(), digits), (text) => {
      try {
        assert.equal(Number.isInteger(parseTimestamp(text)), true);
      } catch (error) {
        assert.ok(error instanceof Fault);
      }
    }),
  );
});
