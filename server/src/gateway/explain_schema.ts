/** Why a value does not fit its schema, in the words clients know. Slow, and only for values that were refused already. */
import { Fault } from "@keystead/core/fault.ts";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";

export function explainMismatch(schema: TSchema, value: unknown, prefix: string): Fault {
  const [error] = Value.Errors(schema, value);
  const path = [prefix, ...(error?.instancePath ?? "").split("/").slice(1)].filter((part) => part !== "").join(".");
  if (error?.keyword === "required") {
    const { requiredProperties } = error.params as { requiredProperties: readonly string[] };
    return new Fault("invalid_argument", `invalid request body: missing field \`${requiredProperties[0]}\``);
  }
  if (error?.keyword === "pattern") {
    return new Fault("invalid_argument", `invalid request body: field \`${path}\` has characters that are not allowed`);
  }
  return new Fault("invalid_argument", `invalid request body: field \`${path}\` ${error?.message ?? "does not fit"}`);
}
