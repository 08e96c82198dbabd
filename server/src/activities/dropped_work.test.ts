/** Work that is dropped at any of its pauses leaves no secret behind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finish, type Work } from "@keystead/core/work.ts";
import { activityContext } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { organization } from "../../test/members.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import type { KeyAccess, NewRecord } from "../endpoints/key_access.ts";
import { generateWallet, parseAccounts } from "../rules/wallets.ts";
import { createPrivateKeys } from "./create_private_keys.ts";
import { createSubOrganization } from "./create_sub_organization.ts";
import { createWallet } from "./create_wallet.ts";
import { createWalletAccounts } from "./create_wallet_accounts.ts";
import { signRawPayloads } from "./sign_raw_payloads.ts";

const curve = "CURVE_SECP256K1" as const;
const accounts = ["m/0/1", "m/0'/2", "m/3"].map((path) => {
  return { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat: "ADDRESS_FORMAT_ETHEREUM" } as const;
});
const asked = parseAccounts(accounts);
const wallet = finish(generateWallet(activityContext(), "acme", { walletName: "w" }, asked));
const [signWith = ""] = wallet.addresses;
const key = (privateKeyName: string) => ({ privateKeyName, curve, privateKeyTags: [], addressFormats: [] });
const child = { subOrganizationName: "c", rootUsers: [{ userName: "r", userEmail: "r@example.com" }] };

const works: [activity: { path: string }, params: object, records?: readonly NewRecord[]][] = [
  [createWallet, { walletName: "v", accounts }],
  [createWalletAccounts, { walletId: wallet.walletId, persist: false, accounts }, wallet.records],
  [createWalletAccounts, { walletId: wallet.walletId, accounts: [{ ...accounts[0], path: "m/9/9" }] }, wallet.records],
  [createPrivateKeys, { privateKeys: [key("a"), key("b"), key("c")] }],
  [
    createSubOrganization,
    { ...child, rootQuorumThreshold: 1, wallet: { walletName: "v", accounts }, privateKeys: [key("a"), key("b")] },
  ],
  [
    signRawPayloads,
    {
      signWith,
      payloads: ["00", "01", "02"],
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_SHA256",
    },
    wallet.records,
  ],
];

/** Key access that keeps everything secret that it handed out. */
function watchedKeyAccess(records: readonly NewRecord[]): { keys: KeyAccess; secrets: Uint8Array[] } {
  const keyAccess = testKeyAccess({ records });
  const secrets: Uint8Array[] = [];
  const kept = (secret: Uint8Array) => {
    secrets.push(secret);
    return secret;
  };
  const maths = keyAccess.signing.keys;
  const watched = { ...maths, hmacSha512: (one: Uint8Array, other: Uint8Array) => kept(maths.hmacSha512(one, other)) };
  const keys = {
    ...keyAccess,
    signing: { ...keyAccess.signing, keys: watched },
    random: (length: number) => kept(keyAccess.random(length)),
    open: (record: Parameters<KeyAccess["open"]>[0]) => kept(keyAccess.open(record)),
  };
  return { keys, secrets };
}

for (const [definition, params, records = []] of works) {
  test(`${definition.path} dropped at any pause leaves no secret`, () => {
    const activity = definition as unknown as AnyActivity;
    let drops = 0;
    for (let pauses = 1; ; pauses++) {
      const { keys, secrets } = watchedKeyAccess(records);
      const state = activity.state(organization(), params as never);
      const work = activity.run(state as never, params as never, activityContext({ keys })) as Work<unknown>;
      let isDone: boolean | undefined = false;
      for (let taken = 0; taken < pauses && !isDone; taken++) isDone = work.next().done;
      if (isDone) break;
      work.return(undefined as never);
      drops += 1;
      assert.ok(
        secrets.every((secret) => secret.every((byte) => byte === 0)),
        `after ${pauses} pauses`,
      );
    }
    assert.ok(drops >= 2, `${drops}`);
  });
}
