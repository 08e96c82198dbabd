// Written by `npm run generate` from the endpoint declarations. Do not edit.

export const version = "0.1.0";

/** A point in time. */
export type Timestamp = {
  /** Whole seconds since the epoch. */
  seconds: string;
  /** Nanoseconds within the second. */
  nanos: string;
};

/** A statement about one execution, signed by the application that executed it. */
export type AppProof = {
  scheme: "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256";
  /** Ephemeral public key. */
  publicKey: string;
  /** JSON-serialized payload. */
  proofPayload: string;
  /** Signature over the hashed proofPayload. */
  signature: string;
};

/** A user's approval or rejection of an activity, with the bytes and the signature that prove it. */
export type Vote = {
  /** Unique identifier of the vote. */
  id: string;
  /** The voting user. */
  userId: string;
  /** The voting user's record. */
  user?: Record<string, unknown>;
  /** The activity voted on. */
  activityId: string;
  selection: "VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED";
  /** The request body that was stamped. */
  message: string;
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
  failure?: Failure | null;
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

export type WhoamiInput = Omit<WhoamiRequest, "organizationId"> & { organizationId?: string | undefined };

export const activities = {
  create_user_tag: { url: "/public/v1/submit/create_user_tag", type: "ACTIVITY_TYPE_CREATE_USER_TAG", resultKey: "createUserTagResult", summary: "Create a user tag and add it to users", parameters: ["userTagName: string", "userIds: string[]"] },
  delete_user_tags: { url: "/public/v1/submit/delete_user_tags", type: "ACTIVITY_TYPE_DELETE_USER_TAGS", resultKey: "deleteUserTagsResult", summary: "Delete user tags and take them off their users", parameters: ["userTagIds: string[]"] },
} as const;

export const queries = {
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
  signal?: AbortSignal | undefined;
};

/** A completed activity with its result's fields beside it. */
export type Completed<R> = { activity: Activity } & R;

/** How the methods reach the server. */
export type Calls = {
  submit<R>(path: ActivityPath, params: object, options?: CallOptions): Promise<Completed<R>>;
  query<R>(path: QueryPath, request: object, options?: CallOptions): Promise<R>;
};

/** One method per endpoint. */
export type Api = {
  /** Create a user tag and add it to users. */
  createUserTag(params: CreateUserTagParams, options?: CallOptions): Promise<Completed<CreateUserTagResult>>;
  /** Delete user tags and take them off their users. */
  deleteUserTags(params: DeleteUserTagsParams, options?: CallOptions): Promise<Completed<DeleteUserTagsResult>>;
  /** Identify the calling user and its organization. */
  whoami(request?: WhoamiInput, options?: CallOptions): Promise<WhoamiResponse>;
};

/** The methods over two ways of sending. */
export function createApi({ submit, query }: Calls): Api {
  return {
    createUserTag: (params, options) => submit("create_user_tag", params, options),
    deleteUserTags: (params, options) => submit("delete_user_tags", params, options),
    whoami: (request = {}, options) => query("whoami", request, options),
  };
}
