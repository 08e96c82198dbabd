import assert from "node:assert/strict";
import { test } from "node:test";
import { assertCost } from "../../../test/cost.ts";
import { Fault } from "../../fault.ts";
import type { ExpressionKind } from "../vocabulary/vocabulary.ts";
import type { Expression } from "./ast.ts";
import { checkExpression, typeOf } from "./check.ts";
import { childrenOf } from "./children.ts";
import { parseExpression } from "./parser.ts";
import { TypeChecker } from "./type_checker.ts";

function refusal(source: string, kind: ExpressionKind = "condition"): string {
  try {
    checkExpression(kind, source);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "invalid_argument") throw error;
    const start = `invalid policy ${kind}: `;
    assert.ok(error.message.startsWith(start), error.message);
    return error.message.slice(start.length);
  }
  assert.fail(`not refused: ${source}`);
}

function accept(kind: ExpressionKind, ...sources: readonly string[]): void {
  for (const source of sources) assert.equal(checkExpression(kind, source).root.start, source.search(/[^(]/));
}

const needsOf = (source: string): readonly string[] => checkExpression("condition", source).needs;

test("each expression of a policy sees its own names", () => {
  accept("consensus", "approvers.any(u, u.id == 'a' && u.tags.contains('b') && u.email != u.alias)");
  accept("consensus", "credentials.all(c, c.user_id != '' && c.credential_id == '' && c.public_key == c.type)");
  accept("condition", "activity.kind == 'SIGN_TRANSACTION' && wallets.all(w, w.imported || !w.exported)");
  accept("time", "time.now >= Timestamp('2026-01-01T00:00:00Z') && !CronSpan('* * * * *', '1h', 'UTC')");
  assert.equal(
    refusal("approvers.count() >= 2"),
    "`approvers` belongs in `consensus`, not in `condition` at position 0",
  );
  assert.equal(
    refusal("eth.tx.to == ''", "consensus"),
    "`eth` belongs in `condition`, not in `consensus` at position 0",
  );
  assert.equal(refusal("wallet.exported", "time"), "`wallet` belongs in `condition`, not in `time` at position 0");
  assert.equal(
    refusal("true && CronSpan('* * * * *', '1h', 'UTC')"),
    "`CronSpan('* * * * *', '1h', 'UTC')` belongs in `time`, not in `condition` at position 8",
  );
});

test("an unknown name is refused with those that may have been meant", () => {
  const refusals: [source: string, message: string][] = [
    ["eth.tx.too == 'a'", "unknown field `too` of eth.tx; did you mean `to`? at position 7"],
    ["eth.tx.chainId == 1", "unknown field `chainId` of eth.tx; did you mean `chain_id`? at position 7"],
    ["eht.tx.to == 'a'", "unknown name `eht` (text is written in quotes); did you mean `eth`?"],
    ["eth.ty.to == 'a'", "unknown field `ty` of eth; did you mean `tx`? at position 4"],
    [
      "solana.tx.transfers.any(t, t.amout > 1)",
      "unknown field `amout` of a transfer; did you mean `amount`? at position 29",
    ],
    ["wallet.name == 'a'", "unknown field `name` of wallet; there are id, imported, exported, label at position 7"],
    [
      "activity.params.userId == 'a'",
      "unknown field `userId` of activity.params; did you mean `user_id` or `user_ids`?",
    ],
    ["activity.params.private_key == 'a'", "unknown field `private_key` of activity.params at position 16"],
    [
      "wallet_account.path == 'm'",
      "unknown field `path` of wallet_account; did you mean `path_indexes` or `path_hardened`?",
    ],
    ["USDC == eth.tx.to", "unknown name `USDC` (text is written in quotes); there are activity, wallet, wallets,"],
  ];
  for (const [source, message] of refusals) assert.ok(refusal(source).startsWith(message), refusal(source));
  assert.equal(refusals.length, 10);
});

test("names of JavaScript's own are as unknown as any other", () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"]) {
    assert.match(refusal(`eth.tx.${name} == 'a'`), /^unknown field/);
    assert.match(refusal(`activity.params.${name} == 'a'`), /^unknown field/);
    assert.match(refusal(`${name} == 'a'`), /^unknown name/);
    assert.match(refusal(`${name}.to == 'a'`), /^unknown name/);
  }
});

