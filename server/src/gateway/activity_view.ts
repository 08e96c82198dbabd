/** An activity as clients see it. */
import type { AnyActivity } from "../endpoints/define_activity.ts";
import type { User } from "../state/entities.ts";
import type { ActivityRow } from "../store/activities.ts";
import { type Dialect, timestamp } from "./dialect.ts";
import { errorBody, type Failure } from "./error_body.ts";

/** A vote as stored: the stamp's parts as they were sent. */
export type StoredVote = {
  id: string;
  /** The voter as of the vote: what users are changed to later must not change the answer to a repeated body. */
  user: User;
  selection: "VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED";
  /** The stamped bytes as text; absent when they are the submitted body itself. */
  message?: string;
  publicKey: string;
  signature: string;
  scheme: string;
  createdAtMs: number;
};

export function activityView(
  activity: AnyActivity,
  organizationId: string,
  row: ActivityRow,
  parameters: unknown,
  dialect: Dialect,
) {
  const votes = JSON.parse(row.votes) as StoredVote[];
  return {
    id: row.activityId,
    organizationId,
    status: row.status,
    type: row.type,
    intent: { [activity.intentKey]: parameters },
    // Published clients read `result[key]` of a completed activity without looking whether it is there.
    result: row.result === null ? {} : { [activity.resultKey]: JSON.parse(row.result) },
    votes: votes.map((vote) => voteView(vote, row)),
    fingerprint: `sha256:${row.fingerprint}`,
    canApprove: false,
    canReject: false,
    createdAt: dialect.activityTime(row.createdAtMs),
    updatedAt: dialect.activityTime(row.updatedAtMs),
    failure: row.failure === null ? null : failureView(JSON.parse(row.failure) as Failure),
    appProofs: [],
  };
}

function failureView(failure: Failure) {
  const { code, message, details } = errorBody(failure);
  return { code, message, details };
}

function voteView({ createdAtMs, message, user, ...vote }: StoredVote, { activityId, body }: ActivityRow) {
  return {
    ...vote,
    userId: user.userId,
    activityId,
    user: userView(user),
    message: message ?? Buffer.from(body).toString("utf8"),
    createdAt: timestamp(createdAtMs),
  };
}

/** A full user record. Authenticators and OAuth providers are empty until sign-in knows them. */
function userView(user: User) {
  return {
    userId: user.userId,
    userName: user.userName,
    ...(user.userEmail !== undefined && { userEmail: user.userEmail }),
    ...(user.userPhoneNumber !== undefined && { userPhoneNumber: user.userPhoneNumber }),
    authenticators: [],
    apiKeys: user.apiKeys.map((key) => ({
      credential: { publicKey: key.publicKey, type: key.type },
      apiKeyId: key.apiKeyId,
      apiKeyName: key.apiKeyName,
      createdAt: timestamp(key.createdAtMs),
      updatedAt: timestamp(key.updatedAtMs),
      ...(key.expiresAtMs !== undefined && {
        expirationSeconds: String(Math.round((key.expiresAtMs - key.createdAtMs) / 1000)),
      }),
    })),
    userTags: user.userTags,
    oauthProviders: [],
    mfaPolicies: [],
    createdAt: timestamp(user.createdAtMs),
    updatedAt: timestamp(user.updatedAtMs),
  };
}
