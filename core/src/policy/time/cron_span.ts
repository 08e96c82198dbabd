/**
 * `CronSpan('0 9 * * 1-5', '8h', 'America/New_York')`: windows that open when a cron pattern fires on the wall clock of a
 * time zone, and that stay open for as long as the duration really takes. When clocks go forward, what would fire in the
 * skipped hour does not; when they go back, what fires in the repeated hour does so once, the first time.
 */
import { Fault } from "../../fault.ts";
import { type CronPattern, findLatestFire, parseCronPattern } from "./cron_pattern.ts";
import { offsetsOfDay, parseTimeZone } from "./zone_offsets.ts";

export type CronSpan = { pattern: CronPattern; durationMs: number; timeZone: string };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const maxDurationMs = 7 * dayMs;
/** No zone has ever put its clocks back by more than a day, so what is repeated now was first seen after this. */
const repeatDays = 2;
/** The years 1970 to 9999. Outside of them nothing is in a span, and the runtime's calendar is not asked. */
const maxMs = 253_402_300_799_999;

/** All three as they stand in the policy; a refusal says which one is wrong and why. */
export function parseCronSpan(cron: string, duration: string, timeZone: string): CronSpan {
  return {
    pattern: parseCronPattern(cron),
    durationMs: parseDuration(duration),
    timeZone: parseTimeZone(timeZone),
  };
}

/** Days, hours and minutes, each at most once and in this order: `90m`, `8h`, `1d12h`. */
function parseDuration(text: string): number {
  const parts = /^(?:(\d{1,5})d)?(?:(\d{1,5})h)?(?:(\d{1,5})m)?$/.exec(text);
  if (parts === null || text === "") {
    throw new Fault(
      "invalid_argument",
      `\`${text}\` is not a duration: expected days, hours, minutes such as \`1d12h30m\``,
    );
  }
  const [, days = "0", hours = "0", minutes = "0"] = parts;
  const durationMs = Number(days) * dayMs + Number(hours) * hourMs + Number(minutes) * minuteMs;
  if (durationMs === 0) throw new Fault("invalid_argument", `the duration \`${text}\` must be more than nothing`);
  if (durationMs > maxDurationMs) throw new Fault("invalid_argument", `the duration \`${text}\` is longer than 7 days`);
  return durationMs;
}

/**
 * Whether a window is open. Wherever the clocks run evenly, wall time is the moment plus an offset, so the latest fire is
 * found by calendar arithmetic alone; the stretches between two changes of the clocks are looked at one after the other.
 */
export function isInCronSpan({ pattern, durationMs, timeZone }: CronSpan, nowMs: number): boolean {
  if (!(nowMs >= 0 && nowMs <= maxMs)) return false;
  const openedAfterMs = nowMs - durationMs;
  const lastDay = Math.floor(nowMs / dayMs);
  /** How far the wall clock has been: what it shows up to here, it shows for the second time. */
  let seenMs = Number.NEGATIVE_INFINITY;
  for (let day = Math.floor(openedAfterMs / dayMs) - repeatDays; day <= lastDay; day += 1) {
    for (const { startMs, endMs, offsetMs } of offsetsOfDay(timeZone, day)) {
      const fromMs = Math.max(startMs, openedAfterMs + 1) + offsetMs;
      const toMs = Math.min(endMs - 1, nowMs) + offsetMs;
      if (findLatestFire(pattern, Math.max(fromMs, seenMs), toMs) !== undefined) return true;
      seenMs = Math.max(seenMs, endMs + offsetMs);
    }
  }
  return false;
}
