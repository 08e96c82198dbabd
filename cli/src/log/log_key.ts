/** The key that exports are held against: from the flag, or from the files of a profile. It never comes from a server or an export. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Flags, UsageError } from "../command.ts";
import { codeOf, profilePath } from "../profile.ts";

const hint = "pass --key VKEY, which `/.well-known/keystead.json` of the server shows: compare it with your operator's";

/** `logKey` in the profile; or in a data folder what the signer told the launcher. */
export function logKeyOf(flags: Flags): string {
  if (flags.key !== undefined) return flags.key;
  const path = profilePath(flags);
  const { logKey } = readObject(path);
  if (typeof logKey === "string") return logKey;
  const told = readObject(join(dirname(path), "public_keys.json")).publicKeys as { log?: unknown } | undefined;
  if (typeof told?.log === "string") return told.log;
  throw new UsageError(`there is no key of the log in ${path}`, hint);
}

function readObject(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    // The parser's own message would quote the file, which may hold a private key.
    if (error instanceof SyntaxError) throw new Error(`${path} is not a JSON object`);
    if (codeOf(error) === "ENOENT") return {};
    throw error;
  }
}
