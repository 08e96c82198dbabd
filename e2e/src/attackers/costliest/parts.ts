/** What requests are made of, and what a flooding organization has first. */
import { createECDH, randomUUID } from "node:crypto";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { encryptOauth2ClientSecret } from "@turnkey/crypto";
import { createKey } from "../../key_pairs.ts";
import { longExpression } from "../expressions.ts";
import type { Json } from "../lanes.ts";
import type { Tenant, TenantUser } from "../tenant.ts";

/** Large bodies have a lane of their own from 64 KiB on. */
export const mostBytes = 60_000;

export const curve = "CURVE_SECP256K1";
export const taproot = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"].map((net) => `ADDRESS_FORMAT_BITCOIN_${net}_P2TR`);
export const point = () => createECDH("prime256v1").generateKeys("hex", "compressed");
export const target = () => ({ targetPublicKey: createECDH("prime256v1").generateKeys("hex") });

export function apiKey(more: object = { expirationSeconds: "3600" }) {
  return { apiKeyName: randomUUID(), publicKey: point(), curveType: "API_KEY_CURVE_P256", ...more };
}

/** As deep as a hundred accounts together may be. No two begin alike, so that nothing is derived for two of them. */
export function accounts(turn: number, count = 100) {
  return Array.from({ length: count }, (_, index) => ({
    curve,
    pathFormat: "PATH_FORMAT_BIP32",
    path: `m/${1 + (turn % 1_000_000)}${String(index).padStart(3, "0")}/2/3/4/5/6/7/8/9/1`,
    addressFormat: taproot[0],
  }));
}

/** Quickly derived. */
export function cheapAccounts(turn: number) {
  return Array.from({ length: 100 }, (_, index) => ({
    curve: "CURVE_ED25519",
    pathFormat: "PATH_FORMAT_BIP32",
    path: `m/${turn * 100 + index}'`,
    addressFormat: "ADDRESS_FORMAT_SOLANA",
  }));
}

export function cheapPrivateKeys(curve = "CURVE_ED25519", count = 100) {
  return Array.from({ length: count }, () => ({
    ...{ privateKeyName: randomUUID(), curve, privateKeyTags: [], addressFormats: [] },
  }));
}

export const policy = () => ({
  ...{ policyName: randomUUID(), effect: "EFFECT_ALLOW", condition: longExpression(), notes: "" },
});

export function users(count: number, keys: number) {
  return Array.from({ length: count }, () => ({
    userName: randomUUID(),
    apiKeys: Array.from({ length: keys }, () => apiKey({})),
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  }));
}

export function contractInterface(functions = 450): string {
  const entries = Array.from({ length: functions }, (_, index) => ({
    type: "function",
    name: `f${index}`,
    inputs: [{ name: "a", type: "uint256" }],
    outputs: [],
    stateMutability: "view",
  }));
  return JSON.stringify(entries);
}

export function interfaceParams(address: number, smartContractInterface = contractInterface()) {
  return {
    smartContractAddress: `0x${address.toString(16).padStart(40, "0")}`,
    smartContractInterface,
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
    label: randomUUID(),
  };
}

/** So many users more, nearly all that fit, each with a key or several; their ids, and those of the root users before them. */
export async function crowd({ act, roots }: Tenant, count = 960, keys = 1): Promise<string[]> {
  const ids = roots.map(({ userId }) => userId);
  // A request makes a hundred users and two hundred keys at most.
  const perRequest = Math.min(100, Math.floor(200 / keys));
  for (let made = 0; made < count; made += perRequest) {
    const more = users(Math.min(perRequest, count - made), keys);
    ids.push(...(await act("create_users", { users: more })).result.userIds);
  }
  return ids;
}

/** Users outside of the root quorum: what they may do, policies say. */
export async function plainUsers({ act, url, organizationId, roots }: Tenant): Promise<TenantUser[]> {
  const keys = roots.map(() => createKey());
  const asked = keys.map(({ publicKey }) => ({
    ...users(1, 0)[0],
    apiKeys: [apiKey({ publicKey })],
  }));
  const { userIds } = (await act("create_users", { users: asked })).result;
  return keys.map(({ publicKey, privateKey }, index) => ({
    userId: userIds[index],
    by: { url, organizationId, apiPublicKey: publicKey, apiPrivateKey: toHex(privateKey) },
  }));
}

/** As many policies as fill so many bytes of the 512 KiB that an organization has. Their ids. */
export async function policies({ act }: Tenant, bytes: number): Promise<string[]> {
  const ids: string[] = [];
  for (let left = Math.floor(bytes / longExpression().length); left > 0; left -= 100) {
    const drafts = Array.from({ length: Math.min(left, 100) }, policy);
    ids.push(...(await act("create_policies", { policies: drafts })).result.policyIds);
  }
  return ids;
}

/** A thousand, unless it is said otherwise. Their ids. */
export async function privateKeys({ act }: Tenant, count = 1_000): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const { result } = await act("create_private_keys", { privateKeys: cheapPrivateKeys() });
    ids.push(...result.privateKeys.map(({ privateKeyId }: Json) => privateKeyId));
  }
  return ids;
}

/** With a secret of some length, which the server can open. */
export async function oauth2Credential(url: string) {
  const published = (await (await fetch(`${url}/.well-known/keystead.json`)).json()) as Json;
  const { clientSecretEncryption } = published.publicKeys;
  const encryptedClientSecret = await encryptOauth2ClientSecret("x".repeat(500), clientSecretEncryption);
  return { provider: "OAUTH2_PROVIDER_ALPHA", clientId: randomUUID(), encryptedClientSecret };
}

/** Their ids. */
export async function oauth2Credentials({ act, url }: Tenant, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    ids.push((await act("create_oauth2_credential", await oauth2Credential(url))).result.oauth2CredentialId);
  }
  return ids;
}
