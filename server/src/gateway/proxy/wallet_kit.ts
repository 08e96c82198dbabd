/** What wallet kits ask for before they show anything. */
import type { AuthMethod } from "../../state/entities.ts";
import type { ProxyConfig } from "./proxy_configs.ts";

/** Methods that kits show by these names. Identity providers are listed by their own. */
const shownMethods = ["email", "sms", "passkey", "wallet"] as const satisfies readonly AuthMethod[];

/** `channels`: those that messages can be sent by. A method that no code would ever arrive by is not offered. */
export function walletKitConfig({ organizationId, settings }: ProxyConfig, channels: readonly string[]) {
  const { allowedAuthMethods, enabledSocialProviders, oauthClientIds, oauthRedirectUrl } = settings;
  const isSent = (method: AuthMethod) => (method !== "email" && method !== "sms") || channels.includes(method);
  const methods = shownMethods.filter((method) => allowedAuthMethods.includes(method) && isSent(method));
  const social = allowedAuthMethods.includes("oauth") ? enabledSocialProviders : [];
  return {
    enabledProviders: [...methods, ...social],
    sessionExpirationSeconds: String(settings.sessionExpirationSeconds),
    organizationId,
    ...(Object.keys(oauthClientIds).length > 0 && { oauthClientIds }),
    ...(oauthRedirectUrl !== undefined && { oauthRedirectUrl }),
    otpAlphanumeric: settings.otpAlphanumeric,
    // A number as text, as the kits read it.
    otpLength: String(settings.otpLength),
  };
}
