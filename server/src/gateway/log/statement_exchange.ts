/**
 * Statements about every log of the deployment. Each host's signer speaks for its own log alone; of others a host asks through the database, where
 * the host that keeps the log finds the question and leaves what its signer has signed. So whoever reaches one host, whichever it is, can have
 * them all.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "@keystead/core/fault.ts";
import {
  answerStatement,
  askForStatement,
  findStatement,
  listAskedStatements,
  type StatementWithLogs,
} from "../../store/log_statements.ts";
import { findLog } from "../../store/public_log.ts";
import type { Job } from "../jobs/job_runner.ts";
import { createOwnStatements, type LogStatementDependencies } from "./log_statements.ts";

export type StatementExchangeDependencies = LogStatementDependencies & {
  /** While it has trouble, nothing is asked of it. */
  signerTrouble(): string | undefined;
  /** For how long another host is waited for, for tests. */
  waitMs?: number;
};

export type StatementExchange = {
  /** Of this host's log, or of the named one. */
  logStatement(organizationId: string, logId: string | undefined): Promise<StatementWithLogs>;
  /** Answers what other hosts ask. */
  job: Job;
};

const everyMs = 250;
const pollMs = 100;
/** They stand in the queue of queries meanwhile, which others need. */
const maxWaiting = 8;
const answeredAtOnce = 100;

export function createStatementExchange(dependencies: StatementExchangeDependencies): StatementExchange {
  const { store, places, signerTrouble, waitMs = 5_000 } = dependencies;
  const signOwn = createOwnStatements(dependencies);
  let waiting = 0;

  async function askOther(organizationId: string, logId: string): Promise<StatementWithLogs> {
    // A host that has left somebody else without an answer is not waited for. Once it is back, it answers all of them.
    const [oldest] = await listAskedStatements(store, logId, 1);
    const isAway = oldest !== undefined && oldest.askedAtMs < Date.now() - waitMs;
    if (!isAway && waiting >= maxWaiting) throw new Fault("unavailable", "too many wait for other hosts; try again");
    await askForStatement(store, organizationId, logId, randomUUID(), Date.now());
    waiting += 1;
    try {
      for (const deadline = Date.now() + (isAway ? 0 : waitMs); Date.now() < deadline; ) {
        await pause(pollMs);
        const found = await findStatement(store, organizationId, logId);
        if (found !== undefined) return found;
      }
    } finally {
      waiting -= 1;
    }
    throw new Fault(
      "unavailable",
      `log ${logId} is another host's, which does not answer: only its signer can say how many leaves are in it`,
    );
  }

  async function answerOthers(signal: AbortSignal): Promise<void> {
    const { logId } = places;
    if (logId === undefined || signerTrouble() !== undefined) return;
    for (const { organizationId, ask } of await listAskedStatements(store, logId, answeredAtOnce)) {
      if (signal.aborted) return;
      const answer = await signOwn(organizationId);
      // The signer may have been replaced by one with another log.
      if (places.logId === logId) await answerStatement(store, organizationId, logId, ask, answer);
    }
  }

  return {
    async logStatement(organizationId, logId) {
      if (logId === undefined || logId === places.logId) return signOwn(organizationId);
      const log = await findLog(store, logId);
      if (log === undefined) throw new Fault("not_found", `unable to find log ${logId}`);
      if (log.is_open === 0) {
        throw new Fault("not_found", `log ${logId} has ended: no signer speaks for it any more`);
      }
      return askOther(organizationId, logId);
    },
    job: { name: "sign statements for other hosts", everyMs, run: answerOthers },
  };
}
