/** What policies see of the keys that activities use and of what they sign: every fact, asked through the decision point. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { toBase58 } from "@keystead/core/encoding/base58.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import type { AddressFormat } from "@keystead/core/keys/address_formats.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { junkAccount, junkPrivateKey } from "../../test/known_keys.ts";
import { person } from "../../test/members.ts";
import { decide, type Situation } from "../../test/policy_question.ts";
import { bitcoinPsbt, ethereumVectors, tempoVector, tronTransfer } from "../../test/transactions.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { activities } from "../generated/activities.ts";

const walletId = randomUUID();
const [hot, cold, gone] = [randomUUID(), randomUUID(), randomUUID()] as const;
const tagId = randomUUID();
const evmPath = "m/44'/60'/0'/0/7";
const account = (addressFormat: AddressFormat, path = evmPath, curve = "CURVE_SECP256K1" as const) =>
  junkAccount("acme", { curve, path, addressFormat, walletId });
const evm = account("ADDRESS_FORMAT_ETHEREUM");
const tron = account("ADDRESS_FORMAT_TRON");
const bitcoin = account("ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR");
const solana = junkAccount("acme", {
  curve: "CURVE_ED25519",
  path: "m/44'/501'/0'/0'",
  addressFormat: "ADDRESS_FORMAT_SOLANA",
  walletId,
});
const key = junkPrivateKey("acme", {
  curve: "CURVE_SECP256K1",
  path: "m/1",
  addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
});
const { privateKeyId } = key.record;
const keyAddress = key.record.addresses[0]?.address ?? "";

const wallet = (id: string, walletName: string, imported: boolean) => ({
  record: {
    ...({ kind: "wallet", organizationId: "acme", walletId: id, walletName, imported, createdAtMs: 0 } as const),
    language: "MNEMONIC_LANGUAGE_ENGLISH" as const,
  },
  secret: new Uint8Array(16),
});

const records = [
  ...[evm, tron, bitcoin, solana, key],
  ...[
    wallet(walletId, "Born", false),
    wallet(hot, "Hot", false),
    wallet(cold, "Cold", true),
    wallet(gone, "Gone", false),
  ],
];
const updatedAtMs = 1;
/** The wallet of the accounts was renamed and exported, the key exported, and one wallet deleted. */
const keys = testKeyAccess({
  records,
  facts: [
    { id: walletId, kind: "wallet", name: "Renamed", exported: true, updatedAtMs },
    { id: privateKeyId, kind: "privateKey", exported: true, updatedAtMs },
    { id: gone, kind: "wallet", deleted: true, updatedAtMs },
  ],
});

type Path = keyof typeof activities;

function asked(path: Path, params: object, condition: string): Situation {
  return {
    users: [person("root"), person("dave")],
    rootQuorum: { threshold: 1, userIds: ["root"] },
    by: "dave",
    activity: activities[path] as AnyActivity,
    params,
    policies: { only: { condition } },
    keys,
    tags: { [privateKeyId]: [tagId] },
  };
}

/** What each activity is, and conditions on it that hold and that do not. */
type Row = { path: Path; params: object; type?: string; holds: readonly string[]; fails: readonly string[] };

const raw = { payload: "aa", encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };
const targetPublicKey = `04${"ab".repeat(64)}`;
const recipient = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const solanaMessage = `0100${"01"}02${solana.record.publicKey}${"00".repeat(32)}${"09".repeat(32)}01010200000c02000000${"0500000000000000"}`;
const transaction = (signWith: string, chain: string, unsignedTransaction: string) => ({
  ...{ signWith, type: `TRANSACTION_TYPE_${chain}`, unsignedTransaction },
});

const ofWallet = [
  `wallet.id == '${walletId}' && wallet.label == 'Renamed'`,
  "wallet.exported == true && wallet.imported == false",
];
const ofKey = [
  `private_key.id == '${privateKeyId}' && private_key.tags.contains('${tagId}')`,
  "private_key.imported && private_key.exported",
  `private_key.label == '${privateKeyId}'`,
];

