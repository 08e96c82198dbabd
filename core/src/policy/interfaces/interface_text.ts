/** What ABIs and IDLs share: JSON of a bounded size, read strictly, and one refusal that says what is wrong where. */
import { readJson } from "../../encoding/json.ts";
import { Fault } from "../../fault.ts";

/** In UTF-8. The published bound is "400 kB"; this is the larger reading of it. */
const maxBytes = 400 * 1024;
const maxNameLength = 128;
const utf8 = new TextEncoder();

/** The refusal of an interface, before anything is stored. */
export function unusable(why: string): Fault {
  return new Fault("invalid_argument", `invalid smart contract interface: ${why}`);
}

/** Reads the text of an interface. Keys that stand twice are refused: readers differ about which one counts. */
export function readInterfaceText(text: string): unknown {
  // One UTF-16 unit takes at least one byte.
  if (text.length > maxBytes) throw unusable(`longer than ${maxBytes} bytes`);
  if (!text.isWellFormed()) throw unusable("not Unicode text");
  try {
    return readJson(utf8.encode(text), maxBytes);
  } catch (error) {
    const why = error instanceof Fault ? (error.detail ?? "not JSON") : "not JSON";
    throw unusable(why === "not JSON" ? `${why}${placeOfBreak(text)}` : why);
  }
}

/** Where the platform's parser stopped, if it says so. The rest of its message quotes the text and is left out. */
function placeOfBreak(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    const message = error instanceof SyntaxError ? error.message : "";
    const [, position] = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message) ?? [];
    if (position !== undefined) return ` at position ${position}`;
    return message === "Unexpected end of JSON input" ? `: it ends too early, at position ${text.length}` : "";
  }
}

export function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unusable(`${what} is not an object`);
  return value as Readonly<Record<string, unknown>>;
}

export function asList(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unusable(`${what} is not a list`);
  return value;
}

/**
 * An identifier of Solidity, Vyper or Rust. Digits alone are none, so that what is called by its place (`'0'`) can never be
 * mistaken for what is called by its name.
 */
export function asName(value: unknown, what: string): string {
  if (typeof value !== "string" || value.length > maxNameLength || !/^[A-Za-z_$][A-Za-z0-9_$]*$/.test(value)) {
    throw unusable(`${what} is not a name`);
  }
  return value;
}

/** Refuses a name that is already in the set, and adds it. */
export function addName(names: Set<string>, name: string, where: string): void {
  if (names.has(name)) throw unusable(`${where} has \`${name}\` twice`);
  names.add(name);
}
