/**
 * One submit, decided. In: the raw bytes, the stamp, and a state the gateway offers. Out: everything one transaction will
 * hold, useless until it is committed and released. Time, identity and permission come from here, never from the frame.
 */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault, faultCodes } from "@keystead/core/fault.ts";
import { encodeLeaf, type LeafEvent, type LeafGrounds } from "@keystead/core/log/leaf.ts";
import type { AnyActivity } from "../endpoints/define_activity.ts";
import { type Envelope, readBody, readEnvelope } from "../endpoints/envelope.ts";
import type { Missing, Prepared, Request } from "../frames/messages.ts";
import { activityByType } from "../generated/activities.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { activityId, objectId } from "../state/derived_id.ts";
import { sha256 } from "../state/digest.ts";
import type { Change } from "../state/entities.ts";
import { findJournal, type Journal, liveness, maxJournalEntries, slotOf } from "../state/journal.ts";
import { authenticate, type Caller } from "./authenticate.ts";
import { authorise } from "./authorise.ts";
import { missingLinks, type OpenState, openState } from "./open_state.ts";
import type { Signer } from "./signer.ts";
import { noteExecuted, writeState } from "./write_state.ts";

export type PrepareReply = { kind: "prepared"; value: Prepared } | { kind: "missing"; value: Missing };

export function prepare(
  signer: Signer,
  { body, stamp, state: offered, journal: entries }: Request<"prepare">,
): PrepareReply {
  const nowMs = signer.now();
  const envelope = readEnvelope(readBody(body));
  const activity = activityByType.get(envelope.type);
  if (activity === undefined) throw new Fault("invalid_argument", `Invalid activity type: \`${envelope.type}\``);
  if (activityValidators[activity.path]?.(envelope.parameters) !== true) {
    throw new Fault("invalid_argument", `invalid request body: \`parameters\` do not fit ${activity.type}`);
  }
  const state = offered === undefined ? signer.heads.get(envelope.organizationId) : openState(signer, offered);
  if (state === undefined) return missing({ state: true });
  if (state.organizationId !== envelope.organizationId) {
    throw new Fault("failed_precondition", "the offered state belongs to another organization than the body names");
  }
  const linksFrom = missingLinks(signer, state, offered?.links ?? []);
  if (linksFrom !== undefined) return missing({ state: true, linksFrom });
  signer.heads.set(state.organizationId, state, 1);
  const { parentId } = state.known.header;
  const caller = authenticate(
    signer.curves,
    {
      organizationId: state.organizationId,
      parentId: parentId && uuidFromBytes(parentId),
      members: state.pages.members,
    },
    stamp,
    body,
    nowMs,
  );
  checkLiveness(envelope.timestampMs, nowMs, state.directory.floor);
  const fingerprint = sha256(body);
  const journal = findJournal(state.directory.journals, slotOf(envelope.timestampMs));
  const executed = signer.journals.has(state.organizationId, journal, fingerprint, entries);
  if (executed === undefined) return missing({ journal: journal.slot });
  if (journal.count >= maxJournalEntries) {
    throw new Fault("resource_exhausted", "too many activities of this organization carry the time of this minute");
  }
  if (executed) throw new Fault("already_exists", "an activity with the same fingerprint already exists");
  const decision = authorise(state.pages, new Set([caller.user.userId]));
  const act = { signer, activity, envelope, fingerprint, state, caller, journal, nowMs };
  if (decision.kind === "refuse") return refused(act, "REJECTED", decision.fault);
  return run(act, decision.grounds);
}

function missing({ state = false, linksFrom, journal }: Partial<Missing>): PrepareReply {
  return { kind: "missing", value: { state, linksFrom, journal } };
}

/** Below the floor the journals are gone: a clock that ran ahead and was set right must not make old bodies new again. */
function checkLiveness(timestampMs: number, nowMs: number, floor: number): void {
  const isLive = timestampMs >= nowMs - liveness.pastMs && timestampMs <= nowMs + liveness.futureMs;
  if (!isLive || slotOf(timestampMs) < floor) {
    throw new Fault("invalid_argument", "request timestamp is outside the allowed window", {
      errorCode: "REQUEST_INVALID",
    });
  }
}

