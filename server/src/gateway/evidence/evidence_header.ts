/** Which evidence a request carries. Exactly one: two kinds, or one twice, are refused whatever they say. */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { Fault } from "@keystead/core/fault.ts";
import { checkForSubmit, evidenceHeaders, evidenceOf, kindOfHeader } from "../../evidence/evidence.ts";

const headers = new Set(evidenceHeaders);
const lengths = evidenceHeaders.map((header) => header.length);
const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)];

export type RequestKind = "query" | "submit";

const missingTexts: Record<RequestKind, string> = {
  query: "no valid authentication signature found for request",
  submit: "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)",
};

/**
 * The evidence in the headers. It reads the raw header list, because Node joins repeated headers into one value, which would
 * make two stamps look like one.
 */
export function readEvidence(rawHeaders: readonly string[], requestKind: RequestKind): SentEvidence {
  let found: { name: string; value: string } | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const header = rawHeaders[i] ?? "";
    if (header.length < shortest || header.length > longest) continue;
    const name = header.toLowerCase();
    if (!headers.has(name)) continue;
    if (found !== undefined) {
      throw new Fault("unauthenticated", "malformed activity stamp", { errorCode: "SIGNATURE_INVALID" });
    }
    found = { name, value: rawHeaders[i + 1] ?? "" };
  }
  if (found === undefined) {
    throw new Fault("unauthenticated", missingTexts[requestKind], { errorCode: "SIGNATURE_MISSING" });
  }
  const kind = kindOfHeader(found.name);
  if (kind === undefined) throw new Fault("internal", `no kind of evidence has the header ${found.name}`);
  if (requestKind === "submit") checkForSubmit({ kind });
  return evidenceOf(kind, found.value);
}
