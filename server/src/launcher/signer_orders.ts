import { type Bootstrap, birthOf, type FirstOrganization } from "./bootstrap.ts";
import type { Config } from "./config.ts";
import type { DataFolder } from "./data_folder.ts";
import { publicUrlOf } from "./public_url.ts";

/** What the signer is told at its start, besides the root key. The gateway never sees it, so nothing in it can be forged. */
export type SignerOrders = {
  memoryFolder: string;
  adoptUnknown: boolean;
  acceptDatabase: boolean;
  reseal: boolean;
  vouch: boolean;
  resetClock: boolean;
  limits: Record<string, number>;
  /** Of one-time codes, as the operator has set them. */
  hasSandboxCodes: boolean;
  allowsPlainAnswers: boolean;
  /** Of identity tokens. */
  linkingIssuers: string[];
  /** What our own identity tokens have in `iss`. Absent while nobody knows where the server will listen. */
  ownIssuer?: string;
  /** There is a captcha provider, so configurations may ask for it. */
  hasCaptcha: boolean;
  birth: FirstOrganization;
};

export function signerOrders(config: Config, data: DataFolder, bootstrap: Bootstrap, port: number): SignerOrders {
  const ownIssuer = publicUrlOf(config, port);
  return {
    memoryFolder: data.signer,
    adoptUnknown: config.usesDatabaseServer,
    acceptDatabase: config.command === "accept-database",
    reseal: config.command === "rotate-keys",
    vouch: ["check-log", "check-database", "repair-database"].includes(config.command),
    resetClock: config.command === "accept-clock",
    limits: config.limits,
    ...config.codes,
    ...config.identities,
    ...(ownIssuer !== undefined && { ownIssuer }),
    hasCaptcha: config.proxy.captchaSiteKey !== undefined,
    birth: birthOf(bootstrap),
  };
}

/** As they are written to the signer. */
export function encodeOrders(orders: SignerOrders): Uint8Array {
  return Buffer.from(JSON.stringify(orders));
}
