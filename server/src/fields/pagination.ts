import { Fault } from "@keystead/core/fault.ts";
import { optional } from "./credentials.ts";
import { id } from "./ids.ts";
import { type Static, Type } from "./schema.ts";

export const paginationOptions = optional(
  Type.Object({
    limit: optional(Type.String({ maxLength: 10, description: "1 to 100; 10 when left out." })),
    before: optional(id),
    after: optional(id),
  }),
);

export type PaginationOptions = Static<typeof paginationOptions>;

export type Page = { limit: number; before: string | undefined; after: string | undefined };

const defaultLimit = "10";

/** Cursors are ids; whether they exist is the question of the list they point into. */
export function parsePagination(options: PaginationOptions | undefined): Page {
  const limit = options?.limit ?? defaultLimit;
  if (!/^(?:[1-9][0-9]?|100)$/.test(limit)) {
    throw new Fault("invalid_argument", `invalid pagination limit: \`${limit}\` is not a number from 1 to 100`);
  }
  return { limit: Number(limit), before: options?.before ?? undefined, after: options?.after ?? undefined };
}

export function unknownCursor(cursor: string): Fault {
  return new Fault("invalid_argument", `invalid pagination cursor: there is no \`${cursor}\` in this list`);
}
