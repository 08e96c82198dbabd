/** Secrets in and out, with the published package's own encryption, told to believe this server's key. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from "@turnkey/crypto";
import type { KeysteadServer } from "../keystead_server.ts";

type Published = { publicKeys: { signer: string }; attestationRoot: string };

/** As published at a fixed address; whoever uses it pins it. */
export async function signerKeyOf(server: KeysteadServer): Promise<string> {
  const answer = await fetch(`${server.url}/.well-known/keystead.json`);
  const { publicKeys, attestationRoot } = (await answer.json()) as Published;
  assert.match(publicKeys.signer, /^04[0-9a-f]{128}$/);
  const told = JSON.parse(readFileSync(join(server.dataFolder, "public_keys.json"), "utf8"));
  assert.deepEqual(told, { publicKeys, attestationRoot }, "the signer told the operator of others");
  return publicKeys.signer;
}

type KeyFormat = "SOLANA" | "HEXADECIMAL";

/** What of a client bundles need; the published ones have it, and so has ours. */
type BundleClient = {
  exportWallet(params: { walletId: string; targetPublicKey: string }): Promise<{ exportBundle: string }>;
  exportWalletAccount(params: { address: string; targetPublicKey: string }): Promise<{ exportBundle: string }>;
  exportPrivateKey(params: { privateKeyId: string; targetPublicKey: string }): Promise<{ exportBundle: string }>;
  initImportWallet(params: { userId: string }): Promise<{ importBundle: string }>;
  initImportPrivateKey(params: { userId: string }): Promise<{ importBundle: string }>;
};

type Owner = { sdk: BundleClient; organizationId: string; userId: string };

/** One person's exports and imports. */
export function bundlesOf({ sdk, organizationId, userId }: Owner, signerKey: string) {
  const common = { organizationId, dangerouslyOverrideSignerPublicKey: signerKey };

  /** A fresh key for each export, as the published helpers do. */
  async function take(ask: (targetPublicKey: string) => Promise<{ exportBundle: string }>, options: Opening) {
    const { privateKey, publicKeyUncompressed } = generateP256KeyPair();
    const { exportBundle } = await ask(publicKeyUncompressed);
    return decryptExportBundle({ ...common, exportBundle, embeddedKey: privateKey, ...options });
  }

  return {
    exportWallet: (walletId: string) =>
      take((targetPublicKey) => sdk.exportWallet({ walletId, targetPublicKey }), { returnMnemonic: true }),
    exportAccount: (address: string, keyFormat: KeyFormat = "HEXADECIMAL") =>
      take((targetPublicKey) => sdk.exportWalletAccount({ address, targetPublicKey }), {
        returnMnemonic: false,
        keyFormat,
      }),
    exportPrivateKey: (privateKeyId: string, keyFormat: KeyFormat = "HEXADECIMAL") =>
      take((targetPublicKey) => sdk.exportPrivateKey({ privateKeyId, targetPublicKey }), {
        returnMnemonic: false,
        keyFormat,
      }),

    async encryptWallet(mnemonic: string): Promise<string> {
      const { importBundle } = await sdk.initImportWallet({ userId });
      return encryptWalletToBundle({ ...common, importBundle, mnemonic, userId });
    },
    async encryptPrivateKey(privateKey: string, keyFormat = "HEXADECIMAL"): Promise<string> {
      const { importBundle } = await sdk.initImportPrivateKey({ userId });
      return encryptPrivateKeyToBundle({ ...common, importBundle, privateKey, keyFormat, userId });
    },
  };
}

type Opening = { returnMnemonic: boolean; keyFormat?: KeyFormat };

export type Bundles = ReturnType<typeof bundlesOf>;
