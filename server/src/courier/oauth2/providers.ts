/** Where OAuth 2.0 providers exchange codes and say who has signed in. */
import { type Oauth2Provider, type Oauth2ProviderSpelling, oauth2ProviderOf } from "../../state/oauth2_providers.ts";

export type ProviderAddresses = { readonly tokenUrl: string; readonly userUrl: string };

/** The providers that may be asked. */
export type ProviderTable = ReadonlyMap<Oauth2Provider, ProviderAddresses>;

const builtIn: ProviderTable = new Map([
  ["OAUTH2_PROVIDER_ALPHA", { tokenUrl: "https://api.x.com/2/oauth2/token", userUrl: "https://api.x.com/2/users/me" }],
  [
    "OAUTH2_PROVIDER_BETA",
    { tokenUrl: "https://discord.com/api/oauth2/token", userUrl: "https://discord.com/api/users/@me" },
  ],
]);

/** Those of the setting in the place of the built-in ones. The launcher has read it and found it right. */
export function readProviders(setting: string | undefined): ProviderTable {
  if (!setting) return builtIn;
  const addresses = JSON.parse(setting) as Record<Oauth2ProviderSpelling, ProviderAddresses>;
  return new Map(
    Object.entries(addresses).map(([name, { tokenUrl, userUrl }]) => [
      oauth2ProviderOf(name as Oauth2ProviderSpelling),
      { tokenUrl, userUrl },
    ]),
  );
}
