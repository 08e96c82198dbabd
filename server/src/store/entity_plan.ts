/** What one group does to the rows of an organization's entities: the last word on each. */
import { Fault } from "@keystead/core/fault.ts";
import type { Entities } from "../state/entities.ts";
import { entityKinds } from "../state/entity_kinds.ts";
import { type TextRecord, textRecordKinds } from "../state/records.ts";
import { toRows, type WrittenRows } from "./entity_rows.ts";
import { type TabledKind, tableOf } from "./entity_tables.ts";

/** By kind and id. Undefined: to be deleted. Kinds that nothing happens to are not there. */
export type EntityPlan = Map<TabledKind, Map<string, WrittenRows | undefined>>;

/** A record that comes with an entity: as it was read, and the bytes that it is stored as. */
export type NewText = { readonly record: TextRecord; readonly content: Uint8Array };

export function addEntity<K extends TabledKind>(
  plan: EntityPlan,
  kind: K,
  organizationId: string,
  change: { op: "put"; value: Entities[K]; keepsParts?: true } | { op: "remove"; id: string },
  texts: readonly NewText[],
): void {
  let planned = plan.get(kind);
  if (planned === undefined) {
    planned = new Map();
    plan.set(kind, planned);
  }
  if (change.op === "remove") planned.set(change.id, undefined);
  else {
    const entity = change.value;
    const id = entity[entityKinds[kind].id as keyof Entities[K]] as string;
    const rows = toRows(kind, organizationId, entity, textOf(kind, id, texts));
    // Those that an item before it in the group has changed are still to be written.
    planned.set(id, change.keepsParts === true ? { row: rows.row, parts: planned.get(id)?.parts } : rows);
  }
}

/** The bytes of the text that came with an entity. */
function textOf(kind: TabledKind, id: string, texts: readonly NewText[]): Uint8Array | undefined {
  const { text } = tableOf(kind);
  if (text === undefined) return undefined;
  const own = texts.find(({ record }) => record.kind === kind && record[textRecordKinds[record.kind]] === id);
  if (own === undefined) throw new Fault("internal", `${text.owner} is listed without its text`);
  return own.content;
}
