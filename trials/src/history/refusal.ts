/** Why the model does not do something. */
import type { Denial } from "./model.ts";

export class Refusal extends Error {
  readonly denial: Denial;
  constructor(code: number, says: string) {
    super(says);
    this.denial = { code, says };
  }
}

export const [invalid, notFound, exists, exhausted, unauthenticated] = [3, 5, 6, 8, 16] as const;

export function get<T>(things: ReadonlyMap<string, T>, id: string, says: string): T {
  const thing = things.get(id);
  if (thing === undefined) throw new Refusal(notFound, says);
  return thing;
}
