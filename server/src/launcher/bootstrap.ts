import { createHmac } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { codeOf, type DataFolder, holdsData } from "./data_folder.ts";
import { createFile, replaceFile } from "./durable_file.ts";
import { createApiKey } from "./first_api_key.ts";
import { Refusal } from "./refusal.ts";

/** The contents of `bootstrap.json`: what a client needs for its first request. */
export type Bootstrap = {
  baseUrl: string;
  authProxyUrl: string;
  dashboardUrl: string;
  organizationId: string;
  organizationName: string;
  userId: string;
  apiPublicKey: string;
  /** Absent when the operator made the key (`init --root-public-key`) or has taken it out of the file. */
  apiPrivateKey?: string;
  authProxyConfigId: string;
};

/** What the signer needs to make the first organization. Complete and fixed before the first order, so repeating it changes nothing. */
export type FirstOrganization = {
  organizationId: string;
  organizationName: string;
  userId: string;
  userName: string;
  apiPublicKey: string;
  authProxy: { configId: string; userId: string };
};

type Settings = { organizationName: string; rootPublicKey: string | undefined };

/**
 * Reads `bootstrap.json`, or writes it if this is the first start. One that is there stays as it is: its addresses change when the
 * gateway listens on others, and work on a stopped server listens on none. It must be on the disk before the birth is ordered:
 * otherwise a crash in between would leave an organization whose only key nobody holds.
 */
export function openBootstrap(
  data: DataFolder,
  rootKey: Uint8Array,
  baseUrl: string,
  settings: Settings,
  authProxyUrl = baseUrl,
): Bootstrap {
  const ids = readIds(data) ?? {
    organizationId: derivedId(rootKey, "organization"),
    userId: derivedId(rootKey, "user"),
    authProxyConfigId: derivedId(rootKey, "auth proxy config"),
  };
  const stored = readBootstrap(data.bootstrap);
  if (stored) {
    if (stored.organizationId !== ids.organizationId || stored.userId !== ids.userId) {
      throw new Refusal(
        `the root key does not belong to this database: ${data.bootstrap} was made with another root key; ` +
          "put the right one back (after a rotation, root.key.ids belongs to it)",
      );
    }
    return stored;
  }
  if (holdsData(data) && !settings.rootPublicKey) {
    throw new Refusal(
      `bootstrap.json missing, database present: put it back into ${data.path} (it may go without apiPrivateKey), ` +
        "or write it anew for a key you have: init --root-public-key HEX",
    );
  }
  const key = settings.rootPublicKey ? { apiPublicKey: settings.rootPublicKey } : createApiKey();
  const { organizationId, userId, authProxyConfigId } = ids;
  const { organizationName } = settings;
  const made: Bootstrap = {
    ...urls(baseUrl, authProxyUrl),
    organizationId,
    organizationName,
    userId,
    ...key,
    authProxyConfigId,
  };
  write(data, made);
  return made;
}

type FirstIds = Pick<Bootstrap, "organizationId" | "userId" | "authProxyConfigId">;

/** Before the first root key goes, what derives from it is written down: another gives other ids. */
export function keepIds(data: DataFolder, { organizationId, userId, authProxyConfigId }: Bootstrap): void {
  if (existsSync(data.rootKeyIds)) return;
  const ids: FirstIds = { organizationId, userId, authProxyConfigId };
  createFile(data.rootKeyIds, Buffer.from(`${JSON.stringify(ids, null, 2)}\n`));
}

function readIds(data: DataFolder): FirstIds | undefined {
  if (!existsSync(data.rootKeyIds)) return undefined;
  try {
    const { organizationId, userId, authProxyConfigId } = JSON.parse(readFileSync(data.rootKeyIds, "utf8"));
    if ([organizationId, userId, authProxyConfigId].every((id) => typeof id === "string")) {
      return { organizationId, userId, authProxyConfigId };
    }
  } catch {
    // What is wrong with it does not matter: it has to be put back.
  }
  throw new Refusal(`${data.rootKeyIds} is not what a rotation wrote; put the right one back`);
}

export function hasBootstrap(data: DataFolder): boolean {
  return existsSync(data.bootstrap);
}

/** Puts the addresses into the file as it is now: the operator may have taken the private key out since, or the whole file away. */
export function rewriteUrls(data: DataFolder, baseUrl: string, authProxyUrl = baseUrl): void {
  const stored = readBootstrap(data.bootstrap);
  if (!stored) return;
  const next = { ...stored, ...urls(baseUrl, authProxyUrl) };
  if (JSON.stringify(next) !== JSON.stringify(stored)) write(data, next);
}

export function birthOf(bootstrap: Bootstrap): FirstOrganization {
  const { organizationId, organizationName, userId, apiPublicKey, authProxyConfigId: configId } = bootstrap;
  const authProxy = { configId, userId: idFrom(Buffer.from(configId), "auth proxy user") };
  return { organizationId, organizationName, userId, userName: "Root user", apiPublicKey, authProxy };
}

export function isEveryAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** A listener on every address is reached from this machine by loopback. */
export function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

function urls(baseUrl: string, authProxyUrl: string) {
  return { baseUrl, authProxyUrl, dashboardUrl: `${baseUrl}/` };
}

function write(data: DataFolder, bootstrap: Bootstrap): void {
  replaceFile(data.bootstrap, Buffer.from(`${JSON.stringify(bootstrap, null, 2)}\n`));
}

function readBootstrap(path: string): Bootstrap | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new Refusal(`cannot read ${path} (${codeOf(cause)})`);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isBootstrap(value)) return value;
  } catch {
    // The parser's message quotes the text, which holds a private key.
  }
  throw new Refusal(`${path} is not a bootstrap file; put the right one back`);
}

const required = [
  "baseUrl",
  "organizationId",
  "organizationName",
  "userId",
  "apiPublicKey",
  "authProxyConfigId",
] as const;

function isBootstrap(value: unknown): value is Bootstrap {
  if (typeof value !== "object" || value === null) return false;
  const fields: Record<string, unknown> = { ...value };
  return required.every((name) => typeof fields[name] === "string");
}

/** Ids follow from the root key, so a first start that was cut short makes the same organization when it is repeated. See SPEC.md. */
function derivedId(rootKey: Uint8Array, what: string): string {
  return idFrom(rootKey, what);
}

function idFrom(key: Uint8Array, what: string): string {
  const bytes = createHmac("sha256", key).update(`keystead first ${what} id`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
