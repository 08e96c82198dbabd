/** Every name that an expression may use, with its type. What fills them: facts.ts. */
import { activityKinds } from "./activity_kinds.ts";
import { bitcoin, eth, solana, tempo, tron } from "./chain_vocabulary.ts";
import { isSameType } from "./type_relations.ts";
import { any, bool, int, list, map, type PolicyType, string, struct, timestamp } from "./types.ts";

export const expressionKinds = ["consensus", "condition", "time"] as const;
export type ExpressionKind = (typeof expressionKinds)[number];

const approver = struct("an approver", { id: string, tags: list(string), email: string, alias: string });

const credential = struct("a credential", {
  id: string,
  user_id: string,
  type: string,
  credential_id: string,
  public_key: string,
});

const wallet = struct("wallet", { id: string, imported: bool, exported: bool, label: string });

/**
 * The parameters of all kinds together: which kind it is shows only when a request is there. A name that two kinds give
 * different types could be either, so it is `any`.
 */
export function unionOfParams(
  kinds: Iterable<{ params: Readonly<Record<string, PolicyType>> }>,
): Readonly<Record<string, PolicyType>> {
  const union: Record<string, PolicyType> = {};
  for (const { params } of kinds) {
    for (const [name, type] of Object.entries(params)) {
      union[name] = Object.hasOwn(union, name) && !isSameType(union[name] ?? any, type) ? any : type;
    }
  }
  return union;
}

export const vocabularies: Readonly<Record<ExpressionKind, Readonly<Record<string, PolicyType>>>> = {
  consensus: { approvers: list(approver), credentials: list(credential) },
  condition: {
    activity: struct("activity", {
      type: string,
      kind: string,
      resource: string,
      action: string,
      params: struct("activity.params", unionOfParams(Object.values(activityKinds))),
    }),
    wallet,
    wallets: list(wallet),
    wallet_account: struct("wallet_account", {
      address: string,
      path_indexes: list(int),
      path_hardened: list(bool),
    }),
    private_key: struct("private_key", {
      id: string,
      tags: list(string),
      imported: bool,
      exported: bool,
      label: string,
    }),
    secret: struct("secret", { static_properties: map }),
    eth,
    solana,
    bitcoin,
    tron,
    tempo,
  },
  time: { time: struct("time", { now: timestamp }) },
};

/**
 * Structs that only lead to others, and whether every activity has what they lead to. Since that is asked of each field
 * alone, they are no values themselves: nothing could be said of one that hides which fields are meant.
 */
export const namespaces: Readonly<Record<string, "always" | "sometimes">> = {
  activity: "always",
  "activity.params": "sometimes",
  eth: "sometimes",
  solana: "sometimes",
  bitcoin: "sometimes",
  tron: "sometimes",
  tempo: "sometimes",
  time: "always",
};

/** Other spellings of fields, by struct. The tree that leaves the check has only the field's own. */
export const fieldAliases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Policies that a published package writes.
  "eth.tx": { gasPrice: "gas_price" },
};
