/** Bounds the answers that clients do not read. Beyond the limit, those whose answers have waited longest are cut off. */
import type { Connection } from "./connection.ts";

export type UnreadAnswers = {
  /** The client of this connection has so many bytes of its answer left to read. */
  set(connection: Connection, bytes: number): void;
  bytes(): number;
};

export function createUnreadAnswers(maxBytes: number): UnreadAnswers {
  /** Since longest first. */
  const unread = new Set<Connection>();
  let allBytes = 0;

  function set(connection: Connection, bytes: number): void {
    if (bytes === connection.unreadBytes) return;
    allBytes += bytes - connection.unreadBytes;
    connection.unreadBytes = bytes;
    if (bytes === 0) unread.delete(connection);
    else unread.add(connection);
    while (allBytes > maxBytes) {
      const [longest] = unread;
      if (longest === undefined) return;
      set(longest, 0);
      longest.socket.destroy();
    }
  }

  return { set, bytes: () => allBytes };
}
