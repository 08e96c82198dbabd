/** What an organization consists of, as the signer's pages hold it. Times are milliseconds; ids are UUID text. */
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import type { Oauth2Provider } from "./oauth2_providers.ts";
import type { KeyRecordKind } from "./records.ts";
import type { KeyPlaces } from "./tag_places.ts";

export type ApiKey = {
  apiKeyId: string;
  apiKeyName: string;
  curve: ApiKeyCurve;
  /** Normalised: lower-case hex, compressed. */
  publicKey: string;
  /** `CREDENTIAL_TYPE_…`: long-lived keys and the several kinds of session keys are told apart by it. */
  type: string;
  expiresAtMs?: number;
  /** Of a login's key: the profile that bounds what the session may do, for as long as the key exists. Absent in the default session. */
  sessionProfileId?: string;
  /** Its holder has used it here, or it came with the organization: see proven.ts. Anyone can write down a stranger's public key. */
  proven?: true;
  createdAtMs: number;
  updatedAtMs: number;
};

/** A passkey: what is kept of its registration. Nothing of it but its mark changes: a stamp writes nothing. */
export type Authenticator = {
  authenticatorId: string;
  authenticatorName: string;
  /** Base64url of the raw id. Unique in its organization: stamps name the passkey by it. */
  credentialId: string;
  /** Hex of the stored form: a compressed point, or SubjectPublicKeyInfo of an RSA key. */
  publicKey: string;
  /** Hex of SHA-256 of the domain that it is for. */
  rpIdHash: string;
  /** The authenticator's model, as a UUID. */
  aaguid: string;
  /** The format of the attestation statement. */
  attestationType: string;
  transports: readonly string[];
  /** Of the registration, and compared with nothing. */
  counter: number;
  /** As with API keys. */
  proven?: true;
  createdAtMs: number;
  updatedAtMs: number;
};

/** An identity of a user at another issuer, who signs in with a token of it. */
export type OauthProvider = {
  providerId: string;
  providerName: string;
  /** The three claims that name it: unique together in an organization. */
  issuer: string;
  audience: string;
  subject: string;
  /** A verified token has named it. */
  proven?: true;
  createdAtMs: number;
  updatedAtMs: number;
};

/**
 * What has verified a contact, and what the mark ends with: an answered code, by a token that is bound to a key of its holder; the parent's
 * word, by a token that is bound to none; or the address in a token of an identity that the user has. `true` stands in marks of earlier
 * versions, which did not keep it.
 */
export type ContactMark =
  | { readonly by: "code" }
  | { readonly by: "parent" }
  | { readonly by: "identity"; readonly providerId: string }
  | true;

export type User = {
  userId: string;
  userName: string;
  userEmail?: string;
  /** This user is the one to whom the address leads: see contacts.ts. */
  emailVerified?: ContactMark;
  userPhoneNumber?: string;
  phoneVerified?: ContactMark;
  userTags: readonly string[];
  apiKeys: readonly ApiKey[];
  /** Absent where there is none. */
  authenticators?: readonly Authenticator[];
  /** Absent where there is none. */
  oauthProviders?: readonly OauthProvider[];
  createdAtMs: number;
  updatedAtMs: number;
};

export type UserTag = { tagId: string; tagName: string; createdAtMs: number; updatedAtMs: number };

export type RootQuorum = { threshold: number; userIds: readonly string[] };

export type Feature = { name: string; value?: string };

export type Settings = {
  organizationName: string;
  features: readonly Feature[];
  /** Set once, never cleared: nothing runs in a deleted organization, and its id is never born again. */
  deleted?: true;
  createdAtMs: number;
  updatedAtMs: number;
};

/** An approval as state keeps it. Rejecting ends an activity, so no rejection is ever pending. */
export type Approval = {
  userId: string;
  credentialId: string;
  /** Policies ask for it also when the credential is gone. Absent of API keys that are no session's: see `keptTypeOf`. */
  credentialType?: string;
  atMs: number;
};

