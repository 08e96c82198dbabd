/** Moments and recurring spans by counting every minute: slow, and hard to get wrong. For tests only. */

/** Not an expression. */
export class Refused extends Error {}

const minute = 60_000;
const day = 24 * 60 * minute;

/** The moment of an RFC 3339 text in UTC. */
export function naiveTimestamp(text: string): Date {
  const parts = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]00:00)$/.exec(text);
  if (parts === null) throw new Refused(`${text} is not a moment`);
  const [, date, time, fraction = ""] = parts;
  const moment = new Date(`${date}T${time}Z`);
  // A day or hour that does not exist is either refused by Date or moved to another day or hour.
  if (Number.isNaN(moment.getTime()) || moment.toISOString().slice(0, 19) !== `${date}T${time}`) {
    throw new Refused(`${text} is not in the calendar`);
  }
  return new Date(moment.getTime() + Number(`${fraction}000`.slice(1, 4)));
}

export type NaiveSpan = { fields: readonly (readonly number[])[]; isWild: readonly boolean[]; ms: number; zone: Zone };

const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 6],
] as const;

/** Minute, hour, day of month, month, day of week; a duration of days, hours and minutes; a zone of the tz database. */
export function naiveSpan(cron: string, duration: string, zone: string): NaiveSpan {
  const words = cron.trim().split(/[ \t]+/);
  if (words.length !== ranges.length) throw new Refused(`${cron} has not five fields`);
  const fields = words.map((word, i) => valuesOf(word, ranges[i] ?? [0, 0]));
  if (!/^(\d+[dhm])+$/.test(duration)) throw new Refused(`${duration} is not a duration`);
  let ms = 0;
  for (const [, count, unit] of duration.matchAll(/(\d+)([dhm])/g)) {
    ms += Number(count) * (unit === "d" ? day : unit === "h" ? 60 * minute : minute);
  }
  if (ms <= 0 || ms > 7 * day) throw new Refused(`${duration} is not within seven days`);
  try {
    return { fields, isWild: words.map((word) => word === "*"), ms, zone: zoneOf(zone) };
  } catch {
    throw new Refused(`${zone} is not a time zone`);
  }
}

function valuesOf(word: string, [least, most]: readonly [number, number]): number[] {
  if (word === "*") return valuesOf(`${least}-${most}`, [least, most]);
  return word.split(",").flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === undefined || from < least || to > most || from > to)
      throw new Refused(`${part} is not in a cron field`);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}

/** Whether the span fired less than its duration ago: looks at every minute since then. */
export function naiveIsIn({ fields, isWild, ms, zone }: NaiveSpan, now: Date): boolean {
  const [minutes = [], hours = [], days = [], months = [], weekdays = []] = fields;
  const neitherIsWild = isWild[2] === false && isWild[4] === false;
  for (let fire = Math.floor(now.getTime() / minute) * minute; fire > now.getTime() - ms; fire -= minute) {
    const local = localOf(zone, fire);
    const minuteOfDay = Math.floor(local / minute) % (24 * 60);
    if (!minutes.includes(minuteOfDay % 60) || !hours.includes(Math.floor(minuteOfDay / 60))) continue;
    const date = new Date(local);
    if (!months.includes(date.getUTCMonth() + 1)) continue;
    const isDay = days.includes(date.getUTCDate());
    const isWeekday = weekdays.includes(date.getUTCDay());
    if (!(neitherIsWild ? isDay || isWeekday : isDay && isWeekday)) continue;
    // When clocks go back, the same wall time comes twice, and only its first coming fires.
    let isSecond = false;
    for (let back = 1; back <= 180; back++) {
      if (localOf(zone, fire - back * minute) === local) isSecond = true;
    }
    if (!isSecond) return true;
  }
  return false;
}

/** The offset of the quarter of an hour that was asked for last is kept: most questions come minute by minute. */
type Zone = { writer: Intl.DateTimeFormat; offsets: Map<number, number>; quarter: number; offset: number };

const zones = new Map<string, Zone>();

/** Throws for a zone that does not exist. */
function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const digits = { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  const writer = new Intl.DateTimeFormat("en-US", { timeZone: name, hourCycle: "h23", year: "numeric", ...digits });
  const zone = { writer, offsets: new Map<number, number>(), quarter: Number.NaN, offset: 0 };
  zones.set(name, zone);
  return zone;
}

/** The wall time of a moment, as if it were UTC. Clocks have been set at full quarters of an hour since 1990. */
function localOf(zone: Zone, ms: number): number {
  const quarter = Math.floor(ms / (15 * minute));
  if (quarter !== zone.quarter) {
    zone.quarter = quarter;
    zone.offset = zone.offsets.get(quarter) ?? offsetOf(zone.writer, quarter * 15 * minute);
    zone.offsets.set(quarter, zone.offset);
  }
  return ms + zone.offset;
}

function offsetOf(writer: Intl.DateTimeFormat, ms: number): number {
  const [month, date, year, hour, minutes, second] = writer.format(ms).match(/\d+/g)?.map(Number) ?? [];
  return Date.UTC(year ?? 0, (month ?? 0) - 1, date, hour, minutes, second) - ms;
}
