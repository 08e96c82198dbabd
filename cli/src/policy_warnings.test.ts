import assert from "node:assert/strict";
import { test } from "node:test";
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { activityKinds, kindOf } from "@keystead/core/policy/vocabulary/activity_kinds.ts";
import { namespaces, vocabularies } from "@keystead/core/policy/vocabulary/vocabulary.ts";
import { findPolicyRows } from "../../core/test/policy_rows.ts";
import { findVectors } from "../../core/test/vectors.ts";
import { policyWarnings } from "./policy_warnings.ts";
import { shapes } from "./warnings/shapes.ts";
import { versionedKinds } from "./warnings/texts.ts";

const someone = "approvers.any(u, u.id == '11111111-1111-4111-8111-111111111111')";

function allow(condition: string, consensus = someone): WrittenPolicy {
  return { policyName: "may", effect: "EFFECT_ALLOW", consensus, condition };
}

function deny(condition: string): WrittenPolicy {
  return { policyName: "never", effect: "EFFECT_DENY", condition };
}

/** Without file and name of the policy. */
function warningsOf(...policies: WrittenPolicy[]): string[] {
  return policyWarnings("f", policies).map(([head = ""]) => head.replace(/^f: "\w+": /, ""));
}

const address = "0x116DeD802678971505A47647627CD4De592ba3C5";
const uuid = "22222222-2222-4222-8222-222222222222";

test("a kind, resource, action or type that no activity has is named, with what may have been meant", () => {
  const wrong: [string, RegExp][] = [
    [
      "activity.kind == 'EXPORT_WALETT'",
      /^condition 1:18: warning: no activity has the kind `EXPORT_WALETT`; did you mean `EXPORT_WALLET`/,
    ],
    [
      "'sign_transaction' == activity.kind",
      /^condition 1:1: .*kind `sign_transaction`; did you mean `SIGN_TRANSACTION`/,
    ],
    [
      "activity.kind == 'EXPORT_WАLLET'",
      /\(it has the character U\+0410, which is not one of A to Z\); did you mean `EXPORT_WALLET`/,
    ],
    ["activity.kind in ['EXPORT_WALLET', 'EXPORT']", /^condition 1:36: .*kind `EXPORT`/],
    ["['EXPORT'].contains(activity.kind)", /^condition 1:2: .*kind `EXPORT`/],
    ["activity.resource != 'wallet'", /resource `wallet`; did you mean `WALLET`/],
    ["activity.action == 'SIGNING'", /action `SIGNING`; did you mean `SIGN`/],
    [
      "activity.type == 'ACTIVITY_TYPE_EXPORT_WALETT'",
      /type `ACTIVITY_TYPE_EXPORT_WALETT`; did you mean `ACTIVITY_TYPE_EXPORT_WALLET`/,
    ],
    ["activity.type == 'EXPORT_WALLET'", /type `EXPORT_WALLET`/],
  ];
  for (const [condition, warning] of wrong) {
    const [first = "", ...more] = warningsOf(allow(condition));
    assert.match(first, warning, condition);
    assert.deepEqual(more, []);
  }
  assert.deepEqual(warningsOf(allow("activity.kind == 'EXPORT_WALLET' && activity.resource == 'WALLET'")), []);
});

test("one type of a kind with several versions is named, with the kind", () => {
  for (const type of ["SIGN_RAW_PAYLOAD_V2", "SIGN_RAW_PAYLOAD"]) {
    assert.deepEqual(warningsOf(deny(`activity.type == 'ACTIVITY_TYPE_${type}'`)), [
      "condition 1:18: warning: `SIGN_RAW_PAYLOAD` has several versions and this is one of them; activity.kind == 'SIGN_RAW_PAYLOAD' is about all",
    ]);
  }
  assert.deepEqual(warningsOf(deny("activity.type == 'ACTIVITY_TYPE_EXPORT_WALLET'")), []);
});

test("the kinds with several versions are those that were published under several types", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type Swagger = { definitions: { ActivityType: { enum: string[] } } };
  const types = vectors.json<Swagger>("../reference/public_api.swagger.json").definitions.ActivityType.enum;
  const ofKind = Map.groupBy(types, kindOf);
  const several = [...ofKind].filter(([kind, all]) => all.length > 1 && activityKinds[kind] !== undefined);
  assert.deepEqual(several.map(([kind]) => kind).toSorted(), [...versionedKinds].toSorted());
  assert.equal(versionedKinds.size, 21);
});

