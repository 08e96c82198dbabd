import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { createContract, ERC20 } from "micro-eth-signer/abi.js";
import { parseEthereum, serialiseEthereum } from "../../chains/ethereum.ts";
import { serialiseSolana } from "../../chains/solana.ts";
import { toBase58 } from "../../encoding/base58.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import { type ParsedInterface, parseInterface } from "../interfaces/contract_interface.ts";
import { EvmText, type Struct } from "../values/values.ts";
import { activityKinds } from "../vocabulary/activity_kinds.ts";
import { type ActivityFacts, interfacesOf, type KeyView, viewsOf } from "./condition_views.ts";

const privateKey = fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const token = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
const recipient = "0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7";
const transfer = createContract(ERC20).transfer.encodeInput({ to: recipient, value: 5n });

const key: KeyView = {
  kind: "walletAccount",
  wallet: { walletId: "w", walletName: "Treasury", imported: false, exported: false },
  address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  path: "m/44'/60'/0'/0/0",
  curve: "CURVE_SECP256K1",
  publicKey: toHex(secp256k1.getPublicKey(privateKey, true)),
};

/** viem's legacy transaction to 0x7099…, and a token transfer of type 2. */
const payment = "ec078504a817c8008252089470997970c51812dc3a010c7d01b50e0d17dc79c8880de0b6b3a764000080018080";
const tokenTransfer = toHex(
  serialiseEthereum({
    ...parseEthereum(fromHex(payment)),
    type: "TYPE_2",
    gasPrice: 0n,
    maxFeePerGas: 900n,
    maxPriorityFeePerGas: 7n,
    to: fromHex(token.slice(2)),
    value: 0n,
    data: transfer,
  }),
);

const erc20 = parseInterface("ETHEREUM", JSON.stringify(ERC20));

function activityOf(type: string, params: Record<string, unknown>, more: Partial<ActivityFacts> = {}): ActivityFacts {
  return { type: `ACTIVITY_TYPE_${type}`, params, key, findInterface: () => undefined, ...more };
}

function only<T>(items: readonly T[]): T {
  assert.equal(items.length, 1);
  return items[0] as T;
}

const signing = (unsignedTransaction: string, type = "ETHEREUM") =>
  activityOf("SIGN_TRANSACTION_V2", { signWith: key.address, unsignedTransaction, type: `TRANSACTION_TYPE_${type}` });

test("an activity shows what it is, its parameters, its key and its transaction", () => {
  const view = only(viewsOf(signing(payment)));
  assert.deepEqual(view.activity, {
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    kind: "SIGN_TRANSACTION",
    resource: "PRIVATE_KEY",
    action: "SIGN",
  });
  assert.deepEqual(view.params, { type: "TRANSACTION_TYPE_ETHEREUM" });
  assert.deepEqual(view.paramNames, new Set(["type"]));
  assert.equal(view.wallet?.label, "Treasury");
  assert.deepEqual(view.wallet_account?.address, new EvmText(key.address ?? ""));
  assert.equal(view.private_key, undefined);
  assert.equal(view.eth?.tx?.value, 10n ** 18n);
  assert.equal(view.eth?.eip_712, undefined);
  assert.equal(view.solana, undefined);
});

test("a transaction may come with 0x before it, and shows the same", () => {
  const shown = (text: string) => {
    const { to, value, nonce } = only(viewsOf(signing(text))).eth?.tx ?? {};
    return { to, value, nonce };
  };
  assert.deepEqual(shown(`0x${payment}`), shown(payment));
});

test("the interface of the contract that is called is looked up once, under its address in lower case", () => {
  const asked: string[] = [];
  const findInterface = (type: string, address: string): ParsedInterface => {
    asked.push(`${type} ${address}`);
    return erc20;
  };
  const view = only(viewsOf({ ...signing(tokenTransfer), findInterface }));
  assert.equal(view.eth?.tx?.function_name, "transfer");
  assert.deepEqual(asked, [`ETHEREUM ${token}`]);
  assert.deepEqual(interfacesOf(signing(tokenTransfer)), [{ type: "ETHEREUM", address: token }]);
  assert.deepEqual(interfacesOf(signing(payment)), []);
});

test("an interface of the other type is none", () => {
  const solana: ParsedInterface = parseInterface("SOLANA", '{"instructions":[],"types":[]}');
  const view = only(viewsOf({ ...signing(tokenTransfer), findInterface: () => solana }));
  assert.equal(view.eth?.tx?.function_name, "");
});

test("a transaction that cannot be read is refused with its parser's reason, and so is a type that is not read", () => {
  for (const text of ["", "c0", `${payment}00`, "zz", "0x"]) {
    assert.throws(() => viewsOf(signing(text)), { code: "invalid_argument", errorCode: "INVALID_TRANSACTION" }, text);
  }
  for (const type of ["DOGE", "", "ETHEREUM\u0000"]) {
    assert.throws(() => viewsOf(signing(payment, type)), { errorCode: "UNSUPPORTED_TRANSACTION_TYPE" }, type);
  }
  assert.throws(() => viewsOf(activityOf("SIGN_TRANSACTION", { type: "TRANSACTION_TYPE_ETHEREUM" })), {
    code: "invalid_argument",
  });
});

