/** The root key replaced under a whole database, and cut short wherever it can be. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { samples } from "../../../../core/test/samples.ts";
import { createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { encryptTo } from "../../../test/imports.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { freshKey, linkTo, signerWith } from "../../../test/rotation_rig.ts";
import type { Request } from "../../frames/messages.ts";
import { secretContext } from "../../signer/decision/key_records.ts";
import { keyringContext, openKeyring, type RootKeys, versionOfCurrent } from "../../signer/secrets/keyring.ts";
import { createSealer, versionOf } from "../../signer/secrets/seal.ts";
import { recordIdOf } from "../../state/records.ts";
import { findDeployment } from "../../store/across.ts";
import { recordOf } from "../../store/key_rows.ts";
import { rotateKeys } from "./rotate_keys.ts";

/** Wallets with nine accounts each. */
const wallets = samples.rotatedWallets;
const kills = samples.rotationKills;

const accounts = Array.from({ length: 9 }, (_, n) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/${n}'/0/0`,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
}));

async function furnish(rig: GatewayRig): Promise<void> {
  for (let n = 0; n < wallets; n++) {
    await rig.submit(rig.root, "create_wallet", { walletName: `Wallet ${n}`, accounts });
  }
  const key = { curve: "CURVE_ED25519", addressFormats: [], privateKeyTags: [] };
  const privateKeys = [1, 2, 3].map((n) => ({ ...key, privateKeyName: `Key ${n}` }));
  await rig.submit(rig.root, "create_private_keys", { privateKeys });
}

async function boxes({ store }: GatewayRig): Promise<{ record: Uint8Array; sealed: Uint8Array }[]> {
  const tables = ["wallets", "wallet_accounts", "private_keys"] as const;
  const rows = await Promise.all(
    tables.map((table) => store.db.selectFrom(table).select(["record", "sealed"]).execute()),
  );
  return rows.flat();
}

/** Every secret, opened with these keys as a signer would. */
async function openAll(rig: GatewayRig, keys: RootKeys): Promise<string[]> {
  const keyring = await findDeployment(rig.store);
  assert.ok(keyring);
  const sealer = createSealer(keys.current, versionOfCurrent(keys, keyring), keys.retiring);
  sealer.unseal(keyringContext, keyring);
  const opened = (await boxes(rig)).map(({ record, sealed }) => {
    const known = recordOf({ record });
    return `${recordIdOf(known)} ${Buffer.from(sealer.unseal(secretContext(known), sealed)).toString("hex")}`;
  });
  return opened.sort();
}

function onBothDatabases(name: string, run: (rig: GatewayRig, t: TestContext) => Promise<void>): void {
  for (const dialect of dialects) {
    test(`${dialect}: ${name}`, async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig !== undefined) await run(rig, t);
    });
  }
}

onBothDatabases(
  `${kills} kills on the way: every secret opens after each, and in the end under the new key alone`,
  async (rig, t) => {
    await furnish(rig);
    let current = rig.signer.rootKey;
    let secrets = await openAll(rig, { current });
    assert.equal(secrets.length, wallets * 10 + 3);
    let killed = 0;
    let rotations = 0;
    while (killed < kills) {
      const keys = { current: freshKey(), retiring: current };
      // Each run gets a few requests further than the one before it could have come.
      for (let requests = 0; ; requests += 1) {
        try {
          await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true), requests));
          break;
        } catch (error) {
          assert.equal((error as Fault).message, "killed");
          killed += 1;
          assert.deepEqual(await openAll(rig, keys), secrets);
        }
      }
      current = keys.current;
      rotations += 1;
      assert.deepEqual(await openAll(rig, { current }), secrets);
      await assert.rejects(openAll(rig, { current: keys.retiring }), /does not belong to this database/);
      secrets = await openAll(rig, { current });
    }
    const keyring = await findDeployment(rig.store);
    assert.ok(keyring);
    for (const sealed of [keyring, ...(await boxes(rig)).map((row) => row.sealed)]) {
      assert.equal(versionOf(sealed), 1 + rotations);
    }
    t.diagnostic(`${secrets.length} secrets, ${rotations} rotations, ${killed} kills`);
  },
);

onBothDatabases("a server in the middle of a rotation works with both keys, and what it makes is new", async (rig) => {
  await furnish(rig);
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  await assert.rejects(rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true), 1)), /killed/);
  // The same signer process, as it would be started now.
  Object.assign(rig.signer.operations, await signerWith(rig, keys, false));
  rig.dependencies.organizations.forgetAll();
  const made = await rig.submit(rig.root, "create_wallet", { walletName: "Between", accounts });
  const { walletId, addresses } = made.result.createWalletResult as { walletId: string; addresses: string[] };
  const payload = "00".repeat(32);
  const old = await rig.store.db.selectFrom("wallet_accounts").select("address").orderBy("created_at_ms").execute();
  for (const signWith of [addresses[0], old[0]?.address, old.at(-20)?.address]) {
    const sign = { signWith, payload, encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };
    await rig.submit(rig.root, "sign_raw_payload", sign);
  }
  const row = await rig.store.db.selectFrom("wallets").selectAll().where("wallet_id", "=", walletId).execute();
  assert.equal(versionOf(row[0]?.sealed ?? new Uint8Array()), 2);
  await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  assert.equal((await openAll(rig, { current: keys.current })).length, (wallets + 1) * 10 + 3);
});

