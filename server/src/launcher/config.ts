import { isIP } from "node:net";
import { resolve } from "node:path";
import { type CodeSettings, parseCodeSettings } from "./code_settings.ts";
import { checkIssuers, parseExtraCertificates } from "./fetch_settings.ts";
import { parsePublicKey } from "./first_api_key.ts";
import { type IdentitySettings, parseIdentitySettings } from "./identity_settings.ts";
import { limitNames } from "./limit_names.ts";
import { checkMessageSettings } from "./message_settings.ts";
import { checkOauth2Providers } from "./oauth2_settings.ts";
import { printable } from "./process_messages.ts";
import { type ProcessName, perProcess, processes, processNames } from "./processes.ts";
import { type ProxySettings, parseProxySettings } from "./proxy_settings.ts";
import { Refusal } from "./refusal.ts";
import { checkWitnesses, parseCheckpointFile } from "./witness_settings.ts";

/** `serve` runs until it is stopped, `init` only writes files, the others do one piece of work and end. */
export const commands = [
  "serve",
  "init",
  "accept-database",
  "accept-clock",
  "check-log",
  "check-database",
  "repair-database",
  "rotate-keys",
] as const;
export type ServerCommand = (typeof commands)[number];

export type PassphraseSource = { kind: "file"; path: string } | { kind: "terminal" };

export type Config = {
  command: ServerCommand;
  port: number;
  host: string;
  dataFolder: string;
  usesDatabaseServer: boolean;
  passphrase: PassphraseSource | undefined;
  rootPublicKey: string | undefined;
  organizationName: string;
  /** Of the processes, when the launcher runs as root. */
  userIds: Readonly<Record<ProcessName, number>>;
  /** The longest pause before a process that keeps ending is started again. */
  restartPauseMs: number;
  /** Resource limits that differ from the defaults. */
  limits: Record<string, number>;
  codes: CodeSettings;
  identities: IdentitySettings;
  /** How this deployment is called as an issuer, where that is not where it listens. */
  publicUrl: string | undefined;
  /** A file of certificates that the courier trusts beside those of Node. */
  extraCertificates: string | undefined;
  proxy: ProxySettings;
  /** The file that every checkpoint of the log is appended to. */
  checkpointFile: string | undefined;
  /** Of a rotation: the operator says that there is a copy of the root key that is about to go. */
  oldKeySaved: boolean;
};

type Environment = Record<string, string | undefined>;

/** Reads settings and the command line. Everything wrong ends the start with exit code 2 and one line that names the setting. */
export function parseConfig(args: readonly string[], env: Environment, cwd: string): Config {
  const { command, rootPublicKey, oldKeySaved } = parseCommand(args);
  checkMessageSettings(env);
  checkWord("KEYSTEAD_IP_ALLOWLISTS", env.KEYSTEAD_IP_ALLOWLISTS, ["enforce", "ignore"]);
  checkWord("KEYSTEAD_LOG", env.KEYSTEAD_LOG, ["public", "private"]);
  checkIssuers(env);
  checkOauth2Providers(env);
  checkWitnesses(env);
  parseNumber("KEYSTEAD_CONTACT_DAYS", env.KEYSTEAD_CONTACT_DAYS, 30, 1, 36_500);
  return {
    command,
    port: parseNumber("PORT", env.PORT, 8080, 0, 65535),
    host: parseHost(env.KEYSTEAD_HOST || "127.0.0.1"),
    dataFolder: parseFolder(resolve(cwd, env.KEYSTEAD_DATA || "data")),
    usesDatabaseServer: isDatabaseServer(env.DATABASE_URL),
    passphrase: parsePassphraseSource(env, cwd),
    rootPublicKey: readPublicKey(rootPublicKey ?? env.KEYSTEAD_ROOT_PUBLIC_KEY),
    organizationName: parseName(env.KEYSTEAD_ORGANIZATION_NAME || "Keystead"),
    userIds: parseUserIds(env),
    restartPauseMs: parseNumber("KEYSTEAD_RESTART_PAUSE_MS", env.KEYSTEAD_RESTART_PAUSE_MS, 5000, 0, 600_000),
    limits: parseLimits(env.KEYSTEAD_LIMITS),
    codes: parseCodeSettings(env),
    identities: parseIdentitySettings(env),
    publicUrl: parsePublicUrl(env.KEYSTEAD_PUBLIC_URL),
    extraCertificates: parseExtraCertificates(env, cwd),
    proxy: parseProxySettings(env),
    checkpointFile: parseCheckpointFile(env, cwd),
    oldKeySaved,
  };
}

/** Under one user id a process can read another's memory, so no two may share one. */
function parseUserIds(env: Environment): Config["userIds"] {
  const userIds = perProcess((name) => {
    const { setting, fallback } = processes[name].userId;
    return parseNumber(setting, env[setting], fallback, 1, 2 ** 31);
  });
  for (const [place, name] of processNames.entries()) {
    const other = processNames.slice(0, place).find((before) => userIds[before] === userIds[name]);
    if (other === undefined) continue;
    throw new Refusal(`${processes[other].userId.setting} and ${processes[name].userId.setting} must differ`, 2);
  }
  return userIds;
}

