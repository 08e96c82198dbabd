import Type from "typebox";

/** An id as clients send it: opaque text, bounded; whether it exists is the handler's question. */
export const id = Type.String({ minLength: 1, maxLength: 128, description: "Unique identifier." });

export const organizationId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Unique identifier of an organization.",
});

/** Lists of ids are bounded, so that one body cannot ask for unbounded work. */
export const ids = Type.Array(id, { maxItems: 1_000 });
