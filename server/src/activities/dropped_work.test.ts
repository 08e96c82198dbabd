/** Work that is dropped at any of its pauses leaves no secret behind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finish, type Work } from "@keystead/core/work.ts";
import { activityContext, runActivity } from "../../test/activity_context.ts";
import { encryptTo } from "../../test/imports.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { junkPrivateKey } from "../../test/known_keys.ts";
import { after, organization, person } from "../../test/members.ts";
import { bitcoinPsbt } from "../../test/transactions.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import type { KeyAccess, NewRecord } from "../endpoints/key_access.ts";
import { activities } from "../generated/activities.ts";
import { generateWallet, parseAccounts } from "../rules/wallets.ts";
import type { Pages } from "../state/pages.ts";
import { initImportWallet } from "./init_import_wallet.ts";

const curve = "CURVE_SECP256K1" as const;
const accounts = ["m/0/1", "m/0'/2", "m/3"].map((path) => {
  return { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat: "ADDRESS_FORMAT_ETHEREUM" } as const;
});
const asked = parseAccounts(accounts);
const wallet = finish(generateWallet(activityContext(), "acme", { walletName: "w" }, asked));
const [signWith = ""] = wallet.addresses;
const key = (privateKeyName: string) => ({ privateKeyName, curve, privateKeyTags: [], addressFormats: [] });
const child = { subOrganizationName: "c", rootUsers: [{ userName: "r", userEmail: "r@example.com" }] };
const plain = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };
const policy = (policyName: string) => ({ policyName, effect: "EFFECT_ALLOW", condition: "true", notes: "" });

// One input of each script that the key can sign.
const spender = junkPrivateKey("acme", { curve, path: "m/44'/60'/0'/0/0" });
const psbt = { type: "TRANSACTION_TYPE_BITCOIN", unsignedTransaction: bitcoinPsbt() };

const beforeImport = organization({ users: [person("ann")] });
const started = runActivity(initImportWallet, beforeImport, { userId: "ann" });
const sentence = `${"test ".repeat(11)}junk`;
const encryptedBundle = encryptTo(started.result.importBundle, sentence);

type Dropped = { params: object; records?: readonly NewRecord[]; pages?: Pages };

/** For each activity whose work can pause, what makes it pause at least once. */
const works: Readonly<Record<string, readonly Dropped[]>> = {
  create_policies: [{ params: { policies: [policy("a"), policy("b")] } }],
  create_policy: [{ params: policy("a") }],
  create_private_keys: [{ params: { privateKeys: [key("a"), key("b"), key("c")] } }],
  create_smart_contract_interface: [
    {
      params: {
        smartContractAddress: `0x${"0".repeat(40)}`,
        smartContractInterface: JSON.stringify(
          Array.from({ length: 500 }, (_, at) => ({ type: "function", name: `f${at}`, inputs: [], outputs: [] })),
        ),
        type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
        label: "long",
      },
    },
  ],
  create_sub_organization: [
    {
      params: {
        ...{ ...child, rootQuorumThreshold: 1 },
        ...{ wallet: { walletName: "v", accounts }, privateKeys: [key("a"), key("b")] },
      },
    },
  ],
  create_wallet: [{ params: { walletName: "v", accounts } }],
  create_wallet_accounts: [
    { params: { walletId: wallet.walletId, persist: false, accounts }, records: wallet.records },
    {
      params: { walletId: wallet.walletId, accounts: [{ ...accounts[0], path: "m/9/9" }] },
      records: wallet.records,
    },
  ],
  import_wallet: [
    { params: { userId: "ann", walletName: "v", encryptedBundle, accounts }, pages: after(beforeImport, started) },
  ],
  sign_raw_payload: [{ params: { signWith, payload: "00", ...plain }, records: wallet.records }],
  sign_raw_payloads: [{ params: { signWith, payloads: ["00", "01", "02"], ...plain }, records: wallet.records }],
  sign_transaction: [{ params: { signWith: spender.record.privateKeyId, ...psbt }, records: [spender] }],
};

/** They read what was sent, and open no key. */
const withoutSecrets = ["create_policies", "create_policy", "create_smart_contract_interface"];

/** Key access that keeps everything secret that it handed out. */
function watchedKeyAccess(records: readonly NewRecord[]): { keys: KeyAccess; secrets: Uint8Array[] } {
  const keyAccess = testKeyAccess({ records });
  const secrets: Uint8Array[] = [];
  const kept = <B extends Uint8Array | undefined>(secret: B): B => {
    if (secret !== undefined) secrets.push(secret);
    return secret;
  };
  const maths = keyAccess.signing.keys;
  const watched: typeof maths = {
    ...maths,
    hmacSha512: (...of) => kept(maths.hmacSha512(...of)),
    pbkdf2Sha512: (...of) => kept(maths.pbkdf2Sha512(...of)),
  };
  const hpke: KeyAccess["hpke"] = { ...keyAccess.hpke, decrypt: (...of) => kept(keyAccess.hpke.decrypt(...of)) };
  const keys: KeyAccess = {
    ...keyAccess,
    hpke,
    signing: { ...keyAccess.signing, keys: watched },
    random: (length) => kept(keyAccess.random(length)),
    open: (record) => kept(keyAccess.open(record)),
    openTarget: (target) => kept(keyAccess.openTarget(target)),
  };
  return { keys, secrets };
}

test("every activity whose work can pause is dropped here", () => {
  const pausing = Object.entries<AnyActivity>(activities).filter(([, { run }]) => {
    return Object.getPrototypeOf(run) === Object.getPrototypeOf(function* () {});
  });
  assert.deepEqual(pausing.map(([path]) => path).sort(), Object.keys(works).sort());
});

for (const [path, all] of Object.entries(works)) {
  test(`${path} dropped at any pause leaves no secret`, () => {
    const activity = activities[path as keyof typeof activities] as AnyActivity;
    for (const { params: sent, records = [], pages = organization() } of all) {
      let [drops, seen] = [0, 0];
      for (let pauses = 1; ; pauses++) {
        // What was read once is kept with the request, and read without pauses then.
        const params = structuredClone(sent);
        const { keys, secrets } = watchedKeyAccess(records);
        const state = activity.state(pages, params as never);
        const work = activity.run(state as never, params as never, activityContext({ keys })) as Work<unknown>;
        let isDone: boolean | undefined = false;
        for (let taken = 0; taken < pauses && !isDone; taken++) isDone = work.next().done;
        if (isDone) break;
        work.return(undefined as never);
        drops += 1;
        seen += secrets.length;
        assert.ok(
          secrets.every((secret) => secret.every((byte) => byte === 0)),
          `after ${pauses} pauses`,
        );
      }
      assert.ok(drops > 0, "it does not pause");
      assert.equal(seen > 0, !withoutSecrets.includes(path), `${seen} secrets were handed out`);
    }
  });
}
