/** How far the clocks of a time zone stand from UTC, from the rules that the runtime knows. */
import { Fault } from "../../fault.ts";

/** A stretch of time in which one offset holds: from `startMs` on, before `endMs`. */
export type OffsetSegment = { startMs: number; endMs: number; offsetMs: number };

const dayMs = 86_400_000;
const secondMs = 1000;
/** More days than a span looks back over, so that a steady clock asks the runtime nothing; and little memory. */
const maxCachedDays = 64;

type Zone = {
  format: Intl.DateTimeFormat;
  /** By day since 1970, in UTC. */
  days: Map<number, readonly OffsetSegment[]>;
};

/** By the runtime's own name for the zone: other spellings of one are not further entries, so nobody can fill this. */
const zones = new Map<string, Zone>();

/** The runtime's name by every name in lower case that was asked for. Only names that it knows are in here, some six hundred. */
const ownNames = new Map<string, string>();

/**
 * The database's names without a `/`. Runtimes take other short names too, and not as one might think: `BST` is Dhaka's
 * time, not London's. Nor are plain offsets such as `+01:00` names of zones.
 */
const shortNames: ReadonlySet<string> = new Set(
  "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel \
Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT \
UTC Universal W-SU WET Zulu".split(" "),
);
const longName = /^[A-Za-z][A-Za-z_]*(\/[A-Za-z0-9_+-]+)+$/;

/** The runtime's own name of an IANA time zone. */
export function parseTimeZone(name: string): string {
  if (!shortNames.has(name) && !longName.test(name)) throw unknownZone(name);
  // Asking the runtime about a zone takes longer than compiling a policy. It takes names in any case, of which there are many.
  const spelling = name.toLowerCase();
  const known = ownNames.get(spelling);
  if (known !== undefined) return known;
  const format = findFormat(name);
  if (format === undefined) throw unknownZone(name);
  const { timeZone } = format.resolvedOptions();
  if (!zones.has(timeZone)) zones.set(timeZone, { format, days: new Map() });
  ownNames.set(spelling, timeZone);
  return timeZone;
}

function unknownZone(name: string): Fault {
  return new Fault("invalid_argument", `\`${name}\` is not a time zone of the IANA database`);
}

function findFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = "numeric";
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
  } catch {
    return undefined;
  }
}

/** The offsets of one day of UTC, in order. The zone must come from `parseTimeZone`. */
export function offsetsOfDay(timeZone: string, day: number): readonly OffsetSegment[] {
  const zone = zones.get(timeZone);
  if (zone === undefined) return [];
  const known = zone.days.get(day);
  if (known !== undefined) return known;
  const startMs = day * dayMs;
  const segments: OffsetSegment[] = [];
  divide(zone.format, instantAt(zone.format, startMs), instantAt(zone.format, startMs + dayMs), segments);
  if (zone.days.size >= maxCachedDays) zone.days.clear();
  zone.days.set(day, segments);
  return segments;
}

type OffsetInstant = { ms: number; offsetMs: number };

/** Halves the stretch until its ends agree or are one second apart, which is as fine as the clocks are ever changed. */
function divide(format: Intl.DateTimeFormat, from: OffsetInstant, to: OffsetInstant, segments: OffsetSegment[]): void {
  if (from.offsetMs === to.offsetMs || to.ms - from.ms <= secondMs) {
    const last = segments.at(-1);
    if (last?.offsetMs === from.offsetMs) last.endMs = to.ms;
    else segments.push({ startMs: from.ms, endMs: to.ms, offsetMs: from.offsetMs });
    return;
  }
  const middle = instantAt(format, from.ms + Math.floor((to.ms - from.ms) / (2 * secondMs)) * secondMs);
  divide(format, from, middle, segments);
  divide(format, middle, to, segments);
}

/** The offset is the zone's wall clock, read as if it were UTC, less the moment itself. */
function instantAt(format: Intl.DateTimeFormat, ms: number): OffsetInstant {
  const wall = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of format.formatToParts(ms))
    if (type in wall) wall[type as keyof typeof wall] = Number(value);
  const wallMs = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute, wall.second);
  return { ms, offsetMs: wallMs - ms };
}
