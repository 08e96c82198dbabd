/** Somebody in an organization of their own, whom no attacker knows: what becomes of them is what becomes of everybody else. */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { createKey, keyFrom } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { ethereum } from "../matrix/keys.ts";
import { assertAccepted, call } from "../wire.ts";
import type { Target } from "./attack.ts";

/** A root user of a new sub-organization, with a wallet to sign with. */
export async function newNeighbour({
  url,
  bootstrap,
}: Pick<KeysteadServer, "url"> & {
  bootstrap: Pick<KeysteadServer["bootstrap"], "organizationId" | "apiPrivateKey">;
}): Promise<Target & { signWith: string }> {
  const { publicKey, privateKey } = createKey();
  const apiKeys = [{ apiKeyName: "Own", publicKey, curveType: "API_KEY_CURVE_P256" }];
  const body = {
    type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8",
    timestampMs: String(Date.now()),
    organizationId: bootstrap.organizationId,
    parameters: {
      subOrganizationName: "Neighbour",
      rootUsers: [{ userName: "Neighbour", apiKeys, authenticators: [], oauthProviders: [] }],
      rootQuorumThreshold: 1,
      wallet: { walletName: "Own", accounts: [ethereum] },
    },
  };
  const founder = keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey));
  const answer = await call(url, "/public/v1/submit/create_sub_organization", founder, body);
  assertAccepted(answer);
  const [result] = Object.values(answer.json.activity.result) as [
    { subOrganizationId: string; wallet: { addresses: [string] } },
  ];
  return {
    url,
    organizationId: result.subOrganizationId,
    apiPublicKey: publicKey,
    apiPrivateKey: toHex(privateKey),
    signWith: result.wallet.addresses[0],
  };
}
