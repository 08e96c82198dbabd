/** Our own client in the hands of the first user, with the published package's bundles beside it. */
import { type Client, createApiKeyStamper, createClient } from "@keystead/sdk";
import type { KeysteadServer } from "../keystead_server.ts";
import { type Bundles, bundlesOf, signerKeyOf } from "./bundles.ts";

export type OwnClient = { sdk: Client; bundles: Bundles; userId: string };

export async function ownClient(server: KeysteadServer): Promise<OwnClient> {
  const { organizationId, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const sdk = createClient({ baseUrl: server.url, organizationId, stamper });
  return { sdk, bundles: bundlesOf({ sdk, organizationId, userId }, await signerKeyOf(server)), userId };
}
