/** What `create_sub_organization` takes, in its newest form; older forms are translated to it. */
import { optionalEmail, optionalPhoneNumber } from "./contacts.ts";
import {
  apiKeys,
  authenticators,
  clientSignature,
  oauthProviders,
  optional,
  verificationToken,
} from "./credentials.ts";
import { name } from "./names.ts";
import type { PrivateKeyParams } from "./private_keys.ts";
import { type Static, Type } from "./schema.ts";
import { walletParams } from "./wallets.ts";

/** Sign-ups name a tag, because nobody knows the ids of tags of an organization that is still to be made. */
export const rootUserTag = optional(name("Name of a user tag, which is made and given to the user."));

const rootUser = Type.Object({
  userName: name("Human-readable name of the user."),
  userEmail: optionalEmail,
  userPhoneNumber: optionalPhoneNumber,
  userTag: rootUserTag,
  // Samples leave out empty lists, so a missing one is empty.
  apiKeys: optional(apiKeys),
  authenticators: optional(authenticators),
  oauthProviders: optional(oauthProviders),
});

export const createSubOrganizationParams = Type.Object({
  subOrganizationName: name("Human-readable name of the sub-organization."),
  rootUsers: Type.Array(rootUser, { maxItems: 100 }),
  rootQuorumThreshold: Type.Integer({
    minimum: -2147483648,
    maximum: 2147483647,
    description: "How many root users must approve.",
  }),
  wallet: optional(walletParams),
  disableEmailRecovery: optional(Type.Boolean()),
  disableEmailAuth: optional(Type.Boolean()),
  disableSmsAuth: optional(Type.Boolean()),
  disableOtpEmailAuth: optional(Type.Boolean()),
  verificationToken,
  clientSignature,
});

export type RootUserParams = Static<typeof rootUser>;
export type CreateSubOrganizationParams = Static<typeof createSubOrganizationParams> & {
  [ofOlderVersions]?: OlderParts;
};

/** What only older versions have. */
type OlderParts = {
  privateKeys?: readonly PrivateKeyParams[];
  /** How their client signature names what it is for. */
  signUpForm?: "signup";
};

/**
 * A name that no JSON can have: a body of the newest version cannot pass for one of them, whatever fields it has. Nothing has validated
 * those that its schema does not know.
 */
const ofOlderVersions: unique symbol = Symbol("of older versions");

export function withOlderParts<P extends object>(params: P, parts: OlderParts): P {
  return { ...params, [ofOlderVersions]: parts };
}

export function olderPartsOf(params: CreateSubOrganizationParams): OlderParts {
  return params[ofOlderVersions] ?? {};
}