const typedData = (name: string) =>
  JSON.stringify({
    types: { Mail: [{ name: "to", type: "string" }] },
    primaryType: "Mail",
    domain: { name },
    message: { to: "x" },
  });

const raw = (encoding: string, payloads: readonly string[]) =>
  activityOf("SIGN_RAW_PAYLOADS", {
    encoding: `PAYLOAD_ENCODING_${encoding}`,
    hashFunction: "HASH_FUNCTION_NO_OP",
    payloads,
  });

test("of several payloads each has its own view", () => {
  const views = viewsOf(raw("EIP712", [typedData("A"), typedData("B")]));
  assert.deepEqual(
    views.map(({ eth }) => (eth?.eip_712?.domain as Struct | undefined)?.name),
    ["A", "B"],
  );
  assert.deepEqual(views[0]?.params, { encoding: "PAYLOAD_ENCODING_EIP712", hash_function: "HASH_FUNCTION_NO_OP" });
  const authorization = JSON.stringify({ address: token, chainId: 1, nonce: 2 });
  const [view] = viewsOf(raw("EIP7702_AUTHORIZATION", [authorization]));
  assert.equal(view?.eth?.eip_7702_authorization?.nonce, 2n);
});

test("one payload that cannot be read refuses them all", () => {
  assert.throws(() => viewsOf(raw("EIP712", [typedData("A"), "{}"])), { code: "invalid_argument" });
  assert.throws(() => viewsOf(raw("EIP713", ["00"])), { message: "invalid payload encoding" });
});

test("payloads without parts show only how they are signed, however many they are", () => {
  const view = only(viewsOf(raw("HEXADECIMAL", ["00", "11", "22"])));
  assert.equal(view.eth, undefined);
  assert.equal(view.params.encoding, "PAYLOAD_ENCODING_HEXADECIMAL");
});

test("there is always a view: nothing to sign is refused, not allowed by default", () => {
  for (const encoding of ["EIP712", "HEXADECIMAL"])
    assert.throws(() => viewsOf(raw(encoding, [])), { code: "invalid_argument" });
  const sending = { from: key.address, caip2: "eip155:1", calls: [] };
  assert.throws(() => viewsOf(activityOf("ETH_SEND_TRANSACTION_V2", sending)), { code: "invalid_argument" });
  assert.throws(() => viewsOf(activityOf("EXPORT_SECRETS", { secrets: [] })), { code: "invalid_argument" });
});

test("of calls to send each has its own view; whoever is sponsored pays no fee", () => {
  const calls = [
    { to: token, data: `0x${toHex(transfer)}` },
    { to: recipient, value: "7" },
  ];
  const sending = {
    from: key.address,
    caip2: "eip155:8453",
    calls,
    maxFeePerGas: "900",
    gasLimit: "21000",
    nonce: "4",
  };
  const [first, second] = viewsOf(activityOf("ETH_SEND_TRANSACTION_V2", sending, { findInterface: () => erc20 }));
  const { function_name, chain_id, nonce, gas_price, max_priority_fee_per_gas, type } = first?.eth?.tx ?? {};
  assert.deepEqual([function_name, chain_id, nonce, gas_price], ["transfer", 8453n, 4n, 900n]);
  assert.deepEqual([max_priority_fee_per_gas, type], [undefined, undefined]);
  assert.deepEqual(second?.eth?.tx?.data, new EvmText("0x"));
  assert.equal(second?.eth?.tx?.value, 7n);
  const paid = only(viewsOf(activityOf("ETH_SEND_TRANSACTION", { ...sending, sponsor: true, calls: calls.slice(1) })));
  assert.deepEqual([paid.eth?.tx?.gas_price, paid.eth?.tx?.gas], [0n, 0n]);
  const alone = only(viewsOf(activityOf("ETH_SEND_TRANSACTION", { caip2: "eip155:1", to: recipient, value: "0x10" })));
  assert.deepEqual([alone.eth?.tx?.value, alone.eth?.tx?.type], [16n, "TYPE_2"]);
  for (const call of [{ to: "0x12" }, { to: recipient, value: "-1" }, { to: recipient, data: "a9" }, null, {}]) {
    assert.throws(() => viewsOf(activityOf("ETH_SEND_TRANSACTION", { ...sending, calls: [call] })), {
      code: "invalid_argument",
    });
  }
});