/** An activity that waits for consensus. Its body proves itself by its hash, so only the hash is kept. */
export type PendingActivity = {
  /** Lower-case hex of SHA-256 over the submitted body. */
  fingerprint: string;
  activityId: string;
  proposerId: string;
  createdAtMs: number;
  approvals: readonly Approval[];
};

/** What differs from a key's record, or must not come back. A key that nothing happened to has none. */
export type KeyFacts = {
  id: string;
  kind: KeyRecordKind;
  name?: string;
  exported?: true;
  /** Set once, never cleared. */
  deleted?: true;
  updatedAtMs: number;
};

/** All that a state keeps of a deleted key. */
export type DeletedKey = { id: string; deleted: true; name?: never; exported?: never };

/** What a state knows about a key. */
export type KnownFacts = KeyFacts | DeletedKey;

export type PrivateKeyTag = { tagId: string; tagName: string; createdAtMs: number; updatedAtMs: number };

/** The tags that private keys carry from now on; other keys keep theirs. One change for all, however many carry a tag. */
export type TaggedPrivateKeys = { tagIds: readonly string[]; keys: readonly KeyPlaces[]; updatedAtMs: number };

/** A key pair to which one import can be encrypted. Its private half is sealed here, because it must not come back. */
export type ImportTarget = {
  targetId: string;
  userId: string;
  kind: "wallet" | "privateKey";
  /** Hex, uncompressed. */
  publicKey: string;
  /** Base64 of the sealed private key. */
  sealed: string;
  createdAtMs: number;
};

export type PolicyEffect = "EFFECT_ALLOW" | "EFFECT_DENY";

/** Who may do what, and when. Expressions are kept byte for byte as they were written; an empty one is always true. */
export type Policy = {
  policyId: string;
  policyName: string;
  effect: PolicyEffect;
  consensus: string;
  condition: string;
  time: string;
  notes: string;
  createdAtMs: number;
  updatedAtMs: number;
};

export type ContractInterfaceType = "ETHEREUM" | "SOLANA";

/** That calls of this contract or program are read by a certain interface. The interface's text is a record of its own. */
export type ContractInterface = {
  interfaceId: string;
  type: ContractInterfaceType;
  /** In lower case on Ethereum; as it is on Solana. */
  address: string;
  label: string;
  notes: string;
  /** Of the text, in bytes of UTF-8. */
  length: number;
  createdAtMs: number;
  updatedAtMs: number;
};

/**
 * What sessions may do that name it. It is never changed and never deleted, and its id derives from the body that made it: an id has one
 * scope for good. Only organizations without a parent have any; their sub-organizations' sessions name them too.
 */
export type SessionProfile = {
  sessionProfileId: string;
  sessionProfileName: string;
  /** A condition of the policy language, as it was written. */
  scope: string;
  /** The longest that a session may last. */
  expirationSeconds?: number;
  notes: string;
  createdAtMs: number;
  updatedAtMs: number;
};

/** A verification token that is bound to no key and has made its one login. It is known until nobody could use it any more. */
export type UsedToken = { tokenId: string; expiresAtMs: number };

export type IpAllowlistRule = {
  /** A normalised block of addresses. */
  cidr: string;
  label?: string;
  createdAtMs: number;
};

/** From which addresses requests may come: of the whole organization, or with one of its API keys. See rules/ip_allowlists.ts. */
export type IpAllowlist = {
  /** Of the API key that it is for, normalised; empty in the organization's own list. */
  publicKey: string;
  /** Of the organization's own list alone: that of a key counts while it has rules. */
  enabled?: true;
  rules: readonly IpAllowlistRule[];
  /** What is done where the address is not known. */
  onEvaluationError: "ALLOW" | "DENY";
  createdAtMs: number;
  updatedAtMs: number;
};

/** What an application signs users in to an OAuth 2.0 provider with. */
export type Oauth2Credential = {
  oauth2CredentialId: string;
  provider: Oauth2Provider;
  clientId: string;
  /** The envelope as it came, in hex: `core/src/crypto/client_secret_envelope.ts` opens it. */
  encryptedClientSecret: string;
  createdAtMs: number;
  updatedAtMs: number;
};

