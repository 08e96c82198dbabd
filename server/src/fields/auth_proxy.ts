/** The configuration of an auth proxy, as `update_auth_proxy_config` takes it. What is left out, or null, stays as it is. */
import { type SocialProvider, socialProviders } from "../state/entities.ts";
import { optional } from "./credentials.ts";
import { emailCustomizationV1, mailSender, smsCustomization } from "./messages.ts";
import { type Static, Type } from "./schema.ts";

const text = (maxLength: number, description: string) => Type.String({ maxLength, description });
const clientId = optional(text(512, "Client id."));
const seconds = (description: string) => optional(Type.Integer({ description }));

export const authProxyConfigParams = Type.Object({
  allowedOrigins: optional(
    Type.Array(text(300, "An origin as browsers write it, or `*` for all."), {
      maxItems: 100,
      description: "Origins of pages that may call the proxy, each exactly.",
    }),
  ),
  allowedAuthMethods: optional(
    Type.Array(text(20, "A method."), {
      maxItems: 20,
      description: "How users may sign up and in: `email`, `sms`, `passkey`, `wallet`, `oauth`.",
    }),
  ),
  ...mailSender,
  emailAuthTemplateId: optional(text(256, "Not used: there are no templates of one's own.")),
  otpTemplateId: optional(text(256, "Not used: there are no templates of one's own.")),
  emailCustomizationParams: emailCustomizationV1,
  smsCustomizationParams: smsCustomization,
  walletKitSettings: optional(
    Type.Object(
      {
        enabledSocialProviders: optional(
          Type.Array(text(20, "A provider."), {
            maxItems: 20,
            description: "Of `google`, `apple`, `facebook`, `x`, `discord`.",
          }),
        ),
        oauthClientIds: optional(
          Type.Object(
            Object.fromEntries(socialProviders.map((name) => [name, optional(text(512, "Client id."))])) as Record<
              SocialProvider,
              typeof clientId
            >,
            { description: "Client ids by the names of providers." },
          ),
        ),
        oauthRedirectUrl: optional(text(2_048, "Where identity providers send users back to.")),
      },
      { description: "What wallet kits are told." },
    ),
  ),
  otpExpirationSeconds: seconds("How long codes last: 1 to 600."),
  verificationTokenExpirationSeconds: seconds("How long verification tokens last: 1 to 86400."),
  sessionExpirationSeconds: seconds(
    "How long sessions last: 1 to 2592000, unless the operator sets maxSessionSeconds.",
  ),
  otpAlphanumeric: optional(Type.Boolean({ description: "False for codes of digits alone." })),
  otpLength: seconds("How many characters a code has: 6 to 9."),
  verificationTokenRequiredForGetAccountPii: optional(
    Type.Boolean({ description: "Whether accounts are found by a contact only with a token that proves it." }),
  ),
  socialLinkingClientIds: optional(
    Type.Array(text(512, "Client id."), {
      maxItems: 100,
      description:
        "Your clients whose tokens link accounts by a verified e-mail address: `issuer#clientId`, or the id alone where there is one linking issuer.",
    }),
  ),
  captchaEnabled: optional(
    Type.Boolean({ description: "Whether codes and sign-ups need a captcha. KEYSTEAD_CAPTCHA must be set." }),
  ),
});

export type AuthProxyConfigParams = Static<typeof authProxyConfigParams>;
