/** Where in an expression something is wrong, in words. */
import { Fault } from "../fault.ts";

const maxShown = 40;
/** Enough for what is shown, unless nearly all of it is white space. */
const maxLooked = 512;

/** A piece of the source for a message: in backticks, on one line, and short. */
export function quote(text: string): string {
  // Only so much of it is looked at: what a request brings may be long.
  const line = text.slice(0, maxLooked).replaceAll(/\s+/g, " ");
  return `\`${line.length > maxShown ? `${sliceWhole(line, maxShown - 1)}…` : line}\``;
}

/** Cuts without leaving half a character behind. */
function sliceWhole(text: string, length: number): string {
  return text.slice(0, /[\ud800-\udbff]$/.test(text.slice(0, length)) ? length - 1 : length);
}

/** Positions count UTF-16 units from 0, as editors' cursors do; lines and columns count from 1, as editors show them. */
export function faultAt(source: string, position: number, message: string): Fault {
  const before = source.slice(0, position).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  const lines = source.includes("\n") ? ` (line ${before.length}, column ${column})` : "";
  return new Fault("invalid_argument", `${message} at position ${position}${lines}`);
}