test("an EVM address that cannot be one is named, wherever an address must stand", () => {
  const bare = address.slice(2);
  const wrong: [string, RegExp][] = [
    [`eth.tx.to == '${bare}'`, /begins with 0x/],
    [`eth.tx.to in ['${address}', '${address}0']`, /40 digits after 0x and this has 41/],
    [`eth.tx.from == '${address.slice(0, -1)}'`, /this has 39/],
    [`eth.tx.to == '${address.slice(0, -1)}O'`, /hexadecimal digits only/],
    [`tempo.tx.calls.all(c, c.to == '${bare}')`, /begins with 0x/],
    [`eth.eip_712.domain.verifying_contract == 'vitalik.eth'`, /begins with 0x/],
    [`eth.tx.contract_call_args['to'] == '${bare}'`, /begins with 0x/],
    ["eth.tx.function_signature == 'a9059cbb'", /0x and 8 digits/],
  ];
  for (const [condition, warning] of wrong) {
    const [first = "", ...more] = warningsOf(allow(condition));
    assert.match(first, warning, condition);
    assert.deepEqual(more, []);
  }
  assert.deepEqual(warningsOf(allow(`eth.tx.to in ['${address}', '${address.toLowerCase()}', '']`)), []);
});

test("ids of users, tags, wallets and keys that are no UUIDs are named", () => {
  const wrong: [WrittenPolicy, RegExp][] = [
    [
      allow("true", "approvers.any(u, u.tags.contains('ops'))"),
      /^consensus 1:34: warning: a tag here is a UUID in lower case and not a name, so `ops` is never equal/,
    ],
    [allow("true", "approvers.any(u, 'ops' in u.tags)"), /a tag here/],
    [allow("true", "approvers.any(u, u.tags.any(t, t == 'ops'))"), /a tag here/],
    [allow("true", "approvers.filter(u, u.id == 'Bob').count() >= 1"), /the id of a user/],
    [allow("true", "approvers.filter(a, a.id != '')[0].id == 'Bob'"), /the id of a user/],
    [allow("true", `credentials.any(c, c.user_id == '${uuid.replace("222-", "22-")}')`), /the id of a user/],
    [allow("activity.params.user_id == 'Bob'"), /the id of a user/],
    [allow("wallet.id == 'ABCDEFAB-1111-4111-8111-111111111111'"), /the id of a wallet/],
    [allow("private_key.tags.contains('hot')"), /a tag here/],
  ];
  for (const [policy, warning] of wrong) assert.match(warningsOf(policy).at(-1) ?? "", warning);
  assert.deepEqual(warningsOf(allow(`wallet.id == '${uuid}'`, `approvers.any(u, u.tags.contains('${uuid}'))`)), []);
});

test("a policy that allows everybody or everything without saying so is named", () => {
  const both = [
    "warning: it allows every user every activity: neither its condition nor its consensus restricts anything",
  ];
  assert.deepEqual(warningsOf({ policyName: "may", effect: "EFFECT_ALLOW" }), both);
  assert.deepEqual(warningsOf(allow("true", "true")), both);
  assert.deepEqual(warningsOf(allow("1 == 1", "approvers.count() >= 1")), both);
  assert.match(
    warningsOf(allow("activity.kind == 'CREATE_WALLET'", "")).join(),
    /^warning: without a consensus .*every user/,
  );
  assert.match(warningsOf(allow("")).join(), /^warning: without a condition .*everything/);
  assert.deepEqual(warningsOf(allow("activity.kind == 'CREATE_WALLET'", "true"), allow("true")), []);
});

test("an expression that is always true is named, however it is written", () => {
  const kind = "activity.kind == 'CREATE_WALLET'";
  const always = [
    `true || ${kind}`,
    `${kind} || true`,
    `${kind} || !(${kind})`,
    `!(false && ${kind})`,
    `${kind} || 1 == 1`,
    `(true || ${kind}) && true`,
  ];
  for (const condition of always) {
    assert.deepEqual(
      warningsOf(allow(condition)),
      [
        "warning: its condition is always true, so it allows everything, new policies too; write `true` if that is meant",
      ],
      condition,
    );
    assert.match(warningsOf(allow(condition, "true")).join(), /^warning: it allows every user every activity: /);
  }
  const anybody = ["approvers.any(u, true)", "approvers.all(u, u.id == 'a' || true)", `true || ${someone}`];
  for (const consensus of anybody) {
    assert.deepEqual(
      warningsOf(allow(kind, consensus)).slice(-1),
      ["warning: its consensus is always true, so it allows this to every user, alone; write `true` if that is meant"],
      consensus,
    );
  }
});

test("an expression that can be false, can fail or is about some activities is not called always true", () => {
  const kind = "activity.kind == 'CREATE_WALLET'";
  const sometimes = [
    `true && ${kind}`,
    `${kind} || !(activity.kind == 'CREATE_USERS')`,
    `true || wallet.id == '${uuid}'`,
    `true || ['a'][1] == 'a' || ${kind}`,
  ];
  for (const condition of sometimes) assert.doesNotMatch(warningsOf(allow(condition)).join(), /always true/, condition);
  for (const consensus of ["approvers.count() >= 2", "approvers.any(u, false)", `${someone} && true`])
    assert.deepEqual(warningsOf(allow(kind, consensus)), [], consensus);
});

