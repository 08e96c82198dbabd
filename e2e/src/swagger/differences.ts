/**
 * Where our wire is not the published document, and why: the only table of it. The spec's neutral words stand for vendors'
 * names, and a few fields are read or answered more loosely than the document says. Whatever is not here must match exactly.
 */

/** `published` is what a client that names itself `@turnkey/…` gets; `own` is what everyone else does. */
export type Spelling = "published" | "own";

/** A name the spec replaces: ours in the own spelling, the vendor's in the published one. */
export type Renamed = { definition: string; published: string; own: string };

export const renamedProperties: readonly Renamed[] = [
  { definition: "EthTransactionHistoryItem", published: "turnkey", own: "platform" },
  { definition: "SolTransactionHistoryItem", published: "turnkey", own: "platform" },
  { definition: "BootProof", published: "awsAttestationDocB64", own: "cloudAttestationDocB64" },
];

export const renamedValues: readonly Renamed[] = [
  { definition: "EarnProvider", published: "EARN_PROVIDER_MORPHO", own: "EARN_PROVIDER_ALPHA" },
  { definition: "EarnProvider", published: "EARN_PROVIDER_AAVE", own: "EARN_PROVIDER_BETA" },
  { definition: "Oauth2Provider", published: "OAUTH2_PROVIDER_X", own: "OAUTH2_PROVIDER_ALPHA" },
  { definition: "Oauth2Provider", published: "OAUTH2_PROVIDER_DISCORD", own: "OAUTH2_PROVIDER_BETA" },
];

/** Endpoints of ours that no published client has. The document cannot speak of them. */
export const ownEndpoints: readonly string[] = [
  "/public/v1/query/get_log_file",
  "/public/v1/query/get_log_statement",
  "/public/v1/query/get_proof_context",
  "/public/v1/query/list_log_leaves",
  "/public/v1/query/simulate_activity",
  // The document has their types, intents and results, and no paths for them.
  "/public/v1/submit/disable_auth_proxy",
  "/public/v1/submit/enable_auth_proxy",
  "/public/v1/submit/update_allowed_origins",
  "/public/v1/submit/update_auth_proxy_config",
];

/**
 * Endpoints that the published HTTP client calls, and of which the document and the other clients know nothing. They are as that
 * client's types say.
 */
export const undocumentedEndpoints: readonly string[] = [
  "/public/v1/query/get_organization",
  "/public/v1/submit/create_api_only_users",
];

export type Loosened = {
  definition: string;
  property: string;
  /** Only so spelt; both when left out. */
  spelling?: Spelling;
  accepts(value: unknown): boolean;
  /** Instead of what the document says, not besides. */
  isInstead?: true;
  why: string;
};

const isRfc3339 = (value: unknown) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
const isAbsent = (value: unknown) => value === undefined;
const isText = (value: unknown) => typeof value === "string";

const rootUserVersions = ["", "V2", "V3", "V4", "V5"];
const lists = ["apiKeys", "authenticators", "oauthProviders"];

export const loosened: readonly Loosened[] = [
  ...["createdAt", "updatedAt"].map(
    (property): Loosened => ({
      definition: "Activity",
      property,
      spelling: "own",
      accepts: isRfc3339,
      isInstead: true,
      why: "the spec: activity timestamps are strings",
    }),
  ),
  {
    definition: "Vote",
    property: "message",
    accepts: isAbsent,
    why: "a stamped body is not shown while a token or code in it can still be used",
  },
  { definition: "Status", property: "errorCode", accepts: isText, why: "our own name of the published error code" },
  {
    definition: "Status",
    property: "turnkeyErrorCode",
    spelling: "published",
    accepts: isText,
    why: "clients read it beside the details; the document forgets it",
  },
  {
    definition: "SetOrganizationFeatureIntent",
    property: "value",
    accepts: isAbsent,
    why: "most features have no value",
  },
  ...["SetOrganizationFeatureIntent", "RemoveOrganizationFeatureIntent", "Feature"].map(
    (definition): Loosened => ({
      definition,
      property: "name",
      accepts: (value) => value === "FEATURE_NAME_SUB_ORGANIZATION_CODES",
      why: "a feature of our own: whether users of sub-organizations may have codes sent",
    }),
  ),
  {
    definition: "PrivateKeyParams",
    property: "privateKeyTags",
    accepts: isAbsent,
    why: "a published sample leaves it out",
  },
  { definition: "CreatePolicyIntentV3", property: "notes", accepts: isAbsent, why: "published samples leave it out" },
  {
    definition: "activity.v1.PolicyEvaluation",
    property: "details",
    accepts: Array.isArray,
    why: "why each policy came to its outcome, beside the list that clients read",
  },
  ...["V4", "V5"].map(
    (version): Loosened => ({
      definition: `RootUserParams${version}`,
      property: "userTag",
      accepts: (value) => value === undefined || isText(value),
      why: "sign-ups name a tag, which the auth proxy's paths take and their activity must say",
    }),
  ),
  ...rootUserVersions.flatMap((version) =>
    lists.map(
      (property): Loosened => ({
        definition: `RootUserParams${version}`,
        property,
        accepts: isAbsent,
        why: "published samples leave out empty lists",
      }),
    ),
  ),
];
