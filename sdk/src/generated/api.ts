// Written by `npm run generate` from the endpoint declarations. Do not edit.

export const version = "0.1.0";

/** A point in time. */
export type Timestamp = {
  /** Whole seconds since the epoch. */
  seconds: string;
  /** Nanoseconds within the second. */
  nanos: string;
};

/** What a user authenticates with. */
export type Credential = {
  /** Public component of the key pair, in hex. */
  publicKey: string;
  /** `CREDENTIAL_TYPE_…`: what the credential is, and for sessions how it was obtained. */
  type: string;
  /** The session profile that bounds what the session may do, if it has one. */
  sessionProfileId?: string;
};

/** An API key of a user. */
export type ApiKey = {
  credential: Credential;
  /** Unique identifier of the API key. */
  apiKeyId: string;
  /** Human-readable name of the API key. */
  apiKeyName: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** Lifetime in seconds since the key's creation; absent when it never expires. */
  expirationSeconds?: string;
};

/** A passkey of a user. */
export type Authenticator = {
  /** How browsers can reach the passkey. */
  transports: string[];
  /** Format of the attestation that it was registered with. */
  attestationType: string;
  /** Model of the authenticator, as a UUID. */
  aaguid: string;
  /** The authenticator's own id of the passkey, base64url. */
  credentialId: string;
  /** Name of the model; empty where it is not known. */
  model: string;
  credential: Credential;
  /** Unique identifier of the passkey. */
  authenticatorId: string;
  /** Human-readable name of the passkey. */
  authenticatorName: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** An OpenID Connect identity of a user. */
export type OauthProvider = {
  /** Unique identifier of the link. */
  providerId: string;
  /** Human-readable name of the identity provider. */
  providerName: string;
  /** Issuer of the identity: the claim `iss`. */
  issuer: string;
  /** Application that the identity is for: the claim `aud`. */
  audience: string;
  /** The user at the issuer: the claim `sub`. */
  subject: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** A user of an organization. */
export type User = {
  /** Unique identifier of the user. */
  userId: string;
  /** Human-readable name of the user. */
  userName: string;
  /** E-mail address. */
  userEmail?: string;
  /** Phone number in E.164 form. */
  userPhoneNumber?: string;
  authenticators: Authenticator[];
  apiKeys: ApiKey[];
  /** Ids of the user's tags. */
  userTags: string[];
  oauthProviders: OauthProvider[];
  /** When the user must authenticate in more than one way. */
  mfaPolicies: unknown[];
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** A label of users or private keys. */
export type Tag = {
  /** Unique identifier of the tag. */
  tagId: string;
  /** Human-readable name of the tag. */
  tagName: string;
  tagType: "TAG_TYPE_USER" | "TAG_TYPE_PRIVATE_KEY";
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** A key pair outside of any wallet. */
export type PrivateKey = {
  /** Unique identifier of the private key. */
  privateKeyId: string;
  /** Public component of the key pair, in hex; uncompressed where the curve has that form. */
  publicKey: string;
  /** Human-readable name of the private key. */
  privateKeyName: string;
  /** Curve of the key. */
  curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
  addresses: {
    /** `ADDRESS_FORMAT_…`: how the address is written. */
    format: string;
    /** The address. */
    address: string;
  }[];
  /** Ids of the private key's tags. */
  privateKeyTags: string[];
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** Whether it has been exported. */
  exported: boolean;
  /** Whether it came by import. */
  imported: boolean;
};

/** A mnemonic from which accounts are derived. */
export type Wallet = {
  /** Unique identifier of the wallet. */
  walletId: string;
  /** Human-readable name of the wallet. */
  walletName: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** Whether its mnemonic has been exported. */
  exported: boolean;
  /** Whether its mnemonic came from outside. */
  imported: boolean;
};

/** A key pair that is derived from a wallet, with its address. */
export type WalletAccount = {
  /** Unique identifier of the account. */
  walletAccountId: string;
  /** The organization it belongs to. */
  organizationId: string;
  /** The wallet it is derived from. */
  walletId: string;
  /** Curve of the key. */
  curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
  /** How the path is written. */
  pathFormat: "PATH_FORMAT_BIP32";
  /** Path below the wallet's seed, as it was asked for. */
  path: string;
  /** How the address is written. */
  addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST";
  /** The address. */
  address: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** Public key in hex, compressed. */
  publicKey?: string;
  walletDetails?: Wallet;
  /** Human-readable name of the account. */
  name?: string;
  /** CAIP-2 namespace of the chains that use such addresses. */
  caip2Prefix?: string;
};

/** A rule about who may do what, and when. */
export type Policy = {
  /** Unique identifier of the policy. */
  policyId: string;
  /** Human-readable name of the policy. */
  policyName: string;
  /** Whether what the policy applies to is allowed or denied. */
  effect: "EFFECT_ALLOW" | "EFFECT_DENY";
  /** Who must approve, as it was written; empty when anybody may. */
  consensus: string;
  /** What the policy is about, as it was written; empty when it is everything. */
  condition: string;
  /** When the policy holds, as it was written; empty when always. */
  time: string;
  /** Notes for people. */
  notes: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** Why a policy came to its outcome. */
export type PolicyExplanation = {
  /** The policy. */
  policyId: string;
  /** What it came to. */
  outcome: "OUTCOME_ALLOW" | "OUTCOME_DENY_EXPLICIT" | "OUTCOME_DENY_IMPLICIT" | "OUTCOME_REQUIRES_CONSENSUS" | "OUTCOME_REJECTED" | "OUTCOME_ERROR" | "OUTCOME_REQUIRES_AUTHENTICATORS" | "OUTCOME_TIME_INACTIVE";
  /** The expression that settled it. */
  expression?: "consensus" | "condition" | "time";
  /** The part of that expression that settled it, as written. */
  clause?: string;
  /** Where the clause begins in the expression. */
  start?: number;
  /** Where it ends. */
  end?: number;
  /** What the names in the clause stood for. */
  observed: Record<string, string>;
  /** Why the policy could not be evaluated, or did not apply. */
  reason?: string;
};

/** What the policies said about one vote. */
export type PolicyEvaluation = {
  /** Unique identifier of the evaluation. */
  id: string;
  /** The activity that was voted on. */
  activityId: string;
  /** The organization the activity runs in. */
  organizationId: string;
  /** The vote that led to the evaluation. */
  voteId: string;
  /** Every policy of that moment with its outcome; empty when the root quorum decided. */
  policyEvaluations: {
    /** The policy. */
    policyId: string;
    outcome: "OUTCOME_ALLOW" | "OUTCOME_DENY_EXPLICIT" | "OUTCOME_DENY_IMPLICIT" | "OUTCOME_REQUIRES_CONSENSUS" | "OUTCOME_REJECTED" | "OUTCOME_ERROR" | "OUTCOME_REQUIRES_AUTHENTICATORS" | "OUTCOME_TIME_INACTIVE";
  }[];
  createdAt: Timestamp;
  /** Why each policy came to its outcome. */
  details: PolicyExplanation[];
};

/** How calls of a contract or program are read, for policies. */
export type SmartContractInterface = {
  /** The organization it belongs to. */
  organizationId: string;
  /** Unique identifier of the interface. */
  smartContractInterfaceId: string;
  /** Address of the contract, in lower case on Ethereum; or id of the program. */
  smartContractAddress: string;
  /** The ABI or IDL as it came: JSON as text. */
  smartContractInterface: string;
  /** Whether it is an ABI or an IDL. */
  type: "ETHEREUM" | "SOLANA";
  /** Human-readable name of the interface. */
  label: string;
  /** Notes for people. */
  notes: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** What sessions may do, and how long they last. It is never changed. */
export type SessionProfile = {
  /** Unique identifier of the session profile. */
  sessionProfileId: string;
  /** Human-readable name of the session profile. */
  sessionProfileName: string;
  /** What sessions with this profile may submit, as it was written. */
  scope: string;
  /** The longest that a session may last, in seconds; absent when unbounded. */
  expirationSeconds?: string;
  /** Notes for people. */
  notes: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** What an application signs users in to an OAuth 2.0 provider with. */
export type Oauth2Credential = {
  /** Unique identifier of the OAuth 2.0 credential. */
  oauth2CredentialId: string;
  /** Unique identifier of the organization. */
  organizationId: string;
  /** The OAuth 2.0 provider. */
  provider: string;
  /** The client id that the provider has issued. */
  clientId: string;
  /** The client secret, encrypted, as it came. */
  encryptedClientSecret: string;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** From which addresses requests may come. */
export type IpAllowlist = {
  /** Unique identifier of the organization. */
  organizationId: string;
  rules: {
    /** A block of addresses. */
    cidr: string;
    /** What the block is, for people. */
    label?: string;
    /** When the rule was set, in milliseconds since the epoch. */
    createdAt: string;
  }[];
  /** Public key of the API key that the list is for. */
  publicKey?: string;
  /** Whether the organization's list counts. */
  enabled?: boolean;
  /** What happens to a request whose address is not known. */
  onEvaluationError?: string;
};

/** A statement about one execution, signed by the application that executed it. */
export type AppProof = {
  scheme: "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256";
  /** Hex of the signer's keys of its start: encryption ‖ signing, 65 bytes each; `get_boot_proof` knows them. */
  publicKey: string;
  /** JSON-serialized payload: its type, the time, the activity and what is proven. */
  proofPayload: string;
  /** Hex of r ‖ s, over SHA-256 of proofPayload as it is. */
  signature: string;
};

/** A user's approval or rejection of an activity, with the bytes and the signature that prove it. */
export type Vote = {
  /** Unique identifier of the vote. */
  id: string;
  /** The voting user. */
  userId: string;
  user: User;
  /** The activity voted on. */
  activityId: string;
  selection: "VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED";
  /** The request body that was stamped; absent until the bearer values in it have expired. Of a request through the auth proxy nothing is stamped, and it has `sha256:…` in their place until then. */
  message?: string;
  /** The public key of the stamp. */
  publicKey: string;
  /** The signature of the stamp. */
  signature: string;
  /** The signature scheme of the stamp. */
  scheme: string;
  createdAt: Timestamp;
};

/** Why an activity failed. */
export type Failure = {
  /** gRPC status code. */
  code: number;
  /** What went wrong. */
  message: string;
  details: Record<string, unknown>[];
};

/** The record of one state-changing request. */
export type Activity = {
  /** Unique identifier of the activity. */
  id: string;
  /** The organization the activity ran in. */
  organizationId: string;
  status: "ACTIVITY_STATUS_CREATED" | "ACTIVITY_STATUS_PENDING" | "ACTIVITY_STATUS_COMPLETED" | "ACTIVITY_STATUS_FAILED" | "ACTIVITY_STATUS_CONSENSUS_NEEDED" | "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED" | "ACTIVITY_STATUS_REJECTED";
  /** The activity type that was sent, with its version. */
  type: string;
  /** One key, named per endpoint, that echoes the parameters. */
  intent: Record<string, unknown>;
  /** One key, named per endpoint, with the result fields; empty until the activity is completed. */
  result: Record<string, unknown>;
  votes: Vote[];
  appProofs?: AppProof[];
  /** `sha256:` and the hash of the request body: the same bytes are the same activity. */
  fingerprint: string;
  /** Whether the activity can be approved now. */
  canApprove: boolean;
  /** Whether the activity can be rejected now. */
  canReject: boolean;
  /** RFC 3339, UTC. */
  createdAt: string;
  /** RFC 3339, UTC. */
  updatedAt: string;
  failure?: Failure;
};

/** The body of every answer that is not 200. */
export type ErrorBody = {
  /** gRPC status code. */
  code: number;
  /** What went wrong. */
  message: string;
  details: Record<string, unknown>[];
  /** Stable name of this failure, or empty. */
  errorCode: string;
};

export type ApproveActivityParams = {
  /** `sha256:` and the hash of the request body of an activity. */
  fingerprint: string;
};

export type ApproveActivityRequest = {
  type: "ACTIVITY_TYPE_APPROVE_ACTIVITY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: ApproveActivityParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type ApproveActivityResponse = {
  activity: Activity;
};

export type CreateApiKeysParams = {
  apiKeys: readonly {
    /** Human-readable name of the API key. */
    apiKeyName: string;
    /** Public component of the key pair, in hex. */
    publicKey: string;
    /** Curve of the key pair. */
    curveType: "API_KEY_CURVE_P256" | "API_KEY_CURVE_SECP256K1" | "API_KEY_CURVE_ED25519";
    expirationSeconds?: string | null;
  }[];
  /** Unique identifier. */
  userId: string;
};

export type CreateApiKeysResult = {
  apiKeyIds: string[];
};

export type CreateApiKeysRequest = {
  type: "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateApiKeysParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateApiKeysResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
    intent?: {
      createApiKeysIntentV2: CreateApiKeysParams;
    };
    result?: {
      createApiKeysResult?: CreateApiKeysResult;
    };
  };
};

export type CreateApiOnlyUsersParams = {
  apiOnlyUsers: readonly {
    /** Human-readable name of the user. */
    userName: string;
    userEmail?: string | null;
    userTags: readonly string[];
    /** API keys. */
    apiKeys: readonly {
      /** Human-readable name of the API key. */
      apiKeyName: string;
      /** Public component of the key pair, in hex. */
      publicKey: string;
      expirationSeconds?: string | null;
    }[];
  }[];
};

export type CreateApiOnlyUsersResult = {
  userIds: string[];
};

export type CreateApiOnlyUsersRequest = {
  type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateApiOnlyUsersParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateApiOnlyUsersResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS";
    intent?: {
      createApiOnlyUsersIntent: CreateApiOnlyUsersParams;
    };
    result?: {
      createApiOnlyUsersResult?: CreateApiOnlyUsersResult;
    };
  };
};

export type CreateAuthenticatorsParams = {
  authenticators: readonly {
    /** Human-readable name of the passkey. */
    authenticatorName: string;
    /** The challenge that was presented. */
    challenge: string;
    attestation: {
      /** Id of the credential, base64url. */
      credentialId: string;
      /** Signing context and challenge, base64url. */
      clientDataJson: string;
      /** Authenticator data, base64url. */
      attestationObject: string;
      /** How the passkey can be reached. */
      transports: readonly ("AUTHENTICATOR_TRANSPORT_BLE" | "AUTHENTICATOR_TRANSPORT_INTERNAL" | "AUTHENTICATOR_TRANSPORT_NFC" | "AUTHENTICATOR_TRANSPORT_USB" | "AUTHENTICATOR_TRANSPORT_HYBRID")[];
    };
  }[];
  /** Unique identifier. */
  userId: string;
};

export type CreateAuthenticatorsResult = {
  authenticatorIds: string[];
};

export type CreateAuthenticatorsRequest = {
  type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateAuthenticatorsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateAuthenticatorsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2";
    intent?: {
      createAuthenticatorsIntentV2: CreateAuthenticatorsParams;
    };
    result?: {
      createAuthenticatorsResult?: CreateAuthenticatorsResult;
    };
  };
};

export type CreateOauth2CredentialParams = {
  /** The OAuth 2.0 provider. */
  provider: "OAUTH2_PROVIDER_ALPHA" | "OAUTH2_PROVIDER_BETA" | "OAUTH2_PROVIDER_X" | "OAUTH2_PROVIDER_DISCORD";
  /** The client id that the provider has issued. */
  clientId: string;
  /** The client secret that the provider has issued, encrypted to the service key `clientSecretEncryption`. */
  encryptedClientSecret: string;
};

export type CreateOauth2CredentialResult = {
  /** Unique identifier. */
  oauth2CredentialId: string;
};

export type CreateOauth2CredentialRequest = {
  type: "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateOauth2CredentialParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateOauth2CredentialResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL";
    intent?: {
      createOauth2CredentialIntent: CreateOauth2CredentialParams;
    };
    result?: {
      createOauth2CredentialResult?: CreateOauth2CredentialResult;
    };
  };
};

export type CreateOauthProvidersParams = {
  /** Unique identifier. */
  userId: string;
  /** Identities at OpenID Connect issuers; a user has at most ten. */
  oauthProviders: readonly {
    /** Human-readable name of the identity provider. */
    providerName: string;
    oidcToken?: string | null;
    oidcClaims?: {
      iss: string;
      sub: string;
      aud: string;
    } | null;
  }[];
};

export type CreateOauthProvidersResult = {
  providerIds: string[];
};

export type CreateOauthProvidersRequest = {
  type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateOauthProvidersParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateOauthProvidersResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2";
    intent?: {
      createOauthProvidersIntentV2: CreateOauthProvidersParams;
    };
    result?: {
      createOauthProvidersResultV2?: CreateOauthProvidersResult;
    };
  };
};

export type CreatePoliciesParams = {
  policies: readonly {
    /** Human-readable name of the policy. */
    policyName: string;
    /** Whether what the policy applies to is allowed or denied. */
    effect: "EFFECT_ALLOW" | "EFFECT_DENY";
    condition?: string | null;
    consensus?: string | null;
    time?: string | null;
    notes?: string | null;
  }[];
};

export type CreatePoliciesResult = {
  policyIds: string[];
};

export type CreatePoliciesRequest = {
  type: "ACTIVITY_TYPE_CREATE_POLICIES";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreatePoliciesParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreatePoliciesResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_POLICIES";
    intent?: {
      createPoliciesIntent: CreatePoliciesParams;
    };
    result?: {
      createPoliciesResult?: CreatePoliciesResult;
    };
  };
};

export type CreatePolicyParams = {
  /** Human-readable name of the policy. */
  policyName: string;
  /** Whether what the policy applies to is allowed or denied. */
  effect: "EFFECT_ALLOW" | "EFFECT_DENY";
  condition?: string | null;
  consensus?: string | null;
  time?: string | null;
  notes?: string | null;
};

export type CreatePolicyResult = {
  /** Unique identifier. */
  policyId: string;
};

export type CreatePolicyRequest = {
  type: "ACTIVITY_TYPE_CREATE_POLICY_V3";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreatePolicyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreatePolicyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_POLICY_V3";
    intent?: {
      createPolicyIntentV3: CreatePolicyParams;
    };
    result?: {
      createPolicyResult?: CreatePolicyResult;
    };
  };
};

export type CreatePrivateKeyTagParams = {
  /** Human-readable name of the tag. */
  privateKeyTagName: string;
  privateKeyIds: readonly string[];
};

export type CreatePrivateKeyTagResult = {
  /** Unique identifier. */
  privateKeyTagId: string;
  privateKeyIds: string[];
};

export type CreatePrivateKeyTagRequest = {
  type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreatePrivateKeyTagParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreatePrivateKeyTagResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG";
    intent?: {
      createPrivateKeyTagIntent: CreatePrivateKeyTagParams;
    };
    result?: {
      createPrivateKeyTagResult?: CreatePrivateKeyTagResult;
    };
  };
};

export type CreatePrivateKeysParams = {
  privateKeys: readonly {
    /** Human-readable name of the private key. */
    privateKeyName: string;
    /** Curve of the key. */
    curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
    privateKeyTags?: readonly string[] | null;
    addressFormats: readonly ("ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST")[];
  }[];
};

export type CreatePrivateKeysResult = {
  privateKeys: {
    /** Unique identifier of the private key. */
    privateKeyId: string;
    addresses: {
      /** `ADDRESS_FORMAT_…`: how the address is written. */
      format: string;
      /** The address. */
      address: string;
    }[];
  }[];
};

export type CreatePrivateKeysRequest = {
  type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreatePrivateKeysParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreatePrivateKeysResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2";
    intent?: {
      createPrivateKeysIntentV2: CreatePrivateKeysParams;
    };
    result?: {
      createPrivateKeysResultV2?: CreatePrivateKeysResult;
    };
  };
};

export type CreateReadOnlySessionParams = Record<string, never>;

export type CreateReadOnlySessionResult = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Human-readable name of the organization. */
  organizationName: string;
  /** Unique identifier. */
  userId: string;
  /** Human-readable name of the user. */
  username: string;
  /** Value of the X-Session header; empty once it is over, and to everybody else. */
  session: string;
  /** When it ends, in seconds since 1970, as a decimal string. */
  sessionExpiry: string;
};

export type CreateReadOnlySessionRequest = {
  type: "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateReadOnlySessionParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateReadOnlySessionResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION";
    intent?: {
      createReadOnlySessionIntent: CreateReadOnlySessionParams;
    };
    result?: {
      createReadOnlySessionResult?: CreateReadOnlySessionResult;
    };
  };
};

export type CreateReadWriteSessionParams = {
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
  userId?: string | null;
  apiKeyName?: string | null;
  expirationSeconds?: string | null;
  invalidateExisting?: boolean | null;
};

export type CreateReadWriteSessionResult = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Human-readable name of the organization. */
  organizationName: string;
  /** Unique identifier. */
  userId: string;
  /** Human-readable name of the user. */
  username: string;
  /** Unique identifier. */
  apiKeyId: string;
  /** The session's private key, encrypted to the target public key. */
  credentialBundle: string;
};

