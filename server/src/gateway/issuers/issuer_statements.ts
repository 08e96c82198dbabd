/**
 * Statements of the courier about issuers, for the signer, which asks for them by a wish, and for queries, whose tokens the gateway verifies
 * itself. Those at hand serve first. Many that wait for one issuer wait for one fetch. Strangers name issuers, so those that never worked
 * are counted for the caller who named them; issuers that are known here wait for no count.
 */
import { Fault } from "@keystead/core/fault.ts";
import { type IssuerStatement, peekStatement } from "@keystead/core/oidc/issuer_statement.ts";
import { type IssuerReply, type IssuerRequest, statementAges } from "../../frames/courier_messages.ts";
import { createLru } from "../../state/lru.ts";
import { awaitCourier, type CourierAccess } from "../link/await_courier.ts";

/** What it says, and the bytes that the signer believes. */
export type HeldStatement = IssuerStatement & { bytes: Uint8Array };

export type IssuerStatements = {
  /**
   * A statement that was fetched later than that, for 0 any that still counts. Throws `invalid_argument` that names the issuer when it
   * cannot be used, `resource_exhausted` when too much is asked, `unavailable` when the courier does not answer. `address`: the caller's.
   */
  statementOf(issuer: string, newerThanMs: number, address?: string): Promise<HeldStatement>;
};

export type IssuerStatementsDependencies = CourierAccess & {
  /** Whether a user has registered an identity there, or the operator trusts the issuer's word. */
  isRegisteredIssuer(issuer: string): boolean | Promise<boolean>;
  /** What one caller may have asked of issuers that never worked. */
  budget: CallerBudget;
  now?(): number;
  deadlineMs?: number;
};

type CallerBudget = {
  /** Throws where none is left. */
  take(address: string | undefined): void;
  giveBack(address: string | undefined): void;
};

/** Longer than the courier takes for two fetches, which is ten seconds, and its start. */
const longestWaitMs = 15_000;
/** Of what is kept. */
const maxHeldBytes = 8 * 1024 * 1024;
/** Issuers that are asked for at once. */
const maxFetches = 256;

export function createIssuerStatements(dependencies: IssuerStatementsDependencies): IssuerStatements {
  const { courier, isRegisteredIssuer, budget, now = Date.now, deadlineMs = longestWaitMs } = dependencies;
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
  async function ask(request: IssuerRequest): Promise<IssuerReply> {
    const endsAt = performance.now() + deadlineMs;
    while (await awaitCourier(dependencies, endsAt)) {
      const reply = await courier.request("issuer", request, Math.max(endsAt - performance.now(), 0));
      if (reply !== undefined) return reply;
    }
    throw new Fault("unavailable", "the courier does not answer; try again");
  }

  async function fetchStatement(request: IssuerRequest, address: string | undefined): Promise<HeldStatement> {
    const { issuer, isRegistered } = request;
    let wasNew = false;
    try {
      const reply = await ask(request);
      wasNew = reply.value.wasNew;
      return hold(issuer, reply);
    } finally {
      if (!isRegistered && !wasNew) budget.giveBack(address);
    }
  }

  function hold(issuer: string, reply: IssuerReply): HeldStatement {
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

  /** Taken before it is asked: many at once must not pass together. What cost nothing is given back. */
  function begin(request: IssuerRequest, address: string | undefined): Promise<HeldStatement> {
    const { issuer, isRegistered } = request;
    if (fetches.size >= maxFetches) {
      throw new Fault("resource_exhausted", "too many issuers are asked at once; try again");
    }
    if (!isRegistered) budget.take(address);
    const begun = fetchStatement(request, address).finally(() => fetches.delete(issuer));
    fetches.set(issuer, begun);
    return begun;
  }

  /** Who waits for what somebody else has had asked pays nothing, and does not hear of the other's budget. */
  async function fetchOnce(issuer: string, newerThanMs: number, address: string | undefined): Promise<HeldStatement> {
    const before = fetches.get(issuer);
    if (before !== undefined) return before;
    const isRegistered = await isRegisteredIssuer(issuer);
    return fetches.get(issuer) ?? begin({ issuer, newerThanMs, isRegistered }, address);
  }

  return {
    async statementOf(issuer, newerThanMs, address) {
      const fresh = findHeld(issuer, newerThanMs, statementAges.freshMs);
      if (fresh !== undefined) return fresh;
      try {
        const statement = await fetchOnce(issuer, newerThanMs, address);
        if (statement.fetchedAtMs > newerThanMs) return statement;
        // It was somebody else's, who asked for less.
        return await fetchOnce(issuer, newerThanMs, address);
      } catch (error) {
        const usable = findHeld(issuer, newerThanMs, statementAges.usableMs);
        if (usable !== undefined) return usable;
        throw error;
      }
    },
  };
}
