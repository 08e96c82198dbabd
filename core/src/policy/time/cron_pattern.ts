/** The five fields of cron, over a wall clock that knows nothing of time zones: its times are written as if they were UTC. */
import { Fault } from "../../fault.ts";

/** For each field, the values that fit; positions below the field's least value stay empty. */
export type CronPattern = {
  minutes: readonly boolean[];
  hours: readonly boolean[];
  daysOfMonth: readonly boolean[];
  months: readonly boolean[];
  daysOfWeek: readonly boolean[];
  /** Cron's old rule: when neither day field is `*`, a day that fits one of them is enough. */
  eitherDay: boolean;
};

const minuteMs = 60_000;
const dayMs = 86_400_000;
const lastMinuteOfDay = 1439;

type Field = { name: string; min: number; max: number };

const minuteField: Field = { name: "minute", min: 0, max: 59 };
const hourField: Field = { name: "hour", min: 0, max: 23 };
const dayOfMonthField: Field = { name: "day of month", min: 1, max: 31 };
const monthField: Field = { name: "month", min: 1, max: 12 };
/** Sunday is 0. 7, which some take for Sunday as well, is refused: it has one name here. */
const dayOfWeekField: Field = { name: "day of week", min: 0, max: 6 };

const longestDay: readonly number[] = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function refuse(text: string, why: string): Fault {
  return new Fault("invalid_argument", `\`${text}\` is not a cron pattern: ${why}`);
}

/** Numbers, ranges, lists and `*`; no steps, names, macros or seconds. */
export function parseCronPattern(text: string): CronPattern {
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "", ...rest] = text.split(/[ \t]+/);
  if (dayOfWeek === "" || rest.length > 0) {
    throw refuse(text, "expected five fields: minute, hour, day of month, month, day of week");
  }
  const pattern = {
    minutes: parseField(text, minute, minuteField),
    hours: parseField(text, hour, hourField),
    daysOfMonth: parseField(text, dayOfMonth, dayOfMonthField),
    months: parseField(text, month, monthField),
    daysOfWeek: parseField(text, dayOfWeek, dayOfWeekField),
    eitherDay: dayOfMonth !== "*" && dayOfWeek !== "*",
  };
  // A window that never opens is a slip of the pen, and in a policy that denies it would be a silent hole.
  if (!pattern.eitherDay && !canFire(pattern)) throw refuse(text, "none of its months has such a day");
  return pattern;
}

function canFire({ months, daysOfMonth }: CronPattern): boolean {
  const firstDay = daysOfMonth.indexOf(true);
  return months.some((fits, month) => fits && firstDay <= (longestDay[month] ?? 0));
}

function parseField(text: string, field: string, { name, min, max }: Field): readonly boolean[] {
  const fits = new Array<boolean>(max + 1).fill(false);
  if (field === "*") return fits.fill(true, min);
  for (const item of field.split(",")) {
    const range = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(item);
    if (range === null) throw refuse(text, `\`${item}\` in the ${name} is neither a number, a range nor \`*\``);
    const from = Number(range[1]);
    const to = Number(range[2] ?? range[1]);
    if (from < min || to > max) throw refuse(text, `the ${name} goes from ${min} to ${max}`);
    if (from > to) throw refuse(text, `the range \`${item}\` in the ${name} runs backwards`);
    fits.fill(true, from, to + 1);
  }
  return fits;
}

/** The latest moment at which the pattern fires, from one wall time to another, both included. A step per day, not per minute. */
export function findLatestFire(pattern: CronPattern, fromMs: number, toMs: number): number | undefined {
  const lastDay = Math.floor(toMs / dayMs);
  for (let day = lastDay; (day + 1) * dayMs > fromMs; day -= 1) {
    if (!fitsDay(pattern, day)) continue;
    const latest = day === lastDay ? Math.floor((toMs - day * dayMs) / minuteMs) : lastMinuteOfDay;
    const minute = findLatestMinute(pattern, latest);
    if (minute === undefined) continue;
    const fireMs = day * dayMs + minute * minuteMs;
    return fireMs >= fromMs ? fireMs : undefined;
  }
  return undefined;
}

function fitsDay({ daysOfMonth, months, daysOfWeek, eitherDay }: CronPattern, day: number): boolean {
  const date = new Date(day * dayMs);
  if (months[date.getUTCMonth() + 1] !== true) return false;
  const fitsMonth = daysOfMonth[date.getUTCDate()] === true;
  const fitsWeek = daysOfWeek[date.getUTCDay()] === true;
  return eitherDay ? fitsMonth || fitsWeek : fitsMonth && fitsWeek;
}

/** Of one day, counted from midnight. */
function findLatestMinute({ hours, minutes }: CronPattern, latest: number): number | undefined {
  const latestHour = Math.floor(latest / 60);
  for (let hour = latestHour; hour >= 0; hour -= 1) {
    if (hours[hour] !== true) continue;
    const minute = minutes.lastIndexOf(true, hour === latestHour ? latest % 60 : 59);
    if (minute >= 0) return hour * 60 + minute;
  }
  return undefined;
}
