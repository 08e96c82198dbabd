/**
 * Says what of a signer's replies must not be. It knows the honest run and nothing of how the signer decides: which state each
 * organization is in, what each request may come to there, which rows were released and what was answered for them, and the secrets.
 */

import { toHex } from "@keystead/core/encoding/hex.ts";
import { decode } from "@keystead/core/encoding/layout.ts";
import { openStatement } from "@keystead/core/log/released.ts";
import { p256 } from "@noble/curves/nist.js";
import { nodeCurves } from "../src/curves/node_curves.ts";
import type { Frame } from "../src/frames/frame.ts";
import { type MessageKind, messages, type Prepared, type Request } from "../src/frames/messages.ts";
import { activities } from "../src/generated/activities.ts";
import { sha256 } from "../src/state/digest.ts";
import { createLogJudge } from "./hostile_log_judge.ts";
import type { Run } from "./hostile_run.ts";
import type { Verdict, Want } from "./hostile_wants.ts";
import { isShownResult } from "./shown_result.ts";

export type Judge = {
  /** What this request may come to; every other body may come to nothing. */
  expect(want: Want): void;
  /** What is wrong with the reply to a request; undefined when nothing is. */
  objectionTo(kind: MessageKind, request: unknown, reply: Frame): string | undefined;
  readonly counts: Record<"refused" | "asked for more" | "on record" | "honest" | "answered", number>;
};

const fingerprintOf = (body: Uint8Array) => toHex(sha256(body));