test("a denial of everything is named, unless it says that it is meant", () => {
  const warning =
    "warning: it denies every activity that the root quorum does not approve; write the condition `true` if that is meant";
  assert.deepEqual(warningsOf({ policyName: "never", effect: "EFFECT_DENY" }), [warning]);
  assert.deepEqual(warningsOf(deny("1 == 1")), [warning]);
  assert.deepEqual(warningsOf(deny("true")), []);
  assert.deepEqual(warningsOf(deny("activity.kind == 'CREATE_WALLET'")), []);
  const atNight = { policyName: "never", effect: "EFFECT_DENY", time: "time.now > Timestamp('2030-01-01T00:00:00Z')" };
  assert.deepEqual(warningsOf(atNight as WrittenPolicy), []);
});

test("a denial by function name or arguments is named while something allows calls whatever they are", () => {
  const byName = deny("eth.tx.function_name == 'approve'");
  const byArgument = deny(`eth.tx.contract_call_args['spender'] == '${address}'`);
  const loose = allow(`activity.action == 'SIGN' && eth.tx.to == '${address}'`);
  assert.match(
    warningsOf(byName, loose).join(),
    /^condition 1:1: warning: a call of a contract without an interface, or of a function that its interface lacks, has the function_name '' and evades this; deny by eth\.tx\.function_signature, or restrict "may" to/,
  );
  assert.match(
    warningsOf(byArgument, loose).join(),
    /^condition 1:1: .*denies whatever it is, plain payments too; restrict "may"/,
  );
  assert.match(warningsOf(byName).join(), /restrict what is allowed/);

  const restricted = allow(`eth.tx.to == '${address}' && eth.tx.function_name == 'transfer'`);
  const elsewhere = allow("activity.kind == 'CREATE_WALLET'");
  const otherChain = allow("solana.tx.program_keys.count() == 1");
  assert.deepEqual(warningsOf(byName, byArgument, restricted, elsewhere, otherChain), []);
  assert.equal(warningsOf(byName, restricted, loose).length, 1);
  assert.equal(
    warningsOf(byName, restricted, allow("activity.kind in ['CREATE_WALLET', 'SIGN_TRANSACTION']")).length,
    1,
  );
  assert.deepEqual(warningsOf(deny("eth.tx.function_signature == '0x095ea7b3'"), loose), []);
});

test("a condition that is true of no activity is named, with what excludes what", () => {
  const never: [string, RegExp][] = [
    [
      `wallet.id == '${uuid}' || private_key.id == '${uuid}'`,
      /^condition 1:56: warning: no activity has both `wallet` and `private_key`, so this never denies anything; write a policy for each$/,
    ],
    ["eth.tx.value > 5 || solana.tx.program_keys.count() > 3", /both `eth\.tx` and `solana\.tx`/],
    ["eth.tx.value > 5 || tempo.tx.calls.count() > 1", /both `eth\.tx` and `tempo\.tx`/],
    ["wallets.any(w, w.imported) || wallet.imported", /both `wallets` and `wallet`/],
    [
      "activity.params.type == 'TRANSACTION_TYPE_TRON' || activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'",
      /both `activity\.params\.type` and `activity\.params\.encoding`/,
    ],
    ["eth.tx.value > 5 && activity.params.hash_function == 'HASH_FUNCTION_NO_OP'", /both `eth\.tx` and/],
    [
      "activity.kind == 'SIGN_TRANSACTION' && activity.params.encoding == 'PAYLOAD_ENCODING_EIP712'",
      /^condition 1:40: .*no activity that the rest is true of has `activity\.params\.encoding`, so this never denies/,
    ],
    ["activity.kind in ['EXPORT_WALLET', 'CREATE_WALLET'] && eth.tx.value > 5", /has `eth\.tx`/],
    ["!(activity.action != 'EXPORT') && eth.tx.value > 5", /has `eth\.tx`/],
    [
      "activity.type == 'ACTIVITY_TYPE_EXPORT_WALLET' && wallet_account.path_indexes.count() > 1",
      /has `wallet_account`/,
    ],
    ["activity.params.type == 'TRANSACTION_TYPE_SOLANA' && eth.tx.value > 5", /never denies/],
    ["activity.kind == 'EXPORT_WALLET' && activity.action == 'SIGN'", /no activity is all of this at once/],
  ];
  for (const [condition, warning] of never) {
    const [first = "", ...more] = warningsOf(deny(condition));
    assert.match(first, warning, condition);
    assert.deepEqual(more, [], condition);
    assert.match(warningsOf(allow(condition)).join(), /never allows anything/, condition);
  }
});