export type CreateReadWriteSessionRequest = {
  type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateReadWriteSessionParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateReadWriteSessionResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2";
    intent?: {
      createReadWriteSessionIntentV2: CreateReadWriteSessionParams;
    };
    result?: {
      createReadWriteSessionResultV2?: CreateReadWriteSessionResult;
    };
  };
};

export type CreateSessionProfileParams = {
  /** Human-readable name of the session profile. */
  sessionProfileName: string;
  /** What sessions with this profile may submit: an expression over the activity and its payload. */
  scope: string;
  expirationSeconds?: string | null;
  notes?: string | null;
};

export type CreateSessionProfileResult = {
  /** Unique identifier. */
  sessionProfileId: string;
};

export type CreateSessionProfileRequest = {
  type: "ACTIVITY_TYPE_CREATE_SESSION_PROFILE";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateSessionProfileParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateSessionProfileResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_SESSION_PROFILE";
    intent?: {
      createSessionProfileIntent: CreateSessionProfileParams;
    };
    result?: {
      createSessionProfileResult?: CreateSessionProfileResult;
    };
  };
};

export type CreateSmartContractInterfaceParams = {
  /** Address of the contract, or id of the program. */
  smartContractAddress: string;
  /** The ABI or IDL: JSON as text, at most 400 KiB. */
  smartContractInterface: string;
  /** Whether it is an ABI or an IDL. */
  type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM" | "SMART_CONTRACT_INTERFACE_TYPE_SOLANA";
  /** Human-readable name of the interface. */
  label: string;
  notes?: string | null;
};

export type CreateSmartContractInterfaceResult = {
  /** Unique identifier. */
  smartContractInterfaceId: string;
};

export type CreateSmartContractInterfaceRequest = {
  type: "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateSmartContractInterfaceParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateSmartContractInterfaceResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE";
    intent?: {
      createSmartContractInterfaceIntent: CreateSmartContractInterfaceParams;
    };
    result?: {
      createSmartContractInterfaceResult?: CreateSmartContractInterfaceResult;
    };
  };
};

export type CreateSubOrganizationParams = {
  /** Human-readable name of the sub-organization. */
  subOrganizationName: string;
  rootUsers: readonly {
    /** Human-readable name of the user. */
    userName: string;
    userEmail?: string | null;
    userPhoneNumber?: string | null;
    userTag?: string | null;
    apiKeys?: readonly {
      /** Human-readable name of the API key. */
      apiKeyName: string;
      /** Public component of the key pair, in hex. */
      publicKey: string;
      /** Curve of the key pair. */
      curveType: "API_KEY_CURVE_P256" | "API_KEY_CURVE_SECP256K1" | "API_KEY_CURVE_ED25519";
      expirationSeconds?: string | null;
    }[] | null;
    authenticators?: readonly {
      /** Human-readable name of the passkey. */
      authenticatorName: string;
      /** The challenge that was presented. */
      challenge: string;
      attestation: {
        /** Id of the credential, base64url. */
        credentialId: string;
        /** Signing context and challenge, base64url. */
        clientDataJson: string;
        /** Authenticator data, base64url. */
        attestationObject: string;
        /** How the passkey can be reached. */
        transports: readonly ("AUTHENTICATOR_TRANSPORT_BLE" | "AUTHENTICATOR_TRANSPORT_INTERNAL" | "AUTHENTICATOR_TRANSPORT_NFC" | "AUTHENTICATOR_TRANSPORT_USB" | "AUTHENTICATOR_TRANSPORT_HYBRID")[];
      };
    }[] | null;
    oauthProviders?: readonly {
      /** Human-readable name of the identity provider. */
      providerName: string;
      oidcToken?: string | null;
      oidcClaims?: {
        iss: string;
        sub: string;
        aud: string;
      } | null;
    }[] | null;
  }[];
  /** How many root users must approve. */
  rootQuorumThreshold: number;
  wallet?: {
    /** Human-readable name of the wallet, unique in the organization. */
    walletName: string;
    /** Accounts, may be empty. */
    accounts: readonly {
      /** Curve of the key. */
      curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
      /** How the path is written. */
      pathFormat: "PATH_FORMAT_BIP32";
      /** Path of the account below the wallet's seed. */
      path: string;
      /** How the address is written. */
      addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST";
      name?: string | null;
    }[];
    mnemonicLength?: 12 | 15 | 18 | 21 | 24 | null;
  } | null;
  disableEmailRecovery?: boolean | null;
  disableEmailAuth?: boolean | null;
  disableSmsAuth?: boolean | null;
  disableOtpEmailAuth?: boolean | null;
  verificationToken?: string | null;
  clientSignature?: {
    /** Public component of the key pair, in hex. */
    publicKey: string;
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256";
    /** The signed message. */
    message: string;
    /** The signature over the message. */
    signature: string;
  } | null;
};

export type CreateSubOrganizationResult = {
  /** Unique identifier of an organization. */
  subOrganizationId: string;
  wallet?: {
    /** Unique identifier of the wallet. */
    walletId: string;
    /** The accounts' addresses, in the order asked for. */
    addresses: string[];
  };
  rootUserIds?: string[];
};

export type CreateSubOrganizationRequest = {
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateSubOrganizationParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateSubOrganizationResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
    intent?: {
      createSubOrganizationIntentV8: CreateSubOrganizationParams;
    };
    result?: {
      createSubOrganizationResultV8?: CreateSubOrganizationResult;
    };
  };
};

export type CreateUserTagParams = {
  /** Human-readable name of the tag. */
  userTagName: string;
  userIds: readonly string[];
};

export type CreateUserTagResult = {
  /** Unique identifier. */
  userTagId: string;
  userIds: string[];
};

export type CreateUserTagRequest = {
  type: "ACTIVITY_TYPE_CREATE_USER_TAG";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateUserTagParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateUserTagResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_USER_TAG";
    intent?: {
      createUserTagIntent: CreateUserTagParams;
    };
    result?: {
      createUserTagResult?: CreateUserTagResult;
    };
  };
};

export type CreateUsersParams = {
  users: readonly {
    /** Human-readable name of the user. */
    userName: string;
    userEmail?: string | null;
    userPhoneNumber?: string | null;
    /** API keys. */
    apiKeys: readonly {
      /** Human-readable name of the API key. */
      apiKeyName: string;
      /** Public component of the key pair, in hex. */
      publicKey: string;
      /** Curve of the key pair. */
      curveType: "API_KEY_CURVE_P256" | "API_KEY_CURVE_SECP256K1" | "API_KEY_CURVE_ED25519";
      expirationSeconds?: string | null;
    }[];
    /** Passkeys. */
    authenticators: readonly {
      /** Human-readable name of the passkey. */
      authenticatorName: string;
      /** The challenge that was presented. */
      challenge: string;
      attestation: {
        /** Id of the credential, base64url. */
        credentialId: string;
        /** Signing context and challenge, base64url. */
        clientDataJson: string;
        /** Authenticator data, base64url. */
        attestationObject: string;
        /** How the passkey can be reached. */
        transports: readonly ("AUTHENTICATOR_TRANSPORT_BLE" | "AUTHENTICATOR_TRANSPORT_INTERNAL" | "AUTHENTICATOR_TRANSPORT_NFC" | "AUTHENTICATOR_TRANSPORT_USB" | "AUTHENTICATOR_TRANSPORT_HYBRID")[];
      };
    }[];
    /** Identities at OpenID Connect issuers; a user has at most ten. */
    oauthProviders: readonly {
      /** Human-readable name of the identity provider. */
      providerName: string;
      oidcToken?: string | null;
      oidcClaims?: {
        iss: string;
        sub: string;
        aud: string;
      } | null;
    }[];
    userTags: readonly string[];
  }[];
};

export type CreateUsersResult = {
  userIds: string[];
};

export type CreateUsersRequest = {
  type: "ACTIVITY_TYPE_CREATE_USERS_V4";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateUsersParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateUsersResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_USERS_V4";
    intent?: {
      createUsersIntentV4: CreateUsersParams;
    };
    result?: {
      createUsersResult?: CreateUsersResult;
    };
  };
};

export type CreateWalletParams = {
  /** Human-readable name of the wallet, unique in the organization. */
  walletName: string;
  /** Accounts, may be empty. */
  accounts: readonly {
    /** Curve of the key. */
    curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
    /** How the path is written. */
    pathFormat: "PATH_FORMAT_BIP32";
    /** Path of the account below the wallet's seed. */
    path: string;
    /** How the address is written. */
    addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST";
    name?: string | null;
  }[];
  mnemonicLength?: 12 | 15 | 18 | 21 | 24 | null;
};

export type CreateWalletResult = {
  /** Unique identifier of the wallet. */
  walletId: string;
  /** The accounts' addresses, in the order asked for. */
  addresses: string[];
};

export type CreateWalletRequest = {
  type: "ACTIVITY_TYPE_CREATE_WALLET";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateWalletParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateWalletResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_WALLET";
    intent?: {
      createWalletIntent: CreateWalletParams;
    };
    result?: {
      createWalletResult?: CreateWalletResult;
    };
  };
};

export type CreateWalletAccountsParams = {
  /** Unique identifier. */
  walletId: string;
  /** Accounts, may be empty. */
  accounts: readonly {
    /** Curve of the key. */
    curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
    /** How the path is written. */
    pathFormat: "PATH_FORMAT_BIP32";
    /** Path of the account below the wallet's seed. */
    path: string;
    /** How the address is written. */
    addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST";
    name?: string | null;
  }[];
  persist?: boolean | null;
};

export type CreateWalletAccountsResult = {
  /** The accounts' addresses, in the order asked for. */
  addresses: string[];
};

export type CreateWalletAccountsRequest = {
  type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: CreateWalletAccountsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type CreateWalletAccountsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS";
    intent?: {
      createWalletAccountsIntent: CreateWalletAccountsParams;
    };
    result?: {
      createWalletAccountsResult?: CreateWalletAccountsResult;
    };
  };
};

export type DeleteApiKeysParams = {
  /** Unique identifier. */
  userId: string;
  apiKeyIds: readonly string[];
};

export type DeleteApiKeysResult = {
  apiKeyIds: string[];
};

export type DeleteApiKeysRequest = {
  type: "ACTIVITY_TYPE_DELETE_API_KEYS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteApiKeysParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteApiKeysResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_API_KEYS";
    intent?: {
      deleteApiKeysIntent: DeleteApiKeysParams;
    };
    result?: {
      deleteApiKeysResult?: DeleteApiKeysResult;
    };
  };
};

export type DeleteAuthenticatorsParams = {
  /** Unique identifier. */
  userId: string;
  authenticatorIds: readonly string[];
};

export type DeleteAuthenticatorsResult = {
  authenticatorIds: string[];
};

export type DeleteAuthenticatorsRequest = {
  type: "ACTIVITY_TYPE_DELETE_AUTHENTICATORS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteAuthenticatorsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteAuthenticatorsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_AUTHENTICATORS";
    intent?: {
      deleteAuthenticatorsIntent: DeleteAuthenticatorsParams;
    };
    result?: {
      deleteAuthenticatorsResult?: DeleteAuthenticatorsResult;
    };
  };
};

export type DeleteOauth2CredentialParams = {
  /** Unique identifier. */
  oauth2CredentialId: string;
};

export type DeleteOauth2CredentialResult = {
  /** Unique identifier. */
  oauth2CredentialId: string;
};

export type DeleteOauth2CredentialRequest = {
  type: "ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteOauth2CredentialParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteOauth2CredentialResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL";
    intent?: {
      deleteOauth2CredentialIntent: DeleteOauth2CredentialParams;
    };
    result?: {
      deleteOauth2CredentialResult?: DeleteOauth2CredentialResult;
    };
  };
};

export type DeleteOauthProvidersParams = {
  /** Unique identifier. */
  userId: string;
  providerIds: readonly string[];
};

export type DeleteOauthProvidersResult = {
  providerIds: string[];
};

export type DeleteOauthProvidersRequest = {
  type: "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteOauthProvidersParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteOauthProvidersResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS";
    intent?: {
      deleteOauthProvidersIntent: DeleteOauthProvidersParams;
    };
    result?: {
      deleteOauthProvidersResult?: DeleteOauthProvidersResult;
    };
  };
};

export type DeletePoliciesParams = {
  policyIds: readonly string[];
};

export type DeletePoliciesResult = {
  policyIds: string[];
};

export type DeletePoliciesRequest = {
  type: "ACTIVITY_TYPE_DELETE_POLICIES";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeletePoliciesParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeletePoliciesResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_POLICIES";
    intent?: {
      deletePoliciesIntent: DeletePoliciesParams;
    };
    result?: {
      deletePoliciesResult?: DeletePoliciesResult;
    };
  };
};

export type DeletePolicyParams = {
  /** Unique identifier. */
  policyId: string;
};

export type DeletePolicyResult = {
  /** Unique identifier. */
  policyId: string;
};

export type DeletePolicyRequest = {
  type: "ACTIVITY_TYPE_DELETE_POLICY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeletePolicyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeletePolicyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_POLICY";
    intent?: {
      deletePolicyIntent: DeletePolicyParams;
    };
    result?: {
      deletePolicyResult?: DeletePolicyResult;
    };
  };
};

export type DeletePrivateKeyTagsParams = {
  privateKeyTagIds: readonly string[];
};

export type DeletePrivateKeyTagsResult = {
  privateKeyTagIds: string[];
  privateKeyIds: string[];
};

export type DeletePrivateKeyTagsRequest = {
  type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeletePrivateKeyTagsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeletePrivateKeyTagsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS";
    intent?: {
      deletePrivateKeyTagsIntent: DeletePrivateKeyTagsParams;
    };
    result?: {
      deletePrivateKeyTagsResult?: DeletePrivateKeyTagsResult;
    };
  };
};

export type DeletePrivateKeysParams = {
  privateKeyIds: readonly string[];
  deleteWithoutExport?: boolean | null;
};

export type DeletePrivateKeysResult = {
  privateKeyIds: string[];
};

export type DeletePrivateKeysRequest = {
  type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeletePrivateKeysParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeletePrivateKeysResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS";
    intent?: {
      deletePrivateKeysIntent: DeletePrivateKeysParams;
    };
    result?: {
      deletePrivateKeysResult?: DeletePrivateKeysResult;
    };
  };
};

export type DeleteSmartContractInterfaceParams = {
  /** Unique identifier. */
  smartContractInterfaceId: string;
};

export type DeleteSmartContractInterfaceResult = {
  /** Unique identifier. */
  smartContractInterfaceId: string;
};

export type DeleteSmartContractInterfaceRequest = {
  type: "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteSmartContractInterfaceParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteSmartContractInterfaceResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE";
    intent?: {
      deleteSmartContractInterfaceIntent: DeleteSmartContractInterfaceParams;
    };
    result?: {
      deleteSmartContractInterfaceResult?: DeleteSmartContractInterfaceResult;
    };
  };
};

export type DeleteSubOrganizationParams = {
  deleteWithoutExport?: boolean | null;
};

export type DeleteSubOrganizationResult = {
  /** Unique identifier of an organization. */
  subOrganizationUuid: string;
};

export type DeleteSubOrganizationRequest = {
  type: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteSubOrganizationParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteSubOrganizationResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION";
    intent?: {
      deleteSubOrganizationIntent: DeleteSubOrganizationParams;
    };
    result?: {
      deleteSubOrganizationResult?: DeleteSubOrganizationResult;
    };
  };
};

export type DeleteUserTagsParams = {
  userTagIds: readonly string[];
};

export type DeleteUserTagsResult = {
  userTagIds: string[];
  userIds: string[];
};

export type DeleteUserTagsRequest = {
  type: "ACTIVITY_TYPE_DELETE_USER_TAGS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteUserTagsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteUserTagsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_USER_TAGS";
    intent?: {
      deleteUserTagsIntent: DeleteUserTagsParams;
    };
    result?: {
      deleteUserTagsResult?: DeleteUserTagsResult;
    };
  };
};

export type DeleteUsersParams = {
  userIds: readonly string[];
};

export type DeleteUsersResult = {
  userIds: string[];
};

export type DeleteUsersRequest = {
  type: "ACTIVITY_TYPE_DELETE_USERS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteUsersParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteUsersResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_USERS";
    intent?: {
      deleteUsersIntent: DeleteUsersParams;
    };
    result?: {
      deleteUsersResult?: DeleteUsersResult;
    };
  };
};

export type DeleteWalletAccountsParams = {
  walletAccountIds: readonly string[];
  deleteWithoutExport?: boolean | null;
};

export type DeleteWalletAccountsResult = {
  walletAccountIds: string[];
};

export type DeleteWalletAccountsRequest = {
  type: "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteWalletAccountsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteWalletAccountsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS";
    intent?: {
      deleteWalletAccountsIntent: DeleteWalletAccountsParams;
    };
    result?: {
      deleteWalletAccountsResult?: DeleteWalletAccountsResult;
    };
  };
};

export type DeleteWalletsParams = {
  walletIds: readonly string[];
  deleteWithoutExport?: boolean | null;
};

export type DeleteWalletsResult = {
  walletIds: string[];
};

export type DeleteWalletsRequest = {
  type: "ACTIVITY_TYPE_DELETE_WALLETS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DeleteWalletsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DeleteWalletsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DELETE_WALLETS";
    intent?: {
      deleteWalletsIntent: DeleteWalletsParams;
    };
    result?: {
      deleteWalletsResult?: DeleteWalletsResult;
    };
  };
};

export type DisableAuthProxyParams = Record<string, never>;

export type DisableAuthProxyResult = Record<string, never>;

export type DisableAuthProxyRequest = {
  type: "ACTIVITY_TYPE_DISABLE_AUTH_PROXY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: DisableAuthProxyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type DisableAuthProxyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_DISABLE_AUTH_PROXY";
    intent?: {
      disableAuthProxyIntent: DisableAuthProxyParams;
    };
    result?: {
      disableAuthProxyResult?: DisableAuthProxyResult;
    };
  };
};

export type EmailAuthParams = {
  /** E-mail address. */
  email: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
  expirationSeconds?: string | null;
  sendFromEmailAddress?: string | null;
  sendFromEmailSenderName?: string | null;
  replyToEmailAddress?: string | null;
  apiKeyName?: string | null;
  invalidateExisting?: boolean | null;
  /** What the mail looks like. */
  emailCustomization: {
    /** Human-readable name of the application that the reader signs in to. */
    appName: string;
    logoUrl?: string | null;
    magicLinkTemplate?: string | null;
    templateVariables?: string | null;
    templateId?: string | null;
  };
};

export type EmailAuthResult = {
  /** Unique identifier. */
  userId: string;
  /** Unique identifier. */
  apiKeyId: string;
};

export type EmailAuthRequest = {
  type: "ACTIVITY_TYPE_EMAIL_AUTH_V3";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: EmailAuthParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type EmailAuthResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_EMAIL_AUTH_V3";
    intent?: {
      emailAuthIntentV3: EmailAuthParams;
    };
    result?: {
      emailAuthResult?: EmailAuthResult;
    };
  };
};

export type EnableAuthProxyParams = Record<string, never>;

export type EnableAuthProxyResult = {
  /** Unique identifier. */
  userId: string;
};

export type EnableAuthProxyRequest = {
  type: "ACTIVITY_TYPE_ENABLE_AUTH_PROXY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: EnableAuthProxyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type EnableAuthProxyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_ENABLE_AUTH_PROXY";
    intent?: {
      enableAuthProxyIntent: EnableAuthProxyParams;
    };
    result?: {
      enableAuthProxyResult?: EnableAuthProxyResult;
    };
  };
};

export type ExportPrivateKeyParams = {
  /** Unique identifier. */
  privateKeyId: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
};

export type ExportPrivateKeyResult = {
  /** Unique identifier. */
  privateKeyId: string;
  /** Bundle encrypted to the target public key. */
  exportBundle: string;
};

export type ExportPrivateKeyRequest = {
  type: "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: ExportPrivateKeyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type ExportPrivateKeyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY";
    intent?: {
      exportPrivateKeyIntent: ExportPrivateKeyParams;
    };
    result?: {
      exportPrivateKeyResult?: ExportPrivateKeyResult;
    };
  };
};

export type ExportWalletParams = {
  /** Unique identifier. */
  walletId: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
  language?: "MNEMONIC_LANGUAGE_ENGLISH" | "MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE" | "MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE" | "MNEMONIC_LANGUAGE_CZECH" | "MNEMONIC_LANGUAGE_FRENCH" | "MNEMONIC_LANGUAGE_ITALIAN" | "MNEMONIC_LANGUAGE_JAPANESE" | "MNEMONIC_LANGUAGE_KOREAN" | "MNEMONIC_LANGUAGE_SPANISH" | null;
};

export type ExportWalletResult = {
  /** Unique identifier. */
  walletId: string;
  /** Bundle encrypted to the target public key. */
  exportBundle: string;
};

