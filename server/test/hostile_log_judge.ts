/**
 * Says what of a signer's replies about its log must not be. The log is what the honest run released, in that order, and nothing that comes
 * later: every root that is signed must be that log's, and no leaf gets a place any more.
 */

import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decode } from "@keystead/core/encoding/layout.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { logVkey, parseLogOrigin } from "@keystead/core/log/log_name.ts";
import { parseLogStatement } from "@keystead/core/log/statement.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { openNote } from "@keystead/core/tlog/note.ts";
import { rootOf } from "@keystead/core/tlog/tree.ts";
import { nodeCurves } from "../src/curves/node_curves.ts";
import { type MessageKind, messages, type Place } from "../src/frames/messages.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { sha256 } from "../src/state/digest.ts";
import type { Run } from "./hostile_run.ts";

export type LogJudge = {
  objectionTo(kind: MessageKind, request: unknown, payload: Uint8Array): string | undefined;
};

export function createLogJudge(run: Run): LogJudge {
  const entries = entriesOf(run);
  const page = run.seen
    .get(run.parentId)
    ?.states.at(-1)
    ?.pages.find(({ name }) => name === "logs");
  const listed = JSON.parse(Buffer.from(page?.content ?? []).toString("utf8"));
  const logId: string = listed.logs.at(-1).logId;
  let signedSize = 0;

  const keyFor = (origin: string) =>
    logVkey(parseLogOrigin(origin).deploymentId, logId, fromHex(run.publicKeys.log ?? ""));

  function objectionToCheckpoint(note: string): string | undefined {
    const { size, root } = openCheckpoint(nodeCurves, keyFor(note.slice(0, note.indexOf("\n"))), note);
    if (size > entries.length) return `a checkpoint beyond the head: ${size}`;
    if (size < signedSize) return `a checkpoint of ${size}, after one of ${signedSize}`;
    signedSize = size;
    return toHex(root) === toHex(rootOf(entries.slice(0, size), sha256)) ? undefined : `another root at ${size}`;
  }

  function objectionToStatement(note: string): string | undefined {
    const name = / (keystead\/\S+) /.exec(note.slice(note.lastIndexOf("\n\n")))?.[1] ?? "";
    const { text } = openNote(nodeCurves, [keyFor(name)], note);
    const { size, logs } = parseLogStatement(text);
    if (size !== entries.length) return `a statement of ${size} leaves`;
    return logs === toHex(sha256(page?.content ?? "")) ? undefined : "a statement on an older page";
  }

  return {
    objectionTo(kind, _request, payload) {
      switch (kind) {
        case "logState": {
          const state = decode(messages.logState.reply, payload);
          const isSame = state?.isListed === true && state.size === entries.length && toHex(state.logId) === logId;
          return isSame ? undefined : "the log is another";
        }
        case "logTail": {
          const { size, first, leaves } = decode(messages.logTail.reply, payload);
          const isSame = leaves.every(({ entry }, index) => toHex(entry) === toHex(entries[first + index] ?? entry));
          return isSame && size === entries.length && first + leaves.length <= size ? undefined : "another tail";
        }
        case "takeIn": {
          const { places } = decode(messages.takeIn.reply, payload);
          return places.some((place) => place !== undefined) ? "a leaf was taken in" : undefined;
        }
        case "checkpoint":
          return objectionToCheckpoint(decode(messages.checkpoint.reply, payload).note);
        case "logStatement": {
          const reply = decode(messages.logStatement.reply, payload);
          return reply.kind === "signed" ? objectionToStatement(reply.value.note) : undefined;
        }
        case "boot": {
          // Whoever asks is told of this start. It says nothing of any organization, and leads to no state.
          const { prepared } = decode(messages.boot.reply, payload);
          const { event, header, states } = decodeLeaf(withoutMac(prepared.leaf));
          const isBare = event === "BOOTED" && header === undefined && states.length === 0;
          return isBare && prepared.next === undefined ? undefined : "the leaf of a start says more";
        }
        case "openProofs": {
          // The run asked for none.
          const replies = decode(messages.openProofs.reply, payload);
          return replies.every((reply) => reply.kind === "refused") ? undefined : "app proofs were opened";
        }
        default:
          return `it answered ${kind}`;
      }
    },
  };
}

/** By position, as the releases of the run have said. */
function entriesOf({ signer }: Run): Uint8Array[] {
  const places: Place[] = [];
  for (const { kind, reply } of signer.recorded) {
    if (kind !== "release") continue;
    for (const outcome of reply) {
      if (outcome.kind === "released" && outcome.value.place !== undefined) places.push(outcome.value.place);
    }
  }
  const entries: Uint8Array[] = [];
  for (const { position, entry } of places) entries[position] = entry;
  return entries;
}
