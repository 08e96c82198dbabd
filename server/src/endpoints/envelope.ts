/** The activity request envelope, read from the stamped bytes. Gateway and signer read it with the same code. */
import { readJson } from "@keystead/core/encoding/json.ts";
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";

export type Envelope = {
  type: string;
  /** Lower case, whatever the sender's spelling. */
  organizationId: string;
  timestampMs: number;
  parameters: unknown;
  /** Whether what becomes of it is to be proven to others. */
  generateAppProofs: boolean;
};

/** A list of ids that fills the largest body has 27,000 commas; the users of the largest `create_users` have as many marks. */
const maxMarks = 32_768;

/** The body as an object; anything else is a bad request. */
export function readBody(body: Uint8Array): Record<string, unknown> {
  const value = readJson(body, undefined, maxMarks);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Fault("invalid_argument", "bad request body: not a JSON object");
  }
  return value as Record<string, unknown>;
}

export function readOrganizationId(body: Record<string, unknown>): string {
  const { organizationId } = body;
  if (organizationId === undefined) throw missingField("organizationId");
  if (typeof organizationId !== "string" || !isUuid(organizationId)) {
    throw new Fault("invalid_argument", "malformed organization ID provided", { errorCode: "INVALID_ORGANIZATION_ID" });
  }
  return organizationId.toLowerCase();
}

export function readEnvelope(body: Record<string, unknown>): Envelope {
  const organizationId = readOrganizationId(body);
  const { type, parameters, generateAppProofs } = body;
  if (typeof type !== "string")
    throw new Fault("invalid_argument", "Invalid activity type: `type` is missing or not a string");
  if (parameters === undefined) throw missingField("parameters");
  if (generateAppProofs !== undefined && generateAppProofs !== null && typeof generateAppProofs !== "boolean") {
    throw new Fault("invalid_argument", "invalid request body: field `generateAppProofs` must be boolean");
  }
  const timestampMs = readTimestamp(body);
  return { type, organizationId, timestampMs, parameters, generateAppProofs: generateAppProofs === true };
}

/** A decimal string on the published wire; some clients send a number. */
function readTimestamp({ timestampMs }: Record<string, unknown>): number {
  if (timestampMs === undefined) throw missingField("timestampMs");
  const value =
    typeof timestampMs === "string" && /^[0-9]{1,15}$/.test(timestampMs) ? Number(timestampMs) : timestampMs;
  // Fifteen digits are 31,000 years; the bound keeps every derived number exact.
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value >= 1e15) {
    throw new Fault(
      "invalid_argument",
      "invalid request body: field `timestampMs` must be a decimal string of milliseconds",
    );
  }
  return value;
}

function missingField(name: string): Fault {
  return new Fault("invalid_argument", `invalid request body: missing field \`${name}\``);
}