function parseLimits(text: string | undefined): Record<string, number> {
  if (!text) return {};
  const refusal = new Refusal('KEYSTEAD_LIMITS must be JSON like {"userTagsPerOrganization": 100}', 2);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refusal;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refusal;
  for (const [name, limit] of Object.entries(value)) {
    if (!limitNames.includes(name)) {
      const known = limitNames.join(", ");
      throw new Refusal(`KEYSTEAD_LIMITS: there is no limit \`${printable(name, 100)}\`; there are: ${known}`, 2);
    }
    if (Number.isSafeInteger(limit) && limit >= 0) continue;
    throw new Refusal(`KEYSTEAD_LIMITS: \`${printable(name, 100)}\` must be a whole number of 0 or more`, 2);
  }
  return value as Record<string, number>;
}

const usage = `usage: node server/main.mjs [${commands.join(" | ")}] [--root-public-key HEX] [--old-key-saved]`;

type Arguments = Pick<Config, "command" | "rootPublicKey" | "oldKeySaved">;

function parseCommand(args: readonly string[]): Arguments {
  let command: ServerCommand | undefined;
  let rootPublicKey: string | undefined;
  let oldKeySaved = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    const named = commands.find((name) => name === arg);
    if (named && !command) command = named;
    else if (arg === "--root-public-key" && args[i + 1]) rootPublicKey = args[++i];
    else if (arg.startsWith("--root-public-key=")) rootPublicKey = arg.slice("--root-public-key=".length);
    else if (arg === "--old-key-saved") oldKeySaved = true;
    else throw new Refusal(`\`${arg}\` is not understood; ${usage}`, 2);
  }
  if (rootPublicKey !== undefined && command !== "init") {
    throw new Refusal("--root-public-key belongs to the command init", 2);
  }
  if (oldKeySaved && command !== "rotate-keys") {
    throw new Refusal("--old-key-saved belongs to the command rotate-keys", 2);
  }
  return { command: command ?? "serve", rootPublicKey, oldKeySaved };
}

function parseNumber(name: string, text: string | undefined, fallback: number, least: number, most: number): number {
  if (text === undefined || text === "") return fallback;
  const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Refusal(`${name} must be a whole number from ${least} to ${most}, not \`${text}\``, 2);
}

/** It is compared as text, in tokens and by whoever verifies them: without a slash at its end. */
function parsePublicUrl(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const url = URL.parse(text);
  const isPlain = url !== null && [url.href, url.href.replace(/\/$/, "")].includes(text) && !/[?#]/.test(text);
  const isWeb =
    url !== null && ["https:", "http:"].includes(url.protocol) && url.username === "" && url.password === "";
  if (isPlain && isWeb && text.length <= 512) return text.replace(/\/$/, "");
  throw new Refusal("KEYSTEAD_PUBLIC_URL must be an address like https://keys.example.com, without a query", 2);
}

function checkWord(name: string, text: string | undefined, words: readonly string[]): void {
  if (!text || words.includes(text)) return;
  throw new Refusal(`${name} must be ${words.join(" or ")}, not \`${text}\``, 2);
}

function parseHost(host: string): string {
  if (isIP(host) || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(host)) return host;
  throw new Refusal(`KEYSTEAD_HOST must be an address or a host name, not \`${host}\``, 2);
}

/** Node reads an asterisk in a permission as "anything". */
function parseFolder(path: string): string {
  if (!path.includes("*")) return path;
  throw new Refusal(`KEYSTEAD_DATA must not contain an asterisk: \`${path}\``, 2);
}

function parseName(name: string): string {
  if (name.length <= 255 && !/\p{Cc}/u.test(name)) return name;
  throw new Refusal("KEYSTEAD_ORGANIZATION_NAME must be at most 255 characters without control characters", 2);
}

/** The URL is not repeated in the message: it holds a password. */
function isDatabaseServer(url: string | undefined): boolean {
  if (!url) return false;
  if (/^postgres(ql)?:\/\//.test(url)) return true;
  throw new Refusal("DATABASE_URL must begin with postgres:// (unset, the database is a file in the data folder)", 2);
}

/** The environment of a process is readable in too many places to carry the passphrase itself, so a value other than `ask` is refused unseen. */
function parsePassphraseSource(env: Environment, cwd: string): PassphraseSource | undefined {
  const { KEYSTEAD_PASSPHRASE: ask, KEYSTEAD_PASSPHRASE_FILE: path } = env;
  if (ask && path) throw new Refusal("set KEYSTEAD_PASSPHRASE=ask or KEYSTEAD_PASSPHRASE_FILE, not both", 2);
  if (path) return { kind: "file", path: resolve(cwd, path) };
  if (!ask) return undefined;
  if (ask === "ask") return { kind: "terminal" };
  throw new Refusal(
    "KEYSTEAD_PASSPHRASE takes only the word ask; put the passphrase in a file and name it in KEYSTEAD_PASSPHRASE_FILE",
    2,
  );
}

function readPublicKey(hex: string | undefined): string | undefined {
  if (!hex) return undefined;
  const key = parsePublicKey(hex);
  if (key) return key;
  throw new Refusal(`the root public key must be a P-256 point in hex, not \`${hex.slice(0, 140)}\``, 2);
}
