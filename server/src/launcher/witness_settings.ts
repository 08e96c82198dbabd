/** Settings of who sees the log's checkpoints. The gateway reads the keys themselves; their form shows here, before anything starts. */
import { resolve } from "node:path";
import { printable } from "./process_messages.ts";
import { Refusal } from "./refusal.ts";

type Environment = Record<string, string | undefined>;

/** Each checkpoint goes to all of them. */
const maxWitnesses = 16;

const example = '[{"name": "w1", "vkey": "witness.example/w1+5d2ae4b7+BI…", "url": "https://witness.example"}]';

export function checkWitnesses({ KEYSTEAD_WITNESSES: text }: Environment): void {
  if (!text) return;
  const list = readList(text);
  if (list === undefined) throw new Refusal(`KEYSTEAD_WITNESSES must be a JSON list like ${example}`, 2);
  if (list.length > maxWitnesses) throw new Refusal(`KEYSTEAD_WITNESSES: more than ${maxWitnesses} witnesses`, 2);
  for (const [place, entry] of list.entries()) {
    const wrong = wrongIn(entry);
    if (wrong !== undefined) throw new Refusal(`KEYSTEAD_WITNESSES: entry ${place + 1} ${wrong}`, 2);
  }
  for (const field of ["name", "vkey"] as const) {
    const twice = list.map((entry) => String(entry[field])).find((value, place, all) => all.indexOf(value) !== place);
    if (twice !== undefined) {
      throw new Refusal(`KEYSTEAD_WITNESSES: two entries have the ${field} \`${printable(twice, 200)}\``, 2);
    }
  }
}

function readList(text: string): Record<string, unknown>[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isList = Array.isArray(value) && value.every((entry) => typeof entry === "object" && entry !== null);
    return isList ? value : undefined;
  } catch {
    return undefined;
  }
}

function wrongIn({ name, vkey, url, ...others }: Record<string, unknown>): string | undefined {
  const [other] = Object.keys(others);
  if (other !== undefined) return `has the unknown field \`${printable(other, 100)}\``;
  if (typeof name !== "string" || !/^[\x20-\x7e]{1,100}$/.test(name)) {
    return "needs a name of at most 100 printable characters";
  }
  if (typeof vkey !== "string" || !/^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/.test(vkey)) {
    return "needs the vkey of the witness, as the witness prints it";
  }
  return isWitnessUrl(url) ? undefined : "needs a url that begins with https:// or http://, without a query";
}

/** http too: all that goes over it is public or signed, and a witness may be in the operator's own network. */
function isWitnessUrl(text: unknown): boolean {
  const url = typeof text === "string" && text.length <= 512 ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
  return url.protocol === "https:" || url.protocol === "http:";
}

/** The file's full path: the gateway has another working folder. Node reads an asterisk in a permission as "anything". */
export function parseCheckpointFile({ KEYSTEAD_CHECKPOINT_FILE: file }: Environment, cwd: string): string | undefined {
  if (!file) return undefined;
  const path = resolve(cwd, file);
  if (!path.includes("*")) return path;
  throw new Refusal(`KEYSTEAD_CHECKPOINT_FILE must not contain an asterisk: \`${path}\``, 2);
}
