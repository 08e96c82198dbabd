/**
 * The OAuth 2.0 providers that users can sign in with. Their names here are the specification's neutral ones; published clients have
 * others, and so has the wire in the subject of a token.
 */
export const oauth2Providers = {
  OAUTH2_PROVIDER_ALPHA: { published: "OAUTH2_PROVIDER_X", subject: "x" },
  OAUTH2_PROVIDER_BETA: { published: "OAUTH2_PROVIDER_DISCORD", subject: "discord" },
} as const;

export type Oauth2Provider = keyof typeof oauth2Providers;

export const oauth2ProviderNames = Object.keys(oauth2Providers) as Oauth2Provider[];

/** Every spelling that requests and settings may have. */
export const oauth2ProviderSpellings = [
  "OAUTH2_PROVIDER_ALPHA",
  "OAUTH2_PROVIDER_BETA",
  "OAUTH2_PROVIDER_X",
  "OAUTH2_PROVIDER_DISCORD",
] as const;

export type Oauth2ProviderSpelling = (typeof oauth2ProviderSpellings)[number];

/** The provider that is so called. */
export function oauth2ProviderOf(spelling: Oauth2ProviderSpelling): Oauth2Provider {
  const isCalled = (name: Oauth2Provider) => name === spelling || oauth2Providers[name].published === spelling;
  // The spellings are those of the rows.
  return oauth2ProviderNames.find(isCalled) as Oauth2Provider;
}
