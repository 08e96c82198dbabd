/**
 * The signed word on how large the log is and what its root is. It is on the disk before anybody has it, so one size never has two roots; and no
 * size is signed below one that was.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { formatCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { formatNote, signNote } from "@keystead/core/tlog/note.ts";
import type { Reply, Request } from "../../frames/messages.ts";
import type { Signer } from "../decision/signer.ts";
import { openLogOf } from "../log/next_log.ts";
import type { Memory } from "../memory/memory.ts";
import { originOf } from "./log_state.ts";

export function signCheckpoint(signer: Signer, { size }: Request<"checkpoint">): Reply<"checkpoint"> {
  const { memory } = signer;
  // A clock that is far behind stops all signing.
  signer.now();
  const log = openLogOf(memory);
  if (size > log.size) throw refused(size, `beyond the head of the log, which has ${log.size} leaves`);
  if (size < log.checkpointSize) throw refused(size, `before the last checkpoint, of ${log.checkpointSize} leaves`);
  if (size === 0) throw refused(size, "of no leaf");
  requireName(memory);
  const root = size === log.checkpointSize ? log.edge.root() : memory.rememberCheckpoint(size);
  // Also of one that a process before this one has written, and not waited for.
  memory.sync();
  return { note: signedNote(signer, formatCheckpoint({ origin: originOf(signer, log), size, root })) };
}

/** What is signed must not be forgotten: no file may come back that lacks it. */
export function requireName({ isNamed }: Memory): void {
  if (isNamed) return;
  throw new Fault("unavailable", "the signer's memory was written anew and its folder is not synced yet; try again");
}

/** A text as a note under the name of the log. */
export function signedNote(signer: Signer, text: string): string {
  const { keyring, memory } = signer;
  const key = { name: originOf(signer, openLogOf(memory)), publicKey: fromHex(keyring.publicKeys.log) };
  return formatNote({ text, signatures: [signNote(text, key, keyring.signWithLogKey)] });
}

function refused(size: number, why: string): Fault {
  return new Fault("failed_precondition", `a checkpoint of ${size} leaves is ${why}`);
}
