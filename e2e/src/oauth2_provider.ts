/** The stand-in for an OAuth 2.0 provider that servers of these tests exchange codes at, with a client of any name. */
import { startOauth2Provider } from "../../core/test/oauth2_provider.ts";

export const clientSecret = "s3cret";

export const oauth2Provider = await startOauth2Provider({ clientSecret });

/** Of a server that may ask it. */
export const oauth2Settings = {
  KEYSTEAD_OAUTH2_PROVIDERS: JSON.stringify({ OAUTH2_PROVIDER_ALPHA: oauth2Provider.addresses }),
  KEYSTEAD_DEV_EGRESS: "loopback",
  KEYSTEAD_PUBLIC_URL: "https://keys.example.com",
} as const;
