/** The server to call and the key to use: a profile file, and flags over it. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createApiKeyStamper, createClient, type Stamper } from "@keystead/sdk";
import { type Flags, UsageError } from "./command.ts";

type Profile = { baseUrl?: string; organizationId?: string; apiPublicKey?: string; apiPrivateKey?: string };

export type Session = {
  client: Client;
  organizationId: string;
  baseUrl: string;
  /** What the server knows the last activity by that was sent, whatever became of it. */
  lastFingerprint(): string | undefined;
};

export function profilePath(flags: Flags): string {
  return flags.profile ?? join(process.env.KEYSTEAD_DATA || "data", "bootstrap.json");
}

export async function openSession(flags: Flags): Promise<Session> {
  const path = profilePath(flags);
  const profile = await readProfile(path, flags);
  const baseUrl = flags.url ?? profile.baseUrl;
  if (baseUrl === undefined) throw new UsageError(`${path} has no baseUrl`, "pass --url");
  if (!/^https?:\/\//.test(baseUrl)) throw new UsageError(`\`${baseUrl}\` is not an http address`);
  const organizationId = flags.organization ?? profile.organizationId;
  if (organizationId === undefined) throw new UsageError(`${path} has no organizationId`, "pass --organization");
  const stamper = stamperOf(await readKey(path, profile, flags["api-key-file"]));
  let fingerprint: string | undefined;
  const watchedFetch: typeof fetch = (input, init) => {
    const { body } = init ?? {};
    if (String(input).includes("/submit/") && body instanceof Uint8Array)
      fingerprint = `sha256:${createHash("sha256").update(body).digest("hex")}`;
    return fetch(input, init);
  };
  const client = createClient({ baseUrl, organizationId, stamper, fetch: watchedFetch });
  return { client, organizationId, baseUrl, lastFingerprint: () => fingerprint };
}

/** Without any file, flags can say it all. A profile that was named must be there. */
async function readProfile(path: string, flags: Flags): Promise<Profile> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    if (flags.profile === undefined && flags.url && flags.organization && flags["api-key-file"]) return {};
    const first = codeOf(cause) === "ENOENT" ? "start the server first (`npm start`), or " : "";
    const hint = `; ${first}set KEYSTEAD_DATA to the server's data folder, or pass --profile FILE`;
    throw new Error(`${whyUnread(cause, "profile", path)}${flags.profile === undefined ? hint : ""}`);
  }
  const profile = parseObject(text);
  // The parser's own message would quote the file, which holds a private key.
  if (profile === undefined) throw new Error(`the profile ${path} is not a JSON object`);
  for (const name of ["baseUrl", "organizationId", "apiPublicKey", "apiPrivateKey"]) {
    const value = profile[name];
    if (value !== undefined && typeof value !== "string")
      throw new Error(`${name} in the profile ${path} is not a string`);
  }
  return profile as Profile;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

type Key = { file: string; apiPublicKey?: string | undefined; apiPrivateKey: string };

/** A key file may be another user's, so it is not held against the profile's public key. */
async function readKey(path: string, profile: Profile, keyFile: string | undefined): Promise<Key> {
  if (keyFile !== undefined) {
    let text: string;
    try {
      text = await readFile(keyFile, "utf8");
    } catch (cause) {
      throw new Error(whyUnread(cause, "API key file", keyFile));
    }
    if (parseObject(text)?.apiPrivateKey !== undefined)
      throw new UsageError(`${keyFile} is a profile`, `use --profile ${keyFile}`);
    return { file: keyFile, apiPrivateKey: text.trim() };
  }
  if (profile.apiPrivateKey === undefined) {
    throw new Error(
      `${path} has no apiPrivateKey; pass --api-key-file FILE, a file that holds the private key of your P-256 API key in hex`,
    );
  }
  return { file: path, apiPublicKey: profile.apiPublicKey, apiPrivateKey: profile.apiPrivateKey };
}

/** The SDK says what is wrong with a key, and never repeats it. It does not know where the key comes from. */
function stamperOf({ file, ...key }: Key): Stamper {
  try {
    return createApiKeyStamper(key);
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

export function whyUnread(cause: unknown, what: string, path: string): string {
  return codeOf(cause) === "ENOENT"
    ? `there is no ${what} ${path}`
    : `cannot read the ${what} ${path} (${codeOf(cause)})`;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
