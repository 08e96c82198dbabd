/** `Timestamp('…')`: a moment in UTC as RFC 3339 writes it, to the millisecond, which is as fine as `time.now`. */
import { Fault } from "../../fault.ts";

const form = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

/** The offsets that mean UTC. With any other the same moment could be written in several ways, and read wrongly in a hurry. */
const zeroOffsets: readonly string[] = ["Z", "z", "+00:00", "-00:00"];

function refuse(text: string, why: string): Fault {
  return new Fault("invalid_argument", `\`${text}\` is not a timestamp: ${why}`);
}

/** Milliseconds since 1970. */
export function parseTimestamp(text: string): number {
  const parts = form.exec(text);
  if (parts === null) throw refuse(text, "expected RFC 3339 text such as `2026-01-31T09:30:00Z`");
  const [, year, month, day, hour, minute, second, fraction = "", offset = ""] = parts;
  if (!zeroOffsets.includes(offset)) throw refuse(text, "expected UTC, so the offset must be `Z` or `+00:00`");
  // Rounding would move the moment, and a bound that moves by itself is not what was written.
  if (/[1-9]/.test(fraction.slice(3))) throw refuse(text, "it is finer than a millisecond");
  const date = new Date(0);
  // Not `Date.UTC`, which takes the years 0 to 99 for those of the last century.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.slice(0, 3).padEnd(3, "0")));
  // `Date` carries 30 February or 24:00 over into the next day; here they are mistakes. Leap seconds have no moment either.
  if (date.toISOString().slice(0, 19) !== `${year}-${month}-${day}T${hour}:${minute}:${second}`) {
    throw refuse(text, "there is no such date or time");
  }
  return date.getTime();
}