/** How the auth proxy lets strangers sign up and in. Absent texts are the defaults of what they are for. */
export type AuthProxySettings = {
  /** Origins of pages that may call it; `*` stands for all. */
  allowedOrigins: readonly string[];
  allowedAuthMethods: readonly AuthMethod[];
  sendFromEmailAddress?: string;
  sendFromEmailSenderName?: string;
  replyToEmailAddress?: string;
  emailAuthTemplateId?: string;
  otpTemplateId?: string;
  emailCustomization?: Readonly<
    Partial<Record<"appName" | "logoUrl" | "magicLinkTemplate" | "templateVariables" | "templateId", string>>
  >;
  smsTemplate?: string;
  enabledSocialProviders: readonly SocialProvider[];
  oauthClientIds: Readonly<Partial<Record<SocialProvider, string>>>;
  oauthRedirectUrl?: string;
  otpExpirationSeconds: number;
  verificationTokenExpirationSeconds: number;
  sessionExpirationSeconds: number;
  otpAlphanumeric: boolean;
  otpLength: number;
  verificationTokenRequiredForGetAccountPii: boolean;
  socialLinkingClientIds: readonly string[];
  captchaEnabled: boolean;
};

export const authMethods = ["email", "sms", "passkey", "wallet", "oauth"] as const;
export type AuthMethod = (typeof authMethods)[number];

export const socialProviders = ["google", "apple", "facebook", "x", "discord"] as const;
export type SocialProvider = (typeof socialProviders)[number];

/**
 * The auth proxy of an organization without a parent: at most one. Whether it is on says the feature `FEATURE_NAME_AUTH_PROXY`. It is never
 * removed, and neither is its user: a policy that denies it something goes on denying it.
 */
export type AuthProxy = {
  configId: string;
  /** Who its activities are proposed by. This user never has a credential, a contact or a seat in the quorum. */
  userId: string;
  settings: AuthProxySettings;
  createdAtMs: number;
  updatedAtMs: number;
};

/** A log of the deployment, which the first organization lists. Nothing of it is ever changed or removed. */
export type ListedLog = {
  /** Hex, like all bytes here. */
  logId: string;
  openedAtMs: number;
  /** The log that it follows, and how far that had come as far as is known. */
  previous?: { logId: string; size: number; root: string };
};

/** How many there are, for the limits, and how many of both kinds were exported; none when absent. */
export type KeyCounts = {
  wallets: number;
  privateKeys: number;
  exported?: number;
};

/** Every kind of thing an activity can change, by the name changes carry. */
export type Entities = {
  user: User;
  userTag: UserTag;
  rootQuorum: RootQuorum;
  settings: Settings;
  pendingActivity: PendingActivity;
  keyFacts: KeyFacts;
  privateKeyTag: PrivateKeyTag;
  taggedPrivateKeys: TaggedPrivateKeys;
  importTarget: ImportTarget;
  keyCounts: KeyCounts;
  policy: Policy;
  contractInterface: ContractInterface;
  sessionProfile: SessionProfile;
  usedToken: UsedToken;
  ipAllowlist: IpAllowlist;
  oauth2Credential: Oauth2Credential;
  authProxy: AuthProxy;
  log: ListedLog;
};

export type EntityKind = keyof Entities;

/**
 * One effect of an activity, as data: the signer applies it to pages, the gateway to tables. `keepsParts`, on its way to the gateway: what
 * the entity holds a list of is as it was, and is left out.
 */
export type Change = {
  [K in EntityKind]:
    | { op: "put"; kind: K; value: Entities[K]; keepsParts?: true }
    | { op: "remove"; kind: K; id: string };
}[EntityKind];

export function put<K extends EntityKind>(kind: K, value: Entities[K]): Change {
  return { op: "put", kind, value } as Change;
}

export function remove(kind: EntityKind, id: string): Change {
  return { op: "remove", kind, id };
}