test("what an expression asks of an activity is listed once each, whatever the field", () => {
  assert.deepEqual(needsOf("true"), []);
  assert.deepEqual(needsOf("activity.type == 'a' && activity.resource == activity.action"), []);
  assert.deepEqual(needsOf("eth.tx.to == 'a' && eth.tx.value > 1 && eth.eip_712.domain.name == 'b'"), [
    "eth.tx",
    "eth.eip_712",
  ]);
  assert.deepEqual(needsOf("activity.params.transfer.leaves.count() == 1 && activity.params.user_ids.contains('a')"), [
    "activity.params.transfer",
    "activity.params.user_ids",
  ]);
  assert.deepEqual(
    needsOf(
      "wallet.exported || wallets.count == 0 || wallet_account.address == '' || private_key.imported || secret.static_properties['a'] == 'b'",
    ),
    ["wallet", "wallets", "wallet_account", "private_key", "secret"],
  );
  assert.deepEqual(
    needsOf("solana.tx.transfers.count == 0 && bitcoin.tx.fee < 1 && tron.tx.fee_limit < 1 && tempo.tx.nonce == 1"),
    ["solana.tx", "bitcoin.tx", "tron.tx", "tempo.tx"],
  );
  assert.deepEqual(needsOf("eth.eip_7702_authorization.nonce == 1"), ["eth.eip_7702_authorization"]);
  assert.deepEqual(checkExpression("consensus", "approvers.count() > 1").needs, []);
  assert.deepEqual(checkExpression("time", "time.now == time.now").needs, []);
});

test("nothing hides what an expression asks for: namespaces are no values, and bound names ask for nothing", () => {
  assert.equal(
    refusal("eth == 1"),
    "`eth` alone is not a value: expected a field of it such as tx, eip_712, eip_7702_authorization at position 0",
  );
  assert.match(refusal("[eth].any(e, e.tx.to == 'a')"), /^`eth` alone is not a value/);
  assert.match(refusal("[activity.params].any(p, p.type == 'a')"), /^`activity.params` alone is not a value/);
  assert.match(refusal("[activity].all(a, a.params.type == 'a')"), /^`activity` alone is not a value/);
  assert.match(refusal("activity.params"), /^`activity.params` alone is not a value/);
  assert.deepEqual(needsOf("[eth.tx].any(t, t.to == 'a')"), ["eth.tx"]);
  assert.deepEqual(needsOf("['a'].any(wallet, wallet == 'a')"), []);
  assert.deepEqual(needsOf("['a'].any(wallet, wallet == 'a') && wallet.exported"), ["wallet"]);
});

test("a bound name hides the keyword and the binder around it, within its condition only", () => {
  accept("condition", "['a'].any(eth, eth == 'a') && eth.tx.to == 'a'");
  accept("condition", "[[1], [2]].any(x, x.any(x, x == 1))");
  assert.equal(refusal("['a'].any(eth, eth.tx.to == 'a')"), "a string has no field `tx` at position 19");
  assert.match(refusal("[1].any(x, x == 1) && x == 1"), /^unknown name `x`/);
  assert.match(refusal("[x].any(x, x == 1)"), /^unknown name `x`/);
});

test("gasPrice is read as gas_price, of a transaction only", () => {
  const names: string[] = [];
  const walk = (node: Expression): void => {
    if (node.kind === "field") names.push(node.name);
    childrenOf(node).forEach(walk);
  };
  const { root, source } = checkExpression("condition", "eth.tx.gasPrice <= 5 && [eth.tx].all(t, t.gasPrice > 1)");
  walk(root);
  assert.deepEqual(names, ["gas_price", "tx", "tx", "gas_price"]);
  assert.match(source, /gasPrice/);
  assert.match(refusal("tempo.tx.gasPrice == 1"), /^unknown field `gasPrice` of tempo.tx/);
});

test("the whole and every side of a logical operator is true or false", () => {
  assert.equal(refusal("eth.tx.value"), "the expression must be a bool, but `eth.tx.value` is an int at position 0");
  assert.equal(refusal("true && 'a'"), "each side of `&&` must be a bool, but `'a'` is a string at position 8");
  assert.equal(refusal("1 || true"), "each side of `||` must be a bool, but `1` is an int at position 0");
  assert.equal(refusal("!wallet.id"), "what `!` negates must be a bool, but `wallet.id` is a string at position 1");
  assert.equal(
    refusal("approvers.any(u, u.id)", "consensus"),
    "the condition of `any` must be a bool, but `u.id` is a string at position 17",
  );
  assert.equal(refusal("eth.tx"), "the expression must be a bool, but `eth.tx` is a struct at position 0");
  assert.equal(refusal("[true]"), "the expression must be a bool, but `[true]` is a list at position 0");
  accept("condition", "wallet.exported == true", "!(true == false)", "wallet.imported != wallet.exported");
});