export type ExportWalletRequest = {
  type: "ACTIVITY_TYPE_EXPORT_WALLET";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: ExportWalletParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type ExportWalletResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_EXPORT_WALLET";
    intent?: {
      exportWalletIntent: ExportWalletParams;
    };
    result?: {
      exportWalletResult?: ExportWalletResult;
    };
  };
};

export type ExportWalletAccountParams = {
  /** Address of the wallet account. */
  address: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
};

export type ExportWalletAccountResult = {
  /** Address of the wallet account. */
  address: string;
  /** Bundle encrypted to the target public key. */
  exportBundle: string;
};

export type ExportWalletAccountRequest = {
  type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: ExportWalletAccountParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type ExportWalletAccountResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT";
    intent?: {
      exportWalletAccountIntent: ExportWalletAccountParams;
    };
    result?: {
      exportWalletAccountResult?: ExportWalletAccountResult;
    };
  };
};

export type ImportPrivateKeyParams = {
  /** Unique identifier. */
  userId: string;
  /** Human-readable name of the private key. */
  privateKeyName: string;
  /** Bundle encrypted to the public key of an import bundle. */
  encryptedBundle: string;
  /** Curve of the key. */
  curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
  addressFormats: readonly ("ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST")[];
};

export type ImportPrivateKeyResult = {
  /** Unique identifier of the private key. */
  privateKeyId: string;
  addresses: {
    /** `ADDRESS_FORMAT_…`: how the address is written. */
    format: string;
    /** The address. */
    address: string;
  }[];
};

export type ImportPrivateKeyRequest = {
  type: "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: ImportPrivateKeyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type ImportPrivateKeyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY";
    intent?: {
      importPrivateKeyIntent: ImportPrivateKeyParams;
    };
    result?: {
      importPrivateKeyResult?: ImportPrivateKeyResult;
    };
  };
};

export type ImportWalletParams = {
  /** Unique identifier. */
  userId: string;
  /** Human-readable name of the wallet, unique in the organization. */
  walletName: string;
  /** Bundle encrypted to the public key of an import bundle. */
  encryptedBundle: string;
  /** Accounts, may be empty. */
  accounts: readonly {
    /** Curve of the key. */
    curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
    /** How the path is written. */
    pathFormat: "PATH_FORMAT_BIP32";
    /** Path of the account below the wallet's seed. */
    path: string;
    /** How the address is written. */
    addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST";
    name?: string | null;
  }[];
};

export type ImportWalletResult = {
  /** Unique identifier of the wallet. */
  walletId: string;
  /** The accounts' addresses, in the order asked for. */
  addresses: string[];
};

export type ImportWalletRequest = {
  type: "ACTIVITY_TYPE_IMPORT_WALLET";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: ImportWalletParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type ImportWalletResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_IMPORT_WALLET";
    intent?: {
      importWalletIntent: ImportWalletParams;
    };
    result?: {
      importWalletResult?: ImportWalletResult;
    };
  };
};

export type InitImportPrivateKeyParams = {
  /** Unique identifier. */
  userId: string;
};

export type InitImportPrivateKeyResult = {
  /** Bundle with the public key to encrypt one import to. */
  importBundle: string;
};

export type InitImportPrivateKeyRequest = {
  type: "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: InitImportPrivateKeyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type InitImportPrivateKeyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY";
    intent?: {
      initImportPrivateKeyIntent: InitImportPrivateKeyParams;
    };
    result?: {
      initImportPrivateKeyResult?: InitImportPrivateKeyResult;
    };
  };
};

export type InitImportWalletParams = {
  /** Unique identifier. */
  userId: string;
};

export type InitImportWalletResult = {
  /** Bundle with the public key to encrypt one import to. */
  importBundle: string;
};

export type InitImportWalletRequest = {
  type: "ACTIVITY_TYPE_INIT_IMPORT_WALLET";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: InitImportWalletParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type InitImportWalletResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_INIT_IMPORT_WALLET";
    intent?: {
      initImportWalletIntent: InitImportWalletParams;
    };
    result?: {
      initImportWalletResult?: InitImportWalletResult;
    };
  };
};

export type InitOtpParams = {
  /** By mail or by text message. WhatsApp is not offered. */
  otpType: "OTP_TYPE_EMAIL" | "OTP_TYPE_SMS" | "OTP_TYPE_WHATSAPP";
  /** E-mail address, or phone number in E.164 form. */
  contact: string;
  otpLength?: number | null;
  alphanumeric?: boolean | null;
  expirationSeconds?: string | null;
  userIdentifier?: string | null;
  smsCustomization?: {
    template?: string | null;
  } | null;
  sendFromEmailAddress?: string | null;
  sendFromEmailSenderName?: string | null;
  replyToEmailAddress?: string | null;
  /** Human-readable name of the application that the reader signs in to. */
  appName: string;
  emailCustomization?: {
    logoUrl?: string | null;
    magicLinkTemplate?: string | null;
    templateVariables?: string | null;
    templateId?: string | null;
  } | null;
};

export type InitOtpResult = {
  /** Unique identifier. */
  otpId: string;
  /** Signed bundle with the key that answers are encrypted to. */
  otpEncryptionTargetBundle: string;
};

export type InitOtpRequest = {
  type: "ACTIVITY_TYPE_INIT_OTP_V3";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: InitOtpParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type InitOtpResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_INIT_OTP_V3";
    intent?: {
      initOtpIntentV3: InitOtpParams;
    };
    result?: {
      initOtpResultV2?: InitOtpResult;
    };
  };
};

export type InitOtpAuthParams = {
  /** By mail or by text message. WhatsApp is not offered. */
  otpType: "OTP_TYPE_EMAIL" | "OTP_TYPE_SMS" | "OTP_TYPE_WHATSAPP";
  /** E-mail address, or phone number in E.164 form. */
  contact: string;
  otpLength?: number | null;
  alphanumeric?: boolean | null;
  expirationSeconds?: string | null;
  userIdentifier?: string | null;
  smsCustomization?: {
    template?: string | null;
  } | null;
  sendFromEmailAddress?: string | null;
  sendFromEmailSenderName?: string | null;
  replyToEmailAddress?: string | null;
  /** Human-readable name of the application that the reader signs in to. */
  appName: string;
  emailCustomization?: {
    logoUrl?: string | null;
    magicLinkTemplate?: string | null;
    templateVariables?: string | null;
    templateId?: string | null;
  } | null;
};

export type InitOtpAuthResult = {
  /** Unique identifier. */
  otpId: string;
};

export type InitOtpAuthRequest = {
  type: "ACTIVITY_TYPE_INIT_OTP_AUTH_V3";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: InitOtpAuthParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type InitOtpAuthResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_INIT_OTP_AUTH_V3";
    intent?: {
      initOtpAuthIntentV3: InitOtpAuthParams;
    };
    result?: {
      initOtpAuthResultV2?: InitOtpAuthResult;
    };
  };
};

export type InitUserEmailRecoveryParams = {
  /** E-mail address. */
  email: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
  expirationSeconds?: string | null;
  sendFromEmailAddress?: string | null;
  sendFromEmailSenderName?: string | null;
  replyToEmailAddress?: string | null;
  /** What the mail looks like. */
  emailCustomization: {
    /** Human-readable name of the application that the reader signs in to. */
    appName: string;
    logoUrl?: string | null;
    magicLinkTemplate?: string | null;
    templateVariables?: string | null;
    templateId?: string | null;
  };
};

export type InitUserEmailRecoveryResult = {
  /** Unique identifier. */
  userId: string;
};

export type InitUserEmailRecoveryRequest = {
  type: "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: InitUserEmailRecoveryParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type InitUserEmailRecoveryResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2";
    intent?: {
      initUserEmailRecoveryIntentV2: InitUserEmailRecoveryParams;
    };
    result?: {
      initUserEmailRecoveryResult?: InitUserEmailRecoveryResult;
    };
  };
};

export type OauthParams = {
  /** OpenID Connect token: a compact JWT, or base64 of one. */
  oidcToken: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
  apiKeyName?: string | null;
  expirationSeconds?: string | null;
  invalidateExisting?: boolean | null;
};

export type OauthResult = {
  /** Unique identifier. */
  userId: string;
  /** Unique identifier. */
  apiKeyId: string;
  /** The session's private key, encrypted to the target public key. */
  credentialBundle: string;
};

export type OauthRequest = {
  type: "ACTIVITY_TYPE_OAUTH";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: OauthParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type OauthResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_OAUTH";
    intent?: {
      oauthIntent: OauthParams;
    };
    result?: {
      oauthResult?: OauthResult;
    };
  };
};

export type Oauth2AuthenticateParams = {
  /** The OAuth 2.0 credential whose client the user has signed in to. */
  oauth2CredentialId: string;
  /** The code that the provider has given to the user. */
  authCode: string;
  /** The address that the provider has sent the user to. */
  redirectUri: string;
  /** The verifier of the code, as RFC 7636 has it. */
  codeVerifier: string;
  /** What the token is bound to: SHA-256 of the text of the public key that will sign in with it, in hex. */
  nonce: string;
  bearerTokenTargetPublicKey?: string | null;
};

export type Oauth2AuthenticateResult = {
  /** Identity token that says who has signed in; empty once it is over, and to everybody else. */
  oidcToken: string;
};

export type Oauth2AuthenticateRequest = {
  type: "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: Oauth2AuthenticateParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type Oauth2AuthenticateResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE";
    intent?: {
      oauth2AuthenticateIntent: Oauth2AuthenticateParams;
    };
    result?: {
      oauth2AuthenticateResult?: Oauth2AuthenticateResult;
    };
  };
};

export type OauthLoginParams = {
  /** OpenID Connect token: a compact JWT, or base64 of one. */
  oidcToken: string;
  /** Public key of the client on P-256, which becomes the session's key. */
  publicKey: string;
  expirationSeconds?: string | null;
  invalidateExisting?: boolean | null;
  sessionProfileId?: string | null;
};

export type OauthLoginResult = {
  /** Signed token that says whose session it is and until when. */
  session: string;
};

export type OauthLoginRequest = {
  type: "ACTIVITY_TYPE_OAUTH_LOGIN";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: OauthLoginParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type OauthLoginResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_OAUTH_LOGIN";
    intent?: {
      oauthLoginIntent: OauthLoginParams;
    };
    result?: {
      oauthLoginResult?: OauthLoginResult;
    };
  };
};

export type OtpAuthParams = {
  /** Unique identifier. */
  otpId: string;
  /** The code as it was typed. */
  otpCode: string;
  /** Public key of the client on P-256, to which the export bundle is encrypted. */
  targetPublicKey: string;
  apiKeyName?: string | null;
  expirationSeconds?: string | null;
  invalidateExisting?: boolean | null;
};

export type OtpAuthResult = {
  /** Unique identifier. */
  userId: string;
  /** Unique identifier. */
  apiKeyId: string;
  /** The session's private key, encrypted to the target public key. */
  credentialBundle: string;
};

export type OtpAuthRequest = {
  type: "ACTIVITY_TYPE_OTP_AUTH";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: OtpAuthParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type OtpAuthResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_OTP_AUTH";
    intent?: {
      otpAuthIntent: OtpAuthParams;
    };
    result?: {
      otpAuthResult?: OtpAuthResult;
    };
  };
};

export type OtpLoginParams = {
  /** Signed token that proves a contact. */
  verificationToken: string;
  /** Public key of the client on P-256, which becomes the session's key. */
  publicKey: string;
  clientSignature: {
    /** Public component of the key pair, in hex. */
    publicKey: string;
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256";
    /** The signed message. */
    message: string;
    /** The signature over the message. */
    signature: string;
  };
  expirationSeconds?: string | null;
  invalidateExisting?: boolean | null;
  sessionProfileId?: string | null;
};

export type OtpLoginResult = {
  /** Signed token that says whose session it is and until when. */
  session: string;
};

export type OtpLoginRequest = {
  type: "ACTIVITY_TYPE_OTP_LOGIN_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: OtpLoginParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type OtpLoginResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_OTP_LOGIN_V2";
    intent?: {
      otpLoginIntentV2: OtpLoginParams;
    };
    result?: {
      otpLoginResult?: OtpLoginResult;
    };
  };
};

export type RecoverUserParams = {
  authenticator: {
    /** Human-readable name of the passkey. */
    authenticatorName: string;
    /** The challenge that was presented. */
    challenge: string;
    attestation: {
      /** Id of the credential, base64url. */
      credentialId: string;
      /** Signing context and challenge, base64url. */
      clientDataJson: string;
      /** Authenticator data, base64url. */
      attestationObject: string;
      /** How the passkey can be reached. */
      transports: readonly ("AUTHENTICATOR_TRANSPORT_BLE" | "AUTHENTICATOR_TRANSPORT_INTERNAL" | "AUTHENTICATOR_TRANSPORT_NFC" | "AUTHENTICATOR_TRANSPORT_USB" | "AUTHENTICATOR_TRANSPORT_HYBRID")[];
    };
  };
  /** Unique identifier. */
  userId: string;
};

export type RecoverUserResult = {
  authenticatorId: string[];
};

export type RecoverUserRequest = {
  type: "ACTIVITY_TYPE_RECOVER_USER";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: RecoverUserParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type RecoverUserResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_RECOVER_USER";
    intent?: {
      recoverUserIntent: RecoverUserParams;
    };
    result?: {
      recoverUserResult?: RecoverUserResult;
    };
  };
};

export type RejectActivityParams = {
  /** `sha256:` and the hash of the request body of an activity. */
  fingerprint: string;
};

export type RejectActivityRequest = {
  type: "ACTIVITY_TYPE_REJECT_ACTIVITY";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: RejectActivityParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type RejectActivityResponse = {
  activity: Activity;
};

export type RemoveIpAllowlistParams = {
  publicKey?: string | null;
};

export type RemoveIpAllowlistResult = Record<string, never>;

export type RemoveIpAllowlistRequest = {
  type: "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: RemoveIpAllowlistParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type RemoveIpAllowlistResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST";
    intent?: {
      removeIpAllowlistIntent: RemoveIpAllowlistParams;
    };
    result?: {
      removeIpAllowlistResult?: RemoveIpAllowlistResult;
    };
  };
};

export type RemoveOrganizationFeatureParams = {
  /** Name of a feature. */
  name: "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY" | "FEATURE_NAME_WEBAUTHN_ORIGINS" | "FEATURE_NAME_EMAIL_AUTH" | "FEATURE_NAME_EMAIL_RECOVERY" | "FEATURE_NAME_WEBHOOK" | "FEATURE_NAME_SMS_AUTH" | "FEATURE_NAME_OTP_EMAIL_AUTH" | "FEATURE_NAME_AUTH_PROXY" | "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED" | "FEATURE_NAME_SWAP_CONFIG" | "FEATURE_NAME_EARN_CONFIG" | "FEATURE_NAME_SUB_ORGANIZATION_CODES";
};

export type RemoveOrganizationFeatureResult = {
  features: {
    /** Name of a feature. */
    name: "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY" | "FEATURE_NAME_WEBAUTHN_ORIGINS" | "FEATURE_NAME_EMAIL_AUTH" | "FEATURE_NAME_EMAIL_RECOVERY" | "FEATURE_NAME_WEBHOOK" | "FEATURE_NAME_SMS_AUTH" | "FEATURE_NAME_OTP_EMAIL_AUTH" | "FEATURE_NAME_AUTH_PROXY" | "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED" | "FEATURE_NAME_SWAP_CONFIG" | "FEATURE_NAME_EARN_CONFIG" | "FEATURE_NAME_SUB_ORGANIZATION_CODES";
    value?: string;
  }[];
};

export type RemoveOrganizationFeatureRequest = {
  type: "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: RemoveOrganizationFeatureParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type RemoveOrganizationFeatureResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE";
    intent?: {
      removeOrganizationFeatureIntent: RemoveOrganizationFeatureParams;
    };
    result?: {
      removeOrganizationFeatureResult?: RemoveOrganizationFeatureResult;
    };
  };
};

export type SetIpAllowlistParams = {
  publicKey?: string | null;
  enabled?: boolean | null;
  rules?: readonly {
    /** A block of addresses, such as `192.0.2.0/24` or `2001:db8::/48`. */
    cidr: string;
    label?: string | null;
  }[] | null;
  onEvaluationError?: "ALLOW" | "DENY" | null;
};

export type SetIpAllowlistResult = Record<string, never>;

export type SetIpAllowlistRequest = {
  type: "ACTIVITY_TYPE_SET_IP_ALLOWLIST";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: SetIpAllowlistParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type SetIpAllowlistResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_SET_IP_ALLOWLIST";
    intent?: {
      setIpAllowlistIntent: SetIpAllowlistParams;
    };
    result?: {
      setIpAllowlistResult?: SetIpAllowlistResult;
    };
  };
};

export type SetOrganizationFeatureParams = {
  /** Name of a feature. */
  name: "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY" | "FEATURE_NAME_WEBAUTHN_ORIGINS" | "FEATURE_NAME_EMAIL_AUTH" | "FEATURE_NAME_EMAIL_RECOVERY" | "FEATURE_NAME_WEBHOOK" | "FEATURE_NAME_SMS_AUTH" | "FEATURE_NAME_OTP_EMAIL_AUTH" | "FEATURE_NAME_AUTH_PROXY" | "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED" | "FEATURE_NAME_SWAP_CONFIG" | "FEATURE_NAME_EARN_CONFIG" | "FEATURE_NAME_SUB_ORGANIZATION_CODES";
  value?: string | null;
};

export type SetOrganizationFeatureResult = {
  features: {
    /** Name of a feature. */
    name: "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY" | "FEATURE_NAME_WEBAUTHN_ORIGINS" | "FEATURE_NAME_EMAIL_AUTH" | "FEATURE_NAME_EMAIL_RECOVERY" | "FEATURE_NAME_WEBHOOK" | "FEATURE_NAME_SMS_AUTH" | "FEATURE_NAME_OTP_EMAIL_AUTH" | "FEATURE_NAME_AUTH_PROXY" | "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED" | "FEATURE_NAME_SWAP_CONFIG" | "FEATURE_NAME_EARN_CONFIG" | "FEATURE_NAME_SUB_ORGANIZATION_CODES";
    value?: string;
  }[];
};

export type SetOrganizationFeatureRequest = {
  type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: SetOrganizationFeatureParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type SetOrganizationFeatureResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE";
    intent?: {
      setOrganizationFeatureIntent: SetOrganizationFeatureParams;
    };
    result?: {
      setOrganizationFeatureResult?: SetOrganizationFeatureResult;
    };
  };
};

export type SignRawPayloadParams = {
  /** Address of a wallet account or private key, or the id of a private key. */
  signWith: string;
  /** What to sign, as `encoding` says. */
  payload: string;
  /** How the payload's text becomes bytes. */
  encoding: "PAYLOAD_ENCODING_HEXADECIMAL" | "PAYLOAD_ENCODING_TEXT_UTF8" | "PAYLOAD_ENCODING_EIP712" | "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION";
  /** What is done to these bytes before they are signed; NOT_APPLICABLE for Ed25519. */
  hashFunction: "HASH_FUNCTION_NO_OP" | "HASH_FUNCTION_SHA256" | "HASH_FUNCTION_KECCAK256" | "HASH_FUNCTION_NOT_APPLICABLE";
};

export type SignRawPayloadResult = {
  /** First half of the signature: 64 hex digits. */
  r: string;
  /** Second half of the signature: 64 hex digits. */
  s: string;
  /** `00` or `01`: which of the possible public keys it is. `00` where there is one. */
  v: string;
};

export type SignRawPayloadRequest = {
  type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: SignRawPayloadParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type SignRawPayloadResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
    intent?: {
      signRawPayloadIntentV2: SignRawPayloadParams;
    };
    result?: {
      signRawPayloadResult?: SignRawPayloadResult;
    };
  };
};

export type SignRawPayloadsParams = {
  /** Address of a wallet account or private key, or the id of a private key. */
  signWith: string;
  payloads: readonly string[];
  /** How the payload's text becomes bytes. */
  encoding: "PAYLOAD_ENCODING_HEXADECIMAL" | "PAYLOAD_ENCODING_TEXT_UTF8" | "PAYLOAD_ENCODING_EIP712" | "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION";
  /** What is done to these bytes before they are signed; NOT_APPLICABLE for Ed25519. */
  hashFunction: "HASH_FUNCTION_NO_OP" | "HASH_FUNCTION_SHA256" | "HASH_FUNCTION_KECCAK256" | "HASH_FUNCTION_NOT_APPLICABLE";
};

export type SignRawPayloadsResult = {
  signatures: {
    /** First half of the signature: 64 hex digits. */
    r: string;
    /** Second half of the signature: 64 hex digits. */
    s: string;
    /** `00` or `01`: which of the possible public keys it is. `00` where there is one. */
    v: string;
  }[];
};

export type SignRawPayloadsRequest = {
  type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: SignRawPayloadsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type SignRawPayloadsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";
    intent?: {
      signRawPayloadsIntent: SignRawPayloadsParams;
    };
    result?: {
      signRawPayloadsResult?: SignRawPayloadsResult;
    };
  };
};

