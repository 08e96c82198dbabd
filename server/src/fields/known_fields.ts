import type { Static, TObject } from "./schema.ts";

/**
 * Only what the schema names. Bodies may hold more, and what this version's schema did not check must not pass for a field
 * of a later one.
 */
export function knownFields<S extends TObject>(schema: S, value: Static<S>): Static<S> {
  const fields = value as Record<string, unknown>;
  const names = Object.keys(schema.properties).filter((name) => Object.hasOwn(fields, name));
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Static<S>;
}