test("a side of an || that is true of nothing the policy is about is named", () => {
  assert.deepEqual(warningsOf(deny("eth.tx.value > 5 || activity.action == 'EXPORT'")), [
    "condition 1:21: warning: this side is never true, because the policy is only about activities with `eth.tx`; write a policy of its own for it",
  ]);
  const whole = "wallet.imported && (activity.kind == 'CREATE_USERS' || activity.action == 'SIGN')";
  assert.match(warningsOf(deny(whole)).join(), /^condition 1:21: .*activities with `wallet`/);
});

test("a condition that some activity can meet is not called impossible", () => {
  for (const condition of [
    "wallet.imported || wallet_account.path_indexes.count() > 1",
    "activity.kind == 'SIGN_TRANSACTION' && wallet.imported && eth.tx.value > 5 && activity.params.type != ''",
    "activity.action == 'SIGN' && private_key.imported && eth.eip_712.primary_type == 'Permit'",
    "activity.kind != 'SIGN_TRANSACTION' && eth.tx.value > 5",
    "activity.resource == 'WALLET' && wallet.exported",
    "activity.kind == 'SIGN_TRANSACTION' || activity.kind == 'SIGN_RAW_PAYLOAD'",
    "activity.kind == 'DELETE_WALLETS' && wallets.all(w, w.imported)",
    "activity.kind in ['SIGN_RAW_PAYLOAD', 'SIGN_RAW_PAYLOADS'] && activity.params.encoding != 'PAYLOAD_ENCODING_EIP712'",
    "activity.kind == activity.resource && wallet.imported",
    "false",
  ])
    assert.deepEqual(warningsOf(deny(condition)), [], condition);
});

test("every name that a condition can need is had by some activity", () => {
  const { activity, ...rest } = vocabularies.condition;
  assert.ok(activity?.kind === "struct" && activity.fields.params?.kind === "struct");
  const params = Object.keys(activity.fields.params.fields).map((name) => `activity.params.${name}`);
  const others = Object.entries(rest).flatMap(([name, type]) =>
    Object.hasOwn(namespaces, name) && type.kind === "struct"
      ? Object.keys(type.fields).map((field) => `${name}.${field}`)
      : [name],
  );
  const had = new Set(shapes.flatMap(({ has }) => [...has]));
  assert.deepEqual([...params, ...others].toSorted(), [...had].toSorted());
});

test("transfers of Solana that do not bind the number of instructions are named", () => {
  const to = (list: string) => `solana.tx.${list}.all(t, t.to == 'x')`;
  for (const list of ["transfers", "spl_transfers"]) {
    const [first = "", ...more] = warningsOf(allow(`solana.tx.${list}.count() == 1 && ${to(list)}`));
    assert.match(first, /^condition 1:1: .*compare solana\.tx\.instructions\.count\(\) with the number of/);
    assert.deepEqual(more, []);
    assert.equal(warningsOf(allow(`solana.tx.instructions[0].program_key == 'p' && ${to(list)}`)).length, 1);
    assert.deepEqual(warningsOf(allow(`solana.tx.instructions.count() == 1 && ${to(list)}`)), []);
  }
});

test("denials by an address that a key has several of are named", () => {
  assert.match(
    warningsOf(deny("bitcoin.tx.outputs.any(o, o.address == 'bc1q')")).join(),
    /^condition 1:27: warning: .*deny by script_pubkey/,
  );
  assert.match(
    warningsOf(deny(`wallet_account.address == '${address}'`)).join(),
    /deny by wallet\.id and wallet_account\.path_indexes/,
  );
  assert.deepEqual(warningsOf(deny("bitcoin.tx.outputs.any(o, o.script_pubkey == '0014')")), []);
  assert.deepEqual(warningsOf(allow("bitcoin.tx.outputs.all(o, o.address == 'bc1q')")), []);
});

test("every published policy that can be evaluated can be looked at", (t) => {
  const rows = findPolicyRows(t);
  if (rows === undefined) return;
  const counts = { policies: 0, warnings: 0 };
  for (const { kind, effect, consensus, condition, time } of rows.values()) {
    if (kind !== "policy" || !isEffect(effect)) continue;
    const policy: WrittenPolicy = {
      policyName: "row",
      effect,
      consensus: consensus ?? "",
      condition: condition ?? "",
      time: time ?? "",
    };
    try {
      counts.warnings += policyWarnings("f", [policy]).length;
      counts.policies++;
    } catch (error) {
      assert.match(String(error), /invalid policy/);
    }
  }
  assert.ok(counts.policies > 100, String(counts.policies));
  t.diagnostic(`${counts.policies} policies, ${counts.warnings} warnings`);
});

function isEffect(effect: string | null | undefined): effect is WrittenPolicy["effect"] {
  return effect === "EFFECT_ALLOW" || effect === "EFFECT_DENY";
}