export type SignTransactionParams = {
  /** Address of a wallet account or private key, or the id of a private key. */
  signWith: string;
  /** The unsigned transaction in hex; a PSBT for Bitcoin. */
  unsignedTransaction: string;
  /** Which chain's transaction it is. */
  type: "TRANSACTION_TYPE_ETHEREUM" | "TRANSACTION_TYPE_SOLANA" | "TRANSACTION_TYPE_TRON" | "TRANSACTION_TYPE_BITCOIN" | "TRANSACTION_TYPE_TEMPO";
};

export type SignTransactionResult = {
  /** In hex, without `0x`. */
  signedTransaction: string;
};

export type SignTransactionRequest = {
  type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: SignTransactionParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type SignTransactionResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
    intent?: {
      signTransactionIntentV2: SignTransactionParams;
    };
    result?: {
      signTransactionResult?: SignTransactionResult;
    };
  };
};

export type StampLoginParams = {
  /** Public key of the client on P-256, which becomes the session's key. */
  publicKey: string;
  expirationSeconds?: string | null;
  invalidateExisting?: boolean | null;
  sessionProfileId?: string | null;
};

export type StampLoginResult = {
  /** Signed token that says whose session it is and until when. */
  session: string;
};

export type StampLoginRequest = {
  type: "ACTIVITY_TYPE_STAMP_LOGIN";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: StampLoginParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type StampLoginResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_STAMP_LOGIN";
    intent?: {
      stampLoginIntent: StampLoginParams;
    };
    result?: {
      stampLoginResult?: StampLoginResult;
    };
  };
};

export type UpdateAllowedOriginsParams = {
  /** All origins, or `*` alone for no list. An empty list allows no passkey. */
  allowedOrigins: readonly string[];
};

export type UpdateAllowedOriginsResult = Record<string, never>;

export type UpdateAllowedOriginsRequest = {
  type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateAllowedOriginsParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateAllowedOriginsResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS";
    intent?: {
      updateAllowedOriginsIntent: UpdateAllowedOriginsParams;
    };
    result?: {
      updateAllowedOriginsResult?: UpdateAllowedOriginsResult;
    };
  };
};

export type UpdateAuthProxyConfigParams = {
  allowedOrigins?: readonly string[] | null;
  allowedAuthMethods?: readonly string[] | null;
  sendFromEmailAddress?: string | null;
  sendFromEmailSenderName?: string | null;
  replyToEmailAddress?: string | null;
  emailAuthTemplateId?: string | null;
  otpTemplateId?: string | null;
  emailCustomizationParams?: {
    appName?: string | null;
    logoUrl?: string | null;
    magicLinkTemplate?: string | null;
    templateVariables?: string | null;
    templateId?: string | null;
  } | null;
  smsCustomizationParams?: {
    template?: string | null;
  } | null;
  walletKitSettings?: {
    enabledSocialProviders?: readonly string[] | null;
    oauthClientIds?: {
      google?: string | null;
      apple?: string | null;
      facebook?: string | null;
      x?: string | null;
      discord?: string | null;
    } | null;
    oauthRedirectUrl?: string | null;
  } | null;
  otpExpirationSeconds?: number | null;
  verificationTokenExpirationSeconds?: number | null;
  sessionExpirationSeconds?: number | null;
  otpAlphanumeric?: boolean | null;
  otpLength?: number | null;
  verificationTokenRequiredForGetAccountPii?: boolean | null;
  socialLinkingClientIds?: readonly string[] | null;
  captchaEnabled?: boolean | null;
};

export type UpdateAuthProxyConfigResult = {
  /** Unique identifier. */
  configId: string;
};

export type UpdateAuthProxyConfigRequest = {
  type: "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateAuthProxyConfigParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateAuthProxyConfigResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG";
    intent?: {
      updateAuthProxyConfigIntent: UpdateAuthProxyConfigParams;
    };
    result?: {
      updateAuthProxyConfigResult?: UpdateAuthProxyConfigResult;
    };
  };
};

export type UpdateOauth2CredentialParams = {
  /** Unique identifier. */
  oauth2CredentialId: string;
  /** The OAuth 2.0 provider. */
  provider: "OAUTH2_PROVIDER_ALPHA" | "OAUTH2_PROVIDER_BETA" | "OAUTH2_PROVIDER_X" | "OAUTH2_PROVIDER_DISCORD";
  /** The client id that the provider has issued. */
  clientId: string;
  /** The client secret that the provider has issued, encrypted to the service key `clientSecretEncryption`. */
  encryptedClientSecret: string;
};

export type UpdateOauth2CredentialResult = {
  /** Unique identifier. */
  oauth2CredentialId: string;
};

export type UpdateOauth2CredentialRequest = {
  type: "ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateOauth2CredentialParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateOauth2CredentialResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL";
    intent?: {
      updateOauth2CredentialIntent: UpdateOauth2CredentialParams;
    };
    result?: {
      updateOauth2CredentialResult?: UpdateOauth2CredentialResult;
    };
  };
};

export type UpdateOrganizationNameParams = {
  /** Human-readable name of the organization. */
  organizationName: string;
};

export type UpdateOrganizationNameResult = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Human-readable name of the organization. */
  organizationName: string;
};

export type UpdateOrganizationNameRequest = {
  type: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateOrganizationNameParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateOrganizationNameResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME";
    intent?: {
      updateOrganizationNameIntent: UpdateOrganizationNameParams;
    };
    result?: {
      updateOrganizationNameResult?: UpdateOrganizationNameResult;
    };
  };
};

export type UpdatePolicyParams = {
  /** Unique identifier. */
  policyId: string;
  policyName?: string | null;
  policyEffect?: "EFFECT_ALLOW" | "EFFECT_DENY" | null;
  policyCondition?: string | null;
  policyConsensus?: string | null;
  policyNotes?: string | null;
  time?: string | null;
};

export type UpdatePolicyResult = {
  /** Unique identifier. */
  policyId: string;
};

export type UpdatePolicyRequest = {
  type: "ACTIVITY_TYPE_UPDATE_POLICY_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdatePolicyParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdatePolicyResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_POLICY_V2";
    intent?: {
      updatePolicyIntentV2: UpdatePolicyParams;
    };
    result?: {
      updatePolicyResultV2?: UpdatePolicyResult;
    };
  };
};

export type UpdatePrivateKeyTagParams = {
  /** Unique identifier. */
  privateKeyTagId: string;
  newPrivateKeyTagName?: string | null;
  addPrivateKeyIds: readonly string[];
  removePrivateKeyIds: readonly string[];
};

export type UpdatePrivateKeyTagResult = {
  /** Unique identifier. */
  privateKeyTagId: string;
};

export type UpdatePrivateKeyTagRequest = {
  type: "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdatePrivateKeyTagParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdatePrivateKeyTagResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG";
    intent?: {
      updatePrivateKeyTagIntent: UpdatePrivateKeyTagParams;
    };
    result?: {
      updatePrivateKeyTagResult?: UpdatePrivateKeyTagResult;
    };
  };
};

export type UpdateRootQuorumParams = {
  /** How many members must approve. */
  threshold: number;
  userIds: readonly string[];
};

export type UpdateRootQuorumResult = Record<string, never>;

export type UpdateRootQuorumRequest = {
  type: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateRootQuorumParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateRootQuorumResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";
    intent?: {
      updateRootQuorumIntent: UpdateRootQuorumParams;
    };
    result?: {
      updateRootQuorumResult?: UpdateRootQuorumResult;
    };
  };
};

export type UpdateUserParams = {
  /** Unique identifier. */
  userId: string;
  userName?: string | null;
  userEmail?: string | null;
  userTagIds?: readonly string[] | null;
  userPhoneNumber?: string | null;
};

export type UpdateUserResult = {
  /** Unique identifier. */
  userId: string;
};

export type UpdateUserRequest = {
  type: "ACTIVITY_TYPE_UPDATE_USER";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateUserParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateUserResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_USER";
    intent?: {
      updateUserIntent: UpdateUserParams;
    };
    result?: {
      updateUserResult?: UpdateUserResult;
    };
  };
};

export type UpdateUserEmailParams = {
  /** Unique identifier. */
  userId: string;
  /** E-mail address. */
  userEmail: string;
  verificationToken?: string | null;
  clientSignature?: {
    /** Public component of the key pair, in hex. */
    publicKey: string;
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256";
    /** The signed message. */
    message: string;
    /** The signature over the message. */
    signature: string;
  } | null;
};

export type UpdateUserEmailResult = {
  /** Unique identifier. */
  userId: string;
};

export type UpdateUserEmailRequest = {
  type: "ACTIVITY_TYPE_UPDATE_USER_EMAIL";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateUserEmailParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateUserEmailResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_USER_EMAIL";
    intent?: {
      updateUserEmailIntent: UpdateUserEmailParams;
    };
    result?: {
      updateUserEmailResult?: UpdateUserEmailResult;
    };
  };
};

export type UpdateUserNameParams = {
  /** Unique identifier. */
  userId: string;
  /** Human-readable name of the user. */
  userName: string;
};

export type UpdateUserNameResult = {
  /** Unique identifier. */
  userId: string;
};

export type UpdateUserNameRequest = {
  type: "ACTIVITY_TYPE_UPDATE_USER_NAME";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateUserNameParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateUserNameResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_USER_NAME";
    intent?: {
      updateUserNameIntent: UpdateUserNameParams;
    };
    result?: {
      updateUserNameResult?: UpdateUserNameResult;
    };
  };
};

export type UpdateUserPhoneNumberParams = {
  /** Unique identifier. */
  userId: string;
  /** Phone number in E.164 form. */
  userPhoneNumber: string;
  verificationToken?: string | null;
  clientSignature?: {
    /** Public component of the key pair, in hex. */
    publicKey: string;
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256";
    /** The signed message. */
    message: string;
    /** The signature over the message. */
    signature: string;
  } | null;
};

export type UpdateUserPhoneNumberResult = {
  /** Unique identifier. */
  userId: string;
};

export type UpdateUserPhoneNumberRequest = {
  type: "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateUserPhoneNumberParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateUserPhoneNumberResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER";
    intent?: {
      updateUserPhoneNumberIntent: UpdateUserPhoneNumberParams;
    };
    result?: {
      updateUserPhoneNumberResult?: UpdateUserPhoneNumberResult;
    };
  };
};

export type UpdateUserTagParams = {
  /** Unique identifier. */
  userTagId: string;
  newUserTagName?: string | null;
  addUserIds: readonly string[];
  removeUserIds: readonly string[];
};

export type UpdateUserTagResult = {
  /** Unique identifier. */
  userTagId: string;
};

export type UpdateUserTagRequest = {
  type: "ACTIVITY_TYPE_UPDATE_USER_TAG";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateUserTagParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateUserTagResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_USER_TAG";
    intent?: {
      updateUserTagIntent: UpdateUserTagParams;
    };
    result?: {
      updateUserTagResult?: UpdateUserTagResult;
    };
  };
};

export type UpdateWalletParams = {
  /** Unique identifier. */
  walletId: string;
  walletName?: string | null;
};

export type UpdateWalletResult = {
  /** Unique identifier. */
  walletId: string;
};

export type UpdateWalletRequest = {
  type: "ACTIVITY_TYPE_UPDATE_WALLET";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: UpdateWalletParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type UpdateWalletResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_UPDATE_WALLET";
    intent?: {
      updateWalletIntent: UpdateWalletParams;
    };
    result?: {
      updateWalletResult?: UpdateWalletResult;
    };
  };
};

export type VerifyOtpParams = {
  /** Unique identifier. */
  otpId: string;
  /** The code and a public key of the client, encrypted to the key in `otpEncryptionTargetBundle`. */
  encryptedOtpBundle: string;
  expirationSeconds?: string | null;
};

export type VerifyOtpResult = {
  /** Signed token that says which contact was verified; empty once it is over, and to everybody else. */
  verificationToken: string;
};

export type VerifyOtpRequest = {
  type: "ACTIVITY_TYPE_VERIFY_OTP_V2";
  /** Time of the request in milliseconds since the epoch. */
  timestampMs: string;
  /** The organization the activity runs in. */
  organizationId: string;
  parameters: VerifyOtpParams;
  /** Whether to generate and return app proofs. */
  generateAppProofs?: boolean;
};

export type VerifyOtpResponse = {
  activity: Activity & {
    type?: "ACTIVITY_TYPE_VERIFY_OTP_V2";
    intent?: {
      verifyOtpIntentV2: VerifyOtpParams;
    };
    result?: {
      verifyOtpResult?: VerifyOtpResult;
    };
  };
};

export type GetActivityRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  activityId: string;
};

export type GetActivityResponse = {
  activity: Activity;
};

export type GetApiKeyRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  apiKeyId: string;
};

export type GetApiKeyResponse = {
  apiKey: ApiKey;
};

export type GetApiKeysRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  userId?: string | null;
};

export type GetApiKeysResponse = {
  apiKeys: ApiKey[];
};

export type GetAuthenticatorRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  authenticatorId: string;
};

export type GetAuthenticatorResponse = {
  authenticator: Authenticator;
};

export type GetAuthenticatorsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  userId: string;
};

export type GetAuthenticatorsResponse = {
  authenticators: Authenticator[];
};

export type GetBootProofRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** `publicKey` of an app proof. */
  ephemeralKey: string;
};

export type GetBootProofResponse = {
  bootProof: {
    /** The keys of this start in hex: one for encryption, then one for signing, 65 bytes each. */
    ephemeralPublicKeyHex: string;
    /** The attestation document, a COSE_Sign1. It is made by software and says so. In base64. */
    cloudAttestationDocB64: string;
    /** The manifest, whose SHA-256 the document names. In base64. */
    qosManifestB64: string;
    /** The manifest with the list of loaded files, and its approvals, of which there are none. In base64. */
    qosManifestEnvelopeB64: string;
    /** Format of the manifest. */
    qosManifestVersion: string;
    /** `software-attestation`. */
    deploymentLabel: string;
    /** Program that was started. */
    enclaveApp: string;
    /** Who runs it. */
    owner: string;
    createdAt: Timestamp;
  };
};

export type GetIpAllowlistRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  publicKey?: string | null;
};

export type GetIpAllowlistResponse = {
  allowlist: IpAllowlist;
};

export type GetLatestBootProofRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Name or id of the program, as /.well-known/keystead.json lists them in `apps`. */
  appName: string;
};

export type GetLatestBootProofResponse = {
  bootProof: {
    /** The keys of this start in hex: one for encryption, then one for signing, 65 bytes each. */
    ephemeralPublicKeyHex: string;
    /** The attestation document, a COSE_Sign1. It is made by software and says so. In base64. */
    cloudAttestationDocB64: string;
    /** The manifest, whose SHA-256 the document names. In base64. */
    qosManifestB64: string;
    /** The manifest with the list of loaded files, and its approvals, of which there are none. In base64. */
    qosManifestEnvelopeB64: string;
    /** Format of the manifest. */
    qosManifestVersion: string;
    /** `software-attestation`. */
    deploymentLabel: string;
    /** Program that was started. */
    enclaveApp: string;
    /** Who runs it. */
    owner: string;
    createdAt: Timestamp;
  };
};

export type GetLogFileRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Of a log: 32 hex digits. */
  logId: string;
  /** `checkpoint`, or a tile such as `tile/0/000` or `tile/entries/000.p/7`. */
  path: string;
};

export type GetLogFileResponse = {
  /** Base64. */
  content: string;
};

export type GetLogStatementRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  logId?: string | null;
};

export type GetLogStatementResponse = {
  /** Signed note, as text. */
  statement: string;
  /** The list of all logs, JSON; the statement names its SHA-256. */
  logs: string;
};

export type GetOauth2CredentialRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  oauth2CredentialId: string;
};

export type GetOauth2CredentialResponse = {
  oauth2Credential: Oauth2Credential;
};

export type GetOauthProvidersRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  userId?: string | null;
};

export type GetOauthProvidersResponse = {
  oauthProviders: OauthProvider[];
};

export type GetOrganizationRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type GetOrganizationResponse = {
  organizationData: {
    /** Unique identifier of an organization. */
    organizationId: string;
    /** Human-readable name of the organization. */
    name: string;
    users: User[];
    policies: Policy[];
    privateKeys: PrivateKey[];
    /** Always empty: there are no invitations. */
    invitations: unknown[];
    /** Of users and of private keys. */
    tags: Tag[];
    rootQuorum: {
      /** How many of the users must approve. */
      threshold: number;
      userIds: string[];
    };
    features: {
      /** Name of a feature. */
      name: "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY" | "FEATURE_NAME_WEBAUTHN_ORIGINS" | "FEATURE_NAME_EMAIL_AUTH" | "FEATURE_NAME_EMAIL_RECOVERY" | "FEATURE_NAME_WEBHOOK" | "FEATURE_NAME_SMS_AUTH" | "FEATURE_NAME_OTP_EMAIL_AUTH" | "FEATURE_NAME_AUTH_PROXY" | "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED" | "FEATURE_NAME_SWAP_CONFIG" | "FEATURE_NAME_EARN_CONFIG" | "FEATURE_NAME_SUB_ORGANIZATION_CODES";
      value?: string;
    }[];
    wallets: Wallet[];
    smartContractInterfaceReferences: {
      /** Unique identifier of the interface. */
      smartContractInterfaceId: string;
      /** Address of the contract, or id of the program. */
      smartContractAddress: string;
    }[];
  };
};

export type GetOrganizationConfigsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type GetOrganizationConfigsResponse = {
  configs: {
    features: {
      /** Name of a feature. */
      name: "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY" | "FEATURE_NAME_WEBAUTHN_ORIGINS" | "FEATURE_NAME_EMAIL_AUTH" | "FEATURE_NAME_EMAIL_RECOVERY" | "FEATURE_NAME_WEBHOOK" | "FEATURE_NAME_SMS_AUTH" | "FEATURE_NAME_OTP_EMAIL_AUTH" | "FEATURE_NAME_AUTH_PROXY" | "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED" | "FEATURE_NAME_SWAP_CONFIG" | "FEATURE_NAME_EARN_CONFIG" | "FEATURE_NAME_SUB_ORGANIZATION_CODES";
      value?: string;
    }[];
    quorum: {
      /** How many of the users must approve. */
      threshold: number;
      userIds: string[];
    };
  };
};

export type GetPolicyRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  policyId: string;
};

export type GetPolicyResponse = {
  policy: Policy;
};

export type GetPolicyEvaluationsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  activityId: string;
};

export type GetPolicyEvaluationsResponse = {
  policyEvaluations: PolicyEvaluation[];
};

export type GetPrivateKeyRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  privateKeyId: string;
};

export type GetPrivateKeyResponse = {
  privateKey: PrivateKey;
};

export type GetProofContextRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** `decisionContextDigest` of an app proof. */
  digest: string;
};

export type GetProofContextResponse = {
  /** Base64 of the bytes that the digest is of. */
  content: string;
  parts: string[];
  body?: string | null;
};

export type GetSessionProfileRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  sessionProfileId: string;
};

export type GetSessionProfileResponse = {
  sessionProfile: SessionProfile;
};

export type GetSessionProfilesRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type GetSessionProfilesResponse = {
  sessionProfiles: SessionProfile[];
};

export type GetSmartContractInterfaceRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  smartContractInterfaceId: string;
};

export type GetSmartContractInterfaceResponse = {
  smartContractInterface: SmartContractInterface;
};

export type GetUserRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  userId: string;
};

export type GetUserResponse = {
  user: User;
};

export type GetWalletRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  walletId: string;
};

export type GetWalletResponse = {
  wallet: Wallet;
};

export type GetWalletAccountRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  walletId: string;
  address?: string | null;
  path?: string | null;
};

export type GetWalletAccountResponse = {
  account: WalletAccount;
};

export type ListActivitiesRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  filterByStatus?: readonly ("ACTIVITY_STATUS_CREATED" | "ACTIVITY_STATUS_PENDING" | "ACTIVITY_STATUS_COMPLETED" | "ACTIVITY_STATUS_FAILED" | "ACTIVITY_STATUS_CONSENSUS_NEEDED" | "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED" | "ACTIVITY_STATUS_REJECTED")[] | null;
  filterByType?: readonly string[] | null;
  paginationOptions?: {
    limit?: string | null;
    before?: string | null;
    after?: string | null;
  } | null;
};

export type ListActivitiesResponse = {
  activities: Activity[];
};

export type ListAppProofsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Unique identifier. */
  activityId: string;
};

export type ListAppProofsResponse = {
  appProofs: AppProof[];
};

export type ListEmailEventsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Recipient, in either case. */
  email: string;
  eventType?: string | null;
  paginationOptions?: {
    limit?: string | null;
    before?: string | null;
    after?: string | null;
  } | null;
};

