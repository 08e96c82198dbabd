/**
 * Results with a field that is worth something to whoever has it. The sealed box beside the leaf holds all of it; rows, leaves and other
 * readers have it with that field empty. Both name the leaf: by that the box is found again.
 */
import type { AnyActivity } from "../endpoints/define_activity.ts";

type Bearing = Pick<AnyActivity, "bearer">;

/** The name of a leaf: its signer's process in hex, and its number there. */
export type LeafName = { boot: string; number: number };

/** The whole result as JSON. */
export function fullResult({ bearer }: Bearing, result: unknown, leaf: LeafName): string {
  return JSON.stringify(bearer === undefined ? result : { ...(result as object), leaf });
}

/** The result as everybody may see it: JSON, with the field empty. */
export function shownResult({ bearer }: Bearing, result: string): string {
  if (bearer === undefined) return result;
  return JSON.stringify({ ...(JSON.parse(result) as object), [bearer.field]: "" });
}

export function leafOf(result: string): LeafName {
  return (JSON.parse(result) as { leaf: LeafName }).leaf;
}

/** As clients see it. */
export function withoutLeaf({ leaf: _, ...result }: Record<string, unknown>): Record<string, unknown> {
  return result;
}

/** Whether its own user may still see all of it. */
export function isBearing({ bearer }: Bearing, result: string, nowMs: number): boolean {
  if (bearer === undefined) return false;
  const fields: Record<string, unknown> = JSON.parse(result);
  return bearer.endsAtMs(fields) > nowMs;
}

/**
 * Whether a result still keeps its value from the reader whom it is shown to: then body and stamp together must not be shown either, for
 * whoever sends the same stamped bytes again passes for their sender, and is given the value. `result`: null before it was released.
 */
export function isWithheld({ bearer }: Bearing, result: string | null, nowMs: number): boolean {
  if (bearer === undefined || result === null) return bearer !== undefined;
  const fields: Record<string, unknown> = JSON.parse(result);
  return fields[bearer.field] === "" && bearer.endsAtMs(fields) > nowMs;
}
