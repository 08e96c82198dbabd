/**
 * Sends an answer in parts. Given as a whole, megabytes would be copied to the operating system in one piece, which takes several
 * milliseconds of the gateway's one thread. So each part is written when the client has read enough of those before it, and others
 * are let in between. It never fails: a client that is gone, or is cut off because it does not read, ends it.
 */
import type { ServerResponse } from "node:http";
import { breath } from "../../store/breaths.ts";
import type { JsonText } from "./json_text.ts";

/**
 * `leftToRead` is told before each part how many bytes the client has still to read, with those that are not written yet. Parts are
 * taken out as they are written, so that no more is held than is told.
 */
export async function sendParts(
  response: ServerResponse,
  { parts, length }: JsonText,
  leftToRead: (bytes: number) => void,
): Promise<void> {
  let unwritten = length;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    leftToRead(unwritten);
    if (response.destroyed) return;
    unwritten -= part.length;
    if (!response.write(part) && !response.destroyed) await drained(response);
    await breath();
  }
  response.end();
}

/** Also when there is nobody any more who could read. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}
