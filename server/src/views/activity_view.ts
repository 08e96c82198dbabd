/** An activity as clients see it. */
import { authProxyScheme, type ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import type { ActivityForm } from "../endpoints/define_activity.ts";
import { knownParams, type ParamsSchema } from "../endpoints/known_params.ts";
import { activityForms } from "../generated/activities.ts";
import { isWholeBody } from "../rules/bearer_params.ts";
import { isWithheld, withoutLeaf } from "../rules/bearer_results.ts";
import type { AppProof } from "../state/app_proof.ts";
import type { User } from "../state/entities.ts";
import { oauth2ProviderSpellings } from "../state/oauth2_providers.ts";
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
  /** Where it asked for them and they are open. */
  appProofs?: readonly AppProof[];
};

export type Rights = { canApprove: boolean; canReject: boolean };

/** Of what is over, and of what its reader has no vote on. */
export const noRights: Rights = { canApprove: false, canReject: false };

export function activityView(record: ActivityRecord, dialect: Dialect) {
  const { organizationId, row, votes, rights } = record;
  const form = activityForms.get(row.type);
  const parameters = record.parameters ?? parametersOf(row.body);
  const body = { text: textOf(row.body), isWhole: isWholeBody(form?.activity, row) };
  const withholdsStamp = isStampWithheld(row, Date.now());
  // Published clients read `result[key]` of a completed activity without looking whether it is there.
  const result = row.result === null || form === undefined ? undefined : form.answer(resultOf(form, row.result));
  return {
    id: row.activityId,
    organizationId,
    status: statusOf(row, form?.activity.sealed === true),
    type: row.type,
    intent: form === undefined ? {} : { [form.intentKey]: intentOf(form, parameters, dialect) },
    result: result === undefined || form === undefined ? {} : { [form.resultKey]: result },
    votes: votes.map((vote) => voteView(vote, row.activityId, body, withholdsStamp)),
    fingerprint: `sha256:${row.fingerprint}`,
    ...rights,
    createdAt: dialect.activityTime(row.createdAtMs),
    updatedAt: dialect.activityTime(row.updatedAtMs),
    ...failureOf(row),
    appProofs: record.appProofs ?? [],
  };
}

/** Parameters as they were sent, but for names that each client has its own of. */
function intentOf({ params }: ActivityForm, parameters: unknown, dialect: Dialect): unknown {
  const known = knownParams(params as ParamsSchema, parameters);
  const provider = (known as { provider?: unknown }).provider;
  const isNamed = oauth2ProviderSpellings.find((spelling) => spelling === provider);
  return isNamed === undefined ? known : { ...(known as object), provider: dialect.oauth2Provider(isNamed) };
}

/** What came to nothing has no result that its stamp could bring. */
const endedForNothing: readonly string[] = ["ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_REJECTED"];

/** Whether its submitter's stamp must not be shown now: with the body it would bring a result that is still worth something. */
export function isStampWithheld(
  { type, status, result }: Pick<ActivityRow, "type" | "status" | "result">,
  nowMs: number,
) {
  const form = activityForms.get(type);
  return !endedForNothing.includes(status) && form !== undefined && isWithheld(form.activity, result, nowMs);
}

/** Between a signature and its place in the row there is a moment, in which clients had better ask again. */
function statusOf({ status, result }: ActivityRow, isSealed: boolean): ActivityRow["status"] {
  return isSealed && status === "ACTIVITY_STATUS_COMPLETED" && result === null ? "ACTIVITY_STATUS_PENDING" : status;
}

/** Clients expect one of failed activities alone; why a policy refused is answered to the submitter and kept in the row. */
function failureOf({ status, failure }: ActivityRow) {
  if (failure === null || status !== "ACTIVITY_STATUS_FAILED") return {};
  const { code, message, details } = errorBody(JSON.parse(failure) as Failure);
  return { failure: { code, message, details } };
}

function resultOf({ activity }: ActivityForm, json: string): Record<string, unknown> {
  const result = JSON.parse(json) as Record<string, unknown>;
  return activity.bearer === undefined ? result : withoutLeaf(result);
}

/** As the row has it. Until the bearer values in it have ended, that is its shown form alone. */
type SubmittedBody = { text: string; isWhole: boolean };

/** No stamp is over the shown form, so no vote by a stamp has it as its message. What came through the auth proxy has no stamp at all. */
function messageOf({ scheme }: StoredVote, { text, isWhole }: SubmittedBody): string | undefined {
  return isWhole || scheme === authProxyScheme ? text : undefined;
}

/** A stamp over the submitted body is withheld by its signature: of many bodies the bytes can be made up from what is shown. */
function voteView(stored: StoredVote, activityId: string, body: SubmittedBody, withholdsStamp: boolean) {
  const { createdAtMs, message = messageOf(stored, body), user, ...vote } = stored;
  return {
    ...vote,
    ...(withholdsStamp && stored.message === undefined && { signature: "" }),
    userId: user.userId,
    activityId,
    user: userView(user),
    ...(message !== undefined && { message }),
    createdAt: timestamp(createdAtMs),
  };
}

function parametersOf(body: Uint8Array): unknown {
  return (JSON.parse(textOf(body)) as { parameters: unknown }).parameters;
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
}
