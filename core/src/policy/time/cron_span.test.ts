import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../fault.ts";
import { isInCronSpan, parseCronSpan } from "./cron_span.ts";
import { parseTimeZone } from "./zone_offsets.ts";

const newYork = "America/New_York";

type Moment = [utc: string, isOpen: boolean];

function guarantee(name: string, [cron, duration, zone]: [string, string, string], moments: readonly Moment[]): void {
  test(name, () => {
    const span = parseCronSpan(cron, duration, zone);
    for (const [utc, isOpen] of moments) assert.equal(isInCronSpan(span, Date.parse(utc)), isOpen, utc);
  });
}

guarantee(
  "a window opens at its fire and closes when its duration is over",
  ["0 9 * * 1-5", "8h", newYork],
  [
    ["2026-01-14T13:59:59.999Z", false],
    ["2026-01-14T14:00:00Z", true],
    ["2026-01-14T21:59:59.999Z", true],
    ["2026-01-14T22:00:00Z", false],
    ["2026-01-17T15:00:00Z", false],
    ["2026-01-18T15:00:00Z", false],
    // Summer: the same wall clock is an hour earlier in UTC.
    ["2026-07-15T12:59:59.999Z", false],
    ["2026-07-15T13:00:00Z", true],
    ["2026-07-15T21:00:00Z", false],
  ],
);

guarantee(
  "a night's window lasts until 06:00 on an ordinary night",
  ["0 22 * * *", "8h", newYork],
  [
    ["2026-01-15T02:59:59.999Z", false],
    ["2026-01-15T03:00:00Z", true],
    ["2026-01-15T10:59:59.999Z", true],
    ["2026-01-15T11:00:00Z", false],
  ],
);

guarantee(
  "a night's window lasts until 07:00 when the clocks go forward in it",
  ["0 22 * * *", "8h", newYork],
  [
    ["2026-03-08T02:59:59.999Z", false],
    ["2026-03-08T03:00:00Z", true],
    ["2026-03-08T10:00:00Z", true], // 06:00
    ["2026-03-08T10:59:59.999Z", true],
    ["2026-03-08T11:00:00Z", false], // 07:00
  ],
);

guarantee(
  "a night's window lasts until 05:00 when the clocks go back in it",
  ["0 22 * * *", "8h", newYork],
  [
    ["2026-11-01T01:59:59.999Z", false],
    ["2026-11-01T02:00:00Z", true],
    ["2026-11-01T09:59:59.999Z", true],
    ["2026-11-01T10:00:00Z", false], // 05:00
  ],
);

guarantee(
  "a fire in the hour that the clocks skip does not happen",
  ["30 2 * * *", "1h", newYork],
  [
    ["2026-03-07T07:30:00Z", true],
    ["2026-03-08T06:59:59.999Z", false],
    ["2026-03-08T07:00:00Z", false],
    ["2026-03-08T07:30:00Z", false],
    ["2026-03-08T08:00:00Z", false],
    ["2026-03-09T06:30:00Z", true],
  ],
);

guarantee(
  "a fire at the end of the skipped hour happens",
  ["0 3 * * *", "1m", newYork],
  [
    ["2026-03-08T06:59:59.999Z", false],
    ["2026-03-08T07:00:00Z", true],
    ["2026-03-08T07:01:00Z", false],
  ],
);

guarantee(
  "a fire in the repeated hour happens the first time only",
  ["30 1 * * *", "30m", newYork],
  [
    ["2026-11-01T05:29:59.999Z", false],
    ["2026-11-01T05:30:00Z", true],
    ["2026-11-01T05:59:59.999Z", true],
    ["2026-11-01T06:00:00Z", false],
    ["2026-11-01T06:30:00Z", false], // 01:30 again
    ["2026-11-02T06:30:00Z", true],
  ],
);

guarantee(
  "a window may still be open in the repeated hour",
  ["30 1 * * *", "2h", newYork],
  [
    ["2026-11-01T06:30:00Z", true],
    ["2026-11-01T07:29:59.999Z", true],
    ["2026-11-01T07:30:00Z", false],
  ],
);

guarantee(
  "a short span in the repeated hour stays shut though the change was before it",
  ["* 1 * * *", "1m", newYork],
  [
    ["2026-11-01T05:59:00Z", true],
    ["2026-11-01T06:00:00Z", false],
    ["2026-11-01T06:59:59Z", false],
    ["2026-11-01T07:00:00Z", false],
  ],
);

