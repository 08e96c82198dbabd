import { Type } from "./schema.ts";

/** An id as clients send it: opaque text, bounded; whether it exists is the handler's question. */
export const id = Type.String({ minLength: 1, maxLength: 128, description: "Unique identifier." });

/** The id of a private key where an address would name something else. */
export const privateKeyUuid = Type.String({
  pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  description: "Unique identifier of a private key.",
});

export const organizationId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Unique identifier of an organization.",
});

/** Lists of ids are bounded, so that one body cannot ask for unbounded work. */
export const ids = Type.Array(id, { maxItems: 1_000 });
