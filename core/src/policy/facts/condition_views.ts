/** What policies see of an activity: itself, its parameters, the key that it uses, and what it gives that key to sign. */
import { Fault } from "../../fault.ts";
import { finish, type Work } from "../../work.ts";
import { activityKinds, kindOf } from "../vocabulary/activity_kinds.ts";
import type { ConditionFacts } from "./facts.ts";
import { compileParams } from "./params.ts";
import { type Contract, type FindInterface, type Payload, readingPayloads } from "./payloads.ts";
import { type KeyView, keyNamespaces, type WalletView, walletStruct } from "./used_key.ts";

export type { KeyView, WalletView } from "./used_key.ts";

export type StaticProperties = Readonly<Record<string, string>>;

export type ActivityFacts = {
  /** Exactly as it was sent. */
  type: string;
  /** In the newest form of the wire. */
  params: Readonly<Record<string, unknown>>;
  /** What signs or is exported: the account or private key that the parameters name. */
  key?: KeyView;
  /** A wallet without an account, where the whole of it is exported. */
  wallet?: WalletView;
  /** Where an activity is about several. */
  wallets?: readonly WalletView[];
  /** The static properties of each secret that is exported. */
  secrets?: readonly StaticProperties[];
  findInterface: FindInterface;
  /** Told of all contracts whose interfaces will be looked up, before the first one is. May refuse. */
  expectInterfaces?(contracts: readonly Contract[]): void;
};

/** What does not depend on the activity, made ready once for each kind. */
const kinds = new Map(
  Object.entries(activityKinds).map(([kind, { resource, action, params }]) => {
    const paramNames: ReadonlySet<string> = new Set(Object.keys(params));
    return [kind, { resource, action, paramNames, showParams: compileParams(params) }];
  }),
);

/** One view per thing that is signed or exported; every one of them must be allowed. Refuses a payload that cannot be read. */
export function viewsOf(activity: ActivityFacts): readonly ConditionFacts[] {
  return finish(readingViews(activity));
}

/** The same with pauses. */
export function* readingViews(activity: ActivityFacts): Work<readonly ConditionFacts[]> {
  const { type, params, key, wallet, wallets, findInterface } = activity;
  const kind = kindOf(type);
  const row = kinds.get(kind);
  // An ALLOW policy without a condition would otherwise decide on what belongs to the root quorum.
  if (row === undefined) throw new Fault("invalid_argument", `no policy decides on \`${type}\``);
  const shared: ConditionFacts = {
    activity: { type, kind, resource: row.resource, action: row.action },
    params: row.showParams(params),
    paramNames: row.paramNames,
    ...(wallet === undefined ? {} : { wallet: walletStruct(wallet) }),
    ...(wallets === undefined ? {} : { wallets: wallets.map(walletStruct) }),
    ...(key === undefined ? {} : keyNamespaces(key)),
  };
  if (kind === "EXPORT_SECRETS") return secretViews(shared, activity.secrets ?? []);
  const payloads = yield* readingPayloads(kind, params);
  activity.expectInterfaces?.(contractsIn(payloads));
  for (const { readying } of payloads) if (readying !== undefined) yield* readying(key);
  return payloads.map((payload) => ({ ...shared, ...payload.namespaces(key, findInterface) }));
}

function secretViews(shared: ConditionFacts, secrets: readonly StaticProperties[]): readonly ConditionFacts[] {
  if (secrets.length === 0) throw new Fault("invalid_argument", "no secrets to export");
  return secrets.map((properties) => ({
    ...shared,
    secret: { static_properties: new Map(Object.entries(properties)) },
  }));
}

/** The contracts and programs whose interfaces the views look up, each once, so that they can be fetched before. */
export function interfacesOf({ type, params }: Pick<ActivityFacts, "type" | "params">): readonly Contract[] {
  return contractsIn(finish(readingPayloads(kindOf(type), params)));
}

function contractsIn(payloads: readonly Payload[]): readonly Contract[] {
  const found = new Map<string, Contract>();
  for (const { contracts } of payloads) {
    for (const contract of contracts) found.set(`${contract.type} ${contract.address}`, contract);
  }
  return [...found.values()];
}