export function createJudge(run: Run): Judge {
  const verdicts = new Map<string, Verdict>();
  for (const request of run.requests) verdicts.set(fingerprintOf(request.body), verdictOfOld(run, request));
  /** The newest states, and what was honestly prepared on them since. */
  const heads = new Set(
    [...run.seen.values()].flatMap(({ states }) => states.slice(-1).map(({ header }) => toHex(header))),
  );
  const answers = releasedAnswers(run);
  const log = createLogJudge(run);
  const needles = secretNeedles(run);
  const released = answers.size;
  const counts: Judge["counts"] = { refused: 0, "asked for more": 0, "on record": 0, honest: 0, answered: 0 };

  function objectionToPrepared(body: Uint8Array, rows: readonly Prepared[]): string | undefined {
    const [own, ...births] = rows;
    if (own?.activity === undefined) return "rows without an activity";
    const { type, status, result } = own.activity;
    const verdict = verdicts.get(fingerprintOf(body)) ?? "NOTHING";
    if (own.expectedHeader === undefined || !heads.has(toHex(own.expectedHeader))) {
      return `decided on a state that is not the newest (version ${own.expectedVersion}): ${status}`;
    }
    if (own.sealed !== undefined && result !== undefined && !isShownResult(type, result))
      return "a result that should be sealed lies open";
    if (status === "ACTIVITY_STATUS_REJECTED" || status === "ACTIVITY_STATUS_FAILED") {
      counts["on record"] += 1;
      if (own.sealed !== undefined || births.length > 0) return "a refusal with something in it";
      return undefined;
    }
    const isAllowed = verdict === "DONE" || (verdict === "WAITS" && status === "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    if (!isAllowed) return `${status} instead of ${verdict}`;
    if (own.next !== undefined) heads.add(toHex(own.next.header));
    counts.honest += 1;
    return undefined;
  }

  function objectionToReleased(rows: Request<"release">["rows"], payload: Uint8Array): string | undefined {
    for (const [index, outcome] of decode(messages.release.reply, payload).entries()) {
      if (outcome.kind !== "released") continue;
      const row = rows[index];
      const known = row && answers.get(fingerprintOf(row.leaf));
      if (known === undefined) return "a row was released that never was";
      const { result } = outcome.value;
      if (result !== undefined && result !== known.result) return "a released row has another result";
      counts.answered += 1;
    }
    return undefined;
  }

  function objectionToReply(kind: MessageKind, request: unknown, { payload }: Frame): string | undefined {
    if (kind === "prepare") {
      const reply = decode(messages.prepare.reply, payload);
      if (reply.kind === "prepared") return objectionToPrepared((request as Request<"prepare">).body, reply.value);
      counts["asked for more"] += 1;
      return undefined;
    }
    if (kind === "release") return objectionToReleased((request as Request<"release">).rows, payload);
    counts.answered += 1;
    if (kind === "hello") {
      const { publicKeys } = decode(messages.hello.reply, payload);
      return publicKeys === JSON.stringify(run.publicKeys) ? undefined : "it joined another deployment";
    }
    if (kind === "statement") {
      const { statement, signature } = decode(messages.statement.reply, payload);
      const { ranges } = openStatement(nodeCurves, Buffer.from(run.publicKeys.log ?? "", "hex"), statement, signature);
      const numbers = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      return numbers <= released ? undefined : `it states ${numbers} released leaves, and there were ${released}`;
    }
    if (kind === "openBodies") {
      const verdicts = decode(messages.openBodies.reply, payload);
      // No body of the run holds a bearer value, so no box is one of a body.
      return verdicts.some((verdict) => verdict.kind === "opened") ? "it opened a body" : undefined;
    }
    return log.objectionTo(kind, request, payload);
  }

  return {
    counts,
    expect: ({ body, verdict }) => void verdicts.set(fingerprintOf(body), verdict),
    objectionTo(kind, request, reply) {
      const leak = leakIn(reply.payload, needles) ?? valueIn(reply, answers);
      if (leak !== undefined) return leak;
      if (reply.kind === "fault") {
        counts.refused += 1;
        return undefined;
      }
      return objectionToReply(kind, request, reply);
    },
  };
}

/**
 * What a request of the run may come to once more. All is over but for what changes no state and is the same each time: signing, and a
 * session that only reads, which ends when it would have.
 */
function verdictOfOld({ targetOrganization, neighbour }: Run, { body, stamp }: Run["requests"][number]): Verdict {
  const { type } = JSON.parse(Buffer.from(body).toString("utf8"));
  const isSession = type === activities.create_read_only_session.type;
  if (!isSession && !/SIGN_(RAW|TRANSACTION)/.test(type)) return "NOTHING";
  const { publicKey } = JSON.parse(Buffer.from(stamp, "base64url").toString("utf8"));
  const isOf = (names: readonly ("ann" | "dave")[]) =>
    [targetOrganization, neighbour].some((each) =>
      names.some((name) => publicKeyOf(each[name].privateKey) === publicKey),
    );
  if (isOf(["dave"])) return "DONE";
  if (!isOf(["ann"])) return "NOTHING";
  return isSession ? "DONE" : "WAITS";
}

function publicKeyOf(privateKey: Uint8Array): string {
  return toHex(p256.getPublicKey(privateKey));
}

/** What was answered for each row that was released, by the digest of its leaf. */
function releasedAnswers({ signer }: Run): ReadonlyMap<string, { result: string | undefined }> {
  const answers = new Map<string, { result: string | undefined }>();
  for (const { kind, request, reply } of signer.recorded) {
    if (kind !== "release") continue;
    for (const [index, { leaf }] of request.rows.entries()) {
      const outcome = reply[index];
      if (outcome?.kind === "released") answers.set(fingerprintOf(leaf), { result: outcome.value.result });
    }
  }
  return answers;
}

/** Secrets as they could be written down: raw, in hex, in base64. */
function secretNeedles({ signer, targetOrganization, neighbour }: Run): Buffer[] {
  const keys = [signer.rootKey, ...targetOrganization.secrets.keys, ...neighbour.secrets.keys].map((key) =>
    Buffer.from(key),
  );
  const sentences = [...targetOrganization.secrets.sentences, ...neighbour.secrets.sentences];
  return [
    ...keys,
    ...keys.map((key) => Buffer.from(key.toString("hex"))),
    ...keys.map((key) => Buffer.from(key.toString("base64").slice(0, 40))),
    ...sentences.map((sentence) => Buffer.from(sentence.split(" ").slice(0, 4).join(" "))),
  ];
}

function leakIn(payload: Uint8Array, needles: readonly Buffer[]): string | undefined {
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return needles.some((needle) => bytes.includes(needle)) ? "a secret lies open in the reply" : undefined;
}

/** A signature, a signed transaction or an exported secret that was not answered in the run is one too many, whatever it is of. */
function valueIn({ payload }: Frame, answers: ReadonlyMap<string, { result: string | undefined }>): string | undefined {
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString("latin1");
  for (const [found, name] of text.matchAll(/"(r|signedTransaction|exportBundle)":"[^"]{16,}"/g)) {
    if (answers.values().some(({ result }) => result?.includes(found) === true)) continue;
    return `\`${name}\` lies open in the reply, and nobody was answered it`;
  }
  return undefined;
}