test("equality is between two of one type: bool, int, string or timestamp", () => {
  accept("condition", "1 == 1", "'a' != 'b'", "true == false", "eth.tx.from == eth.tx.to");
  accept("time", "time.now == Timestamp('2026-01-01T00:00:00Z')", "time.now in [Timestamp('2026-01-01T00:00:00Z')]");
  assert.equal(refusal("1 == true"), "`==` cannot compare `1`, an int, with `true`, a bool at position 5");
  assert.match(
    refusal("wallet.exported == 'true'"),
    /^`==` cannot compare `wallet.exported`, a bool, with `'true'`, a string at/,
  );
  assert.match(refusal("[1] == [1]"), /^`==` cannot compare `\[1\]`, a list, with/);
  assert.match(refusal("eth.tx == eth.tx"), /^`==` cannot compare `eth.tx`, a struct, with/);
  assert.match(refusal("eth.eip_712.message == eth.eip_712.message"), /a map, with/);
  assert.match(refusal("time.now == 5", "time"), /a timestamp, with `5`, an int at/);
  assert.match(
    refusal("time.now > '2026-01-01T00:00:00Z'", "time"),
    /a timestamp, with `'2026-01-01T00:00:00Z'`, a string at/,
  );
});

test("order is between numbers or moments, never strings or bools", () => {
  accept("condition", "eth.tx.value < 5", "5 >= eth.tx.value", "eth.tx.value > eth.tx.gas");
  accept("time", "time.now < Timestamp('2026-01-01T00:00:00Z')");
  assert.equal(
    refusal("eth.tx.to < 'b'"),
    "`<` cannot compare `eth.tx.to`, a string, with `'b'`, a string at position 12",
  );
  assert.match(refusal("'1' < '2'"), /^`<` cannot compare/);
  assert.match(refusal("true > false"), /^`>` cannot compare/);
});

test("numbers may stand in quotes beside integers where they are written out, and only if they are numbers", () => {
  accept("condition", "eth.tx.chain_id == '8453'", "'8453' != eth.tx.chain_id", "eth.tx.value <= '0100'");
  accept("condition", "eth.tx.chain_id in ['1', '10']", "['1', '10'].contains(eth.tx.chain_id)", "1 == '1'");
  accept("condition", "'60' in wallet_account.path_indexes", "wallet_account.path_indexes.contains('60')");
  assert.equal(
    refusal("eth.tx.chain_id == 'mainnet'"),
    "`==` cannot compare `eth.tx.chain_id`, an int, with `'mainnet'`, a string, since that is not a whole number at position 19",
  );
  for (const text of ["", " 1", "1 ", "0x1", "1.0", "1e3", "+1", "--1", "٣", `${2n ** 256n}`, "1".repeat(79)]) {
    assert.match(refusal(`eth.tx.value == '${text}'`), /since that is not a whole number at position 16$/);
  }
  assert.match(
    refusal("eth.tx.value in ['1', 'x']"),
    /with `'x'`, a string, since that is not a whole number at position 22$/,
  );
  assert.match(refusal("eth.tx.value == eth.tx.data"), /an int, with `eth.tx.data`, a string at position 16$/);
  assert.match(
    refusal("eth.tx.value in activity.params.user_ids"),
    /an int, with `activity.params.user_ids`, a list of string at/,
  );
  assert.equal(
    refusal("bitcoin.tx.version == 2"),
    "`==` cannot compare `bitcoin.tx.version`, a string, with `2`, an int: write `'2'` at position 22",
  );
});

test("membership is of one type with the list's items", () => {
  accept(
    "condition",
    "1 in [1, 2]",
    "eth.tx.to in ['a']",
    "[].contains(1)",
    "true in [true]",
    "'a' in private_key.tags",
  );
  assert.match(
    refusal("eth.tx.to in [1]"),
    /^`in` cannot compare `eth.tx.to`, a string, with `1`, an int: write `'1'` at position 14$/,
  );
  assert.match(refusal("'a' in eth.tx.to"), /^`in` needs a list, but `eth.tx.to` is a string at position 7$/);
  assert.match(
    refusal("eth.eip_712.message.contains('a')"),
    /^`contains` needs a list, but `eth.eip_712.message` is a map/,
  );
  assert.match(refusal("[1] in []"), /^`in` cannot compare `\[1\]`, a list, with/);
  assert.match(refusal("[1] in [[1]]"), /^`in` cannot compare/);
  assert.match(
    refusal("wallet in wallets"),
    /^`in` cannot compare `wallet`, a struct, with `wallets`, a list of struct/,
  );
});

test("a list that is written out holds one type", () => {
  accept("condition", "[[1], []].all(l, l.all(x, x == 1))");
  assert.equal(
    refusal("[1, 'a'].count() == 2"),
    "a list holds one type, but `'a'` is a string after an int at position 4",
  );
  assert.match(refusal("[eth.eip_712.message['a'], 1, 'a'].count() == 2"), /^a list holds one type/);
  assert.match(refusal("[eth.tx, wallet].count() == 2"), /a struct after a struct/);
});