guarantee(
  "the half-hour change of Lord Howe is one too",
  ["45 1 * * *", "10m", "Australia/Lord_Howe"],
  [
    // 2026-04-05 at 02:00 (UTC+11) back to 01:30 (UTC+10:30).
    ["2026-04-04T14:45:00Z", true],
    ["2026-04-04T14:55:00Z", false],
    ["2026-04-04T15:15:00Z", false],
  ],
);

guarantee(
  "a day that a zone left out had no fires",
  ["0 12 30 12 *", "1h", "Pacific/Apia"],
  [
    ["2010-12-30T22:00:00Z", true],
    ["2011-12-30T22:00:00Z", false],
    ["2011-12-30T10:00:00Z", false],
    ["2012-12-29T22:00:00Z", true],
  ],
);

guarantee(
  "of two restricted day fields one is enough",
  ["0 0 13 * 5", "1d", "UTC"],
  [
    ["2026-01-09T12:00:00Z", true], // a Friday
    ["2026-01-13T12:00:00Z", true], // a Tuesday, the 13th
    ["2026-01-14T12:00:00Z", false],
    ["2026-02-13T12:00:00Z", true], // both
  ],
);

guarantee(
  "of one restricted day field that one decides",
  ["0 0 13 * *", "1d", "UTC"],
  [
    ["2026-01-09T12:00:00Z", false],
    ["2026-01-13T12:00:00Z", true],
  ],
);

guarantee(
  "the month is needed in any case",
  ["0 0 13 2 5", "1d", "UTC"],
  [
    ["2026-01-09T12:00:00Z", false],
    ["2026-01-13T12:00:00Z", false],
    ["2026-02-06T12:00:00Z", true],
  ],
);

guarantee(
  "a weekday range that is written out still restricts",
  ["0 0 13 * 0-6", "1d", "UTC"],
  [["2026-01-14T12:00:00Z", true]],
);

guarantee(
  "lists and ranges mix, and Sunday is 0",
  ["0,30 8-9,20 * * 0,6", "10m", "UTC"],
  [
    ["2026-01-18T08:30:00Z", true],
    ["2026-01-18T09:39:59Z", true],
    ["2026-01-18T10:00:00Z", false],
    ["2026-01-17T20:05:00Z", true],
    ["2026-01-16T20:05:00Z", false],
  ],
);

guarantee(
  "a window of the longest duration covers seven days to the millisecond",
  ["0 0 1 * *", "7d", "UTC"],
  [
    ["2026-01-01T00:00:00Z", true],
    ["2026-01-07T23:59:59.999Z", true],
    ["2026-01-08T00:00:00Z", false],
  ],
);

guarantee(
  "the 29th of February is one",
  ["0 0 29 2 *", "1h", "UTC"],
  [
    ["2028-02-29T00:30:00Z", true],
    ["2026-03-01T00:30:00Z", false],
  ],
);

guarantee(
  "parts of a duration add up",
  ["0 0 1 1 *", "1d12h30m", "UTC"],
  [
    ["2026-01-02T12:29:59.999Z", true],
    ["2026-01-02T12:30:00Z", false],
  ],
);

guarantee(
  "nothing is open outside the years 1970 to 9999",
  ["* * * * *", "7d", "UTC"],
  [
    ["1969-12-31T23:59:59.999Z", false],
    ["1970-01-01T00:00:00Z", true],
    ["9999-12-31T23:59:59.999Z", true],
    ["+010000-01-01T00:00:00Z", false],
  ],
);

