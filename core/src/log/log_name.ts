/** How logs are named: by 16 random bytes as hex, and in notes by an origin that says whose they are. */
import { isUuid } from "../encoding/uuid.ts";
import { malformed } from "../tlog/lines.ts";
import { keyTypes, noteKeyId } from "../tlog/note.ts";
import type { Vkey } from "../tlog/vkey.ts";

const prefix = "keystead/";

export function isLogId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The name of a log in its notes, and of its key. */
export function logOrigin(deploymentId: string, logId: string): string {
  return `${prefix}${deploymentId}/${logId}`;
}

export function parseLogOrigin(origin: string): { deploymentId: string; logId: string } {
  const [deploymentId = "", logId = "", ...rest] = origin.startsWith(prefix)
    ? origin.slice(prefix.length).split("/")
    : [];
  if (!isUuid(deploymentId) || origin !== origin.toLowerCase() || !isLogId(logId) || rest.length > 0) {
    throw malformed("origin", "not of the form keystead/deployment/log");
  }
  return { deploymentId, logId };
}

/** All logs of a deployment have one key, each under its own name. */
export function logVkey(deploymentId: string, logId: string, publicKey: Uint8Array): Vkey {
  const name = logOrigin(deploymentId, logId);
  const type = keyTypes.ed25519;
  return { name, keyId: noteKeyId(name, type, publicKey), type, publicKey };
}