onBothDatabases("results that wait for their release are sealed anew and can be released", async (rig) => {
  await furnish(rig);
  const [account] = await rig.store.db.selectFrom("wallet_accounts").select("address").limit(1).execute();
  const { operations } = rig.signer;
  const { release } = operations;
  operations.release = () => {
    throw new Fault("unavailable", "killed before the release");
  };
  const sign = {
    signWith: account?.address,
    payload: "11".repeat(32),
    encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
    hashFunction: "HASH_FUNCTION_NO_OP",
  };
  const body = rig.body("sign_raw_payload", sign);
  await assert.rejects(rig.send(rig.root, "sign_raw_payload", body), /killed/);
  operations.release = release;
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  const [line] = await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  assert.equal(line, `sealed anew under the next root key: ${wallets * 10 + 3 + 2} secret(s)`);
  Object.assign(operations, await signerWith(rig, { current: keys.current }, false));
  rig.dependencies.organizations.forgetAll();
  const { result } = await rig.send(rig.root, "sign_raw_payload", body);
  assert.match((result.signRawPayloadResult as { r: string }).r, /^[0-9a-f]{64}$/);
});

onBothDatabases("a pending import ends with the key it was sealed under, like one whose hour is over", async (rig) => {
  const { userId } = rig.root;
  const init = async () => {
    const { result } = await rig.submit(rig.root, "init_import_wallet", { userId });
    return (result.initImportWalletResult as { importBundle: string }).importBundle;
  };
  const importAs = async (walletName: string, importBundle: string) => {
    const words = "test test test test test test test test test test test junk";
    const encryptedBundle = encryptTo(importBundle, words);
    await rig.submit(rig.root, "import_wallet", { userId, walletName, encryptedBundle, accounts: [] });
  };
  const before = await init();
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  Object.assign(rig.signer.operations, await signerWith(rig, { current: keys.current }, false));
  rig.dependencies.organizations.forgetAll();
  await assert.rejects(importAs("Before", before), /invalid encrypted bundle/);
  await importAs("After", await init());
});

onBothDatabases("nothing is sealed anew without the operator's order, and nothing for another place", async (rig) => {
  await furnish(rig);
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  const [first, second] = await boxes(rig);
  assert.ok(first && second);
  const asked = (content: Uint8Array, sealed: Uint8Array): Request<"reseal"> => {
    return { boxes: [{ kind: "record", value: { content, sealed } }] };
  };
  const unordered = await signerWith(rig, keys, false);
  assert.throws(() => unordered.reseal(asked(first.record, first.sealed)), { code: "permission_denied" });
  const ordered = await signerWith(rig, keys, true);
  assert.equal(ordered.reseal(asked(first.record, first.sealed)).length, 1);
  assert.throws(() => ordered.reseal(asked(first.record, second.sealed)), {
    code: "failed_precondition",
    message: /^the secret of wallet .* opens under neither root key$/,
  });
  const altered = Uint8Array.from(first.record);
  altered[40] = (altered[40] ?? 0) ^ 1;
  assert.throws(() => ordered.reseal(asked(altered, first.sealed)));
  assert.throws(() => ordered.reseal({ boxes: [{ kind: "keyring", value: { sealed: first.sealed } }] }), {
    message: "the secret of the keyring opens under neither root key",
  });
  assert.throws(
    () => ordered.reseal({ boxes: [{ kind: "leaf", value: { leaf: first.record, sealed: first.sealed } }] }),
    {
      code: "failed_precondition",
    },
  );
});

onBothDatabases("texts of interfaces are no secrets: they stay as they are, and nobody seals them", async (rig) => {
  await rig.submit(rig.root, "create_smart_contract_interface", {
    smartContractAddress: `0x${"11".repeat(20)}`,
    smartContractInterface: "[]",
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
    label: "Contract",
  });
  const read = () => rig.store.db.selectFrom("contract_interfaces").selectAll().execute();
  const [before] = await read();
  assert.ok(before);
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  const ordered = await signerWith(rig, keys, true);
  const value = { content: before.record, sealed: new Uint8Array() };
  assert.throws(() => ordered.reseal({ boxes: [{ kind: "record", value }] }), {
    code: "invalid_argument",
    message: "a contractInterface has no secret",
  });
  const [line] = await rotateKeys(rig.store, linkTo(ordered));
  assert.equal(line, "sealed anew under the next root key: 1 secret(s)");
  assert.deepEqual(await read(), [before]);
});

onBothDatabases("service keys and public faces stay what they were", async (rig) => {
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  const before = openKeyring(keys.retiring, 1, rig.signer.keyring).publicKeys;
  await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  const keyring = await findDeployment(rig.store);
  assert.ok(keyring);
  assert.deepEqual(openKeyring(keys.current, 2, keyring).publicKeys, before);
});
