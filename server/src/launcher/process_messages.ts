import { type ProcessName, processNames } from "./processes.ts";
import type { PublicKeys } from "./public_keys.ts";

/** What the gateway may tell the launcher. It is the least trusted of them, so everything else it sends is dropped. */
export type GatewayMessage =
  | { kind: "listening"; port: number }
  | { kind: "ready" }
  /** The signer runs and does not answer: only the launcher can end it. A lying gateway gains no more than a restart. */
  | { kind: "silent" }
  /** There is work for a process that is started when it is needed. A lying gateway has a process started that nobody uses. */
  | { kind: "need"; process: ProcessName }
  | { kind: "fatal"; message: string }
  /** The result of an operator's order; not `ok` when it found what must not be. */
  | { kind: "report"; lines: string[]; ok: boolean };

/** What the signer may tell the launcher. */
export type SignerMessage =
  | { kind: "ready" }
  /** Its memory is another file now, under the same name. */
  | { kind: "renamed" }
  | { kind: "fatal"; message: string }
  | { kind: "note"; message: string }
  /** Of the deployment that it has joined, by name, in hex; and the certificate that its boot proofs lead to, in PEM. */
  | { kind: "keys"; publicKeys: PublicKeys; attestationRoot: string }
  /** What the courier opens messages with. */
  | { kind: "courierKey"; key: Uint8Array };

/** What the courier may tell the launcher. */
export type CourierMessage = { kind: "fatal"; message: string } | { kind: "note"; message: string };

export function parseGatewayMessage(value: unknown): GatewayMessage | undefined {
  const { kind, port, message, lines, ok, process } = fieldsOf(value);
  if (kind === "ready" || kind === "silent") return { kind };
  if (kind === "listening" && Number.isInteger(port) && Number(port) > 0 && Number(port) < 65536) {
    return { kind, port: Number(port) };
  }
  const needed = processNames.find((name) => name === process);
  if (kind === "need" && needed !== undefined) return { kind, process: needed };
  if (kind === "fatal" && typeof message === "string") return { kind, message: printable(message) };
  if (kind === "report" && Array.isArray(lines)) {
    return {
      kind,
      lines: lines.filter((line) => typeof line === "string").map((line) => printable(line)),
      ok: ok !== false,
    };
  }
  return undefined;
}

export function parseSignerMessage(value: unknown): SignerMessage | undefined {
  const { kind, publicKeys, attestationRoot, key } = fieldsOf(value);
  if (kind === "ready" || kind === "renamed") return { kind };
  if (kind === "keys" && arePublicKeys(publicKeys) && isCertificate(attestationRoot)) {
    return { kind, publicKeys, attestationRoot };
  }
  if (kind === "courierKey" && typeof key === "string" && /^[0-9a-f]{64}$/.test(key)) {
    return { kind, key: Buffer.from(key, "hex") };
  }
  return parseWords(value);
}

export function parseCourierMessage(value: unknown): CourierMessage | undefined {
  return parseWords(value);
}

/** Words for the operator. */
function parseWords(value: unknown): { kind: "fatal" | "note"; message: string } | undefined {
  const { kind, message } = fieldsOf(value);
  if ((kind !== "fatal" && kind !== "note") || typeof message !== "string") return undefined;
  return { kind, message: printable(message) };
}

function arePublicKeys(value: unknown): value is PublicKeys {
  const entries = Object.entries(fieldsOf(value));
  const isKey = (key: unknown) => typeof key === "string" && /^[0-9a-f]{64,130}$/.test(key);
  return entries.length > 0 && entries.every(([name, key]) => /^[a-z]{1,40}$/i.test(name) && isKey(key));
}

function isCertificate(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]{1,4000}-----END CERTIFICATE-----\n$/.test(value)
  );
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** Control characters could rewrite what the operator's terminal shows. */
export function printable(text: string, mostCharacters = 2000): string {
  return text.slice(0, mostCharacters).replaceAll(/\p{Cc}+/gu, " ");
}
