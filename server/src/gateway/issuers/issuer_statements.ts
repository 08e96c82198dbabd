/**
 * Statements of the courier about issuers, for the signer, which asks for them by a wish, and for queries, whose tokens the gateway verifies
 * itself. Those at hand serve first. Many that wait for one issuer wait for one fetch.
 */
import { Fault } from "@keystead/core/fault.ts";
import { type IssuerStatement, peekStatement } from "@keystead/core/oidc/issuer_statement.ts";
import { type IssuerReply, statementAges } from "../../frames/courier_messages.ts";
import { createLru } from "../../state/lru.ts";
import { awaitCourier, type CourierAccess } from "../link/await_courier.ts";

/** What it says, and the bytes that the signer believes. */
export type HeldStatement = IssuerStatement & { bytes: Uint8Array };

export type IssuerStatements = {
  /**
   * A statement that was fetched later than that, for 0 any that still counts. Throws `invalid_argument` that names the issuer when it
   * cannot be used, `resource_exhausted` when too much is asked, `unavailable` when the courier does not answer.
   */
  statementOf(issuer: string, newerThanMs: number): Promise<HeldStatement>;
};

export type IssuerStatementsDependencies = CourierAccess & { now?(): number; deadlineMs?: number };

/** Longer than the courier takes for two fetches, which is ten seconds, and its start. */
const longestWaitMs = 15_000;
/** Of what is kept. */
const maxHeldBytes = 8 * 1024 * 1024;
/** Issuers that are asked for at once. */
const maxFetches = 256;

export function createIssuerStatements(dependencies: IssuerStatementsDependencies): IssuerStatements {
  const { courier, now = Date.now, deadlineMs = longestWaitMs } = dependencies;
  const held = createLru<HeldStatement>(maxHeldBytes);
  const fetches = new Map<string, Promise<HeldStatement>>();

  function findHeld(issuer: string, newerThanMs: number, ageMs: number): HeldStatement | undefined {
    const statement = held.get(issuer);
    if (statement === undefined || statement.fetchedAtMs <= newerThanMs) return undefined;
    const age = now() - statement.fetchedAtMs;
    // A clock that was set back makes nothing younger.
    return age >= 0 && age < ageMs ? statement : undefined;
  }

  /** Also when the courier ends meanwhile: the launcher starts another. */
  async function ask(issuer: string, newerThanMs: number): Promise<IssuerReply> {
    const endsAt = performance.now() + deadlineMs;
    while (await awaitCourier(dependencies, endsAt)) {
      const reply = await courier.request("issuer", { issuer, newerThanMs }, Math.max(endsAt - performance.now(), 0));
      if (reply !== undefined) return reply;
    }
    throw new Fault("unavailable", "the courier does not answer; try again");
  }

  async function fetchStatement(issuer: string, newerThanMs: number): Promise<HeldStatement> {
    const reply = await ask(issuer, newerThanMs);
    if (reply.kind === "failed") {
      const { error, reason } = reply.value;
      throw new Fault(error === "busy" ? "resource_exhausted" : "invalid_argument", reason);
    }
    const bytes = Uint8Array.from(reply.value.statement);
    const statement = { ...peekStatement(bytes), bytes };
    if (statement.issuer !== issuer) throw new Fault("internal", "a statement of another issuer");
    held.set(issuer, statement, bytes.length);
    return statement;
  }

  function fetchOnce(issuer: string, newerThanMs: number): Promise<HeldStatement> {
    const before = fetches.get(issuer);
    if (before !== undefined) return before;
    if (fetches.size >= maxFetches) {
      throw new Fault("resource_exhausted", "too many issuers are asked at once; try again");
    }
    const begun = fetchStatement(issuer, newerThanMs).finally(() => fetches.delete(issuer));
    fetches.set(issuer, begun);
    return begun;
  }

  return {
    async statementOf(issuer, newerThanMs) {
      const fresh = findHeld(issuer, newerThanMs, statementAges.freshMs);
      if (fresh !== undefined) return fresh;
      try {
        const statement = await fetchOnce(issuer, newerThanMs);
        if (statement.fetchedAtMs > newerThanMs) return statement;
        // It was somebody else's, who asked for less.
        return await fetchOnce(issuer, newerThanMs);
      } catch (error) {
        const usable = findHeld(issuer, newerThanMs, statementAges.usableMs);
        if (usable !== undefined) return usable;
        throw error;
      }
    },
  };
}
