import Type from "typebox";

/** A human-readable name. */
export function name(description: string) {
  return Type.String({ minLength: 1, maxLength: 255, description });
}
