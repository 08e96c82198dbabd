/** The file that `proof context` writes and `proof replay` reads: an app proof, and what its decision was taken on. */
import { isActivity, type ProvenActivity } from "@keystead/core/attestation/app_proof.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type AppProof, appProofScheme } from "../state/app_proof.ts";
import { sha256 } from "../state/digest.ts";

/** Nothing can be said: something is missing, or is not for this release to read. */
export class CannotTell extends Error {
  override readonly name = "CannotTell";
}

export type ProofFile = {
  appProof: AppProof;
  /** What was asked for when the proof was fetched. A file that an earlier release wrote does not say. */
  expected: ProvenActivity | undefined;
  content: Uint8Array;
  /** By the hex of their digests. */
  parts: ReadonlyMap<string, Uint8Array>;
  body: Uint8Array | undefined;
};

export function parseProofFile(text: string): ProofFile {
  const file = objectIn(parseJson(text), "the file");
  const proof = objectIn(file.appProof, "appProof");
  const context = objectIn(file.context, "context");
  if (proof.scheme !== appProofScheme) throw new CannotTell("`appProof.scheme` is not known");
  if (!Array.isArray(context.parts)) throw new CannotTell("`context.parts` is not a list");
  const parts = context.parts.map((part) => bytesIn(part, "context.parts"));
  return {
    appProof: {
      scheme: appProofScheme,
      publicKey: textIn(proof.publicKey, "appProof.publicKey"),
      proofPayload: textIn(proof.proofPayload, "appProof.proofPayload"),
      signature: textIn(proof.signature, "appProof.signature"),
    },
    expected: expectedIn(file),
    content: bytesIn(context.content, "context.content"),
    parts: new Map(parts.map((part) => [toHex(sha256(part)), part])),
    body: context.body === undefined ? undefined : bytesIn(context.body, "context.body"),
  };
}

function expectedIn(file: Record<string, unknown>): ProvenActivity | undefined {
  const { activityId, fingerprint } = file;
  if (activityId === undefined && fingerprint === undefined) return undefined;
  const expected = { activityId, fingerprint };
  if (!isActivity(expected)) throw new CannotTell("`activityId` and `fingerprint` are not those of an activity");
  return expected;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CannotTell("the file is not JSON");
  }
}

export function objectIn(value: unknown, name: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CannotTell(`\`${name}\` is not a JSON object`);
}

function textIn(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw new CannotTell(`\`${name}\` is not a text`);
}

function bytesIn(value: unknown, name: string): Uint8Array {
  const bytes = Buffer.from(textIn(value, name), "base64");
  if (bytes.toString("base64") !== value) throw new CannotTell(`\`${name}\` is not base64`);
  return new Uint8Array(bytes);
}