export type ListEmailEventsResponse = {
  emailEvents: {
    /** Unique identifier. */
    id: string;
    /** Unique identifier of an organization. */
    organizationId: string;
    /** Id of the mail; its `Message-ID` begins with it. */
    messageId: string;
    /** Send, DeliveryDelay, Bounce or Failed. */
    eventType: string;
    /** Sender that was asked for; empty for the operator's default. */
    fromAddress: string;
    /** Recipient. */
    toAddress: string;
    /** Tenant at the provider that sent it; empty, as none is known here. */
    senderTenant: string;
    /** When it happened, in milliseconds since 1970. */
    timestamp: string;
    /** When it was noted, in milliseconds since 1970. */
    createdAt: string;
    details: {
      /** Kind of a Bounce: Permanent. */
      bounceType?: string;
      /** Kind of a Bounce in detail: General. */
      bounceSubType?: string;
      /** Why, in one word; never the provider's own words. */
      diagnosticCode?: string;
      /** Kind of a DeliveryDelay: Undetermined. */
      deliveryDelayType?: string;
      /** Answer to a Delivery, which is not reported here. */
      deliverySmtpResponse?: string;
      /** Time of a Delivery, which is not reported here. */
      deliveryProcessingTimeMillis?: string;
      /** Kind of a Complaint, which is not reported here. */
      complaintFeedbackType?: string;
    };
  }[];
};

export type ListLogLeavesRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  logId?: string | null;
  paginationOptions?: {
    limit?: string | null;
    before?: string | null;
    after?: string | null;
  } | null;
};

export type ListLogLeavesResponse = {
  leaves: {
    /** Of a log: 32 hex digits. */
    logId: string;
    /** Where it stands in the log, from 0. */
    position: number;
    ordinal?: number | null;
    /** Base64. Empty while whoever has it could pass for its sender, and once it is erased. */
    leaf: string;
    /** Base64 of what the leaf names by SHA-256, as far as it may be shown: bodies, results and other texts. */
    bodies: string[];
  }[];
};

export type ListOauth2CredentialsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListOauth2CredentialsResponse = {
  oauth2Credentials: Oauth2Credential[];
};

export type ListPoliciesRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListPoliciesResponse = {
  policies: Policy[];
};

export type ListPrivateKeyTagsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListPrivateKeyTagsResponse = {
  privateKeyTags: Tag[];
};

export type ListPrivateKeysRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListPrivateKeysResponse = {
  privateKeys: PrivateKey[];
};

export type ListSmartContractInterfacesRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListSmartContractInterfacesResponse = {
  smartContractInterfaces: SmartContractInterface[];
};

export type ListSuborgsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  filterType?: string | null;
  filterValue?: string | null;
  paginationOptions?: {
    limit?: string | null;
    before?: string | null;
    after?: string | null;
  } | null;
};

export type ListSuborgsResponse = {
  organizationIds: string[];
};

export type ListUserTagsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListUserTagsResponse = {
  userTags: Tag[];
};

export type ListUsersRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListUsersResponse = {
  users: User[];
};

export type ListVerifiedSuborgsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  filterType?: string | null;
  filterValue?: string | null;
  paginationOptions?: {
    limit?: string | null;
    before?: string | null;
    after?: string | null;
  } | null;
};

export type ListVerifiedSuborgsResponse = {
  organizationIds: string[];
};

export type ListWalletAccountsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  walletId?: string | null;
  includeWalletDetails?: boolean | null;
  paginationOptions?: {
    limit?: string | null;
    before?: string | null;
    after?: string | null;
  } | null;
};

export type ListWalletAccountsResponse = {
  accounts: WalletAccount[];
};

export type ListWalletsRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type ListWalletsResponse = {
  wallets: Wallet[];
};

export type SimulateActivityRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
  activity: {
    /** Type of the activity. */
    type: string;
    /** Its parameters, as its endpoint takes them. */
    parameters: unknown;
  };
  proposerId?: string | null;
  approverIds?: readonly string[] | null;
  timeMs?: string | null;
  policies?: {
    add?: readonly {
      /** Human-readable name of the policy. */
      policyName: string;
      /** Whether it allows or denies. */
      effect: "EFFECT_ALLOW" | "EFFECT_DENY";
      condition?: string | null;
      consensus?: string | null;
      time?: string | null;
    }[] | null;
    replace?: readonly {
      /** Unique identifier. */
      policyId: string;
      /** Whether it allows or denies. */
      effect: "EFFECT_ALLOW" | "EFFECT_DENY";
      condition?: string | null;
      consensus?: string | null;
      time?: string | null;
    }[] | null;
    remove?: readonly string[] | null;
  } | null;
  scenario?: {
    users?: readonly {
      /** Unique identifier. */
      userId: string;
      /** Human-readable name of the user. */
      userName: string;
      userEmail?: string | null;
      userTags?: readonly string[] | null;
      apiKeys?: readonly {
        /** Unique identifier. */
        apiKeyId: string;
        /** Public key, in hex. */
        publicKey: string;
        /** `CREDENTIAL_TYPE_…`. */
        type: string;
      }[] | null;
    }[] | null;
    keys?: readonly {
      walletId?: string | null;
      walletName?: string | null;
      path?: string | null;
      privateKeyId?: string | null;
      privateKeyName?: string | null;
      tags?: readonly string[] | null;
      address?: string | null;
      addressFormat?: "ADDRESS_FORMAT_UNCOMPRESSED" | "ADDRESS_FORMAT_COMPRESSED" | "ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COSMOS" | "ADDRESS_FORMAT_TRON" | "ADDRESS_FORMAT_SUI" | "ADDRESS_FORMAT_APTOS" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH" | "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH" | "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR" | "ADDRESS_FORMAT_SEI" | "ADDRESS_FORMAT_XLM" | "ADDRESS_FORMAT_DOGE_MAINNET" | "ADDRESS_FORMAT_DOGE_TESTNET" | "ADDRESS_FORMAT_TON_V3R2" | "ADDRESS_FORMAT_TON_V4R2" | "ADDRESS_FORMAT_TON_V5R1" | "ADDRESS_FORMAT_XRP" | "ADDRESS_FORMAT_SPARK_MAINNET" | "ADDRESS_FORMAT_SPARK_REGTEST" | null;
      /** Curve of the key. */
      curve: "CURVE_SECP256K1" | "CURVE_P256" | "CURVE_ED25519";
      /** Public key, in hex. */
      publicKey: string;
      imported?: boolean | null;
      exported?: boolean | null;
    }[] | null;
    interfaces?: readonly {
      /** Address of the contract or program. */
      smartContractAddress: string;
      /** What kind of interface it is. */
      type: "ETHEREUM" | "SOLANA";
      /** ABI or IDL, as JSON text. */
      smartContractInterface: string;
    }[] | null;
  } | null;
};

export type SimulateActivityResponse = {
  /** What would become of the activity. */
  decision: "DECISION_ALLOW" | "DECISION_DENY" | "DECISION_CONSENSUS_NEEDED";
  /** Why it would run: `ROOT_QUORUM`, `POLICY`, `OWN_CREDENTIAL`, or `NONE`. */
  grounds: string;
  /** The decision in a sentence. */
  message: string;
  /** Empty when policies are not asked, as for the root quorum. */
  policyEvaluations: {
    /** Unique identifier of the policy. */
    policyId: string;
    /** Its name. */
    policyName: string;
    /** What the policy came to: `OUTCOME_…`. */
    outcome: string;
  }[];
  explanations: {
    /** Unique identifier of the policy. */
    policyId: string;
    /** What the policy came to: `OUTCOME_…`. */
    outcome: string;
    /** Which of its expressions settled it. */
    expression?: string;
    /** The clause that settled it, as written. */
    clause?: string;
    /** Where the clause begins in the expression. */
    start?: number;
    /** Where it ends. */
    end?: number;
    /** What the names in the clause were. */
    observed: Record<string, string>;
    /** Why there is no value, or why the policy does not apply. */
    reason?: string;
  }[];
  traces: {
    /** Unique identifier of the policy. */
    policyId: string;
    entries: {
      /** `condition`, `consensus` or `time`. */
      expression: string;
      /** The sub-expression as written. */
      text: string;
      start: number;
      end: number;
      /** What it came to. */
      value?: string;
      /** Why it has no value. */
      error?: string;
    }[];
  }[];
  /** Whose approval would count next. */
  eligibleUserIds: string[];
};

export type WhoamiRequest = {
  /** Unique identifier of an organization. */
  organizationId: string;
};

export type WhoamiResponse = {
  /** Unique identifier of an organization. */
  organizationId: string;
  /** Human-readable name of the organization. */
  organizationName: string;
  /** Unique identifier. */
  userId: string;
  /** Human-readable name of the user. */
  username: string;
};

export type GetActivityInput = Omit<GetActivityRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetApiKeyInput = Omit<GetApiKeyRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetApiKeysInput = Omit<GetApiKeysRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetAuthenticatorInput = Omit<GetAuthenticatorRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetAuthenticatorsInput = Omit<GetAuthenticatorsRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetBootProofInput = Omit<GetBootProofRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetIpAllowlistInput = Omit<GetIpAllowlistRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetLatestBootProofInput = Omit<GetLatestBootProofRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetLogFileInput = Omit<GetLogFileRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetLogStatementInput = Omit<GetLogStatementRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetOauth2CredentialInput = Omit<GetOauth2CredentialRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetOauthProvidersInput = Omit<GetOauthProvidersRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetOrganizationInput = Omit<GetOrganizationRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetOrganizationConfigsInput = Omit<GetOrganizationConfigsRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetPolicyInput = Omit<GetPolicyRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetPolicyEvaluationsInput = Omit<GetPolicyEvaluationsRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetPrivateKeyInput = Omit<GetPrivateKeyRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetProofContextInput = Omit<GetProofContextRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetSessionProfileInput = Omit<GetSessionProfileRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetSessionProfilesInput = Omit<GetSessionProfilesRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetSmartContractInterfaceInput = Omit<GetSmartContractInterfaceRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetUserInput = Omit<GetUserRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetWalletInput = Omit<GetWalletRequest, "organizationId"> & { organizationId?: string | undefined };

export type GetWalletAccountInput = Omit<GetWalletAccountRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListActivitiesInput = Omit<ListActivitiesRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListAppProofsInput = Omit<ListAppProofsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListEmailEventsInput = Omit<ListEmailEventsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListLogLeavesInput = Omit<ListLogLeavesRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListOauth2CredentialsInput = Omit<ListOauth2CredentialsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListPoliciesInput = Omit<ListPoliciesRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListPrivateKeyTagsInput = Omit<ListPrivateKeyTagsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListPrivateKeysInput = Omit<ListPrivateKeysRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListSmartContractInterfacesInput = Omit<ListSmartContractInterfacesRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListSuborgsInput = Omit<ListSuborgsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListUserTagsInput = Omit<ListUserTagsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListUsersInput = Omit<ListUsersRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListVerifiedSuborgsInput = Omit<ListVerifiedSuborgsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListWalletAccountsInput = Omit<ListWalletAccountsRequest, "organizationId"> & { organizationId?: string | undefined };

export type ListWalletsInput = Omit<ListWalletsRequest, "organizationId"> & { organizationId?: string | undefined };

export type SimulateActivityInput = Omit<SimulateActivityRequest, "organizationId"> & { organizationId?: string | undefined };

export type WhoamiInput = Omit<WhoamiRequest, "organizationId"> & { organizationId?: string | undefined };

