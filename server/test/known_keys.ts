/**
 * Keys whose secrets are known from outside: those of the mnemonic `test … junk`, which published vectors are made with.
 * Records of them are as an import would make them.
 */
import { randomUUID } from "node:crypto";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type AddressFormat, getAddressUse } from "@keystead/core/keys/address_formats.ts";
import { deriveKeyPair, type KeyPair } from "@keystead/core/keys/derive.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import { parsePath } from "@keystead/core/keys/path.ts";
import { nodeKeyMaths } from "../src/curves/node_key_maths.ts";
import type { NewRecord } from "../src/endpoints/key_access.ts";
import { toCommitItem } from "../src/gateway/submit/to_commit_item.ts";
import { sealRecords } from "../src/signer/decision/key_records.ts";
import type { Signer } from "../src/signer/decision/signer.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { createSealer } from "../src/signer/secrets/seal.ts";
import { stampEvidence } from "./evidence.ts";
import type { GatewayRig } from "./gateway_rig.ts";
import { prepareOnce } from "./prepare_once.ts";

const utf8 = new TextEncoder();
const sentence = `${"test ".repeat(11)}junk`;
const seed = nodeKeyMaths.pbkdf2Sha512(utf8.encode(sentence), utf8.encode("mnemonic"), 2048, 64);

/** The key of the path, derived anew: whoever gets it may wipe it. */
export function junkKey(curve: Curve, path: string): KeyPair {
  return deriveKeyPair(nodeKeyMaths, curve, seed, parsePath(path));
}

type AccountChoice = { curve: Curve; path: string; addressFormat: AddressFormat; walletId?: string };

export function junkAccount(
  organizationId: string,
  { curve, path, addressFormat, walletId = "5a1e2c8c-8a4e-4c1c-9d2f-0d2b6f3a7c11" }: AccountChoice,
): NewRecord & { record: { kind: "walletAccount" } } {
  const { privateKey, publicKey } = junkKey(curve, path);
  return {
    record: {
      kind: "walletAccount",
      organizationId,
      walletAccountId: randomUUID(),
      walletId,
      wallet: { walletName: "Junk", imported: false },
      curve,
      path,
      addressFormat,
      address: getAddressUse(addressFormat, curve).encode(publicKey),
      publicKey: toHex(publicKey.compressed),
      createdAtMs: 0,
    },
    secret: privateKey,
  };
}

type PrivateKeyChoice = { curve: Curve; path: string; addressFormats?: readonly AddressFormat[] };

export function junkPrivateKey(
  organizationId: string,
  { curve, path, addressFormats = [] }: PrivateKeyChoice,
): NewRecord & { record: { kind: "privateKey" } } {
  const { privateKey, publicKey } = junkKey(curve, path);
  const privateKeyId = randomUUID();
  return {
    record: {
      kind: "privateKey",
      organizationId,
      privateKeyId,
      privateKeyName: privateKeyId,
      curve,
      publicKey: toHex(publicKey.uncompressed),
      addresses: addressFormats.map((format) => ({ format, address: getAddressUse(format, curve).encode(publicKey) })),
      imported: true,
      createdAtMs: 0,
    },
    secret: privateKey,
  };
}

/** Has a rig's database hold these records, sealed under its root key: they are committed with a tag of no meaning. */
export async function keepRecords(rig: GatewayRig, records: readonly NewRecord[]): Promise<void> {
  const { organizationId, dependencies, root, signer } = rig;
  const body = rig.body("create_user_tag", { userTagName: randomUUID(), userIds: [] });
  const stamp = signStamp(root.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  const { prepared, run } = await prepareOnce(dependencies.organizations, organizationId, {
    body,
    evidence: stampEvidence(stamp),
    target: undefined,
    records: [],
    cost: 0,
  });
  const [own] = prepared;
  if (own === undefined) throw new Error("nothing was prepared");
  const sealing = {
    keyring: openKeyring(signer.rootKey, 1, signer.keyring),
    sealer: createSealer(signer.rootKey, 1),
  } as Signer;
  const outcome = await dependencies.committer.commit(
    { ...toCommitItem(own), records: sealRecords(sealing, records) },
    run,
  );
  if (outcome.kind !== "committed") throw new Error("the records were not kept");
}