test("indexes, slices and methods take what they are made for", () => {
  accept("condition", "eth.tx.data[0..10] == 'a'", "eth.tx.data[0] == 'a'", "wallet_account.path_indexes[1] == 60");
  accept("condition", "private_key.tags[0..2].contains('a')", "solana.tx.transfers.filter(t, t.amount > 5).count == 0");
  const refusals: [source: string, message: string][] = [
    ["private_key.tags['a'] == 'a'", "the index of a list must be an int, but `'a'` is a string at position 17"],
    ["private_key.tags['0'] == 'a'", "the index of a list must be an int, but `'0'` is a string at position 17"],
    ["eth.tx.contract_call_args[0] == 'a'", "the index of a map must be a string, but `0` is an int at position 26"],
    [
      "eth.eip_712.message['a'][true] == 1",
      "the index of a value that only the request knows must be an int or a string",
    ],
    ["eth.tx['to'] == 'a'", "`eth.tx` is a struct and has no `[…]` at position 0"],
    ["5[0] == 1", "`5` is an int and has no `[…]` at position 0"],
    ["eth.tx.data['a'..2] == 'a'", "a bound of a slice must be an int, but `'a'` is a string at position 12"],
    [
      "eth.tx.contract_call_args[0..1] == 'a'",
      "only lists and strings have slices, but `eth.tx.contract_call_args` is a map",
    ],
    ["eth.tx.to.count() == 1", "`count` needs a list, but `eth.tx.to` is a string at position 0"],
    ["eth.tx.all(x, true)", "`all` needs a list, but `eth.tx` is a struct at position 0"],
    [
      "eth.tx.contract_call_args.count == 1",
      "`count` needs a list, but `eth.tx.contract_call_args` is a map at position 0",
    ],
    ["wallets.id == 'a'", "a list has no field `id` at position 8"],
    ["eth.tx.contract_call_args.to == 'a'", "a map has no field `to`: write `['to']` at position 26"],
  ];
  for (const [source, message] of refusals) assert.ok(refusal(source).startsWith(message), refusal(source));
  assert.equal(refusals.length, 13);
});

test("what a map holds may be anything that is not a struct, until the request is there", () => {
  accept(
    "condition",
    "eth.tx.contract_call_args['flag']",
    "!eth.tx.contract_call_args['flag']",
    "eth.tx.contract_call_args['a'] == eth.tx.contract_call_args['b']",
    "eth.tx.contract_call_args['a'] < '100'",
    "eth.tx.contract_call_args['delta'] > '-5'",
    "eth.tx.contract_call_args['calls'].all(call, call[0] == 'a' && call[1] == 0)",
    "eth.eip_712.message['a'][0..2][0]['b'].count() in [1, 2]",
    "eth.tx.to in eth.tx.contract_call_args['list']",
    "eth.tx.data[0..eth.tx.contract_call_args['end']] == 'a'",
    "[eth.tx.contract_call_args['a'], 1].contains(1)",
  );
  assert.match(
    refusal("eth.tx.contract_call_args['calls'].all(c, c.to == 'a')"),
    /^a value that only the request knows has no field `to`: write `\['to'\]`/,
  );
  assert.match(refusal("eth.tx.contract_call_args['a'] < 'b'"), /^`<` cannot compare/);
  assert.match(refusal("eth.tx.contract_call_args['a'] == [1]"), /^`==` cannot compare/);
});

test("typeOf gives the type of a piece", () => {
  assert.equal(typeOf("condition", "[1,2,3][0]").kind, "int");
  assert.deepEqual(typeOf("condition", "['a'][0..1]"), { kind: "list", of: { kind: "string" } });
  assert.equal(typeOf("time", "time.now").kind, "timestamp");
  assert.equal(typeOf("condition", "eth.tx.contract_call_args['a']").kind, "any");
  assert.throws(() => typeOf("time", "time.then"), {
    message: "invalid policy time: unknown field `then` of time; there are now at position 5",
  });
});

test("lists within lists cost what they are long", () => {
  const flat = `true in [${Array(300).fill("true").join(",")}]`;
  let source = flat;
  for (let level = 0; level < 13; level++) source = `true in [${source}]`;
  const check = (text: string) => () => void checkExpression("condition", text);
  // With every level checked twice it would be thousands of times.
  assertCost(check(source), check(flat), 100);
});

test("checking leaves the tree as it was parsed, and gives another in which fields have their own names", () => {
  const source = "eth.tx.gas == 1 && [eth.tx.gasPrice].contains(eth.tx.gasPrice)";
  const tree = parseExpression(source);
  const checker = new TypeChecker("condition", source);
  assert.equal(checker.typeOf(tree).kind, "bool");
  assert.deepEqual(tree, parseExpression(source));
  const expected = JSON.stringify(tree, bigintsAsText).replaceAll('"gasPrice"', '"gas_price"');
  assert.equal(JSON.stringify(checker.withoutAliases(tree), bigintsAsText), expected);
  assert.deepEqual([...checker.needs], ["eth.tx"]);
});

function bigintsAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
