import assert from "node:assert/strict";
import { test } from "node:test";
import { createLiveCodes } from "./live_codes.ts";

const exhausted = {
  code: "resource_exhausted",
  errorCode: "RATE_LIMIT_EXCEEDED",
  message: /^Max number of OTPs have been initiated/,
};
const here = "203.0.113.7";
const lifeMs = 300_000;

test("one address holds two live codes of a contact, until one ends or was never sent", () => {
  let nowMs = 0;
  const codes = createLiveCodes(() => nowMs);
  codes.hold("ann", here, lifeMs);
  const place = codes.hold("ann", here, lifeMs);
  assert.throws(() => codes.hold("ann", here, lifeMs), exhausted);
  codes.hold("ann", "203.0.113.8", lifeMs);
  codes.hold("bob", here, lifeMs);
  place.giveBack();
  place.giveBack();
  codes.hold("ann", here, lifeMs);
  assert.throws(() => codes.hold("ann", here, lifeMs), exhausted);
  nowMs = 300_001;
  codes.hold("ann", here, lifeMs);
});

test("a code that was answered counts no more, and others give nothing back", () => {
  const codes = createLiveCodes(() => 0);
  for (let count = 0; count < 20; count++) {
    codes.hold("ann", here, lifeMs).started(`code-${count}`);
    codes.answered(`CODE-${count}`);
  }
  codes.hold("ann", here, lifeMs).started("first");
  codes.hold("ann", here, lifeMs).started("second");
  for (const otpId of ["code-0", "of another gateway"]) codes.answered(otpId);
  assert.throws(() => codes.hold("ann", here, lifeMs), exhausted);
  codes.answered("first");
  codes.answered("first");
  codes.hold("ann", here, lifeMs).started("third");
  assert.throws(() => codes.hold("ann", here, lifeMs), exhausted);
});

test("one address starts five codes of a contact in an hour that nobody answers", () => {
  let nowMs = 0;
  const codes = createLiveCodes(() => nowMs);
  for (; nowMs < 5 * 400_000; nowMs += 400_000) codes.hold("ann", here, lifeMs);
  assert.throws(() => codes.hold("ann", here, lifeMs), { ...exhausted, message: /try again in an hour$/ });
  codes.hold("ann", "203.0.113.8", lifeMs);
  codes.hold("bob", here, lifeMs);
  nowMs = 3_600_000;
  codes.hold("ann", here, lifeMs);
  assert.throws(() => codes.hold("ann", here, lifeMs), exhausted);
});

test("the contact that was asked for longest ago is forgotten first when there are too many", () => {
  const codes = createLiveCodes(() => 0);
  const fill = (contact: string) => {
    for (const each of ["one", "two"]) codes.hold(contact, here, lifeMs).started(`${contact} ${each}`);
  };
  fill("ann");
  for (let count = 0; count < 49_999; count++) fill(`contact ${count}`);
  assert.throws(() => codes.hold("ann", here, lifeMs), exhausted);
  fill("bob");
  codes.answered("ann two");
  fill("ann");
  assert.throws(() => codes.hold("bob", here, lifeMs), exhausted);
});
