/** What flows in the browser must have led to, checked outside of it. */
import assert from "node:assert/strict";
import { verifySessionJwtSignature } from "@turnkey/crypto";
import {
  type Hex,
  keccak256,
  parseTransaction,
  recoverAddress,
  recoverTransactionAddress,
  type TransactionSerializedEIP1559,
  toBytes,
} from "viem";
import type { KeysteadServer } from "../keystead_server.ts";
import { rootOf } from "../published/clients.ts";
import type { AppPage } from "./app_page.ts";
import type { signedInSteps } from "./page/proxy_client.ts";

export type Signed = { address: string; signature: { r: string; s: string; v: string } | undefined };

/** The signature is over "hello" and by the key of that address. */
export async function assertSignedHello({ address, signature }: Signed): Promise<void> {
  assert.ok(signature, "there is no signature");
  const { r, s, v } = signature;
  const recovered = await recoverAddress({
    hash: keccak256(toBytes("hello")),
    signature: { r: `0x${r}`, s: `0x${s}`, yParity: Number.parseInt(v, 16) },
  } as { hash: Hex; signature: { r: Hex; s: Hex; yParity: number } });
  assert.equal(recovered, address);
}

export type SessionClaims = {
  exp: number;
  public_key: string;
  session_type: string;
  user_id: string;
  organization_id: string;
};

/** The claims of a session token, which the notarizer has signed. */
export async function sessionClaims(keystead: KeysteadServer, token: string): Promise<SessionClaims> {
  const answer = await fetch(`${keystead.url}/.well-known/keystead.json`);
  const { publicKeys } = (await answer.json()) as { publicKeys: { notarizer: string } };
  assert.equal(await verifySessionJwtSignature(token, publicKeys.notarizer), true);
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64").toString());
}

/** The types of the session keys in a sub-organization, as its parent reads them. */
export async function keyTypes(keystead: KeysteadServer, organizationId: string): Promise<string[]> {
  const { apiKeys } = await rootOf(keystead).sdk.getApiKeys({ organizationId });
  return apiKeys.map(({ credential }) => credential.type).sort();
}

/** Everything that a user of the auth proxy does after signing in, and that logging out ends it. */
export async function assertSignsRefreshesAndLogsOut(
  page: AppPage<typeof signedInSteps>,
  organizationId: string,
): Promise<void> {
  await assertSignedHello(await page.run("sign"));
  const before = await page.run("session");
  await page.run("refresh", "3600");
  const after = await page.run("session");
  assert.equal(after?.organizationId, organizationId);
  assert.ok((after?.expiry ?? 0) >= (before?.expiry ?? 0) + 2000, "the session ends later");
  assert.notEqual(after?.publicKey, before?.publicKey);

  // The new key alone stamps from here on.
  const { address, signed } = await page.run("signTransaction");
  const serializedTransaction = `0x${signed}` as TransactionSerializedEIP1559;
  assert.equal(await recoverTransactionAddress({ serializedTransaction }), address);
  assert.deepEqual([parseTransaction(serializedTransaction).value], [1n]);

  await page.run("logOut");
  assert.equal(await page.run("session"), null);
  assert.equal((await page.refusal("user")).code, "NO_SESSION_FOUND");
}