export const activities = {
  approve_activity: { url: "/public/v1/submit/approve_activity", type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", resultKey: "", summary: "Approve an activity that waits for consensus", parameters: ["fingerprint: string"] },
  create_api_keys: { url: "/public/v1/submit/create_api_keys", type: "ACTIVITY_TYPE_CREATE_API_KEYS_V2", resultKey: "createApiKeysResult", summary: "Add API keys to a user", parameters: ["apiKeys: { apiKeyName: string; publicKey: string; curveType: \"API_KEY_CURVE_P256\" | \"API_KEY_CURVE_SECP256K1\" | \"API_KEY_CURVE_ED25519\"; expirationSeconds?: string | null; }[]", "userId: string"] },
  create_api_only_users: { url: "/public/v1/submit/create_api_only_users", type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS", resultKey: "createApiOnlyUsersResult", summary: "Create users with API keys in an organization", parameters: ["apiOnlyUsers: { userName: string; userEmail?: string | null; userTags: string[]; apiKeys: { apiKeyName: string; publicKey: string; expirationSeconds?: string | null; }[]; }[]"] },
  create_authenticators: { url: "/public/v1/submit/create_authenticators", type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", resultKey: "createAuthenticatorsResult", summary: "Add passkeys to a user", parameters: ["authenticators: { authenticatorName: string; challenge: string; attestation: { credentialId: string; clientDataJson: string; attestationObject: string; transports: (\"AUTHENTICATOR_TRANSPORT_BLE\" | \"AUTHENTICATOR_TRANSPORT_INTERNAL\" | \"AUTHENTICATOR_TRANSPORT_NFC\" | \"AUTHENTICATOR_TRANSPORT_USB\" | \"AUTHENTICATOR_TRANSPORT_HYBRID\")[]; }; }[]", "userId: string"] },
  create_oauth2_credential: { url: "/public/v1/submit/create_oauth2_credential", type: "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", resultKey: "createOauth2CredentialResult", summary: "Create an OAuth 2.0 credential of an application", parameters: ["provider: \"OAUTH2_PROVIDER_ALPHA\" | \"OAUTH2_PROVIDER_BETA\" | \"OAUTH2_PROVIDER_X\" | \"OAUTH2_PROVIDER_DISCORD\"", "clientId: string", "encryptedClientSecret: string"] },
  create_oauth_providers: { url: "/public/v1/submit/create_oauth_providers", type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2", resultKey: "createOauthProvidersResultV2", summary: "Link a user to identities at OpenID Connect providers", parameters: ["userId: string", "oauthProviders: { providerName: string; oidcToken?: string | null; oidcClaims?: { iss: string; sub: string; aud: string; } | null; }[]"] },
  create_policies: { url: "/public/v1/submit/create_policies", type: "ACTIVITY_TYPE_CREATE_POLICIES", resultKey: "createPoliciesResult", summary: "Create several policies at once", parameters: ["policies: { policyName: string; effect: \"EFFECT_ALLOW\" | \"EFFECT_DENY\"; condition?: string | null; consensus?: string | null; time?: string | null; notes?: string | null; }[]"] },
  create_policy: { url: "/public/v1/submit/create_policy", type: "ACTIVITY_TYPE_CREATE_POLICY_V3", resultKey: "createPolicyResult", summary: "Create a policy", parameters: ["policyName: string", "effect: \"EFFECT_ALLOW\" | \"EFFECT_DENY\"", "condition?: string | null", "consensus?: string | null", "time?: string | null", "notes?: string | null"] },
  create_private_key_tag: { url: "/public/v1/submit/create_private_key_tag", type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG", resultKey: "createPrivateKeyTagResult", summary: "Create a private key tag and add it to private keys", parameters: ["privateKeyTagName: string", "privateKeyIds: string[]"] },
  create_private_keys: { url: "/public/v1/submit/create_private_keys", type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", resultKey: "createPrivateKeysResultV2", summary: "Create private keys", parameters: ["privateKeys: { privateKeyName: string; curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"; privateKeyTags?: string[] | null; addressFormats: (\"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\")[]; }[]"] },
  create_read_only_session: { url: "/public/v1/submit/create_read_only_session", type: "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", resultKey: "createReadOnlySessionResult", summary: "Get a value that reads as the caller for an hour", parameters: [] },
  create_read_write_session: { url: "/public/v1/submit/create_read_write_session", type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", resultKey: "createReadWriteSessionResultV2", summary: "Get a session whose key is sent encrypted to a key of the client's", parameters: ["targetPublicKey: string", "userId?: string | null", "apiKeyName?: string | null", "expirationSeconds?: string | null", "invalidateExisting?: boolean | null"] },
  create_session_profile: { url: "/public/v1/submit/create_session_profile", type: "ACTIVITY_TYPE_CREATE_SESSION_PROFILE", resultKey: "createSessionProfileResult", summary: "Create a session profile, which bounds what sessions may do", parameters: ["sessionProfileName: string", "scope: string", "expirationSeconds?: string | null", "notes?: string | null"] },
  create_smart_contract_interface: { url: "/public/v1/submit/create_smart_contract_interface", type: "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", resultKey: "createSmartContractInterfaceResult", summary: "Create the interface that calls of a contract are read by", parameters: ["smartContractAddress: string", "smartContractInterface: string", "type: \"SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM\" | \"SMART_CONTRACT_INTERFACE_TYPE_SOLANA\"", "label: string", "notes?: string | null"] },
  create_sub_organization: { url: "/public/v1/submit/create_sub_organization", type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", resultKey: "createSubOrganizationResultV8", summary: "Create a sub-organization with its root users", parameters: ["subOrganizationName: string", "rootUsers: { userName: string; userEmail?: string | null; userPhoneNumber?: string | null; userTag?: string | null; apiKeys?: { apiKeyName: string; publicKey: string; curveType: \"API_KEY_CURVE_P256\" | \"API_KEY_CURVE_SECP256K1\" | \"API_KEY_CURVE_ED25519\"; expirationSeconds?: string | null; }[] | null; authenticators?: { authenticatorName: string; challenge: string; attestation: { credentialId: string; clientDataJson: string; attestationObject: string; transports: (\"AUTHENTICATOR_TRANSPORT_BLE\" | \"AUTHENTICATOR_TRANSPORT_INTERNAL\" | \"AUTHENTICATOR_TRANSPORT_NFC\" | \"AUTHENTICATOR_TRANSPORT_USB\" | \"AUTHENTICATOR_TRANSPORT_HYBRID\")[]; }; }[] | null; oauthProviders?: { providerName: string; oidcToken?: string | null; oidcClaims?: { iss: string; sub: string; aud: string; } | null; }[] | null; }[]", "rootQuorumThreshold: number", "wallet?: { walletName: string; accounts: { curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"; pathFormat: \"PATH_FORMAT_BIP32\"; path: string; addressFormat: \"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\"; name?: string | null; }[]; mnemonicLength?: 12 | 15 | 18 | 21 | 24 | null; } | null", "disableEmailRecovery?: boolean | null", "disableEmailAuth?: boolean | null", "disableSmsAuth?: boolean | null", "disableOtpEmailAuth?: boolean | null", "verificationToken?: string | null", "clientSignature?: { publicKey: string; scheme: \"CLIENT_SIGNATURE_SCHEME_API_P256\"; message: string; signature: string; } | null"] },
  create_user_tag: { url: "/public/v1/submit/create_user_tag", type: "ACTIVITY_TYPE_CREATE_USER_TAG", resultKey: "createUserTagResult", summary: "Create a user tag and add it to users", parameters: ["userTagName: string", "userIds: string[]"] },
  create_users: { url: "/public/v1/submit/create_users", type: "ACTIVITY_TYPE_CREATE_USERS_V4", resultKey: "createUsersResult", summary: "Create users in an organization", parameters: ["users: { userName: string; userEmail?: string | null; userPhoneNumber?: string | null; apiKeys: { apiKeyName: string; publicKey: string; curveType: \"API_KEY_CURVE_P256\" | \"API_KEY_CURVE_SECP256K1\" | \"API_KEY_CURVE_ED25519\"; expirationSeconds?: string | null; }[]; authenticators: { authenticatorName: string; challenge: string; attestation: { credentialId: string; clientDataJson: string; attestationObject: string; transports: (\"AUTHENTICATOR_TRANSPORT_BLE\" | \"AUTHENTICATOR_TRANSPORT_INTERNAL\" | \"AUTHENTICATOR_TRANSPORT_NFC\" | \"AUTHENTICATOR_TRANSPORT_USB\" | \"AUTHENTICATOR_TRANSPORT_HYBRID\")[]; }; }[]; oauthProviders: { providerName: string; oidcToken?: string | null; oidcClaims?: { iss: string; sub: string; aud: string; } | null; }[]; userTags: string[]; }[]"] },
  create_wallet: { url: "/public/v1/submit/create_wallet", type: "ACTIVITY_TYPE_CREATE_WALLET", resultKey: "createWalletResult", summary: "Create a wallet and derive accounts", parameters: ["walletName: string", "accounts: { curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"; pathFormat: \"PATH_FORMAT_BIP32\"; path: string; addressFormat: \"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\"; name?: string | null; }[]", "mnemonicLength?: 12 | 15 | 18 | 21 | 24 | null"] },
  create_wallet_accounts: { url: "/public/v1/submit/create_wallet_accounts", type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", resultKey: "createWalletAccountsResult", summary: "Derive accounts of a wallet", parameters: ["walletId: string", "accounts: { curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"; pathFormat: \"PATH_FORMAT_BIP32\"; path: string; addressFormat: \"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\"; name?: string | null; }[]", "persist?: boolean | null"] },
  delete_api_keys: { url: "/public/v1/submit/delete_api_keys", type: "ACTIVITY_TYPE_DELETE_API_KEYS", resultKey: "deleteApiKeysResult", summary: "Delete API keys of a user", parameters: ["userId: string", "apiKeyIds: string[]"] },
  delete_authenticators: { url: "/public/v1/submit/delete_authenticators", type: "ACTIVITY_TYPE_DELETE_AUTHENTICATORS", resultKey: "deleteAuthenticatorsResult", summary: "Delete passkeys of a user", parameters: ["userId: string", "authenticatorIds: string[]"] },
  delete_oauth2_credential: { url: "/public/v1/submit/delete_oauth2_credential", type: "ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL", resultKey: "deleteOauth2CredentialResult", summary: "Delete an OAuth 2.0 credential of an application", parameters: ["oauth2CredentialId: string"] },
  delete_oauth_providers: { url: "/public/v1/submit/delete_oauth_providers", type: "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS", resultKey: "deleteOauthProvidersResult", summary: "Unlink a user from identities at OpenID Connect providers", parameters: ["userId: string", "providerIds: string[]"] },
  delete_policies: { url: "/public/v1/submit/delete_policies", type: "ACTIVITY_TYPE_DELETE_POLICIES", resultKey: "deletePoliciesResult", summary: "Delete several policies at once", parameters: ["policyIds: string[]"] },
  delete_policy: { url: "/public/v1/submit/delete_policy", type: "ACTIVITY_TYPE_DELETE_POLICY", resultKey: "deletePolicyResult", summary: "Delete a policy", parameters: ["policyId: string"] },
  delete_private_key_tags: { url: "/public/v1/submit/delete_private_key_tags", type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS", resultKey: "deletePrivateKeyTagsResult", summary: "Delete private key tags and take them off their keys", parameters: ["privateKeyTagIds: string[]"] },
  delete_private_keys: { url: "/public/v1/submit/delete_private_keys", type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", resultKey: "deletePrivateKeysResult", summary: "Delete private keys", parameters: ["privateKeyIds: string[]", "deleteWithoutExport?: boolean | null"] },
  delete_smart_contract_interface: { url: "/public/v1/submit/delete_smart_contract_interface", type: "ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE", resultKey: "deleteSmartContractInterfaceResult", summary: "Delete the interface of a contract", parameters: ["smartContractInterfaceId: string"] },
  delete_sub_organization: { url: "/public/v1/submit/delete_sub_organization", type: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", resultKey: "deleteSubOrganizationResult", summary: "Delete the sub-organization it runs in", parameters: ["deleteWithoutExport?: boolean | null"] },
  delete_user_tags: { url: "/public/v1/submit/delete_user_tags", type: "ACTIVITY_TYPE_DELETE_USER_TAGS", resultKey: "deleteUserTagsResult", summary: "Delete user tags and take them off their users", parameters: ["userTagIds: string[]"] },
  delete_users: { url: "/public/v1/submit/delete_users", type: "ACTIVITY_TYPE_DELETE_USERS", resultKey: "deleteUsersResult", summary: "Delete users of an organization", parameters: ["userIds: string[]"] },
  delete_wallet_accounts: { url: "/public/v1/submit/delete_wallet_accounts", type: "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", resultKey: "deleteWalletAccountsResult", summary: "Delete accounts of wallets", parameters: ["walletAccountIds: string[]", "deleteWithoutExport?: boolean | null"] },
  delete_wallets: { url: "/public/v1/submit/delete_wallets", type: "ACTIVITY_TYPE_DELETE_WALLETS", resultKey: "deleteWalletsResult", summary: "Delete wallets with their accounts", parameters: ["walletIds: string[]", "deleteWithoutExport?: boolean | null"] },
  disable_auth_proxy: { url: "/public/v1/submit/disable_auth_proxy", type: "ACTIVITY_TYPE_DISABLE_AUTH_PROXY", resultKey: "disableAuthProxyResult", summary: "Turn the auth proxy off", parameters: [] },
  email_auth: { url: "/public/v1/submit/email_auth", type: "ACTIVITY_TYPE_EMAIL_AUTH_V3", resultKey: "emailAuthResult", summary: "Mail a user a session whose key is encrypted to a key of the client's", parameters: ["email: string", "targetPublicKey: string", "expirationSeconds?: string | null", "sendFromEmailAddress?: string | null", "sendFromEmailSenderName?: string | null", "replyToEmailAddress?: string | null", "apiKeyName?: string | null", "invalidateExisting?: boolean | null", "emailCustomization: { appName: string; logoUrl?: string | null; magicLinkTemplate?: string | null; templateVariables?: string | null; templateId?: string | null; }"] },
  enable_auth_proxy: { url: "/public/v1/submit/enable_auth_proxy", type: "ACTIVITY_TYPE_ENABLE_AUTH_PROXY", resultKey: "enableAuthProxyResult", summary: "Let users sign up and in through the auth proxy", parameters: [] },
  export_private_key: { url: "/public/v1/submit/export_private_key", type: "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY", resultKey: "exportPrivateKeyResult", summary: "Export a private key, encrypted to a key of the client's", parameters: ["privateKeyId: string", "targetPublicKey: string"] },
  export_wallet: { url: "/public/v1/submit/export_wallet", type: "ACTIVITY_TYPE_EXPORT_WALLET", resultKey: "exportWalletResult", summary: "Export the mnemonic of a wallet, encrypted to a key of the client's", parameters: ["walletId: string", "targetPublicKey: string", "language?: \"MNEMONIC_LANGUAGE_ENGLISH\" | \"MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE\" | \"MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE\" | \"MNEMONIC_LANGUAGE_CZECH\" | \"MNEMONIC_LANGUAGE_FRENCH\" | \"MNEMONIC_LANGUAGE_ITALIAN\" | \"MNEMONIC_LANGUAGE_JAPANESE\" | \"MNEMONIC_LANGUAGE_KOREAN\" | \"MNEMONIC_LANGUAGE_SPANISH\" | null"] },
  export_wallet_account: { url: "/public/v1/submit/export_wallet_account", type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", resultKey: "exportWalletAccountResult", summary: "Export the private key of a wallet account, encrypted to a key of the client's", parameters: ["address: string", "targetPublicKey: string"] },
  import_private_key: { url: "/public/v1/submit/import_private_key", type: "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", resultKey: "importPrivateKeyResult", summary: "Import a private key that was encrypted to the key of an import bundle", parameters: ["userId: string", "privateKeyName: string", "encryptedBundle: string", "curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"", "addressFormats: (\"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\")[]"] },
  import_wallet: { url: "/public/v1/submit/import_wallet", type: "ACTIVITY_TYPE_IMPORT_WALLET", resultKey: "importWalletResult", summary: "Import a mnemonic that was encrypted to the key of an import bundle", parameters: ["userId: string", "walletName: string", "encryptedBundle: string", "accounts: { curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"; pathFormat: \"PATH_FORMAT_BIP32\"; path: string; addressFormat: \"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\"; name?: string | null; }[]"] },
  init_import_private_key: { url: "/public/v1/submit/init_import_private_key", type: "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY", resultKey: "initImportPrivateKeyResult", summary: "Get a public key to encrypt the import of a private key to", parameters: ["userId: string"] },
  init_import_wallet: { url: "/public/v1/submit/init_import_wallet", type: "ACTIVITY_TYPE_INIT_IMPORT_WALLET", resultKey: "initImportWalletResult", summary: "Get a public key to encrypt the import of a wallet to", parameters: ["userId: string"] },
  init_otp: { url: "/public/v1/submit/init_otp", type: "ACTIVITY_TYPE_INIT_OTP_V3", resultKey: "initOtpResultV2", summary: "Send a one-time code to an e-mail address or phone number", parameters: ["otpType: \"OTP_TYPE_EMAIL\" | \"OTP_TYPE_SMS\" | \"OTP_TYPE_WHATSAPP\"", "contact: string", "otpLength?: number | null", "alphanumeric?: boolean | null", "expirationSeconds?: string | null", "userIdentifier?: string | null", "smsCustomization?: { template?: string | null; } | null", "sendFromEmailAddress?: string | null", "sendFromEmailSenderName?: string | null", "replyToEmailAddress?: string | null", "appName: string", "emailCustomization?: { logoUrl?: string | null; magicLinkTemplate?: string | null; templateVariables?: string | null; templateId?: string | null; } | null"] },
  init_otp_auth: { url: "/public/v1/submit/init_otp_auth", type: "ACTIVITY_TYPE_INIT_OTP_AUTH_V3", resultKey: "initOtpAuthResultV2", summary: "Send a user a one-time code to sign in with by otp_auth", parameters: ["otpType: \"OTP_TYPE_EMAIL\" | \"OTP_TYPE_SMS\" | \"OTP_TYPE_WHATSAPP\"", "contact: string", "otpLength?: number | null", "alphanumeric?: boolean | null", "expirationSeconds?: string | null", "userIdentifier?: string | null", "smsCustomization?: { template?: string | null; } | null", "sendFromEmailAddress?: string | null", "sendFromEmailSenderName?: string | null", "replyToEmailAddress?: string | null", "appName: string", "emailCustomization?: { logoUrl?: string | null; magicLinkTemplate?: string | null; templateVariables?: string | null; templateId?: string | null; } | null"] },
  init_user_email_recovery: { url: "/public/v1/submit/init_user_email_recovery", type: "ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2", resultKey: "initUserEmailRecoveryResult", summary: "Mail a user a key that can register a new passkey", parameters: ["email: string", "targetPublicKey: string", "expirationSeconds?: string | null", "sendFromEmailAddress?: string | null", "sendFromEmailSenderName?: string | null", "replyToEmailAddress?: string | null", "emailCustomization: { appName: string; logoUrl?: string | null; magicLinkTemplate?: string | null; templateVariables?: string | null; templateId?: string | null; }"] },
  oauth: { url: "/public/v1/submit/oauth", type: "ACTIVITY_TYPE_OAUTH", resultKey: "oauthResult", summary: "Sign in with an OpenID Connect token and get a session whose key is sent encrypted", parameters: ["oidcToken: string", "targetPublicKey: string", "apiKeyName?: string | null", "expirationSeconds?: string | null", "invalidateExisting?: boolean | null"] },
  oauth2_authenticate: { url: "/public/v1/submit/oauth2_authenticate", type: "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", resultKey: "oauth2AuthenticateResult", summary: "Sign a user in at an OAuth 2.0 provider and get an identity token", parameters: ["oauth2CredentialId: string", "authCode: string", "redirectUri: string", "codeVerifier: string", "nonce: string", "bearerTokenTargetPublicKey?: string | null"] },
  oauth_login: { url: "/public/v1/submit/oauth_login", type: "ACTIVITY_TYPE_OAUTH_LOGIN", resultKey: "oauthLoginResult", summary: "Sign a user in with an OpenID Connect token and get a session", parameters: ["oidcToken: string", "publicKey: string", "expirationSeconds?: string | null", "invalidateExisting?: boolean | null", "sessionProfileId?: string | null"] },
  otp_auth: { url: "/public/v1/submit/otp_auth", type: "ACTIVITY_TYPE_OTP_AUTH", resultKey: "otpAuthResult", summary: "Sign in with a one-time code and get a session whose key is sent encrypted", parameters: ["otpId: string", "otpCode: string", "targetPublicKey: string", "apiKeyName?: string | null", "expirationSeconds?: string | null", "invalidateExisting?: boolean | null"] },
  otp_login: { url: "/public/v1/submit/otp_login", type: "ACTIVITY_TYPE_OTP_LOGIN_V2", resultKey: "otpLoginResult", summary: "Sign a user in with a verification token and get a session", parameters: ["verificationToken: string", "publicKey: string", "clientSignature: { publicKey: string; scheme: \"CLIENT_SIGNATURE_SCHEME_API_P256\"; message: string; signature: string; }", "expirationSeconds?: string | null", "invalidateExisting?: boolean | null", "sessionProfileId?: string | null"] },
  recover_user: { url: "/public/v1/submit/recover_user", type: "ACTIVITY_TYPE_RECOVER_USER", resultKey: "recoverUserResult", summary: "Register a passkey with the key that a recovery mail brought", parameters: ["authenticator: { authenticatorName: string; challenge: string; attestation: { credentialId: string; clientDataJson: string; attestationObject: string; transports: (\"AUTHENTICATOR_TRANSPORT_BLE\" | \"AUTHENTICATOR_TRANSPORT_INTERNAL\" | \"AUTHENTICATOR_TRANSPORT_NFC\" | \"AUTHENTICATOR_TRANSPORT_USB\" | \"AUTHENTICATOR_TRANSPORT_HYBRID\")[]; }; }", "userId: string"] },
  reject_activity: { url: "/public/v1/submit/reject_activity", type: "ACTIVITY_TYPE_REJECT_ACTIVITY", resultKey: "", summary: "Reject an activity that waits for consensus", parameters: ["fingerprint: string"] },
  remove_ip_allowlist: { url: "/public/v1/submit/remove_ip_allowlist", type: "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST", resultKey: "removeIpAllowlistResult", summary: "Remove the IP allowlist of an organization or an API key", parameters: ["publicKey?: string | null"] },
  remove_organization_feature: { url: "/public/v1/submit/remove_organization_feature", type: "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", resultKey: "removeOrganizationFeatureResult", summary: "Switch off a feature of the organization", parameters: ["name: \"FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY\" | \"FEATURE_NAME_WEBAUTHN_ORIGINS\" | \"FEATURE_NAME_EMAIL_AUTH\" | \"FEATURE_NAME_EMAIL_RECOVERY\" | \"FEATURE_NAME_WEBHOOK\" | \"FEATURE_NAME_SMS_AUTH\" | \"FEATURE_NAME_OTP_EMAIL_AUTH\" | \"FEATURE_NAME_AUTH_PROXY\" | \"FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED\" | \"FEATURE_NAME_SWAP_CONFIG\" | \"FEATURE_NAME_EARN_CONFIG\" | \"FEATURE_NAME_SUB_ORGANIZATION_CODES\""] },
  set_ip_allowlist: { url: "/public/v1/submit/set_ip_allowlist", type: "ACTIVITY_TYPE_SET_IP_ALLOWLIST", resultKey: "setIpAllowlistResult", summary: "Set the IP addresses that requests may come from", parameters: ["publicKey?: string | null", "enabled?: boolean | null", "rules?: { cidr: string; label?: string | null; }[] | null", "onEvaluationError?: \"ALLOW\" | \"DENY\" | null"] },
  set_organization_feature: { url: "/public/v1/submit/set_organization_feature", type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", resultKey: "setOrganizationFeatureResult", summary: "Switch on a feature of the organization", parameters: ["name: \"FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY\" | \"FEATURE_NAME_WEBAUTHN_ORIGINS\" | \"FEATURE_NAME_EMAIL_AUTH\" | \"FEATURE_NAME_EMAIL_RECOVERY\" | \"FEATURE_NAME_WEBHOOK\" | \"FEATURE_NAME_SMS_AUTH\" | \"FEATURE_NAME_OTP_EMAIL_AUTH\" | \"FEATURE_NAME_AUTH_PROXY\" | \"FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED\" | \"FEATURE_NAME_SWAP_CONFIG\" | \"FEATURE_NAME_EARN_CONFIG\" | \"FEATURE_NAME_SUB_ORGANIZATION_CODES\"", "value?: string | null"] },
  sign_raw_payload: { url: "/public/v1/submit/sign_raw_payload", type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", resultKey: "signRawPayloadResult", summary: "Sign a raw payload", parameters: ["signWith: string", "payload: string", "encoding: \"PAYLOAD_ENCODING_HEXADECIMAL\" | \"PAYLOAD_ENCODING_TEXT_UTF8\" | \"PAYLOAD_ENCODING_EIP712\" | \"PAYLOAD_ENCODING_EIP7702_AUTHORIZATION\"", "hashFunction: \"HASH_FUNCTION_NO_OP\" | \"HASH_FUNCTION_SHA256\" | \"HASH_FUNCTION_KECCAK256\" | \"HASH_FUNCTION_NOT_APPLICABLE\""] },
  sign_raw_payloads: { url: "/public/v1/submit/sign_raw_payloads", type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", resultKey: "signRawPayloadsResult", summary: "Sign several raw payloads", parameters: ["signWith: string", "payloads: string[]", "encoding: \"PAYLOAD_ENCODING_HEXADECIMAL\" | \"PAYLOAD_ENCODING_TEXT_UTF8\" | \"PAYLOAD_ENCODING_EIP712\" | \"PAYLOAD_ENCODING_EIP7702_AUTHORIZATION\"", "hashFunction: \"HASH_FUNCTION_NO_OP\" | \"HASH_FUNCTION_SHA256\" | \"HASH_FUNCTION_KECCAK256\" | \"HASH_FUNCTION_NOT_APPLICABLE\""] },
  sign_transaction: { url: "/public/v1/submit/sign_transaction", type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", resultKey: "signTransactionResult", summary: "Sign a transaction", parameters: ["signWith: string", "unsignedTransaction: string", "type: \"TRANSACTION_TYPE_ETHEREUM\" | \"TRANSACTION_TYPE_SOLANA\" | \"TRANSACTION_TYPE_TRON\" | \"TRANSACTION_TYPE_BITCOIN\" | \"TRANSACTION_TYPE_TEMPO\""] },
  stamp_login: { url: "/public/v1/submit/stamp_login", type: "ACTIVITY_TYPE_STAMP_LOGIN", resultKey: "stampLoginResult", summary: "Sign in with a stamp and get a session", parameters: ["publicKey: string", "expirationSeconds?: string | null", "invalidateExisting?: boolean | null", "sessionProfileId?: string | null"] },
  update_allowed_origins: { url: "/public/v1/submit/update_allowed_origins", type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", resultKey: "updateAllowedOriginsResult", summary: "Set the origins that passkeys may be used from", parameters: ["allowedOrigins: string[]"] },
  update_auth_proxy_config: { url: "/public/v1/submit/update_auth_proxy_config", type: "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", resultKey: "updateAuthProxyConfigResult", summary: "Configure the auth proxy", parameters: ["allowedOrigins?: string[] | null", "allowedAuthMethods?: string[] | null", "sendFromEmailAddress?: string | null", "sendFromEmailSenderName?: string | null", "replyToEmailAddress?: string | null", "emailAuthTemplateId?: string | null", "otpTemplateId?: string | null", "emailCustomizationParams?: { appName?: string | null; logoUrl?: string | null; magicLinkTemplate?: string | null; templateVariables?: string | null; templateId?: string | null; } | null", "smsCustomizationParams?: { template?: string | null; } | null", "walletKitSettings?: { enabledSocialProviders?: string[] | null; oauthClientIds?: { google?: string | null; apple?: string | null; facebook?: string | null; x?: string | null; discord?: string | null; } | null; oauthRedirectUrl?: string | null; } | null", "otpExpirationSeconds?: number | null", "verificationTokenExpirationSeconds?: number | null", "sessionExpirationSeconds?: number | null", "otpAlphanumeric?: boolean | null", "otpLength?: number | null", "verificationTokenRequiredForGetAccountPii?: boolean | null", "socialLinkingClientIds?: string[] | null", "captchaEnabled?: boolean | null"] },
  update_oauth2_credential: { url: "/public/v1/submit/update_oauth2_credential", type: "ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL", resultKey: "updateOauth2CredentialResult", summary: "Update an OAuth 2.0 credential of an application", parameters: ["oauth2CredentialId: string", "provider: \"OAUTH2_PROVIDER_ALPHA\" | \"OAUTH2_PROVIDER_BETA\" | \"OAUTH2_PROVIDER_X\" | \"OAUTH2_PROVIDER_DISCORD\"", "clientId: string", "encryptedClientSecret: string"] },
  update_organization_name: { url: "/public/v1/submit/update_organization_name", type: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", resultKey: "updateOrganizationNameResult", summary: "Rename an organization", parameters: ["organizationName: string"] },
  update_policy: { url: "/public/v1/submit/update_policy", type: "ACTIVITY_TYPE_UPDATE_POLICY_V2", resultKey: "updatePolicyResultV2", summary: "Change a policy", parameters: ["policyId: string", "policyName?: string | null", "policyEffect?: \"EFFECT_ALLOW\" | \"EFFECT_DENY\" | null", "policyCondition?: string | null", "policyConsensus?: string | null", "policyNotes?: string | null", "time?: string | null"] },
  update_private_key_tag: { url: "/public/v1/submit/update_private_key_tag", type: "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG", resultKey: "updatePrivateKeyTagResult", summary: "Rename a private key tag, or change which keys carry it", parameters: ["privateKeyTagId: string", "newPrivateKeyTagName?: string | null", "addPrivateKeyIds: string[]", "removePrivateKeyIds: string[]"] },
  update_root_quorum: { url: "/public/v1/submit/update_root_quorum", type: "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", resultKey: "updateRootQuorumResult", summary: "Set the root quorum of an organization", parameters: ["threshold: number", "userIds: string[]"] },
  update_user: { url: "/public/v1/submit/update_user", type: "ACTIVITY_TYPE_UPDATE_USER", resultKey: "updateUserResult", summary: "Update a user's name, contacts or tags", parameters: ["userId: string", "userName?: string | null", "userEmail?: string | null", "userTagIds?: string[] | null", "userPhoneNumber?: string | null"] },
  update_user_email: { url: "/public/v1/submit/update_user_email", type: "ACTIVITY_TYPE_UPDATE_USER_EMAIL", resultKey: "updateUserEmailResult", summary: "Update or remove a user's e-mail address", parameters: ["userId: string", "userEmail: string", "verificationToken?: string | null", "clientSignature?: { publicKey: string; scheme: \"CLIENT_SIGNATURE_SCHEME_API_P256\"; message: string; signature: string; } | null"] },
  update_user_name: { url: "/public/v1/submit/update_user_name", type: "ACTIVITY_TYPE_UPDATE_USER_NAME", resultKey: "updateUserNameResult", summary: "Update a user's name", parameters: ["userId: string", "userName: string"] },
  update_user_phone_number: { url: "/public/v1/submit/update_user_phone_number", type: "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", resultKey: "updateUserPhoneNumberResult", summary: "Update or remove a user's phone number", parameters: ["userId: string", "userPhoneNumber: string", "verificationToken?: string | null", "clientSignature?: { publicKey: string; scheme: \"CLIENT_SIGNATURE_SCHEME_API_P256\"; message: string; signature: string; } | null"] },
  update_user_tag: { url: "/public/v1/submit/update_user_tag", type: "ACTIVITY_TYPE_UPDATE_USER_TAG", resultKey: "updateUserTagResult", summary: "Rename a user tag, or change who carries it", parameters: ["userTagId: string", "newUserTagName?: string | null", "addUserIds: string[]", "removeUserIds: string[]"] },
  update_wallet: { url: "/public/v1/submit/update_wallet", type: "ACTIVITY_TYPE_UPDATE_WALLET", resultKey: "updateWalletResult", summary: "Rename a wallet", parameters: ["walletId: string", "walletName?: string | null"] },
  verify_otp: { url: "/public/v1/submit/verify_otp", type: "ACTIVITY_TYPE_VERIFY_OTP_V2", resultKey: "verifyOtpResult", summary: "Answer a one-time code and get a verification token", parameters: ["otpId: string", "encryptedOtpBundle: string", "expirationSeconds?: string | null"] },
} as const;

export const queries = {
  get_activity: { url: "/public/v1/query/get_activity", summary: "Get one activity", parameters: ["activityId: string"] },
  get_api_key: { url: "/public/v1/query/get_api_key", summary: "Get one API key", parameters: ["apiKeyId: string"] },
  get_api_keys: { url: "/public/v1/query/get_api_keys", summary: "List the API keys of a user, or of all users", parameters: ["userId?: string | null"] },
  get_authenticator: { url: "/public/v1/query/get_authenticator", summary: "Get one passkey", parameters: ["authenticatorId: string"] },
  get_authenticators: { url: "/public/v1/query/get_authenticators", summary: "List the passkeys of a user", parameters: ["userId: string"] },
  get_boot_proof: { url: "/public/v1/query/get_boot_proof", summary: "Get what a start of the signer has shown about itself, by its ephemeral key", parameters: ["ephemeralKey: string"] },
  get_ip_allowlist: { url: "/public/v1/query/get_ip_allowlist", summary: "Get the IP allowlist of an organization or an API key", parameters: ["publicKey?: string | null"] },
  get_latest_boot_proof: { url: "/public/v1/query/get_latest_boot_proof", summary: "Get what the newest start of a program has shown about itself", parameters: ["appName: string"] },
  get_log_file: { url: "/public/v1/query/get_log_file", summary: "Get the newest checkpoint of a log, or one of its tiles", parameters: ["logId: string", "path: string"] },
  get_log_statement: { url: "/public/v1/query/get_log_statement", summary: "Get the signer's word on how many leaves of an organization are in its log", parameters: ["logId?: string | null"] },
  get_oauth2_credential: { url: "/public/v1/query/get_oauth2_credential", summary: "Get one OAuth 2.0 credential of an application", parameters: ["oauth2CredentialId: string"] },
  get_oauth_providers: { url: "/public/v1/query/get_oauth_providers", summary: "List the OpenID Connect identities of a user, or of all users", parameters: ["userId?: string | null"] },
  get_organization: { url: "/public/v1/query/get_organization", summary: "Get an organization with its users, policies, keys, wallets and tags", parameters: [] },
  get_organization_configs: { url: "/public/v1/query/get_organization_configs", summary: "Get the features and the root quorum of an organization", parameters: [] },
  get_policy: { url: "/public/v1/query/get_policy", summary: "Get one policy", parameters: ["policyId: string"] },
  get_policy_evaluations: { url: "/public/v1/query/get_policy_evaluations", summary: "Get what the policies said about an activity", parameters: ["activityId: string"] },
  get_private_key: { url: "/public/v1/query/get_private_key", summary: "Get one private key with its addresses", parameters: ["privateKeyId: string"] },
  get_proof_context: { url: "/public/v1/query/get_proof_context", summary: "Get what a proven decision was taken on", parameters: ["digest: string"] },
  get_session_profile: { url: "/public/v1/query/get_session_profile", summary: "Get one session profile", parameters: ["sessionProfileId: string"] },
  get_session_profiles: { url: "/public/v1/query/get_session_profiles", summary: "List all session profiles", parameters: [] },
  get_smart_contract_interface: { url: "/public/v1/query/get_smart_contract_interface", summary: "Get the interface of one contract", parameters: ["smartContractInterfaceId: string"] },
  get_user: { url: "/public/v1/query/get_user", summary: "Get one user with its credentials", parameters: ["userId: string"] },
  get_wallet: { url: "/public/v1/query/get_wallet", summary: "Get one wallet", parameters: ["walletId: string"] },
  get_wallet_account: { url: "/public/v1/query/get_wallet_account", summary: "Get one account of a wallet, by address or path", parameters: ["walletId: string", "address?: string | null", "path?: string | null"] },
  list_activities: { url: "/public/v1/query/list_activities", summary: "List activities, newest first", parameters: ["filterByStatus?: (\"ACTIVITY_STATUS_CREATED\" | \"ACTIVITY_STATUS_PENDING\" | \"ACTIVITY_STATUS_COMPLETED\" | \"ACTIVITY_STATUS_FAILED\" | \"ACTIVITY_STATUS_CONSENSUS_NEEDED\" | \"ACTIVITY_STATUS_AUTHENTICATORS_NEEDED\" | \"ACTIVITY_STATUS_REJECTED\")[] | null", "filterByType?: string[] | null", "paginationOptions?: { limit?: string | null; before?: string | null; after?: string | null; } | null"] },
  list_app_proofs: { url: "/public/v1/query/list_app_proofs", summary: "List the app proofs of an activity", parameters: ["activityId: string"] },
  list_email_events: { url: "/public/v1/query/list_email_events", summary: "List what became of mail to an address, newest first", parameters: ["email: string", "eventType?: string | null", "paginationOptions?: { limit?: string | null; before?: string | null; after?: string | null; } | null"] },
  list_log_leaves: { url: "/public/v1/query/list_log_leaves", summary: "List an organization's leaves in the log, oldest first", parameters: ["logId?: string | null", "paginationOptions?: { limit?: string | null; before?: string | null; after?: string | null; } | null"] },
  list_oauth2_credentials: { url: "/public/v1/query/list_oauth2_credentials", summary: "List the OAuth 2.0 credentials of an application", parameters: [] },
  list_policies: { url: "/public/v1/query/list_policies", summary: "List all policies", parameters: [] },
  list_private_key_tags: { url: "/public/v1/query/list_private_key_tags", summary: "List all private key tags", parameters: [] },
  list_private_keys: { url: "/public/v1/query/list_private_keys", summary: "List all private keys with their addresses", parameters: [] },
  list_smart_contract_interfaces: { url: "/public/v1/query/list_smart_contract_interfaces", summary: "List the interfaces of all contracts", parameters: [] },
  list_suborgs: { url: "/public/v1/query/list_suborgs", summary: "List the ids of sub-organizations, all or those that match a filter", parameters: ["filterType?: string | null", "filterValue?: string | null", "paginationOptions?: { limit?: string | null; before?: string | null; after?: string | null; } | null"] },
  list_user_tags: { url: "/public/v1/query/list_user_tags", summary: "List all user tags", parameters: [] },
  list_users: { url: "/public/v1/query/list_users", summary: "List all users with their credentials", parameters: [] },
  list_verified_suborgs: { url: "/public/v1/query/list_verified_suborgs", summary: "List the ids of sub-organizations whose users have verified contacts, all or those with one contact", parameters: ["filterType?: string | null", "filterValue?: string | null", "paginationOptions?: { limit?: string | null; before?: string | null; after?: string | null; } | null"] },
  list_wallet_accounts: { url: "/public/v1/query/list_wallet_accounts", summary: "List accounts of one wallet, or of all", parameters: ["walletId?: string | null", "includeWalletDetails?: boolean | null", "paginationOptions?: { limit?: string | null; before?: string | null; after?: string | null; } | null"] },
  list_wallets: { url: "/public/v1/query/list_wallets", summary: "List all wallets", parameters: [] },
  simulate_activity: { url: "/public/v1/query/simulate_activity", summary: "Tell what would become of an activity, and why, without doing it", parameters: ["activity: { type: string; parameters: unknown; }", "proposerId?: string | null", "approverIds?: string[] | null", "timeMs?: string | null", "policies?: { add?: { policyName: string; effect: \"EFFECT_ALLOW\" | \"EFFECT_DENY\"; condition?: string | null; consensus?: string | null; time?: string | null; }[] | null; replace?: { policyId: string; effect: \"EFFECT_ALLOW\" | \"EFFECT_DENY\"; condition?: string | null; consensus?: string | null; time?: string | null; }[] | null; remove?: string[] | null; } | null", "scenario?: { users?: { userId: string; userName: string; userEmail?: string | null; userTags?: string[] | null; apiKeys?: { apiKeyId: string; publicKey: string; type: string; }[] | null; }[] | null; keys?: { walletId?: string | null; walletName?: string | null; path?: string | null; privateKeyId?: string | null; privateKeyName?: string | null; tags?: string[] | null; address?: string | null; addressFormat?: \"ADDRESS_FORMAT_UNCOMPRESSED\" | \"ADDRESS_FORMAT_COMPRESSED\" | \"ADDRESS_FORMAT_ETHEREUM\" | \"ADDRESS_FORMAT_SOLANA\" | \"ADDRESS_FORMAT_COSMOS\" | \"ADDRESS_FORMAT_TRON\" | \"ADDRESS_FORMAT_SUI\" | \"ADDRESS_FORMAT_APTOS\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH\" | \"ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR\" | \"ADDRESS_FORMAT_SEI\" | \"ADDRESS_FORMAT_XLM\" | \"ADDRESS_FORMAT_DOGE_MAINNET\" | \"ADDRESS_FORMAT_DOGE_TESTNET\" | \"ADDRESS_FORMAT_TON_V3R2\" | \"ADDRESS_FORMAT_TON_V4R2\" | \"ADDRESS_FORMAT_TON_V5R1\" | \"ADDRESS_FORMAT_XRP\" | \"ADDRESS_FORMAT_SPARK_MAINNET\" | \"ADDRESS_FORMAT_SPARK_REGTEST\" | null; curve: \"CURVE_SECP256K1\" | \"CURVE_P256\" | \"CURVE_ED25519\"; publicKey: string; imported?: boolean | null; exported?: boolean | null; }[] | null; interfaces?: { smartContractAddress: string; type: \"ETHEREUM\" | \"SOLANA\"; smartContractInterface: string; }[] | null; } | null"] },
  whoami: { url: "/public/v1/query/whoami", summary: "Identify the calling user and its organization", parameters: [] },
} as const;

export type ActivityPath = keyof typeof activities;
export type QueryPath = keyof typeof queries;

/** What every call takes besides its parameters. */
export type CallOptions = {
  /** The organization to act in, when it is not the client's own. */
  organizationId?: string | undefined;
  /** The time written into an activity; the same body at the same time is the same activity. Queries carry none. */
  timestampMs?: number | undefined;
  /** Under one key, an activity that differs only in its time is the same one for a day: a retry cannot happen twice. */
  idempotencyKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Of an activity: whether the answer proves what was decided, and each address that was derived. */
  generateAppProofs?: boolean | undefined;
};

/** A completed activity with its result's fields beside it; of a vote, the activity voted on, whatever its status. */
export type Completed<R> = { activity: Activity } & R;

/** How the methods reach the server. */
export type Calls = {
  submit<R>(path: ActivityPath, params: object, options?: CallOptions): Promise<Completed<R>>;
  query<R>(path: QueryPath, request: object, options?: CallOptions): Promise<R>;
};

/** One method per endpoint. */
export type Api = {
  /** Approve an activity that waits for consensus. */
  approveActivity(params: ApproveActivityParams, options?: CallOptions): Promise<Completed<unknown>>;
  /** Add API keys to a user. */
  createApiKeys(params: CreateApiKeysParams, options?: CallOptions): Promise<Completed<CreateApiKeysResult>>;
  /** Create users with API keys in an organization. */
  createApiOnlyUsers(params: CreateApiOnlyUsersParams, options?: CallOptions): Promise<Completed<CreateApiOnlyUsersResult>>;
  /** Add passkeys to a user. */
  createAuthenticators(params: CreateAuthenticatorsParams, options?: CallOptions): Promise<Completed<CreateAuthenticatorsResult>>;
  /** Create an OAuth 2.0 credential of an application. */
  createOauth2Credential(params: CreateOauth2CredentialParams, options?: CallOptions): Promise<Completed<CreateOauth2CredentialResult>>;
  /** Link a user to identities at OpenID Connect providers. */
  createOauthProviders(params: CreateOauthProvidersParams, options?: CallOptions): Promise<Completed<CreateOauthProvidersResult>>;
  /** Create several policies at once. */
  createPolicies(params: CreatePoliciesParams, options?: CallOptions): Promise<Completed<CreatePoliciesResult>>;
  /** Create a policy. */
  createPolicy(params: CreatePolicyParams, options?: CallOptions): Promise<Completed<CreatePolicyResult>>;
  /** Create a private key tag and add it to private keys. */
  createPrivateKeyTag(params: CreatePrivateKeyTagParams, options?: CallOptions): Promise<Completed<CreatePrivateKeyTagResult>>;
  /** Create private keys. */
  createPrivateKeys(params: CreatePrivateKeysParams, options?: CallOptions): Promise<Completed<CreatePrivateKeysResult>>;
  /** Get a value that reads as the caller for an hour. */
  createReadOnlySession(params?: CreateReadOnlySessionParams, options?: CallOptions): Promise<Completed<CreateReadOnlySessionResult>>;
  /** Get a session whose key is sent encrypted to a key of the client's. */
  createReadWriteSession(params: CreateReadWriteSessionParams, options?: CallOptions): Promise<Completed<CreateReadWriteSessionResult>>;
  /** Create a session profile, which bounds what sessions may do. */
  createSessionProfile(params: CreateSessionProfileParams, options?: CallOptions): Promise<Completed<CreateSessionProfileResult>>;
  /** Create the interface that calls of a contract are read by. */
  createSmartContractInterface(params: CreateSmartContractInterfaceParams, options?: CallOptions): Promise<Completed<CreateSmartContractInterfaceResult>>;
  /** Create a sub-organization with its root users. */
  createSubOrganization(params: CreateSubOrganizationParams, options?: CallOptions): Promise<Completed<CreateSubOrganizationResult>>;
  /** Create a user tag and add it to users. */
  createUserTag(params: CreateUserTagParams, options?: CallOptions): Promise<Completed<CreateUserTagResult>>;
  /** Create users in an organization. */
  createUsers(params: CreateUsersParams, options?: CallOptions): Promise<Completed<CreateUsersResult>>;
  /** Create a wallet and derive accounts. */
  createWallet(params: CreateWalletParams, options?: CallOptions): Promise<Completed<CreateWalletResult>>;
  /** Derive accounts of a wallet. */
  createWalletAccounts(params: CreateWalletAccountsParams, options?: CallOptions): Promise<Completed<CreateWalletAccountsResult>>;
  /** Delete API keys of a user. */
  deleteApiKeys(params: DeleteApiKeysParams, options?: CallOptions): Promise<Completed<DeleteApiKeysResult>>;
  /** Delete passkeys of a user. */
  deleteAuthenticators(params: DeleteAuthenticatorsParams, options?: CallOptions): Promise<Completed<DeleteAuthenticatorsResult>>;
  /** Delete an OAuth 2.0 credential of an application. */
  deleteOauth2Credential(params: DeleteOauth2CredentialParams, options?: CallOptions): Promise<Completed<DeleteOauth2CredentialResult>>;
  /** Unlink a user from identities at OpenID Connect providers. */
  deleteOauthProviders(params: DeleteOauthProvidersParams, options?: CallOptions): Promise<Completed<DeleteOauthProvidersResult>>;
  /** Delete several policies at once. */
  deletePolicies(params: DeletePoliciesParams, options?: CallOptions): Promise<Completed<DeletePoliciesResult>>;
  /** Delete a policy. */
  deletePolicy(params: DeletePolicyParams, options?: CallOptions): Promise<Completed<DeletePolicyResult>>;
  /** Delete private key tags and take them off their keys. */
  deletePrivateKeyTags(params: DeletePrivateKeyTagsParams, options?: CallOptions): Promise<Completed<DeletePrivateKeyTagsResult>>;
  /** Delete private keys. */
  deletePrivateKeys(params: DeletePrivateKeysParams, options?: CallOptions): Promise<Completed<DeletePrivateKeysResult>>;
  /** Delete the interface of a contract. */
  deleteSmartContractInterface(params: DeleteSmartContractInterfaceParams, options?: CallOptions): Promise<Completed<DeleteSmartContractInterfaceResult>>;
  /** Delete the sub-organization it runs in. */
  deleteSubOrganization(params?: DeleteSubOrganizationParams, options?: CallOptions): Promise<Completed<DeleteSubOrganizationResult>>;
  /** Delete user tags and take them off their users. */
  deleteUserTags(params: DeleteUserTagsParams, options?: CallOptions): Promise<Completed<DeleteUserTagsResult>>;
  /** Delete users of an organization. */
  deleteUsers(params: DeleteUsersParams, options?: CallOptions): Promise<Completed<DeleteUsersResult>>;
  /** Delete accounts of wallets. */
  deleteWalletAccounts(params: DeleteWalletAccountsParams, options?: CallOptions): Promise<Completed<DeleteWalletAccountsResult>>;
  /** Delete wallets with their accounts. */
  deleteWallets(params: DeleteWalletsParams, options?: CallOptions): Promise<Completed<DeleteWalletsResult>>;
  /** Turn the auth proxy off. */
  disableAuthProxy(params?: DisableAuthProxyParams, options?: CallOptions): Promise<Completed<DisableAuthProxyResult>>;
  /** Mail a user a session whose key is encrypted to a key of the client's. */
  emailAuth(params: EmailAuthParams, options?: CallOptions): Promise<Completed<EmailAuthResult>>;
  /** Let users sign up and in through the auth proxy. */
  enableAuthProxy(params?: EnableAuthProxyParams, options?: CallOptions): Promise<Completed<EnableAuthProxyResult>>;
  /** Export a private key, encrypted to a key of the client's. */
  exportPrivateKey(params: ExportPrivateKeyParams, options?: CallOptions): Promise<Completed<ExportPrivateKeyResult>>;
  /** Export the mnemonic of a wallet, encrypted to a key of the client's. */
  exportWallet(params: ExportWalletParams, options?: CallOptions): Promise<Completed<ExportWalletResult>>;
  /** Export the private key of a wallet account, encrypted to a key of the client's. */
  exportWalletAccount(params: ExportWalletAccountParams, options?: CallOptions): Promise<Completed<ExportWalletAccountResult>>;
  /** Import a private key that was encrypted to the key of an import bundle. */
  importPrivateKey(params: ImportPrivateKeyParams, options?: CallOptions): Promise<Completed<ImportPrivateKeyResult>>;
  /** Import a mnemonic that was encrypted to the key of an import bundle. */
  importWallet(params: ImportWalletParams, options?: CallOptions): Promise<Completed<ImportWalletResult>>;
  /** Get a public key to encrypt the import of a private key to. */
  initImportPrivateKey(params: InitImportPrivateKeyParams, options?: CallOptions): Promise<Completed<InitImportPrivateKeyResult>>;
  /** Get a public key to encrypt the import of a wallet to. */
  initImportWallet(params: InitImportWalletParams, options?: CallOptions): Promise<Completed<InitImportWalletResult>>;
  /** Send a one-time code to an e-mail address or phone number. */
  initOtp(params: InitOtpParams, options?: CallOptions): Promise<Completed<InitOtpResult>>;
  /** Send a user a one-time code to sign in with by otp_auth. */
  initOtpAuth(params: InitOtpAuthParams, options?: CallOptions): Promise<Completed<InitOtpAuthResult>>;
  /** Mail a user a key that can register a new passkey. */
  initUserEmailRecovery(params: InitUserEmailRecoveryParams, options?: CallOptions): Promise<Completed<InitUserEmailRecoveryResult>>;
  /** Sign in with an OpenID Connect token and get a session whose key is sent encrypted. */
  oauth(params: OauthParams, options?: CallOptions): Promise<Completed<OauthResult>>;
  /** Sign a user in at an OAuth 2.0 provider and get an identity token. */
  oauth2Authenticate(params: Oauth2AuthenticateParams, options?: CallOptions): Promise<Completed<Oauth2AuthenticateResult>>;
  /** Sign a user in with an OpenID Connect token and get a session. */
  oauthLogin(params: OauthLoginParams, options?: CallOptions): Promise<Completed<OauthLoginResult>>;
  /** Sign in with a one-time code and get a session whose key is sent encrypted. */
  otpAuth(params: OtpAuthParams, options?: CallOptions): Promise<Completed<OtpAuthResult>>;
  /** Sign a user in with a verification token and get a session. */
  otpLogin(params: OtpLoginParams, options?: CallOptions): Promise<Completed<OtpLoginResult>>;
  /** Register a passkey with the key that a recovery mail brought. */
  recoverUser(params: RecoverUserParams, options?: CallOptions): Promise<Completed<RecoverUserResult>>;
  /** Reject an activity that waits for consensus. */
  rejectActivity(params: RejectActivityParams, options?: CallOptions): Promise<Completed<unknown>>;
  /** Remove the IP allowlist of an organization or an API key. */
  removeIpAllowlist(params?: RemoveIpAllowlistParams, options?: CallOptions): Promise<Completed<RemoveIpAllowlistResult>>;
  /** Switch off a feature of the organization. */
  removeOrganizationFeature(params: RemoveOrganizationFeatureParams, options?: CallOptions): Promise<Completed<RemoveOrganizationFeatureResult>>;
  /** Set the IP addresses that requests may come from. */
  setIpAllowlist(params?: SetIpAllowlistParams, options?: CallOptions): Promise<Completed<SetIpAllowlistResult>>;
  /** Switch on a feature of the organization. */
  setOrganizationFeature(params: SetOrganizationFeatureParams, options?: CallOptions): Promise<Completed<SetOrganizationFeatureResult>>;
  /** Sign a raw payload. */
  signRawPayload(params: SignRawPayloadParams, options?: CallOptions): Promise<Completed<SignRawPayloadResult>>;
  /** Sign several raw payloads. */
  signRawPayloads(params: SignRawPayloadsParams, options?: CallOptions): Promise<Completed<SignRawPayloadsResult>>;
  /** Sign a transaction. */
  signTransaction(params: SignTransactionParams, options?: CallOptions): Promise<Completed<SignTransactionResult>>;
  /** Sign in with a stamp and get a session. */
  stampLogin(params: StampLoginParams, options?: CallOptions): Promise<Completed<StampLoginResult>>;
  /** Set the origins that passkeys may be used from. */
  updateAllowedOrigins(params: UpdateAllowedOriginsParams, options?: CallOptions): Promise<Completed<UpdateAllowedOriginsResult>>;
  /** Configure the auth proxy. */
  updateAuthProxyConfig(params?: UpdateAuthProxyConfigParams, options?: CallOptions): Promise<Completed<UpdateAuthProxyConfigResult>>;
  /** Update an OAuth 2.0 credential of an application. */
  updateOauth2Credential(params: UpdateOauth2CredentialParams, options?: CallOptions): Promise<Completed<UpdateOauth2CredentialResult>>;
  /** Rename an organization. */
  updateOrganizationName(params: UpdateOrganizationNameParams, options?: CallOptions): Promise<Completed<UpdateOrganizationNameResult>>;
  /** Change a policy. */
  updatePolicy(params: UpdatePolicyParams, options?: CallOptions): Promise<Completed<UpdatePolicyResult>>;
  /** Rename a private key tag, or change which keys carry it. */
  updatePrivateKeyTag(params: UpdatePrivateKeyTagParams, options?: CallOptions): Promise<Completed<UpdatePrivateKeyTagResult>>;
  /** Set the root quorum of an organization. */
  updateRootQuorum(params: UpdateRootQuorumParams, options?: CallOptions): Promise<Completed<UpdateRootQuorumResult>>;
  /** Update a user's name, contacts or tags. */
  updateUser(params: UpdateUserParams, options?: CallOptions): Promise<Completed<UpdateUserResult>>;
  /** Update or remove a user's e-mail address. */
  updateUserEmail(params: UpdateUserEmailParams, options?: CallOptions): Promise<Completed<UpdateUserEmailResult>>;
  /** Update a user's name. */
  updateUserName(params: UpdateUserNameParams, options?: CallOptions): Promise<Completed<UpdateUserNameResult>>;
  /** Update or remove a user's phone number. */
  updateUserPhoneNumber(params: UpdateUserPhoneNumberParams, options?: CallOptions): Promise<Completed<UpdateUserPhoneNumberResult>>;
  /** Rename a user tag, or change who carries it. */
  updateUserTag(params: UpdateUserTagParams, options?: CallOptions): Promise<Completed<UpdateUserTagResult>>;
  /** Rename a wallet. */
  updateWallet(params: UpdateWalletParams, options?: CallOptions): Promise<Completed<UpdateWalletResult>>;
  /** Answer a one-time code and get a verification token. */
  verifyOtp(params: VerifyOtpParams, options?: CallOptions): Promise<Completed<VerifyOtpResult>>;
  /** Get one activity. */
  getActivity(request: GetActivityInput, options?: CallOptions): Promise<GetActivityResponse>;
  /** Get one API key. */
  getApiKey(request: GetApiKeyInput, options?: CallOptions): Promise<GetApiKeyResponse>;
  /** List the API keys of a user, or of all users. */
  getApiKeys(request?: GetApiKeysInput, options?: CallOptions): Promise<GetApiKeysResponse>;
  /** Get one passkey. */
  getAuthenticator(request: GetAuthenticatorInput, options?: CallOptions): Promise<GetAuthenticatorResponse>;
  /** List the passkeys of a user. */
  getAuthenticators(request: GetAuthenticatorsInput, options?: CallOptions): Promise<GetAuthenticatorsResponse>;
  /** Get what a start of the signer has shown about itself, by its ephemeral key. */
  getBootProof(request: GetBootProofInput, options?: CallOptions): Promise<GetBootProofResponse>;
  /** Get the IP allowlist of an organization or an API key. */
  getIpAllowlist(request?: GetIpAllowlistInput, options?: CallOptions): Promise<GetIpAllowlistResponse>;
  /** Get what the newest start of a program has shown about itself. */
  getLatestBootProof(request: GetLatestBootProofInput, options?: CallOptions): Promise<GetLatestBootProofResponse>;
  /** Get the newest checkpoint of a log, or one of its tiles. */
  getLogFile(request: GetLogFileInput, options?: CallOptions): Promise<GetLogFileResponse>;
  /** Get the signer's word on how many leaves of an organization are in its log. */
  getLogStatement(request?: GetLogStatementInput, options?: CallOptions): Promise<GetLogStatementResponse>;
  /** Get one OAuth 2.0 credential of an application. */
  getOauth2Credential(request: GetOauth2CredentialInput, options?: CallOptions): Promise<GetOauth2CredentialResponse>;
  /** List the OpenID Connect identities of a user, or of all users. */
  getOauthProviders(request?: GetOauthProvidersInput, options?: CallOptions): Promise<GetOauthProvidersResponse>;
  /** Get an organization with its users, policies, keys, wallets and tags. */
  getOrganization(request?: GetOrganizationInput, options?: CallOptions): Promise<GetOrganizationResponse>;
  /** Get the features and the root quorum of an organization. */
  getOrganizationConfigs(request?: GetOrganizationConfigsInput, options?: CallOptions): Promise<GetOrganizationConfigsResponse>;
  /** Get one policy. */
  getPolicy(request: GetPolicyInput, options?: CallOptions): Promise<GetPolicyResponse>;
  /** Get what the policies said about an activity. */
  getPolicyEvaluations(request: GetPolicyEvaluationsInput, options?: CallOptions): Promise<GetPolicyEvaluationsResponse>;
  /** Get one private key with its addresses. */
  getPrivateKey(request: GetPrivateKeyInput, options?: CallOptions): Promise<GetPrivateKeyResponse>;
  /** Get what a proven decision was taken on. */
  getProofContext(request: GetProofContextInput, options?: CallOptions): Promise<GetProofContextResponse>;
  /** Get one session profile. */
  getSessionProfile(request: GetSessionProfileInput, options?: CallOptions): Promise<GetSessionProfileResponse>;
  /** List all session profiles. */
  getSessionProfiles(request?: GetSessionProfilesInput, options?: CallOptions): Promise<GetSessionProfilesResponse>;
  /** Get the interface of one contract. */
  getSmartContractInterface(request: GetSmartContractInterfaceInput, options?: CallOptions): Promise<GetSmartContractInterfaceResponse>;
  /** Get one user with its credentials. */
  getUser(request: GetUserInput, options?: CallOptions): Promise<GetUserResponse>;
  /** Get one wallet. */
  getWallet(request: GetWalletInput, options?: CallOptions): Promise<GetWalletResponse>;
  /** Get one account of a wallet, by address or path. */
  getWalletAccount(request: GetWalletAccountInput, options?: CallOptions): Promise<GetWalletAccountResponse>;
  /** List activities, newest first. */
  listActivities(request?: ListActivitiesInput, options?: CallOptions): Promise<ListActivitiesResponse>;
  /** List the app proofs of an activity. */
  listAppProofs(request: ListAppProofsInput, options?: CallOptions): Promise<ListAppProofsResponse>;
  /** List what became of mail to an address, newest first. */
  listEmailEvents(request: ListEmailEventsInput, options?: CallOptions): Promise<ListEmailEventsResponse>;
  /** List an organization's leaves in the log, oldest first. */
  listLogLeaves(request?: ListLogLeavesInput, options?: CallOptions): Promise<ListLogLeavesResponse>;
  /** List the OAuth 2.0 credentials of an application. */
  listOauth2Credentials(request?: ListOauth2CredentialsInput, options?: CallOptions): Promise<ListOauth2CredentialsResponse>;
  /** List all policies. */
  listPolicies(request?: ListPoliciesInput, options?: CallOptions): Promise<ListPoliciesResponse>;
  /** List all private key tags. */
  listPrivateKeyTags(request?: ListPrivateKeyTagsInput, options?: CallOptions): Promise<ListPrivateKeyTagsResponse>;
  /** List all private keys with their addresses. */
  listPrivateKeys(request?: ListPrivateKeysInput, options?: CallOptions): Promise<ListPrivateKeysResponse>;
  /** List the interfaces of all contracts. */
  listSmartContractInterfaces(request?: ListSmartContractInterfacesInput, options?: CallOptions): Promise<ListSmartContractInterfacesResponse>;
  /** List the ids of sub-organizations, all or those that match a filter. */
  listSuborgs(request?: ListSuborgsInput, options?: CallOptions): Promise<ListSuborgsResponse>;
  /** List all user tags. */
  listUserTags(request?: ListUserTagsInput, options?: CallOptions): Promise<ListUserTagsResponse>;
  /** List all users with their credentials. */
  listUsers(request?: ListUsersInput, options?: CallOptions): Promise<ListUsersResponse>;
  /** List the ids of sub-organizations whose users have verified contacts, all or those with one contact. */
  listVerifiedSuborgs(request?: ListVerifiedSuborgsInput, options?: CallOptions): Promise<ListVerifiedSuborgsResponse>;
  /** List accounts of one wallet, or of all. */
  listWalletAccounts(request?: ListWalletAccountsInput, options?: CallOptions): Promise<ListWalletAccountsResponse>;
  /** List all wallets. */
  listWallets(request?: ListWalletsInput, options?: CallOptions): Promise<ListWalletsResponse>;
  /** Tell what would become of an activity, and why, without doing it. */
  simulateActivity(request: SimulateActivityInput, options?: CallOptions): Promise<SimulateActivityResponse>;
  /** Identify the calling user and its organization. */
  whoami(request?: WhoamiInput, options?: CallOptions): Promise<WhoamiResponse>;
};

/** The methods over two ways of sending. */
export function createApi({ submit, query }: Calls): Api {
  return {
    approveActivity: (params, options) => submit("approve_activity", params, options),
    createApiKeys: (params, options) => submit("create_api_keys", params, options),
    createApiOnlyUsers: (params, options) => submit("create_api_only_users", params, options),
    createAuthenticators: (params, options) => submit("create_authenticators", params, options),
    createOauth2Credential: (params, options) => submit("create_oauth2_credential", params, options),
    createOauthProviders: (params, options) => submit("create_oauth_providers", params, options),
    createPolicies: (params, options) => submit("create_policies", params, options),
    createPolicy: (params, options) => submit("create_policy", params, options),
    createPrivateKeyTag: (params, options) => submit("create_private_key_tag", params, options),
    createPrivateKeys: (params, options) => submit("create_private_keys", params, options),
    createReadOnlySession: (params = {}, options) => submit("create_read_only_session", params, options),
    createReadWriteSession: (params, options) => submit("create_read_write_session", params, options),
    createSessionProfile: (params, options) => submit("create_session_profile", params, options),
    createSmartContractInterface: (params, options) => submit("create_smart_contract_interface", params, options),
    createSubOrganization: (params, options) => submit("create_sub_organization", params, options),
    createUserTag: (params, options) => submit("create_user_tag", params, options),
    createUsers: (params, options) => submit("create_users", params, options),
    createWallet: (params, options) => submit("create_wallet", params, options),
    createWalletAccounts: (params, options) => submit("create_wallet_accounts", params, options),
    deleteApiKeys: (params, options) => submit("delete_api_keys", params, options),
    deleteAuthenticators: (params, options) => submit("delete_authenticators", params, options),
    deleteOauth2Credential: (params, options) => submit("delete_oauth2_credential", params, options),
    deleteOauthProviders: (params, options) => submit("delete_oauth_providers", params, options),
    deletePolicies: (params, options) => submit("delete_policies", params, options),
    deletePolicy: (params, options) => submit("delete_policy", params, options),
    deletePrivateKeyTags: (params, options) => submit("delete_private_key_tags", params, options),
    deletePrivateKeys: (params, options) => submit("delete_private_keys", params, options),
    deleteSmartContractInterface: (params, options) => submit("delete_smart_contract_interface", params, options),
    deleteSubOrganization: (params = {}, options) => submit("delete_sub_organization", params, options),
    deleteUserTags: (params, options) => submit("delete_user_tags", params, options),
    deleteUsers: (params, options) => submit("delete_users", params, options),
    deleteWalletAccounts: (params, options) => submit("delete_wallet_accounts", params, options),
    deleteWallets: (params, options) => submit("delete_wallets", params, options),
    disableAuthProxy: (params = {}, options) => submit("disable_auth_proxy", params, options),
    emailAuth: (params, options) => submit("email_auth", params, options),
    enableAuthProxy: (params = {}, options) => submit("enable_auth_proxy", params, options),
    exportPrivateKey: (params, options) => submit("export_private_key", params, options),
    exportWallet: (params, options) => submit("export_wallet", params, options),
    exportWalletAccount: (params, options) => submit("export_wallet_account", params, options),
    importPrivateKey: (params, options) => submit("import_private_key", params, options),
    importWallet: (params, options) => submit("import_wallet", params, options),
    initImportPrivateKey: (params, options) => submit("init_import_private_key", params, options),
    initImportWallet: (params, options) => submit("init_import_wallet", params, options),
    initOtp: (params, options) => submit("init_otp", params, options),
    initOtpAuth: (params, options) => submit("init_otp_auth", params, options),
    initUserEmailRecovery: (params, options) => submit("init_user_email_recovery", params, options),
    oauth: (params, options) => submit("oauth", params, options),
    oauth2Authenticate: (params, options) => submit("oauth2_authenticate", params, options),
    oauthLogin: (params, options) => submit("oauth_login", params, options),
    otpAuth: (params, options) => submit("otp_auth", params, options),
    otpLogin: (params, options) => submit("otp_login", params, options),
    recoverUser: (params, options) => submit("recover_user", params, options),
    rejectActivity: (params, options) => submit("reject_activity", params, options),
    removeIpAllowlist: (params = {}, options) => submit("remove_ip_allowlist", params, options),
    removeOrganizationFeature: (params, options) => submit("remove_organization_feature", params, options),
    setIpAllowlist: (params = {}, options) => submit("set_ip_allowlist", params, options),
    setOrganizationFeature: (params, options) => submit("set_organization_feature", params, options),
    signRawPayload: (params, options) => submit("sign_raw_payload", params, options),
    signRawPayloads: (params, options) => submit("sign_raw_payloads", params, options),
    signTransaction: (params, options) => submit("sign_transaction", params, options),
    stampLogin: (params, options) => submit("stamp_login", params, options),
    updateAllowedOrigins: (params, options) => submit("update_allowed_origins", params, options),
    updateAuthProxyConfig: (params = {}, options) => submit("update_auth_proxy_config", params, options),
    updateOauth2Credential: (params, options) => submit("update_oauth2_credential", params, options),
    updateOrganizationName: (params, options) => submit("update_organization_name", params, options),
    updatePolicy: (params, options) => submit("update_policy", params, options),
    updatePrivateKeyTag: (params, options) => submit("update_private_key_tag", params, options),
    updateRootQuorum: (params, options) => submit("update_root_quorum", params, options),
    updateUser: (params, options) => submit("update_user", params, options),
    updateUserEmail: (params, options) => submit("update_user_email", params, options),
    updateUserName: (params, options) => submit("update_user_name", params, options),
    updateUserPhoneNumber: (params, options) => submit("update_user_phone_number", params, options),
    updateUserTag: (params, options) => submit("update_user_tag", params, options),
    updateWallet: (params, options) => submit("update_wallet", params, options),
    verifyOtp: (params, options) => submit("verify_otp", params, options),
    getActivity: (request, options) => query("get_activity", request, options),
    getApiKey: (request, options) => query("get_api_key", request, options),
    getApiKeys: (request = {}, options) => query("get_api_keys", request, options),
    getAuthenticator: (request, options) => query("get_authenticator", request, options),
    getAuthenticators: (request, options) => query("get_authenticators", request, options),
    getBootProof: (request, options) => query("get_boot_proof", request, options),
    getIpAllowlist: (request = {}, options) => query("get_ip_allowlist", request, options),
    getLatestBootProof: (request, options) => query("get_latest_boot_proof", request, options),
    getLogFile: (request, options) => query("get_log_file", request, options),
    getLogStatement: (request = {}, options) => query("get_log_statement", request, options),
    getOauth2Credential: (request, options) => query("get_oauth2_credential", request, options),
    getOauthProviders: (request = {}, options) => query("get_oauth_providers", request, options),
    getOrganization: (request = {}, options) => query("get_organization", request, options),
    getOrganizationConfigs: (request = {}, options) => query("get_organization_configs", request, options),
    getPolicy: (request, options) => query("get_policy", request, options),
    getPolicyEvaluations: (request, options) => query("get_policy_evaluations", request, options),
    getPrivateKey: (request, options) => query("get_private_key", request, options),
    getProofContext: (request, options) => query("get_proof_context", request, options),
    getSessionProfile: (request, options) => query("get_session_profile", request, options),
    getSessionProfiles: (request = {}, options) => query("get_session_profiles", request, options),
    getSmartContractInterface: (request, options) => query("get_smart_contract_interface", request, options),
    getUser: (request, options) => query("get_user", request, options),
    getWallet: (request, options) => query("get_wallet", request, options),
    getWalletAccount: (request, options) => query("get_wallet_account", request, options),
    listActivities: (request = {}, options) => query("list_activities", request, options),
    listAppProofs: (request, options) => query("list_app_proofs", request, options),
    listEmailEvents: (request, options) => query("list_email_events", request, options),
    listLogLeaves: (request = {}, options) => query("list_log_leaves", request, options),
    listOauth2Credentials: (request = {}, options) => query("list_oauth2_credentials", request, options),
    listPolicies: (request = {}, options) => query("list_policies", request, options),
    listPrivateKeyTags: (request = {}, options) => query("list_private_key_tags", request, options),
    listPrivateKeys: (request = {}, options) => query("list_private_keys", request, options),
    listSmartContractInterfaces: (request = {}, options) => query("list_smart_contract_interfaces", request, options),
    listSuborgs: (request = {}, options) => query("list_suborgs", request, options),
    listUserTags: (request = {}, options) => query("list_user_tags", request, options),
    listUsers: (request = {}, options) => query("list_users", request, options),
    listVerifiedSuborgs: (request = {}, options) => query("list_verified_suborgs", request, options),
    listWalletAccounts: (request = {}, options) => query("list_wallet_accounts", request, options),
    listWallets: (request = {}, options) => query("list_wallets", request, options),
    simulateActivity: (request, options) => query("simulate_activity", request, options),
    whoami: (request = {}, options) => query("whoami", request, options),
  };
}
