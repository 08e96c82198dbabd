/**
 * Parameters that are worth something to whoever has them: verification tokens, one-time codes. The body that brings one is sealed in
 * the database until it has ended. Until then rows and readers have the body's shown form: the same parameters with
 * `sha256:…` in the place of each such value.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { clockSkewMs, maxTokenAgeMs } from "@keystead/core/oidc/identity_claims.ts";
import { parseIdentityToken } from "@keystead/core/oidc/identity_token.ts";
import { parseVerificationToken } from "@keystead/core/otp/verification_token.ts";
import type { ActivityForm, BearerKind } from "../endpoints/define_activity.ts";
import { readBody, readEnvelope } from "../endpoints/envelope.ts";
import { knownParams, type ParamsSchema } from "../endpoints/known_params.ts";
import { sha256 } from "../state/digest.ts";
import { longestCodeMs, longestTokenMs } from "./one_time_codes.ts";

type BearingForm = Pick<ActivityForm, "params"> & { activity: Pick<ActivityForm["activity"], "bearerParams"> };

/** One row per kind: when a value ends at the latest, if it is first seen now. */
const endsAtMs = {
  // Nobody has verified it yet, so a made-up time counts only as far as a token could last. Twice that, because clocks differ.
  verificationToken: (token, nowMs) =>
    Math.min(expiryOf(token) ?? Number.POSITIVE_INFINITY, nowMs + 2 * longestTokenMs),
  identityToken: (token, nowMs) =>
    Math.min(identityEndsAtMs(token) ?? Number.POSITIVE_INFINITY, nowMs + maxTokenAgeMs + 2 * clockSkewMs),
  oneTimeCode: (_, nowMs) => nowMs + longestCodeMs,
  // A provider's code and its verifier: RFC 6749 recommends ten minutes at most.
  authorizationCode: (_, nowMs) => nowMs + 10 * 60_000,
} as const satisfies Record<BearerKind, (value: string, nowMs: number) => number>;

function identityEndsAtMs(oidcToken: string): number | undefined {
  try {
    return parseIdentityToken(oidcToken).claims.expiresAtMs + clockSkewMs;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function expiryOf(token: string): number | undefined {
  try {
    return parseVerificationToken(token).expiresAtMs;
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** When the last of the bearer values in these parameters ends; undefined where there is none. */
export function bearerEndsAtMs(form: BearingForm, parameters: unknown, nowMs: number): number | undefined {
  const values = bearerValuesIn(form, parameters);
  return values.length === 0 ? undefined : Math.max(...values.map(({ kind, value }) => endsAtMs[kind](value, nowMs)));
}

/** `field` is the last name of its path. */
export type BearerValue = { kind: BearerKind; field: string; value: string };

export function bearerValuesIn({ activity }: BearingForm, parameters: unknown): BearerValue[] {
  const values: BearerValue[] = [];
  for (const [path, kind] of Object.entries(activity.bearerParams ?? {})) {
    const steps = stepsOf(path);
    mapAt(parameters, steps, (value) => {
      values.push({ kind, field: steps.findLast((step) => step !== "[]") ?? path, value });
      return value;
    });
  }
  return values;
}

/** `rootUsers[].oauthProviders[].oidcToken` has five steps. */
function stepsOf(path: string): string[] {
  return path.replaceAll("[]", ".[]").split(".");
}

/** A copy with what `change` makes of the texts at a path. What is not there is left alone. */
function mapAt(value: unknown, [step, ...rest]: readonly string[], change: (text: string) => string): unknown {
  if (step === undefined) return typeof value === "string" && value !== "" ? change(value) : value;
  if (step === "[]") return Array.isArray(value) ? value.map((item) => mapAt(item, rest, change)) : value;
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, step)) return value;
  const fields = value as Record<string, unknown>;
  return { ...fields, [step]: mapAt(fields[step], rest, change) };
}

/** What is shown instead of a value. */
export function digestOf(value: string): string {
  return `sha256:${toHex(sha256(value))}`;
}

/** Shorter ones might be part of another text by chance; longer ones are the same value wherever they stand. */
const unmistakableLength = 32;

/** A text without the bearer values of these parameters, wherever it repeats one. */
export function withoutBearerValues(form: BearingForm, parameters: unknown, text: string): string {
  return bearerValuesIn(form, parameters).reduce(
    (shown, { value }) => (value.length < unmistakableLength ? shown : shown.replaceAll(value, digestOf(value))),
    text,
  );
}

/**
 * The body as it is stored and shown until its bearer values have ended; undefined where it has none. Only what the schema knows is in
 * it: nobody says what else a client put into the body.
 */
export function shownBody(form: BearingForm, body: Uint8Array): Uint8Array | undefined {
  if (form.activity.bearerParams === undefined) return undefined;
  const value = readBody(body);
  const { type, organizationId, parameters } = readEnvelope(value);
  if (bearerValuesIn(form, parameters).length === 0) return undefined;
  const shown = Object.keys(form.activity.bearerParams).reduce(
    (params, path) => mapAt(params, stepsOf(path), digestOf),
    knownParams(form.params as ParamsSchema, parameters),
  );
  const text = JSON.stringify({ type, timestampMs: String(value.timestampMs), organizationId, parameters: shown });
  return new TextEncoder().encode(withoutBearerValues(form, parameters, text));
}

/** Whether these are the bytes that were stamped, and not their shown form: a body proves itself by its hash. */
export function isWholeBody(
  activity: Pick<ActivityForm["activity"], "bearerParams"> | undefined,
  { body, fingerprint }: { body: Uint8Array; fingerprint: string },
): boolean {
  return activity?.bearerParams === undefined || toHex(sha256(body)) === fingerprint;
}
