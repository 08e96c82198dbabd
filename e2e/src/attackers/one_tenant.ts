/** One organization that asks for as much work as its requests may: each endpoint's costliest body, from many connections at once. */
import type { Assault, Attack } from "./attack.ts";
import { type Flood, submitting } from "./costliest/flood.ts";
import { toldAccounts } from "./costliest/keys.ts";
import { memberFloods } from "./costliest/members.ts";
import { crowd } from "./costliest/parts.ts";
import { largeSigningFloods, signingFloods } from "./costliest/signing.ts";
import { type CostliestName, costliestFloods } from "./costliest.ts";
import { type Request, runLanes } from "./lanes.ts";
import { laneOf, newTenant, parentTenant, tenantLanes } from "./tenant.ts";

/** Whatever a flood is answered: what it asks may be done, fail, be refused, or wait too long. */
export const anyAnswer = [200, 400, 401, 403, 404, 409, 413, 429, 501, 503];

function flooding(what: string, flood: Flood, seconds = 10): Attack {
  const { connections = tenantLanes, atParent, isLarge, refused, begin } = flood;
  return {
    says: `one organization, ${connections} connections: ${what}`,
    answers: anyAnswer,
    holds: connections,
    ratio: 5,
    measured: { seconds, rounds: 1 },
    isDone: refused ?? true,
    ...(atParent && { hurtsItsMember: atParent }),
    async begin(assault: Assault) {
      const tenant = await (atParent ? parentTenant(assault.target) : newTenant(assault.target));
      const courseOf = await begin(tenant);
      runLanes(assault, connections, (index) => courseOf(laneOf(tenant, index)), isLarge ? 250 : undefined);
    },
  };
}

/** A page of megabytes, of which each request changes a name. */
const largeState: Flood = {
  async begin(tenant) {
    await crowd(tenant, 960, 10);
    return submitting("update_user_name", ({ user: { userId } }, turn) => ({ userId, userName: `${userId} ${turn}` }));
  },
};

/**
 * Lists of nearly all that one answer may have in it: `get_organization` refuses an organization with more than ten thousand rows.
 * Connections next to each other begin with different lists.
 */
const longLists: Flood = {
  async begin(tenant) {
    await crowd(tenant, 760, 10);
    const paths = ["get_organization", "list_users", "get_api_keys"] as const;
    return async function* (lane) {
      const requests = paths.map((path) => lane.ask(path));
      for (let turn = lane.index; ; turn++) yield requests[turn % requests.length] as Request;
    };
  },
};

type FloodName =
  | "payloads flood"
  | "accounts flood"
  | "large payloads flood"
  | "a large state flood"
  | "crowd tags flood"
  | "long lists flood";

/**
 * Payloads, accounts and long lists stopped everybody once. The others are the worst of the rest: one is of large bodies, one has
 * requests that are cheap but for what they change, and one changes nearly every user at once, which keeps SQLite for the longest.
 */
export const tenantFloods: Record<FloodName, Attack> = {
  "payloads flood": flooding("the costliest sign_raw_payloads", signingFloods.sign_raw_payloads, 60),
  "accounts flood": flooding("a hundred deep accounts that are told and not stored", toldAccounts, 60),
  "large payloads flood": {
    ...flooding(
      "the longest sign_raw_payloads, while honest clients have large bodies too",
      largeSigningFloods["large sign_raw_payloads"],
      60,
    ),
    againstLarge: true,
  },
  "a large state flood": flooding("a new name for one of a thousand users with ten keys each", largeState, 60),
  "crowd tags flood": flooding("a tag on each of a thousand users", memberFloods.create_user_tag, 60),
  "long lists flood": flooding("all of eight hundred users with ten keys each, in three kinds of lists", longLists, 60),
};

export const costliestAttacks = Object.fromEntries(
  Object.entries(costliestFloods).map(([name, flood]): [string, Attack] => [
    `costliest ${name}`,
    { ...flooding(`the costliest ${name}`, flood), sharesCalm: true },
  ]),
) as Record<`costliest ${CostliestName}`, Attack>;