const rows: Readonly<Record<string, Row>> = {
  "a payload signed by an account": {
    path: "sign_raw_payload",
    params: { signWith: evm.record.address.toLowerCase(), ...raw },
    holds: [
      ...ofWallet,
      `wallet_account.address == '${evm.record.address}' && wallet_account.path_indexes[4] == 7`,
      "wallet_account.path_hardened[2] && !wallet_account.path_hardened[3]",
      "activity.resource == 'PRIVATE_KEY' && activity.action == 'SIGN' && activity.kind == 'SIGN_RAW_PAYLOAD'",
      "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'",
      "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL' && activity.params.hash_function == 'HASH_FUNCTION_SHA256'",
    ],
    fails: ["wallet.label == 'Born'", "private_key.exported", "eth.tx.chain_id == 1", "wallets.count() == 0"],
  },
  "a payload signed by a private key": {
    path: "sign_raw_payload",
    params: { signWith: privateKeyId.toUpperCase(), ...raw },
    holds: ofKey,
    fails: ["wallet.exported", `wallet_account.address == '${keyAddress}'`, "private_key.tags.count() == 0"],
  },
  "a payload signed by a private key's address, in the first version": {
    path: "sign_raw_payload",
    type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD",
    params: { privateKeyId, ...raw },
    holds: [...ofKey, "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD' && activity.kind == 'SIGN_RAW_PAYLOAD'"],
    fails: ["wallet.exported"],
  },
  "several payloads": {
    path: "sign_raw_payloads",
    params: { ...raw, signWith: keyAddress, payloads: ["aa", "bb"] },
    holds: ofKey,
    fails: ["wallet.exported"],
  },
  "a key that is not there": {
    path: "sign_raw_payload",
    params: { signWith: randomUUID(), ...raw },
    holds: ["activity.action == 'SIGN'"],
    fails: ["wallet.id != ''", "private_key.id != ''", "wallet_account.address != ''"],
  },
  "an authorization": {
    path: "sign_raw_payload",
    params: {
      signWith: evm.record.address,
      payload: JSON.stringify({ chainId: 1, address: recipient, nonce: 3 }),
      encoding: "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
      hashFunction: "HASH_FUNCTION_NO_OP",
    },
    holds: [`eth.eip_7702_authorization.address == '${recipient}' && eth.eip_7702_authorization.nonce == 3`],
    fails: ["eth.eip_7702_authorization.chain_id == 2", "eth.tx.nonce == 3"],
  },
  "an Ethereum transaction": {
    path: "sign_transaction",
    params: transaction(evm.record.address, "ETHEREUM", ethereumVectors.eip1559.unsigned),
    holds: [
      ...ofWallet,
      `eth.tx.to == '${recipient}' && eth.tx.chain_id == 11155111 && eth.tx.data == '0xdeadbeef'`,
      `eth.tx.from == '${evm.record.address}' && eth.tx.function_signature == '0xdeadbeef' && eth.tx.function_name == ''`,
      "activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'",
    ],
    fails: [
      "eth.tx.value > 0",
      "solana.tx.instructions.count() == 0",
      "tempo.tx.nonce == 0",
      "eth.eip_712.primary_type == ''",
    ],
  },
  "a Tempo transaction": {
    path: "sign_transaction",
    params: transaction(evm.record.address, "TEMPO", tempoVector.unsigned),
    holds: [`tempo.tx.calls.all(call, call.to == '${recipient}') && tempo.tx.chain_id == 1`],
    fails: ["tempo.tx.calls.count() == 2", "eth.tx.chain_id == 1"],
  },
  "a Tron transaction": {
    path: "sign_transaction",
    params: transaction(tron.record.address, "TRON", tronTransfer),
    holds: ["tron.tx.contract[0].type == 'TransferContract' && tron.tx.contract[0].amount == 1000000"],
    fails: ["tron.tx.contract.any(each, each.amount > 1000000)", "eth.tx.value == 0"],
  },
  "a Bitcoin transaction": {
    path: "sign_transaction",
    params: transaction(bitcoin.record.address, "BITCOIN", bitcoinPsbt()),
    holds: ["bitcoin.tx.outputs.all(output, output.value == 590000) && bitcoin.tx.inputs.count() == 6"],
    fails: ["bitcoin.tx.outputs.any(output, output.value > 590000)", "eth.tx.value == 0"],
  },
  "a Solana transaction": {
    path: "sign_transaction",
    params: transaction(solana.record.address, "SOLANA", `01${"00".repeat(64)}${solanaMessage}`),
    holds: [
      `solana.tx.account_keys[0] == '${toBase58(fromHex(solana.record.publicKey))}'`,
      `solana.tx.transfers[0].amount == 5 && solana.tx.program_keys.all(key, key == '${"1".repeat(32)}')`,
    ],
    fails: ["solana.tx.transfers.any(each, each.amount > 5)", "eth.tx.value == 0"],
  },
  "the export of a wallet": {
    path: "export_wallet",
    params: { walletId, targetPublicKey },
    holds: [...ofWallet, `activity.params.target_public_key == '${targetPublicKey}' && activity.action == 'EXPORT'`],
    fails: ["wallet_account.address != ''", "private_key.exported", "wallet.imported"],
  },
  "the export of an account": {
    path: "export_wallet_account",
    params: { address: evm.record.address, targetPublicKey },
    holds: [...ofWallet, `wallet_account.address == '${evm.record.address.toUpperCase().replace("0X", "0x")}'`],
    fails: ["private_key.exported", `activity.params.target_public_key == ''`],
  },
  "the export of a private key": {
    path: "export_private_key",
    params: { privateKeyId, targetPublicKey },
    holds: [...ofKey, `activity.params.target_public_key == '${targetPublicKey}'`],
    fails: ["wallet.exported"],
  },
  "the deletion of wallets": {
    path: "delete_wallets",
    params: { walletIds: [hot, cold] },
    holds: [
      "wallets.count() == 2 && wallets.any(each, each.imported)",
      `wallets.all(each, each.id in ['${hot}', '${cold}']) && wallets[0].label == 'Hot'`,
    ],
    fails: ["wallets.all(each, each.imported)", "wallet.imported", "wallets.any(each, each.exported)"],
  },
  "the deletion of wallets of which one is gone": {
    path: "delete_wallets",
    params: { walletIds: [gone, cold] },
    holds: ["wallets.all(each, each.imported)"],
    fails: [`wallets.any(each, each.id == '${gone}')`],
  },
  "the deletion of users": {
    path: "delete_users",
    params: { userIds: ["a", "b"] },
    holds: ["activity.params.user_ids.contains('b') && activity.params.user_ids.count() == 2"],
    fails: ["activity.params.user_ids.contains('c')", "activity.params.encoding == ''"],
  },
};

