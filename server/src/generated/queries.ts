// Written by `npm run generate` from the endpoint declarations. Do not edit.
import type { AnyQuery } from "../endpoints/define_query.ts";
import { whoami } from "../queries/whoami.ts";

export const queries = {
  whoami: whoami,
} as const;

export const queryByPath: ReadonlyMap<string, AnyQuery> = new Map<string, AnyQuery>([
  ["whoami", whoami],
]);
