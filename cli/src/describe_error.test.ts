import assert from "node:assert/strict";
import { test } from "node:test";
import { KeysteadError, queries } from "@keystead/sdk";
import { linesBelow } from "./describe_error.ts";

function hintFor(message: string): string {
  return linesBelow(new KeysteadError({ status: 400, code: 3, errorCode: "", message, details: [] })).join("\n");
}

test("refusals that leave a newcomer stuck get one line that says what to do", () => {
  const expected: [string, RegExp][] = [
    ["no organization found with the given ID", /another server: set KEYSTEAD_DATA .* or check --organization$/],
    ["malformed organization ID provided", /is a UUID: check --organization/],
    [
      "could not find public key in organization or its parent organization: organizationId=o publicKey=p",
      /no user of that organization has this key: name its organization with --organization ID/,
    ],
    [
      'organization mismatch: request is targeting organization ("a"), but voters are in organization ("b")',
      /belongs to another organization: use --api-key-file FILE/,
    ],
    ["wallet label must be unique: `hot` exists", /choose another name; npx keystead request list_wallets shows/],
  ];
  for (const [message, hint] of expected) assert.match(hintFor(message), hint, message);
  assert.equal(hintFor("something else"), "");
});

test("the queries that hints name exist", () => {
  for (const kind of ["wallet", "private key", "user tag", "private key tag", "policy"]) {
    const [, query = ""] = /request (\w+)/.exec(hintFor(`${kind} label must be unique: \`x\` exists`)) ?? [];
    assert.ok(Object.hasOwn(queries, query), `${kind}: ${query}`);
  }
});
