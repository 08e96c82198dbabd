/** The key that everything in an export is held against. It never comes from the export. */
import { fromHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import { parseNote } from "../../tlog/note.ts";
import { parseVkey } from "../../tlog/vkey.ts";
import { parseLogOrigin } from "../log_name.ts";
import { noteText } from "./check_log.ts";

/** All logs of a deployment have one key. Without the deployment's id, the logs say it themselves, under that key. */
export type LogKey = { publicKey: Uint8Array; deploymentId: string | undefined };

/** Reads the verifier key of any log of a deployment, or the public key alone as hex. */
export function parseLogKey(text: string): LogKey {
  if (/^[0-9a-f]{64}$/i.test(text)) return { publicKey: fromHex(text), deploymentId: undefined };
  const { name, type, publicKey } = parseVkey(text);
  if (type !== 1) throw new Fault("invalid_argument", "the verifier key is not a log's");
  return { publicKey, deploymentId: parseLogOrigin(name).deploymentId };
}

const nobody = "00000000-0000-0000-0000-000000000000";

/** Whose logs they are: by the key, or by the origin of the first checkpoint that has one. Each is verified under what this says. */
export function readDeployment({ deploymentId }: LogKey, checkpoints: readonly (Uint8Array | undefined)[]): string {
  if (deploymentId !== undefined) return deploymentId;
  for (const checkpoint of checkpoints) {
    const found = checkpoint && deploymentIn(checkpoint);
    if (found !== undefined) return found;
  }
  return nobody;
}

function deploymentIn(checkpoint: Uint8Array): string | undefined {
  try {
    return parseLogOrigin(parseNote(noteText(checkpoint)).text.split("\n")[0] ?? "").deploymentId;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