for (const [name, { path, params, type, holds, fails }] of Object.entries(rows)) {
  test(`policies see of ${name} what there is, and nothing else`, () => {
    const ask = (condition: string) => decide({ ...asked(path, params, condition), ...(type && { type }) });
    for (const condition of holds) assert.equal(ask(condition), "POLICY", condition);
    for (const condition of fails) assert.equal(ask(condition), "refuse", condition);
  });
}

const typedData = (name: string) =>
  JSON.stringify({
    types: { EIP712Domain: [{ name: "name", type: "string" }], Order: [{ name: "amount", type: "uint256" }] },
    primaryType: "Order",
    domain: { name },
    message: { amount: name.length },
  });

test("of several typed payloads all must be allowed, and one that is denied denies all", () => {
  const sign = (names: readonly string[], policies: Situation["policies"]) => {
    const payloads = names.map(typedData);
    const choices = { encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };
    const situation = asked("sign_raw_payloads", { signWith: evm.record.address, payloads, ...choices }, "");
    return decide({ ...situation, ...(policies && { policies }) });
  };
  const shop = { shop: { condition: "eth.eip_712.domain.name == 'Shop'" } };
  const each = { ...shop, other: { condition: "eth.eip_712.domain.name == 'Other'" } };
  const small = { ...each, large: { deny: true as const, condition: "eth.eip_712.message['amount'] > 4" } };
  assert.equal(sign(["Shop"], shop), "POLICY");
  assert.equal(sign(["Shop", "Shop", "Shop"], shop), "POLICY");
  for (const names of [
    ["Other", "Shop"],
    ["Shop", "Other"],
    ["Shop", "Other", "Shop"],
  ]) {
    assert.equal(sign(names, shop), "refuse", names.join());
    assert.equal(sign(names, each), "POLICY", "each is allowed by a policy of its own");
    assert.equal(sign(names, small), "refuse", "one is denied");
  }
});

test("what cannot be read fails, whoever was to be asked, and is nobody's to approve", () => {
  const bad: readonly (readonly [Path, object])[] = [
    ["sign_transaction", transaction(evm.record.address, "ETHEREUM", "c0")],
    ["sign_transaction", transaction(evm.record.address, "ETHEREUM", `${ethereumVectors.eip1559.unsigned}00`)],
    ["sign_transaction", transaction(solana.record.address, "SOLANA", toHex(new Uint8Array(10)))],
    ["sign_raw_payload", { signWith: evm.record.address, ...raw, encoding: "PAYLOAD_ENCODING_EIP712", payload: "{}" }],
    [
      "sign_raw_payloads",
      { signWith: evm.record.address, ...raw, encoding: "PAYLOAD_ENCODING_EIP712", payloads: [typedData("Shop"), "{"] },
    ],
  ];
  for (const [path, params] of bad) assert.equal(decide(asked(path, params, "")), "fail", JSON.stringify(params));
});
