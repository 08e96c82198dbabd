import { type TUnsafe, Type } from "./schema.ts";

/** A schema that OpenAPI and the SDK's types know by name, so that it is not written out wherever it is used. */
export function component<T>(name: string): TUnsafe<T> {
  return Type.Unsafe<T>({ $ref: `#/components/schemas/${name}` });
}
