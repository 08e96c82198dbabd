/** Checks the settings of what the courier fetches, at the start of the server: it is the courier that reads them, and it starts later. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { reasonOf } from "./data_folder.ts";
import { printable } from "./process_messages.ts";
import { Refusal } from "./refusal.ts";

type Environment = Record<string, string | undefined>;

/** Whether http to this machine is allowed. */
export function allowsLoopback({ KEYSTEAD_DEV_EGRESS: egress }: Environment): boolean {
  if (egress && egress !== "loopback") throw new Refusal("KEYSTEAD_DEV_EGRESS takes only the word loopback", 2);
  return egress === "loopback";
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(hostname);
}

/** Whether the courier would fetch from an address that the operator has written down. */
export function isFetchedAddress(text: unknown, mayBeHttp: boolean): boolean {
  const url = typeof text === "string" ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && mayBeHttp && isLoopbackHost(url.hostname));
}

export function checkIssuers(env: Environment): void {
  const { KEYSTEAD_OIDC_ISSUERS: issuers } = env;
  if (!issuers) return;
  const mayBeHttp = allowsLoopback(env);
  const wrong = issuers
    .split(",")
    .map((issuer) => issuer.trim())
    .find((issuer) => !isIssuer(issuer, mayBeHttp));
  if (wrong === undefined) return;
  throw new Refusal(
    "KEYSTEAD_OIDC_ISSUERS must be issuers like https://accounts.google.com, separated by commas, each exactly as its " +
      `tokens have it in \`iss\`; \`${printable(wrong, 200)}\` is none`,
    2,
  );
}

/** As the courier has it: the one spelling that the URL standard gives, with or without the slash behind a bare host. */
function isIssuer(text: string, mayBeHttp: boolean): boolean {
  const url = URL.parse(text);
  if (url === null || (url.href !== text && url.href !== `${text}/`) || text.length > 512) return false;
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && mayBeHttp && isLoopbackHost(url.hostname));
}

/** The file's full path: the courier has another working folder. Node only warns where a file is missing or holds no certificate. */
export function parseExtraCertificates({ NODE_EXTRA_CA_CERTS: file }: Environment, cwd: string): string | undefined {
  if (!file) return undefined;
  const path = resolve(cwd, file);
  try {
    const certificates = readFileSync(path, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
    if (certificates === null) throw new Error("it holds none");
    for (const certificate of certificates) new X509Certificate(certificate);
  } catch (error) {
    throw new Refusal(`NODE_EXTRA_CA_CERTS must name a file of PEM certificates; ${path}: ${reasonOf(error)}`, 2);
  }
  return path;
}
