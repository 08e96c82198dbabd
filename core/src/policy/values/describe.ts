/** Values as people read them: in explanations, traces and messages. */
import { EvaluationError, EvmText, Instant, type Result, type Value } from "./values.ts";

/** What a value is, with its article. */
export function typeName(value: Value): string {
  if (typeof value === "boolean") return "a bool";
  if (typeof value === "bigint") return "an int";
  if (typeof value === "string" || value instanceof EvmText) return "a string";
  if (value instanceof Instant) return "a timestamp";
  if (Array.isArray(value)) return "a list";
  return value instanceof Map ? "a map" : "a struct";
}

/** At most so many characters of a value; the last one is then an ellipsis. Work is bounded by it too, whatever the value. */
export function toText(value: Result, maxLength: number): string {
  const text = write(value, maxLength + 1);
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

/** Stops soon after so many characters. Every level writes a bracket first, so this bounds the depth as well. */
function write(value: Result, room: number): string {
  if (typeof value === "string") return value.slice(0, room);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (value instanceof EvmText) return value.text.slice(0, room);
  if (value instanceof Instant) return writeMoment(value.ms);
  if (value instanceof EvaluationError) return value.message;
  if (Array.isArray(value)) return writeItems("[", value, "]", room, (item: Value, left) => write(item, left));
  const entries = value instanceof Map ? value : fieldsOf(value as Readonly<Record<string, Value | undefined>>);
  if (typeof entries === "string") return entries.slice(0, room);
  return writeItems("{", entries, "}", room, ([name, item]: readonly [string, Value], left) => {
    const head = `${name.slice(0, left)}: `;
    return head + (head.length < left ? write(item, left - head.length) : "");
  });
}

/** What has an id is known by it, and the rest of it (a user's e-mail address, say) is nobody's business. */
function fieldsOf(struct: Readonly<Record<string, Value | undefined>>): string | Iterable<readonly [string, Value]> {
  if (typeof struct.id === "string") return struct.id;
  return definedFields(struct);
}

function* definedFields(struct: Readonly<Record<string, Value | undefined>>): Iterable<readonly [string, Value]> {
  for (const name of Object.keys(struct)) {
    const value = struct[name];
    if (value !== undefined) yield [name, value];
  }
}

function writeItems<T>(
  open: string,
  items: Iterable<T>,
  close: string,
  room: number,
  writeItem: (item: T, room: number) => string,
): string {
  let text = open;
  for (const item of items) {
    if (text.length > open.length) text += ", ";
    if (text.length >= room) return text;
    text += writeItem(item, room - text.length);
  }
  return text + close;
}

function writeMoment(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}
