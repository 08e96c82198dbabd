/**
 * JSON of any length without holding the gateway's one thread: a list of seven megabytes is some tens of milliseconds of work, and
 * everybody else waited for them. The bytes are always those of `JSON.stringify`. It writes every piece; what is decided here is only
 * where a long value is cut. The value must not change until all of it is written.
 */
import type { Work } from "@keystead/core/work.ts";
import { finishWithBreaths } from "../../store/breaths.ts";

export type JsonText = {
  /** A short text is one string: Node writes it together with the head, and as bytes it would be a copy and a write of its own. */
  parts: (string | Uint8Array)[];
  /** Of all parts, in bytes. */
  length: number;
};

/** Of the text that is written in one piece, roughly: a tenth of a millisecond or two. */
const pieceLength = 32 * 1024;

/** Of a part, at least. What is shorter is not cut. */
const partLength = 64 * 1024;

/** So many levels of a value are looked into. A deeper one is written as it is, which ends in an error where it contains itself. */
const deepest = 32;

export async function writeJson(value: unknown): Promise<JsonText> {
  if (lengthOf(value, partLength, deepest) <= partLength) {
    const text = JSON.stringify(value);
    return { parts: [text], length: Buffer.byteLength(text) };
  }
  const out = createParts();
  await finishWithBreaths(writing(out, value, deepest));
  return out.end();
}

/** Roughly the length of its text; of a long value no more is looked at than shows that it is longer than `most`. */
function lengthOf(value: unknown, most: number, levels: number): number {
  if (typeof value === "string") return value.length + 3;
  return typeof value === "object" && value !== null ? lengthOfMembers(value as Members, most, levels) : shortLength;
}

/** Of a number, a boolean or null. */
const shortLength = 8;

/** Every answer goes through here: strings are not handed on to another function because that takes twice as long. */
function lengthOfMembers(members: Members | readonly unknown[], most: number, levels: number): number {
  if (levels === 0) return Number.POSITIVE_INFINITY;
  let length = 3;
  if (Array.isArray(members)) {
    for (let i = 0; i < members.length && length <= most; i++) {
      const item = members[i];
      if (typeof item === "string") length += item.length + 3;
      else if (typeof item !== "object" || item === null) length += shortLength;
      else length += lengthOfMembers(item, most - length, levels - 1);
    }
    return length;
  }
  const named = members as Members;
  for (const key in named) {
    const member = named[key];
    length += key.length + 4;
    if (typeof member === "string") length += member.length + 2;
    else if (typeof member !== "object" || member === null) length += shortLength;
    else length += lengthOfMembers(member as Members, most - length, levels - 1);
    if (length > most) break;
  }
  return length;
}

type Members = Readonly<Record<string, unknown>>;
type Parts = ReturnType<typeof createParts>;

/** Gathers pieces into parts. */
function createParts() {
  const parts: Uint8Array[] = [];
  let pending = "";
  let length = 0;

  function endPart(): void {
    const part = Buffer.from(pending);
    parts.push(part);
    length += part.length;
    pending = "";
  }

  return {
    add(text: string): void {
      pending += text;
      if (pending.length >= partLength) endPart();
    },
    end(): JsonText {
      if (pending !== "") endPart();
      return { parts, length };
    },
  };
}

function* writing(out: Parts, value: unknown, levels: number): Work<void> {
  if (!canBeCut(value)) out.add(JSON.stringify(value));
  else if (typeof value === "string") yield* writingString(out, value);
  else if (Array.isArray(value)) yield* writingArray(out, value, levels - 1);
  else yield* writingObject(out, value as Members, levels - 1);
}

/** Texts, lists and plain objects. Anything else may have a JSON of its own: `toJSON`, boxed values, `JSON.rawJSON`. */
function canBeCut(value: unknown): value is string | readonly unknown[] | Members {
  if (typeof value === "string") return true;
  if (typeof value !== "object" || value === null || hasOwnJson(value)) return false;
  return Object.getPrototypeOf(value) === (Array.isArray(value) ? Array.prototype : Object.prototype);
}

function hasOwnJson(value: unknown): boolean {
  return typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === "function";
}

function* writingString(out: Parts, text: string): Work<void> {
  out.add('"');
  for (let start = 0; start < text.length; ) {
    let end = start + pieceLength;
    // The second half of a character goes with its first: apart, each would be written as an escape.
    if ((text.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
    out.add(inside(JSON.stringify(text.slice(start, end))));
    yield;
    start = end;
  }
  out.add('"');
}

function* writingArray(out: Parts, items: readonly unknown[], levels: number): Work<void> {
  const list = createList(out);
  out.add("[");
  let begin = 0;
  let length = 0;
  const endGroup = (end: number): void => {
    list.add(inside(JSON.stringify(items.slice(begin, end))));
    begin = end;
    length = 0;
  };
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const itemLength = lengthOf(item, pieceLength, levels);
    const isCut = levels > 0 && itemLength > pieceLength && canBeCut(item);
    if (isCut || hasOwnJson(item)) {
      endGroup(i);
      begin = i + 1;
      if (isCut) {
        list.next();
        yield* writing(out, item, levels);
      } else list.add(itemAt(i, item));
      yield;
    } else {
      length += itemLength;
      if (length < pieceLength) continue;
      endGroup(i + 1);
      yield;
    }
  }
  endGroup(items.length);
  out.add("]");
}

/** `toJSON` is told where its value stands: within a group that would be another place. */
function itemAt(index: number, item: unknown): string {
  const text = inside(JSON.stringify({ [index]: item }));
  return text === "" ? "null" : text.slice(`"${index}":`.length);
}

function* writingObject(out: Parts, members: Members, levels: number): Work<void> {
  const list = createList(out);
  out.add("{");
  let group: [key: string, member: unknown][] = [];
  let length = 0;
  const endGroup = (): void => {
    list.add(inside(JSON.stringify(Object.fromEntries(group))));
    group = [];
    length = 0;
  };
  for (const key of Object.keys(members)) {
    const member = members[key];
    const memberLength = key.length + lengthOf(member, pieceLength, levels);
    if (levels > 0 && memberLength > pieceLength && canBeCut(member)) {
      endGroup();
      list.next();
      yield* writingString(out, key);
      out.add(":");
      yield* writing(out, member, levels);
      yield;
    } else {
      group.push([key, member]);
      length += memberLength;
      if (length < pieceLength) continue;
      endGroup();
      yield;
    }
  }
  endGroup();
  out.add("}");
}

/** Puts commas between what is added; groups may turn out empty. */
function createList(out: Parts) {
  let comma = "";
  function next(): void {
    out.add(comma);
    comma = ",";
  }
  return {
    next,
    add(text: string): void {
      if (text === "") return;
      next();
      out.add(text);
    },
  };
}

/** Without its brackets, braces or quotes. */
function inside(text: string): string {
  return text.slice(1, -1);
}
