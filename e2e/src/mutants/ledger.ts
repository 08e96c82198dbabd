/** What the accepted mutants explain, held against what the organizations say in the end. */
import assert from "node:assert/strict";
import { type SeenActivity, seenActivities } from "../activities.ts";
import type { Fixture, Json } from "../matrix/fixture.ts";
import { fingerprintOf } from "../matrix/fixture.ts";
import { type Look, look } from "../matrix/look.ts";
import type { Place } from "../matrix/stage.ts";
import type { Traffic } from "../swagger/traffic.ts";
import { bytesOf } from "../wire.ts";
import type { Passed } from "./judge.ts";

export type Ledger = {
  /** Notes what the harness itself does to prepare. */
  traffic: Traffic;
  /** A request that may have been let in, and what it was answered if anything. */
  note(request: Passed, answer: Json | undefined): void;
  /** Everything there is, before the mutants. */
  open(fixture: Fixture): Promise<void>;
  /** Fails unless everything there is now is explained. */
  close(fixture: Fixture): Promise<{ activities: number }>;
};

type Account = {
  place: Place;
  before: Look;
  /** By fingerprint: what was prepared, and every request that may have been let in. */
  possible: Set<string>;
  /** What the callers were told, by fingerprint: the statuses of the activities. */
  told: Map<string, string>;
};

/** Where an activity may go from what its caller was told. */
const later: Record<string, readonly string[]> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED: [
    "ACTIVITY_STATUS_CONSENSUS_NEEDED",
    "ACTIVITY_STATUS_COMPLETED",
    "ACTIVITY_STATUS_REJECTED",
    "ACTIVITY_STATUS_FAILED",
  ],
};

export function createLedger(): Ledger {
  const prepared = new Set<string>();
  const accounts = new Map<string, Account>();
  /** Ids that somebody was told of, or that were there before. */
  const known = new Set<string>();
  const learn = (value: unknown) => {
    for (const [id] of JSON.stringify(value ?? null).matchAll(uuid)) known.add(id);
  };

  return {
    traffic: {
      isChecked: false,
      counts: { requests: 0, answers: 0, refusals: 0 },
      note({ body, answer }) {
        prepared.add(fingerprintOf(bytesOf(body)));
        learn(answer.json);
      },
      faults: () => true,
    },
    note({ kind, organizationId, fingerprint }, answer) {
      learn(answer);
      const account = accounts.get(organizationId);
      if (kind === "query" || account === undefined) return;
      account.possible.add(fingerprint);
      const { activity } = answer ?? {};
      if (activity !== undefined) account.told.set(activity.fingerprint, activity.status);
    },
    async open(fixture) {
      for (const place of [fixture.parent, fixture.sub, fixture.other]) {
        const before = await look(fixture, place);
        accounts.set(place.organizationId, { place, before, possible: new Set(), told: new Map() });
        learn(before);
      }
    },
    async close(fixture) {
      let activities = 0;
      for (const { place, before, possible, told } of accounts.values()) {
        const seen = await activitiesIn(fixture, place);
        activities += seen.length;
        const kept = new Map(seen.map(({ fingerprint, status }) => [fingerprint, status]));
        assert.equal(kept.size, seen.length, "one body is one activity");
        for (const [fingerprint] of kept) {
          assert.ok(possible.has(fingerprint) || prepared.has(fingerprint), `${fingerprint} came from nobody`);
        }
        for (const [fingerprint, status] of told) {
          const allowed = later[status] ?? [status];
          const is = kept.get(fingerprint) ?? "missing";
          assert.ok(allowed.includes(is), `${fingerprint} was told to be ${status} and is ${is}`);
        }
        const after = await look(fixture, place);
        if (possible.size === 0) assert.deepEqual(after, before, `${place.organizationName} changed by itself`);
        for (const [id] of JSON.stringify(after).matchAll(uuid)) {
          assert.ok(known.has(id), `${id} in ${place.organizationName} came from nobody`);
        }
      }
      return { activities };
    },
  };
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function activitiesIn(fixture: Fixture, place: Place): Promise<SeenActivity[]> {
  return seenActivities((paginationOptions) =>
    fixture.ask("list_activities", { paginationOptions }, place.root, place),
  );
}