const refused: readonly [cron: string, duration: string, zone: string, why: RegExp][] = [
  ["", "8h", "UTC", /expected five fields/],
  ["0 9 * *", "8h", "UTC", /expected five fields/],
  ["0 0 9 * * 1", "8h", "UTC", /expected five fields/],
  [" 0 9 * * 1", "8h", "UTC", /expected five fields/],
  ["0 9 * * 1 ", "8h", "UTC", /expected five fields/],
  ["@daily", "8h", "UTC", /expected five fields/],
  ["*/5 9 * * 1", "8h", "UTC", /`\*\/5` in the minute/],
  ["0-30/5 9 * * 1", "8h", "UTC", /`0-30\/5` in the minute/],
  ["0 9 * JAN 1", "8h", "UTC", /`JAN` in the month/],
  ["0 9 * * MON", "8h", "UTC", /`MON` in the day of week/],
  ["0 9 L * *", "8h", "UTC", /`L` in the day of month/],
  ["0 9 ? * 1", "8h", "UTC", /`\?` in the day of month/],
  ["0 9 * * *,1", "8h", "UTC", /`\*` in the day of week/],
  ["0 9 * * 1,", "8h", "UTC", /`` in the day of week/],
  ["-1 9 * * 1", "8h", "UTC", /`-1` in the minute/],
  ["1.5 9 * * 1", "8h", "UTC", /`1.5` in the minute/],
  ["60 9 * * 1", "8h", "UTC", /the minute goes from 0 to 59/],
  ["0 24 * * 1", "8h", "UTC", /the hour goes from 0 to 23/],
  ["0 9 0 * *", "8h", "UTC", /the day of month goes from 1 to 31/],
  ["0 9 32 * *", "8h", "UTC", /the day of month goes from 1 to 31/],
  ["0 9 * 0 *", "8h", "UTC", /the month goes from 1 to 12/],
  ["0 9 * 13 *", "8h", "UTC", /the month goes from 1 to 12/],
  ["0 9 * * 7", "8h", "UTC", /the day of week goes from 0 to 6/],
  ["0 9 * * 5-1", "8h", "UTC", /runs backwards/],
  ["0 9 31 4,6 *", "8h", "UTC", /none of its months has such a day/],
  ["0 9 30 2 *", "8h", "UTC", /none of its months has such a day/],
  ["0 9 * * 1", "", "UTC", /not a duration/],
  ["0 9 * * 1", "8", "UTC", /not a duration/],
  ["0 9 * * 1", "8H", "UTC", /not a duration/],
  ["0 9 * * 1", "8h ", "UTC", /not a duration/],
  ["0 9 * * 1", "1.5h", "UTC", /not a duration/],
  ["0 9 * * 1", "-1h", "UTC", /not a duration/],
  ["0 9 * * 1", "30s", "UTC", /not a duration/],
  ["0 9 * * 1", "1w", "UTC", /not a duration/],
  ["0 9 * * 1", "1h1d", "UTC", /not a duration/],
  ["0 9 * * 1", "1h1h", "UTC", /not a duration/],
  ["0 9 * * 1", "0h", "UTC", /more than nothing/],
  ["0 9 * * 1", "0d0h0m", "UTC", /more than nothing/],
  ["0 9 * * 1", "7d1m", "UTC", /longer than 7 days/],
  ["0 9 * * 1", "169h", "UTC", /longer than 7 days/],
  ["0 9 * * 1", "99999d", "UTC", /longer than 7 days/],
  ["0 9 * * 1", "8h", "", /not a time zone/],
  ["0 9 * * 1", "8h", "+01:00", /not a time zone/],
  ["0 9 * * 1", "8h", "local", /not a time zone/],
  ["0 9 * * 1", "8h", "BST", /not a time zone/],
  ["0 9 * * 1", "8h", "PST", /not a time zone/],
  ["0 9 * * 1", "8h", "Mars/Olympus", /not a time zone/],
  ["0 9 * * 1", "8h", "America/New York", /not a time zone/],
];

for (const [cron, duration, zone, why] of refused) {
  test(`CronSpan('${cron}', '${duration}', '${zone}') is refused and the message says why`, () => {
    assert.throws(() => parseCronSpan(cron, duration, zone), { name: "Fault", code: "invalid_argument", message: why });
  });
}

for (const zone of ["UTC", "GMT", "EST5EDT", "Japan", "Etc/GMT+5", "US/Eastern", "America/Argentina/Buenos_Aires"]) {
  test(`${zone} is a time zone`, () => void parseCronSpan("0 9 * * 1", "8h", zone));
}

test("a duration of 10080 minutes is seven days", () => {
  assert.equal(parseCronSpan("0 9 * * 1", "10080m", "UTC").durationMs, 7 * 86_400_000);
});

/** The definition, minute by minute, with the wall clock as the runtime prints it. */
function createScanner(zone: string): (fires: (wall: Wall) => boolean, durationMs: number, nowMs: number) => boolean {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  const printed = new Map<number, string>();
  const print = (ms: number): string => {
    const text = printed.get(ms) ?? format.format(ms);
    printed.set(ms, text);
    return text;
  };
  return (fires, durationMs, nowMs) => {
    const first = nowMs - durationMs;
    for (let ms = Math.floor(nowMs / 60_000) * 60_000; ms > first; ms -= 60_000) {
      const [date = "", time = ""] = print(ms).split(" ");
      const [month, day] = date.split("-").slice(1).map(Number);
      const [hour, minute] = time.split(":").map(Number);
      if (!fires({ minute, hour, day, month, weekday: new Date(`${date}T00:00:00Z`).getUTCDay() })) continue;
      let isRepeated = false;
      for (let back = 30; back <= 120; back += 30) isRepeated ||= print(ms - back * 60_000) === print(ms);
      if (!isRepeated) return true;
    }
    return false;
  };
}

