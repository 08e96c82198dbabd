/** An activity as clients see it. */
import type { ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import { activityForms } from "../generated/activities.ts";
import type { User } from "../state/entities.ts";
import type { ActivityRow } from "../store/activities.ts";
import { type Dialect, timestamp } from "./dialect.ts";
import { errorBody, type Failure } from "./error_body.ts";
import { userView } from "./user_view.ts";

/** A vote as stored: with the parts of its evidence as they were sent. */
export type StoredVote = ShownEvidence & {
  id: string;
  /** The voter as of the vote: what users are changed to later must not change the answer to a repeated body. */
  user: User;
  selection: "VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED";
  /** The stamped bytes as text; absent when they are the submitted body itself. */
  message?: string;
  createdAtMs: number;
};

/** Everything an answer about one activity is made of. */
export type ActivityRecord = {
  organizationId: string;
  row: ActivityRow;
  /** All of them, the submission's own first. */
  votes: readonly StoredVote[];
  /** What the reader could do about it now. */
  rights: Rights;
  /** Of the body, where it has been read already. */
  parameters?: unknown;
};

export type Rights = { canApprove: boolean; canReject: boolean };

/** Of what is over, and of what its reader has no vote on. */
export const noRights: Rights = { canApprove: false, canReject: false };

export function activityView(record: ActivityRecord, dialect: Dialect) {
  const { organizationId, row, votes, rights } = record;
  const form = activityForms.get(row.type);
  const parameters = record.parameters ?? parametersOf(row.body);
  // Published clients read `result[key]` of a completed activity without looking whether it is there.
  const result = row.result === null || form === undefined ? undefined : form.answer(JSON.parse(row.result));
  return {
    id: row.activityId,
    organizationId,
    status: statusOf(row, form?.activity.sealed === true),
    type: row.type,
    intent: form === undefined ? {} : { [form.intentKey]: intentOf(form.params as Schema, parameters) },
    result: result === undefined || form === undefined ? {} : { [form.resultKey]: result },
    votes: votes.map((vote) => voteView(vote, row)),
    fingerprint: `sha256:${row.fingerprint}`,
    ...rights,
    createdAt: dialect.activityTime(row.createdAtMs),
    updatedAt: dialect.activityTime(row.updatedAtMs),
    failure: failureOf(row),
    appProofs: [],
  };
}

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: readonly Schema[] };

/** The parameters as far as the schema names them. Some clients write out null for what they leave open; it is no part. */
function intentOf({ properties, items, anyOf }: Schema, value: unknown): unknown {
  // The only unions in parameters are of something and null, and what is null never comes here.
  const [something] = anyOf ?? [];
  if (something !== undefined) return intentOf(something, value);
  if (items !== undefined && Array.isArray(value)) return value.map((item) => intentOf(items, item));
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  const names = Object.keys(properties).filter((name) => Object.hasOwn(fields, name) && fields[name] !== null);
  return Object.fromEntries(names.map((name) => [name, intentOf(properties[name] ?? {}, fields[name])]));
}

/** Between a signature and its place in the row there is a moment, in which clients had better ask again. */
function statusOf({ status, result }: ActivityRow, isSealed: boolean): ActivityRow["status"] {
  return isSealed && status === "ACTIVITY_STATUS_COMPLETED" && result === null ? "ACTIVITY_STATUS_PENDING" : status;
}

/** Clients expect one of failed activities alone; why a policy refused is answered to the submitter and kept in the row. */
function failureOf({ status, failure }: ActivityRow) {
  if (failure === null || status !== "ACTIVITY_STATUS_FAILED") return null;
  const { code, message, details } = errorBody(JSON.parse(failure) as Failure);
  return { code, message, details };
}

function voteView({ createdAtMs, message, user, ...vote }: StoredVote, { activityId, body }: ActivityRow) {
  return {
    ...vote,
    userId: user.userId,
    activityId,
    user: userView(user),
    message: message ?? textOf(body),
    createdAt: timestamp(createdAtMs),
  };
}

function parametersOf(body: Uint8Array): unknown {
  return (JSON.parse(textOf(body)) as { parameters: unknown }).parameters;
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}
