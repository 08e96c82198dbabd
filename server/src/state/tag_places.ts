/**
 * Which tags each of many keys carries, with the places of the tags in a list instead of their ids: a tenth of the length where
 * keys carry many, so that even every tag on every key fits into a page, and its change into a frame.
 */
import { Fault } from "@keystead/core/fault.ts";

/** The key's id, then the places of its tags. */
export type KeyPlaces = readonly [privateKeyId: string, ...places: number[]];

export function toPlaces(
  tagIds: Iterable<string>,
  keys: Iterable<readonly [privateKeyId: string, tagIds: readonly string[]]>,
): KeyPlaces[] {
  const places = new Map([...tagIds].map((tagId, place) => [tagId, place]));
  const placeOf = (tagId: string) => {
    const place = places.get(tagId);
    if (place === undefined) throw new Fault("internal", "a private key carries a tag that does not exist");
    return place;
  };
  return [...keys].map(([privateKeyId, own]) => [privateKeyId, ...own.map(placeOf)]);
}

export function fromPlaces(
  tagIds: readonly string[],
  keys: readonly KeyPlaces[],
): [privateKeyId: string, tagIds: string[]][] {
  const tagAt = (place: number) => {
    const tagId = tagIds[place];
    if (tagId === undefined) throw new Fault("internal", "a private key carries a tag that is not listed");
    return tagId;
  };
  return keys.map(([privateKeyId, ...places]) => [privateKeyId, places.map(tagAt)]);
}
