/**
 * Settings of identity tokens. They go to the signer with its orders: whom it believes is its decision. The gateway gets them too, to look
 * for the accounts that the signer would link.
 */
import { Refusal } from "./refusal.ts";

export type IdentitySettings = {
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  linkingIssuers: string[];
};

type Environment = Record<string, string | undefined>;

/** It vouches for addresses of its own domain, and for others only once their owners have answered a mail. */
const defaultLinkingIssuers = ["https://accounts.google.com"];

export function parseIdentitySettings({ KEYSTEAD_OIDC_LINKING: linking }: Environment): IdentitySettings {
  if (!linking) return { linkingIssuers: defaultLinkingIssuers };
  if (linking === "none") return { linkingIssuers: [] };
  const linkingIssuers = linking.split(",").map((issuer) => issuer.trim());
  if (!linkingIssuers.every(isIssuer)) {
    throw new Refusal(
      "KEYSTEAD_OIDC_LINKING must be issuers like https://accounts.google.com, separated by commas, or the word none",
      2,
    );
  }
  return { linkingIssuers };
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["https:", "http:"].includes(url.protocol) && url.search === "" && url.hash === "";
}
