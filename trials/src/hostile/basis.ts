/** What decisions about an organization rest on, in the database. Where a stopped deployment finds it changed, whatever needs it is refused. */
import { isOptionalPage, keyFactsPageOf, type PageName } from "@keystead/server/state/pages.ts";
import type { TargetOrganization } from "../../../server/test/hostile_story.ts";
import type { WishName } from "../../../server/test/hostile_wants.ts";
import type { Outcome, Probed } from "./probes.ts";
import type { RawDatabase, Row } from "./raw_database.ts";

/** As text, so that it can be compared. */
export type Basis = {
  /** What the row says of the state; undefined without a row. */
  head: string | undefined;
  /** By name. */
  pages: ReadonlyMap<string, string>;
  /** The facts about the wallet that signs. */
  factsPage: string;
  /** The account that signs, and all there are. */
  account: string;
  accounts: ReadonlySet<string>;
};

export const voting: WishName = "a second approval of what waits";
/** These need the keys, too. */
const signing: readonly WishName[] = [
  "a user whom a policy allows it signs",
  "the same user signs a transaction that nobody denies",
];

export async function basisOf(
  raw: RawDatabase,
  { organizationId, walletId, address }: TargetOrganization,
): Promise<Basis> {
  const [row] = await raw.rows("organizations", organizationId);
  const pages = await raw.rows("pages", organizationId);
  const accounts = await raw.rows("wallet_accounts", organizationId);
  const key = (account: Row | undefined) => textOf(account ?? {}, ["record", "sealed"]);
  return {
    head: row && textOf(row, ["version", "header", "directory"]),
    pages: new Map(pages.map((page) => [String(page.name), textOf(page, ["content"])])),
    factsPage: keyFactsPageOf(walletId),
    account: key(accounts.find((account) => account.address === address)),
    accounts: new Set(accounts.map(key)),
  };
}

function textOf(row: Row, columns: readonly string[]): string {
  const values = columns.map((column) => row[column] ?? null);
  return values.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)).join();
}

export type Changed = { isGone: boolean; state: boolean; keys: boolean };

/** A page that was not there before is no change: no directory lists it, and nobody asks for it. */
export function changesIn(before: Basis, after: Basis): Changed {
  const changed = before.pages.keys().filter((name) => before.pages.get(name) !== after.pages.get(name));
  const names = [...changed] as PageName[];
  return {
    isGone: after.head === undefined,
    state: before.head !== after.head || names.some((name) => !isOptionalPage(name)),
    keys: !after.accounts.has(before.account) || names.some((name) => name === before.factsPage),
  };
}

/** What is left of a change after others have written since: a page or a head that was written anew is right again. */
export function leftOf(before: Basis, harmed: Basis, now: Basis): Changed {
  const isLeft = (name: string) =>
    harmed.pages.get(name) !== before.pages.get(name) && now.pages.get(name) === harmed.pages.get(name);
  const names = [...before.pages.keys()].filter(isLeft) as PageName[];
  const isAccountGone = !harmed.accounts.has(before.account) && !now.accounts.has(before.account);
  return {
    isGone: now.head === undefined,
    state: (harmed.head !== before.head && now.head === harmed.head) || names.some((name) => !isOptionalPage(name)),
    keys: isAccountGone || names.some((name) => name === before.factsPage),
  };
}

/** Where the client is not to blame. */
const ours: readonly Outcome[] = ["unavailable", "failed"];

/**
 * Everything was asked: who was not refused although what it needs is not what it was, or was blamed for it. Where what waited was over
 * before that, a vote is shown what became of it, and decides nothing.
 */
export function approvedOn({ isGone, state, keys }: Changed, { acts }: Probed, isOver: boolean): string[] {
  const needy = acts.filter(
    ({ name, verdict }) =>
      verdict !== "NOTHING" && (state || (keys && signing.includes(name))) && !(isOver && name === voting),
  );
  return needy.flatMap(({ name, outcome }) => {
    // Without their rows organizations and keys are unknown, and what waits for votes is, too.
    const mayBeUnknown = isGone || !state || name === voting;
    const isRefused = ours.includes(outcome) || (mayBeUnknown && outcome === "refused");
    return isRefused ? [] : `${name}: ${outcome}`;
  });
}