type Act = {
  signer: Signer;
  activity: AnyActivity;
  envelope: Envelope;
  fingerprint: Uint8Array;
  state: OpenState;
  caller: Caller;
  journal: Journal;
  nowMs: number;
};

function run(act: Act, grounds: LeafGrounds): PrepareReply {
  const { signer, activity, envelope, fingerprint, state, caller, journal, nowMs } = act;
  let changes: readonly Change[];
  let result: string;
  try {
    let index = 0;
    const context = {
      organizationId: state.organizationId,
      nowMs,
      userId: caller.user.userId,
      limits: signer.limits,
      newId: () => objectId(state.known.header.organizationId, fingerprint, index++),
    };
    const params = envelope.parameters as never;
    const outcome = activity.run(activity.state(state.pages, params) as never, params, context);
    changes = outcome.changes;
    result = JSON.stringify(outcome.result);
  } catch (error) {
    if (error instanceof Fault && error.code !== "internal") return refused(act, "FAILED", error);
    throw error;
  }
  const executed = noteExecuted(signer, state, journal, fingerprint, nowMs);
  const before = { ...state.known.header, digest: state.known.digest, directory: state.directory, pages: state.pages };
  const { next, open } = writeState(signer, before, changes, executed);
  signer.heads.set(state.organizationId, open, 1);
  const recorded = record(act, "COMPLETED", grounds, next.header, result);
  return {
    kind: "prepared",
    value: {
      ...recorded,
      next,
      changes: JSON.stringify(changes),
      ...(activity.sealed === true
        ? { sealed: signer.sealResult(recorded.leaf, result) }
        : { activity: { ...recorded.activity, result } }),
    },
  };
}

/** A refusal or failure that is kept: it changes no state, but it has happened and leaves its leaf. */
function refused(act: Act, event: "REJECTED" | "FAILED", fault: Fault): PrepareReply {
  const failure = JSON.stringify({
    code: faultCodes[fault.code],
    message: fault.message,
    errorCode: fault.errorCode,
    details: fault.details,
  });
  const recorded = record(act, event, "NONE", undefined, failure);
  return { kind: "prepared", value: { ...recorded, activity: { ...recorded.activity, slot: undefined, failure } } };
}

/** The activity's row and leaf, which all outcomes share. */
function record(act: Act, event: LeafEvent, grounds: LeafGrounds, header: Uint8Array | undefined, outcome: string) {
  const { signer, activity, envelope, fingerprint, state, caller, nowMs } = act;
  const id = activityId(state.known.header.organizationId, fingerprint, envelope.timestampMs);
  const number = signer.nextNumber();
  const leaf = signer.keyring.authenticity.mark(
    "leaf",
    encodeLeaf({
      boot: signer.boot,
      number,
      event,
      grounds,
      organizationId: state.known.header.organizationId,
      activityId: id,
      activityType: activity.type,
      fingerprint,
      timeMs: nowMs,
      stateVersion: state.known.header.version,
      stateDigest: state.known.digest,
      header,
      stamps: [
        {
          userId: uuidToBytes(caller.user.userId),
          credentialId: uuidToBytes(caller.apiKey.apiKeyId),
          scheme: caller.stamp.scheme,
          publicKey: caller.stamp.publicKeyBytes,
          signature: caller.stamp.signature,
          body: fingerprint,
        },
      ],
      outcome: sha256(outcome),
    }),
  );
  return {
    organizationId: state.organizationId,
    expectedVersion: state.known.header.version,
    expectedHeader: state.known.marked,
    birth: undefined,
    next: undefined,
    changes: "[]",
    boot: signer.boot,
    number,
    leaf,
    sealed: undefined,
    activity: {
      activityId: uuidFromBytes(id),
      type: activity.type,
      status: `ACTIVITY_STATUS_${event}`,
      fingerprint,
      user: JSON.stringify(caller.user),
      slot: slotOf(envelope.timestampMs),
      createdAtMs: nowMs,
      result: undefined,
      failure: undefined,
    },
  } satisfies Prepared;
}
