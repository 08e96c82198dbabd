import { Fault } from "@keystead/core/fault.ts";
import { parseVkey, type Vkey } from "@keystead/core/tlog/vkey.ts";

/** A witness that the operator has chosen. `name` is what messages call it. */
export type WitnessSetting = { name: string; vkey: Vkey; url: string };

/** Reads `KEYSTEAD_WITNESSES`. The launcher has found its form right; whether the keys are keys is said here. */
export function parseWitnesses(json: string | undefined): WitnessSetting[] {
  const list = JSON.parse(json || "[]") as { name: string; vkey: string; url: string }[];
  return list.map(({ name, vkey, url }) => ({ name, vkey: parseWitnessKey(name, vkey), url }));
}

function parseWitnessKey(name: string, text: string): Vkey {
  try {
    const vkey = parseVkey(text);
    if (vkey.type === 4) return vkey;
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    throw new Error(`KEYSTEAD_WITNESSES: the vkey of \`${name}\` is wrong: ${cause.message}`, { cause });
  }
  throw new Error(`KEYSTEAD_WITNESSES: the vkey of \`${name}\` is the key of a log, not of a witness`);
}
