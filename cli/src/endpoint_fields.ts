/** What an endpoint takes, for people: its fields, the words they can hold, and an example. */

import { suggest } from "@keystead/core/policy/language/suggest.ts";
import { activities, queries } from "@keystead/sdk";
import { UsageError } from "./command.ts";
import { exampleOf } from "./endpoint_example.ts";
import { type Field, parseFields, type Type } from "./endpoint_types.ts";
import { fieldNotes } from "./generated/field_notes.ts";

export const endpoints = { ...activities, ...queries };
export type EndpointName = keyof typeof endpoints;

export function findEndpoint(name: string): EndpointName {
  if (Object.hasOwn(endpoints, name)) return name as EndpointName;
  const near = suggest(name, Object.keys(endpoints));
  throw new UsageError(`there is no endpoint \`${name}\`${near}`, "`npx keystead list` names them all");
}

/** Words that do not fit into a line are listed once, below the fields. */
function areLong(words: readonly string[]): boolean {
  return words.join(" | ").length > 100;
}

export function endpointLines(name: EndpointName): string[] {
  const { summary, parameters } = endpoints[name];
  const fields = parseFields(parameters);
  const rows = rowsOf(fields, fieldNotes[name] ?? {});
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  const isQuery = Object.hasOwn(queries, name);
  return [
    `${name}: ${summary}${isQuery ? "" : ` (${activities[name as keyof typeof activities].type})`}`,
    "",
    ...(rows.length === 0 ? ["  no fields"] : rows.flatMap(([left, right]) => besideLines(left.padEnd(width), right))),
    ...longWords(fields).flatMap(([title, words]) => ["", `${title}:`, ...wrapped(words)]),
    "",
    `${rows.some(([left]) => left.endsWith("?")) ? "What ends with ? may be left out. " : ""}Example:`,
    "",
    ...command(name, fields),
  ];
}

type Notes = Readonly<Record<string, string>>;

/** What each field is called, and what it holds: its type, and its bounds where its note says them. */
function rowsOf(fields: readonly Field[], notes: Notes, within = "", indent = "  "): [string, string][] {
  return fields.flatMap(({ name, isOptional, type }) => {
    const note = notes[`${within}${name}`];
    const right = note === undefined ? describe(type) : `${describe(type)}: ${note}`;
    const row: [string, string] = [`${indent}${name}${isOptional ? "?" : ""}`, right];
    return [row, ...rowsOf(fieldsIn(type), notes, `${within}${name}.`, `${indent}  `)];
  });
}

const lineWidth = 120;

/** A text beside another, in as many lines as it takes. */
function besideLines(left: string, right: string): string[] {
  const lines: string[] = [];
  for (const word of right.split(" ")) {
    const last = lines.at(-1);
    const fits = last !== undefined && left.length + 2 + last.length + 1 + word.length <= lineWidth;
    if (last === undefined || !fits) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line, index) => `${index === 0 ? left : " ".repeat(left.length)}  ${line}`);
}

function fieldsIn(type: Type): readonly Field[] {
  if (type.kind === "list") return fieldsIn(type.of);
  return type.kind === "object" ? type.fields : [];
}

function describe(type: Type): string {
  if (type.kind === "list") return `list of ${type.of.kind === "object" ? "these" : describe(type.of)}`;
  if (type.kind === "object") return "with these";
  if (type.kind === "words") return areLong(type.words) ? titleOf(type.words) : type.words.join(" | ");
  return { text: "text", number: "number", flag: "true | false", any: "anything" }[type.kind];
}

/** `ADDRESS_FORMAT_…` for all that begin so. */
function titleOf(words: readonly string[]): string {
  const [first = ""] = words;
  const parts = first.split("_");
  const shared = parts.findLastIndex((_, i) =>
    words.every((word) => word.startsWith(`${parts.slice(0, i + 1).join("_")}_`)),
  );
  return `${parts
    .slice(0, shared + 1)
    .map((part) => `${part}_`)
    .join("")}…`;
}

/** Each long list of words once. */
function longWords(fields: readonly Field[]): readonly (readonly [string, readonly string[]])[] {
  const found = new Map<string, readonly string[]>();
  const look = (type: Type): void => {
    if (type.kind === "list") look(type.of);
    if (type.kind === "object") for (const field of type.fields) look(field.type);
    if (type.kind === "words" && areLong(type.words)) found.set(titleOf(type.words), type.words);
  };
  for (const { type } of fields) look(type);
  return [...found].map(([title, words]) => [title, words.map((word) => word.slice(title.length - 1))] as const);
}

function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 108) lines.push(`  ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** To paste into a shell. */
function command(name: EndpointName, fields: readonly Field[]): string[] {
  const json = JSON.stringify(exampleOf(fields));
  if (json === "{}") return [`  npx keystead request ${name}`];
  if (!json.includes("'")) return [`  npx keystead request ${name} '${json}'`];
  return [`npx keystead request ${name} - <<'JSON'`, json, "JSON"];
}