type Wall = Record<"minute" | "hour" | "day" | "month" | "weekday", number | undefined>;

test("the span agrees with a scan of every minute around the changes of several zones' clocks", () => {
  const changes: readonly [zone: string, utc: string][] = [
    [newYork, "2026-03-08T07:00:00Z"],
    [newYork, "2026-11-01T06:00:00Z"],
    ["Europe/London", "2026-10-25T01:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-04T15:00:00Z"],
    ["Australia/Lord_Howe", "2026-10-03T15:30:00Z"],
    ["Asia/Kathmandu", "2026-06-01T00:00:00Z"],
  ];
  const scanners = changes.map(([zone]) => createScanner(zone));
  const pick = (min: number, max: number): fc.Arbitrary<readonly number[] | undefined> =>
    fc.option(fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }), { nil: undefined });
  const pattern = fc.record({ minutes: pick(0, 59), hours: pick(0, 4), days: pick(1, 31), weekdays: pick(0, 6) });
  const text = (values: readonly number[] | undefined): string => values?.join(",") ?? "*";
  fc.assert(
    fc.property(
      fc.nat(changes.length - 1),
      pattern,
      fc.constantFrom(1, 20, 60, 90, 480, 1440, 2000),
      fc.integer({ min: -2000, max: 2000 }),
      (at, { minutes, hours, days, weekdays }, durationMinutes, shift) => {
        const [zone, utc] = changes[at] ?? ["UTC", ""];
        const nowMs = Date.parse(utc) + shift * 60_000 + 17;
        const cron = `${text(minutes)} ${text(hours)} ${text(days)} * ${text(weekdays)}`;
        const has = (values: readonly number[] | undefined, value = -1): boolean => values?.includes(value) ?? true;
        const fires = ({ minute, hour, day, weekday }: Wall): boolean => {
          const isDay = has(days, day);
          const isWeekday = has(weekdays, weekday);
          const bothGiven = days !== undefined && weekdays !== undefined;
          return has(minutes, minute) && has(hours, hour) && (bothGiven ? isDay || isWeekday : isDay && isWeekday);
        };
        const expected = scanners[at]?.(fires, durationMinutes * 60_000, nowMs);
        const span = parseCronSpan(cron, `${durationMinutes}m`, zone);
        assert.equal(
          isInCronSpan(span, nowMs),
          expected,
          `${cron} ${durationMinutes}m ${zone} ${new Date(nowMs).toISOString()}`,
        );
      },
    ),
    { numRuns: 400 },
  );
});

test("no text makes the reader fail with anything but a refusal", () => {
  const fields = fc.string({ unit: fc.constantFrom(..."0123456789*,-/ "), maxLength: 24 });
  const short = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(..."0123456789dhm"), maxLength: 8 }),
  );
  fc.assert(
    fc.property(fields, short, fc.oneof(fc.constant("UTC"), fc.string({ maxLength: 20 })), (cron, duration, zone) => {
      try {
        isInCronSpan(parseCronSpan(cron, duration, zone), 1_800_000_000_000);
      } catch (error) {
        assert.ok(error instanceof Fault);
      }
    }),
  );
});

test("a zone is asked of the runtime once, however it is spelt: 20,000 aliases ask no more", (t) => {
  const spellings = ["PRC", "America/New_York", "america/new_york", "AMERICA/NEW_YORK", "Asia/Calcutta", "US/Eastern"];
  const own = spellings.map(parseTimeZone);
  const asked = t.mock.method(Intl, "DateTimeFormat");
  for (let i = 0; i < 20_000; i++) {
    const at = i % spellings.length;
    assert.equal(parseTimeZone(spellings[at] ?? ""), own[at]);
  }
  assert.equal(asked.mock.callCount(), 0);
  asked.mock.restore();
  // Short names are exact, known or not.
  assert.throws(() => parseTimeZone("prc"), { code: "invalid_argument" });
  assert.throws(() => parseTimeZone("America/New_Yorc"), { code: "invalid_argument" });
});
