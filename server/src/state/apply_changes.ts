/** What changes make of an organization's pages. */
import { Fault } from "@keystead/core/fault.ts";
import type { Change, EntityKind } from "./entities.ts";
import { entityKinds } from "./entity_kinds.ts";
import { keyFactsCodec, withFacts } from "./key_facts_page.ts";
import { keyFactsPageOf, type PageName, type Pages, type PrivateKeyTagsPage, type SinglePage } from "./pages.ts";
import { fromPlaces } from "./tag_places.ts";

type ChangesOf<K extends EntityKind> = readonly Extract<Change, { kind: K }>[];
type AnyChange<T> = { op: "put"; value: T } | { op: "remove"; id: string };
type Entity = Readonly<Record<string, unknown>>;
type NextPages = { -readonly [N in keyof Pages]: Pages[N] };

/**
 * The pages after `changes`, and the names of those that differ. Kinds do not depend on each other, so each is applied in one pass,
 * in the order of its changes.
 */
export function applyChanges(pages: Pages, changes: readonly Change[]): { pages: Pages; touched: Set<PageName> } {
  const touched = new Set<PageName>();
  const next: NextPages = { ...pages };
  for (const [kind, own] of Map.groupBy(changes, (change) => change.kind)) {
    if (kind === "keyFacts") {
      applyKeyFacts(next, own as ChangesOf<"keyFacts">, touched);
      continue;
    }
    const page = entityKinds[kind].page;
    touched.add(page);
    (next as Record<SinglePage, unknown>)[page] = pageAfter(kind, next[page], own);
  }
  return { pages: next, touched };
}

/** A page after all changes of one kind. The compiler cannot see that page, kind and changes belong together; the rows say so. */
function pageAfter(kind: Exclude<EntityKind, "keyFacts">, page: unknown, changes: readonly unknown[]): unknown {
  const row = entityKinds[kind];
  const own = changes as readonly AnyChange<Entity>[];
  switch (row.place) {
    case "listPage":
      return changed(page as ReadonlyMap<string, Entity>, own, row.id);
    case "valuePage":
      return replaced(own);
    case "list": {
      const mixed = page as Readonly<Record<string, ReadonlyMap<string, Entity>>>;
      return { ...mixed, [row.field]: changed(mixed[row.field], own, row.id) };
    }
    case "value":
      return { ...(page as object), [row.field]: replaced(own) };
    case "special":
      return withTags(page as PrivateKeyTagsPage, changes as ChangesOf<"taggedPrivateKeys">);
  }
}

/** One copy of the collection, however many changes there are. */
function changed(
  map: ReadonlyMap<string, Entity> | undefined,
  changes: readonly AnyChange<Entity>[],
  id: string,
): ReadonlyMap<string, Entity> {
  const next = new Map(map);
  for (const change of changes) {
    if (change.op === "put") next.set(change.value[id] as string, change.value);
    else next.delete(change.id);
  }
  return next;
}

function replaced<T>(changes: readonly AnyChange<T>[]): T {
  return putValue(changes.at(-1) as AnyChange<T>);
}

function putValue<T>(change: AnyChange<T>): T {
  if (change.op === "remove") throw new Fault("internal", "what stands alone cannot be removed");
  return change.value;
}

function withTags(page: PrivateKeyTagsPage, changes: ChangesOf<"taggedPrivateKeys">): PrivateKeyTagsPage {
  const keys = new Map(page.keys);
  for (const { tagIds: among, keys: places } of changes.map(putValue)) {
    for (const [privateKeyId, tagIds] of fromPlaces(among, places)) {
      if (tagIds.length > 0) keys.set(privateKeyId, tagIds);
      else keys.delete(privateKeyId);
    }
  }
  return { ...page, keys };
}

/** Facts of keys, page by page. */
function applyKeyFacts(next: NextPages, changes: ChangesOf<"keyFacts">, touched: Set<PageName>): void {
  const keyFacts = new Map(next.keyFacts);
  for (const [key, own] of Map.groupBy(changes.map(putValue), ({ id }) => id.slice(0, 2))) {
    keyFacts.set(key, withFacts(keyFacts.get(key) ?? keyFactsCodec.empty, own));
    touched.add(keyFactsPageOf(key));
  }
  next.keyFacts = keyFacts;
}
