import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { EvmText } from "../values/values.ts";
import { evmAccount, type KeyView, keyNamespaces } from "./used_key.ts";

const secret = fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const [compressed, uncompressed] = [true, false].map((short) => toHex(secp256k1.getPublicKey(secret, short)));

const account = {
  kind: "walletAccount",
  wallet: { walletId: "w", walletName: "Treasury", imported: true, exported: false },
  address,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  path: "m/44h/60'/0'/0/7",
  curve: "CURVE_SECP256K1",
  publicKey: compressed ?? "",
} as const satisfies KeyView;

const privateKey: KeyView = {
  kind: "privateKey",
  privateKeyId: "p",
  privateKeyName: "Hot",
  tags: ["t1", "t2"],
  imported: false,
  exported: true,
  curve: "CURVE_SECP256K1",
  publicKey: uncompressed ?? "",
};

/** The account's facts, those that are computed among them. */
function accountOf(change: Partial<Extract<KeyView, { kind: "walletAccount" }>> = {}) {
  const shown = keyNamespaces({ ...account, ...change });
  assert.ok("wallet_account" in shown);
  const { address, path_indexes, path_hardened } = shown.wallet_account;
  return { address, path_indexes, path_hardened };
}

test("an account shows its wallet and itself, a private key only itself", () => {
  const shown = keyNamespaces(account);
  assert.deepEqual(Object.keys(shown), ["wallet", "wallet_account"]);
  assert.deepEqual("wallet" in shown && shown.wallet, { id: "w", label: "Treasury", imported: true, exported: false });
  assert.deepEqual(accountOf(), {
    address: new EvmText(address),
    path_indexes: [44n, 60n, 0n, 0n, 7n],
    path_hardened: [true, true, true, false, false],
  });
  assert.deepEqual(keyNamespaces(privateKey), {
    private_key: { id: "p", label: "Hot", tags: ["t1", "t2"], imported: false, exported: true },
  });
});

test("addresses outside the EVM are exact", () => {
  assert.equal(accountOf({ address: "TXYZ", addressFormat: "ADDRESS_FORMAT_TRON" }).address, "TXYZ");
});

test("on Ed25519 a path shows as it is derived: all hardened, however it was written", () => {
  const shown = (path: string) => accountOf({ path, curve: "CURVE_ED25519" });
  assert.deepEqual(shown("m/44'/501'/0'/0").path_hardened, [true, true, true, true]);
  assert.deepEqual(shown("m/44'/501'/0'/0"), shown("m/44'/501'/0'/0'"));
});

test("a path that cannot be read has no value", () => {
  for (const change of [{ path: "44/60" }, { curve: "CURVE_25519" }]) {
    assert.deepEqual([accountOf(change).path_indexes, accountOf(change).path_hardened], [undefined, undefined]);
  }
});

test("the EVM account of a key is the same by address, by compressed and by uncompressed key", () => {
  const format = { addressFormat: "ADDRESS_FORMAT_COMPRESSED", address: "02ab" };
  for (const key of [account, { ...account, ...format }, privateKey]) {
    assert.deepEqual(evmAccount(key)(), new EvmText(address));
  }
  assert.equal(evmAccount({ ...privateKey, curve: "CURVE_ED25519" })(), undefined);
  assert.equal(evmAccount({ ...privateKey, publicKey: "no key" })(), undefined);
});