test("a message to send shows like one to sign, but not the blockhash that is replaced", () => {
  const program = new Uint8Array(32).fill(8);
  const unsignedTransaction = toHex(
    serialiseSolana({
      signatures: [new Uint8Array(64)],
      message: {
        version: "legacy",
        requiredSignatures: 1,
        readonlySigned: 0,
        readonlyUnsigned: 1,
        accountKeys: [new Uint8Array(32).fill(1), program],
        recentBlockhash: new Uint8Array(32).fill(9),
        instructions: [{ programIndex: 1, accounts: Uint8Array.of(0), data: fromHex("07") }],
        addressTableLookups: [],
      },
    }),
  );
  const viewOf = (params: object) =>
    only(viewsOf(activityOf("SOL_SEND_TRANSACTION_V2", { unsignedTransaction, ...params })));
  assert.deepEqual(viewOf({}).solana?.tx.program_keys, [toBase58(program)]);
  assert.equal(viewOf({}).solana?.tx.recent_blockhash, toBase58(new Uint8Array(32).fill(9)));
  for (const more of [{ sponsor: true }, { recentBlockhash: "x" }])
    assert.equal(viewOf(more).solana?.tx.recent_blockhash, undefined);
  assert.deepEqual(interfacesOf({ type: "ACTIVITY_TYPE_SOL_SEND_TRANSACTION", params: { unsignedTransaction } }), [
    { type: "SOLANA", address: toBase58(program) },
  ]);
});

test("each secret that is exported has its own view", () => {
  const secrets = [{ kind: "card" }, { kind: "key" }];
  const views = viewsOf(activityOf("EXPORT_SECRETS", {}, { secrets }));
  assert.deepEqual(
    views.map(({ secret }) => secret?.static_properties),
    [new Map([["kind", "card"]]), new Map([["kind", "key"]])],
  );
});

test("a wallet that is exported whole has no account, and wallets to delete are a list", () => {
  const wallet = { walletId: "w", walletName: "Treasury", imported: false, exported: true };
  const { key: _, ...bare } = activityOf("EXPORT_WALLET", { walletId: "w", targetPublicKey: "04ab" });
  const exported = only(viewsOf({ ...bare, wallet }));
  assert.deepEqual(exported.wallet, { id: "w", label: "Treasury", imported: false, exported: true });
  assert.equal(exported.wallet_account, undefined);
  assert.equal(exported.params.target_public_key, "04ab");
  const deleted = only(viewsOf({ ...bare, type: "ACTIVITY_TYPE_DELETE_WALLETS", wallets: [wallet, wallet] }));
  assert.equal(deleted.wallets?.length, 2);
  assert.equal(deleted.wallet, undefined);
});

test("what belongs to the root quorum has no view, so that no policy can allow it", () => {
  for (const type of ["UPDATE_ROOT_QUORUM", "SET_ORGANIZATION_FEATURE", "APPROVE_ACTIVITY", "constructor"]) {
    assert.throws(() => viewsOf(activityOf(type, {})), { code: "invalid_argument", message: /^no policy decides on/ });
  }
});

test("every other kind has one view with its parameters, whatever was sent", () => {
  const special = [
    "SIGN_TRANSACTION",
    "SIGN_RAW_PAYLOAD",
    "SIGN_RAW_PAYLOADS",
    "ETH_SEND_TRANSACTION",
    "SOL_SEND_TRANSACTION",
    "EXPORT_SECRETS",
  ];
  const kinds = Object.keys(activityKinds).filter((kind) => !special.includes(kind));
  assert.ok(kinds.length > 90);
  for (const kind of kinds) {
    const view = only(viewsOf(activityOf(`${kind}_V9`, {})));
    assert.equal(view.activity.kind, kind);
    assert.deepEqual([...view.paramNames], Object.keys(view.params));
  }
});

test("whoever looks interfaces up is told of all of them before the first, and may refuse", () => {
  const programs = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
  const unsignedTransaction = toHex(
    serialiseSolana({
      signatures: [new Uint8Array(64)],
      message: {
        version: "legacy",
        ...{ requiredSignatures: 1, readonlySigned: 0, readonlyUnsigned: 2 },
        accountKeys: [new Uint8Array(32).fill(9), ...programs],
        recentBlockhash: new Uint8Array(32),
        instructions: [1, 2, 1].map((programIndex) => ({
          ...{ programIndex, accounts: new Uint8Array(), data: new Uint8Array() },
        })),
        addressTableLookups: [],
      },
    }),
  );
  const calls: string[] = [];
  const activity = activityOf(
    "SIGN_TRANSACTION_V2",
    { type: "TRANSACTION_TYPE_SOLANA", unsignedTransaction },
    {
      expectInterfaces: (contracts) => calls.push(`expect ${contracts.map(({ address }) => address)}`),
      findInterface: (_, address) => {
        calls.push(`find ${address}`);
        return undefined;
      },
    },
  );
  viewsOf(activity);
  const [first = "", second = ""] = programs.map((each) => toBase58(each));
  assert.deepEqual(calls, [`expect ${first},${second}`, `find ${first}`, `find ${second}`]);
  const refuse = () => {
    throw new Fault("invalid_argument", "too long");
  };
  assert.throws(() => viewsOf({ ...activity, expectInterfaces: refuse }), { message: "too long" });
});

test("payloads that are too long together are refused before they are read", () => {
  const payloads = Array(100).fill("x".repeat(10_000));
  const params = { payloads, encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };
  assert.throws(() => viewsOf(activityOf("SIGN_RAW_PAYLOADS", params)), { message: /^the payloads are too long/ });
});
