/**
 * Holds a commit inside PostgreSQL: one statement is a whole transaction there, so between "written" and "committed" no code of ours
 * runs. A trigger at the end of the statement takes a lock that everybody may share, unless the test has it for itself.
 */
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openSession } from "@keystead/e2e/databases.ts";

export type Hold = {
  take(): Promise<void>;
  /** How many sessions of gateways wait for a lock, this one or one behind it. */
  waiting(): Promise<number>;
  release(): Promise<void>;
  /** Until no gateway's statement runs any more. */
  quiet(): Promise<void>;
  /** Commits of dead gateways that were held back for the next gateway's; behind how many of them that one really waited. */
  late: { held: number; followed: number };
};

const key = 6_000_008;

export async function openHold(t: TestContext, databaseUrl: string): Promise<Hold> {
  const [holder, watcher] = [await openSession(databaseUrl), await openSession(databaseUrl)];
  // The database may be dropped before they are ended, and they with it.
  for (const session of [holder, watcher]) session.on("error", () => undefined);
  const late = { held: 0, followed: 0 };
  t.after(() => {
    if (late.held > 0) {
      t.diagnostic(`${late.held} commits of dead gateways came late, ${late.followed} with the next one's behind them`);
    }
    return Promise.allSettled([holder.end(), watcher.end()]);
  });
  await holder.query(`
    create function wait_for_the_test() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock_shared(${key}); return null; end';
    create trigger wait_for_the_test after insert on activities for each statement execute function wait_for_the_test()`);
  const count = async (condition: string): Promise<number> => {
    const { rows } = await watcher.query<{ count: string }>(
      `select count(*) from pg_stat_activity
        where datname = current_database() and application_name = 'keystead' and ${condition}`,
    );
    return Number(rows[0]?.count);
  };
  return {
    async take() {
      await holder.query(`select pg_advisory_lock(${key})`);
    },
    waiting: () => count("state = 'active' and wait_event_type = 'Lock'"),
    async release() {
      await holder.query(`select pg_advisory_unlock(${key})`);
    },
    async quiet() {
      while ((await count("state <> 'idle'")) > 0) await pause(2);
    },
    late,
  };
}
