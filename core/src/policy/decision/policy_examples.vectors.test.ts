/** Every published policy we know of: what it is made of parses and type-checks, but for the ones that are named here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors, type Vectors } from "../../../test/vectors.ts";
import { Fault } from "../../fault.ts";
import { checkExpression, typeOf } from "../language/check.ts";
import type { PolicyType } from "../vocabulary/types.ts";
import { type ExpressionKind, expressionKinds } from "../vocabulary/vocabulary.ts";

type Row = { id: string; kind: string; effect: string | null } & { [K in ExpressionKind]?: string | null };

/** Refused as they are printed. The first four have placeholders outside of quotes. */
const refused: Readonly<Record<string, string>> = {
  "doc-btc-01 condition": "expected a value but found `<` at position 39",
  "doc-btc-03 condition": "expected a value but found `<` at position 36",
  "doc-sol-13 condition": "expected a value but found `<` at position 135",
  "doc-da-04 consensus": "expected a value but found `<` at position 31",
  "doc-da-04 condition": "expected a value but found `<` at position 13",
  // Its placeholders for numbers are in quotes: accepted once they are filled, see below.
  "doc-eth-18 condition":
    "`==` cannot compare `eth.eip_7702_authorization.chain_id`, an int, with `'<CHAIN_ID>'`, a string, since that is not a whole number at position 92",
  // Printed by its source as an example of what is refused.
  "new-path-04 condition":
    "unknown field `path` of wallet_account; did you mean `path_indexes` or `path_hardened`? at position 15",
};

/** The pieces that are not true or false. */
const pieces: Readonly<Record<string, PolicyType["kind"]>> = {
  "doc-grammar-05": "int",
  "doc-grammar-06": "string",
  "doc-grammar-07": "list",
  "doc-grammar-08": "string",
  "doc-grammar-12": "int",
  "doc-grammar-13": "list",
};

function rowsOf(vectors: Vectors): Row[] {
  const text = new TextDecoder().decode(vectors.bytes("../reference/policy-examples.jsonl"));
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function expressionOf(row: Row, id: string): string {
  assert.equal(row.id, id);
  return row.condition ?? assert.fail(id);
}

test("every published policy parses and type-checks, except exactly those named here, each for its reason", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const rows = rowsOf(vectors);
  assert.equal(rows.length, 241);
  const messages: Record<string, string> = {};
  const kinds: Record<string, string> = {};
  let [accepted, empty] = [0, 0];
  for (const row of rows) {
    for (const kind of expressionKinds) {
      const source = row[kind];
      // Absent and empty are `true`, before any of this.
      if (source === null || source === undefined || source === "") {
        empty++;
        continue;
      }
      try {
        if (row.kind === "expression" || row.kind === "fragment") {
          const type = typeOf(kind, source);
          if (type.kind !== "bool") kinds[row.id] = type.kind;
        } else assert.equal(checkExpression(kind, source).source, source);
        accepted++;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        assert.ok(error.message.startsWith(`invalid policy ${kind}: `));
        messages[`${row.id} ${kind}`] = error.message.slice(`invalid policy ${kind}: `.length);
      }
    }
  }
  assert.deepEqual(messages, refused);
  assert.deepEqual(kinds, pieces);
  assert.deepEqual([accepted, empty], [368, 348]);
  assert.equal(new Set(Object.keys(refused).map((key) => key.split(" ")[0])).size, 6);
});

test("quoted numbers beside integers are accepted: two rows as they stand, the third once its placeholders are numbers", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const byId = new Map(rowsOf(vectors).map((row) => [row.id, row]));
  const conditionOf = (id: string): string => expressionOf(byId.get(id) ?? assert.fail(id), id);
  for (const id of ["doc-agent-02", "doc-scm-01"]) {
    assert.match(conditionOf(id), /eth\.tx\.chain_id == '\d+'/);
    checkExpression("condition", conditionOf(id));
  }
  const filled = conditionOf("doc-eth-18").replace("<CHAIN_ID>", "8453").replace("<NONCE>", "1");
  assert.deepEqual(checkExpression("condition", filled).needs, ["eth.eip_7702_authorization"]);
});

test("rows whose placeholders stand outside of quotes are accepted once filled", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  let filled = 0;
  for (const row of rowsOf(vectors)) {
    for (const kind of expressionKinds) {
      if (!refused[`${row.id} ${kind}`]?.startsWith("expected a value")) continue;
      const source = (row[kind] ?? "").replaceAll(/<(VOUT_OF_UTXO|AMOUNT)>/g, "1").replaceAll(/<(\w+)>/g, "'$1'");
      checkExpression(kind, source);
      filled++;
    }
  }
  assert.equal(filled, 5);
});

test("deny policies on another kind's parameters say what they need, so that they leave everything else alone", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const needing = rowsOf(vectors)
    .filter(({ effect, condition }) => effect === "EFFECT_DENY" && (condition ?? "") !== "")
    .map(({ id, condition }) => ({ id, needs: checkExpression("condition", condition ?? "").needs }))
    .filter(({ needs }) => needs.some((need) => need.startsWith("activity.params.")));
  assert.equal(needing.length, 10);
});
