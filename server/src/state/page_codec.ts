/** How a page becomes JSON text and is read again. The bytes are under a digest, so they never change for the same content. */
import { createAside } from "./aside.ts";

export type PageCodec<P> = {
  /** The newest form, which is the one that is written; all up to it are read. */
  format: number;
  /** What a state without this page has. */
  empty: P;
  /** The page's JSON text, without the brace and the format before it. */
  encode(page: P): string;
  decode(json: never): P;
};

const texts = createAside<object, string>();

/** Entities are immutable and pass from page to page, so each is written once, however often its page is. */
export function entityJson(entity: object): string {
  const known = texts.get(entity);
  if (known !== undefined) return known;
  const text = JSON.stringify(entity);
  texts.set(entity, text);
  return text;
}

export function listJson(entities: ReadonlyMap<string, object>): string {
  return `[${Array.from(entities.values(), entityJson).join()}]`;
}

/** The first form, which most pages still have. */
const firstFormat = 1;

/** A page that is one list of entities. */
export function listCodec<E extends object>(json: string, id: keyof E & string): PageCodec<ReadonlyMap<string, E>> {
  return {
    format: firstFormat,
    empty: new Map(),
    encode: (page) => `"${json}":${listJson(page)}}`,
    decode: (read: Readonly<Record<string, readonly E[]>>) =>
      new Map((read[json] as readonly E[]).map((entity) => [entity[id] as string, entity])),
  };
}

/** A page that is one value. */
export function valueCodec<E extends object>(json: string, empty: E): PageCodec<E> {
  return {
    format: firstFormat,
    empty,
    encode: (page) => `"${json}":${JSON.stringify(page)}}`,
    decode: (read: Readonly<Record<string, E>>) => read[json] as E,
  };
}
