import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors } from "../../test/vectors.ts";
import { Fault } from "../fault.ts";
import { readJson } from "./json.ts";

const accepted = "accepted";
const duplicate = "duplicate key";
const escapedKey = "an escape inside an object key";
const beyond = "an integer beyond 2^53";
const tooLarge = "a number too large to represent";
const nul = "a NUL character";
const lone = "a lone surrogate";
const notUtf8 = "not UTF-8";

/** Valid JSON (`y_`) that we refuse on purpose, and why. Exact: one that starts to be accepted fails the test. */
const stricter: Record<string, string> = {
  "y_number.json": beyond,
  "y_number_real_capital_e.json": beyond,
  "y_number_real_exponent.json": beyond,
  "y_object_duplicated_key.json": duplicate,
  "y_object_duplicated_key_and_value.json": duplicate,
  "y_object_escaped_null_in_key.json": escapedKey,
  "y_string_null_escape.json": nul,
};

/** Every document on which RFC 8259 leaves readers free (`i_`), and our verdict. */
const free: Record<string, string> = {
  "i_number_double_huge_neg_exp.json": accepted, // Underflow to zero; no field of ours has fractions.
  "i_number_huge_exp.json": tooLarge,
  "i_number_pos_double_huge_exp.json": tooLarge,
  "i_number_real_neg_overflow.json": tooLarge,
  "i_number_real_underflow.json": accepted, // Likewise.
  "i_number_too_big_neg_int.json": beyond,
  "i_number_very_big_negative_int.json": beyond,
  "i_object_key_lone_2nd_surrogate.json": escapedKey,
  "i_string_1st_valid_surrogate_2nd_invalid.json": lone,
  "i_string_UTF-16LE_with_BOM.json": notUtf8,
  "i_string_UTF8_surrogate_U+D800.json": notUtf8,
  "i_string_incomplete_surrogate_and_escape_valid.json": lone,
  "i_string_incomplete_surrogates_escape_valid.json": lone,
  "i_string_invalid_lonely_surrogate.json": lone,
  "i_string_invalid_utf-8.json": notUtf8,
  "i_string_inverted_surrogates_U+1D11E.json": lone,
  "i_string_lone_second_surrogate.json": lone,
  "i_string_lone_utf8_continuation_byte.json": notUtf8,
  "i_string_overlong_sequence_2_bytes.json": notUtf8,
  "i_string_overlong_sequence_6_bytes.json": notUtf8,
  "i_string_truncated-utf-8.json": notUtf8,
  "i_string_utf16BE_no_BOM.json": notUtf8,
  "i_structure_500_nested_arrays.json": "nested deeper than 32",
  "i_structure_UTF-8_BOM_empty_object.json": "starts with a byte order mark",
};

/** Documents that parsers are known to change silently. Those accepted are read as the nearest double. */
const transform: Record<string, string> = {
  "number_-9223372036854775808.json": beyond,
  "number_-9223372036854775809.json": beyond,
  "number_1.000000000000000005.json": accepted, // Reads as 1: a fraction beyond a double's precision, as in every reader.
  "number_1000000000000000.json": accepted,
  "number_1e-999.json": accepted, // Reads as 0.
  "number_1e6.json": accepted,
  "number_9223372036854775808.json": beyond,
  "object_key_nfc_nfd.json": accepted, // Two keys that look alike stay two keys.
  "object_same_key_different_values.json": duplicate,
  "object_same_key_same_value.json": duplicate,
  "string_1_escaped_invalid_codepoint.json": lone,
  "string_1_invalid_codepoint.json": notUtf8,
  "string_2_invalid_codepoints.json": notUtf8,
  "string_3_escaped_invalid_codepoints.json": lone,
  "string_with_escaped_NULL.json": nul,
};

function verdict(bytes: Uint8Array): string {
  try {
    assert.deepEqual(readJson(bytes), JSON.parse(new TextDecoder().decode(bytes)));
    return accepted;
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === "invalid_argument", `${error}`);
    return error.detail ?? "";
  }
}

test("JSONTestSuite: valid documents are read but for the listed ones, invalid ones are refused", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const folder = "json/JSONTestSuite/test_parsing";
  const counts: Record<string, number> = { y: 0, n: 0, i: 0 };
  const refusedValid: Record<string, string> = {};
  const freeVerdicts: Record<string, string> = {};
  for (const name of vectors.names(folder)) {
    const kind = name.charAt(0);
    const found = verdict(vectors.bytes(`${folder}/${name}`));
    if (kind === "n") assert.notEqual(found, accepted, name);
    else if (kind === "i") freeVerdicts[name] = found;
    else if (found !== accepted) refusedValid[name] = found;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  assert.deepEqual(refusedValid, stricter);
  assert.deepEqual(freeVerdicts, free);
  assert.deepEqual(counts, { y: 63, n: 125, i: 24 });
});

test("JSONTestSuite: nothing is silently changed but the listed fractions", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const folder = "json/JSONTestSuite/test_transform";
  const found = vectors.names(folder).map((name) => [name, verdict(vectors.bytes(`${folder}/${name}`))]);
  assert.deepEqual(Object.fromEntries(found), transform);
  assert.equal(found.length, 15);
});

test("the big list of naughty strings: every string is read as it was written", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const list = readJson(vectors.bytes("json/blns.json"));
  assert.ok(Array.isArray(list));
  for (const text of list) {
    assert.equal(typeof text, "string");
    const body = new TextEncoder().encode(JSON.stringify({ name: text, list: [text] }));
    assert.deepEqual(readJson(body), { name: text, list: [text] });
  }
  assert.equal(list.length, 344);
});

test("JCS: the inputs and their canonical forms are read as the same value, but for the listed ones", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const refused: Record<string, string> = {};
  const names = vectors.names("json/jcs/input");
  assert.deepEqual(vectors.names("json/jcs/output"), names);
  for (const name of names) {
    const input = vectors.bytes(`json/jcs/input/${name}`);
    const output = vectors.bytes(`json/jcs/output/${name}`);
    const found = verdict(input);
    assert.equal(verdict(output), found, name);
    if (found === accepted) assert.deepEqual(readJson(input), readJson(output), name);
    else refused[name] = found;
  }
  assert.deepEqual(refused, { "structures.json": escapedKey, "values.json": beyond }); // A key "\n"; the number 1E30.
  assert.equal(names.length, 4);
});
