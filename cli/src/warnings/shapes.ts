/** What one activity can have at once, as far as policies see it: a key of one sort, and at most one payload. */
import { activityKinds, kindOf } from "@keystead/core/policy/vocabulary/activity_kinds.ts";

export type ActivityShape = {
  kind: string;
  /** What a condition may need of it, in the words of its `needs`. */
  has: ReadonlySet<string>;
  /** Names whose text is known already: `activity.kind` and what goes with it. */
  texts: Readonly<Record<string, string>>;
};

const account = ["wallet", "wallet_account"];
const privateKey = ["private_key"];

/** The keys and wallets of kinds that do not sign. All others have none. */
const owners: Readonly<Record<string, readonly (readonly string[])[]>> = {
  EXPORT_WALLET: [["wallet"]],
  EXPORT_WALLET_ACCOUNT: [account],
  EXPORT_PRIVATE_KEY: [privateKey],
  DELETE_WALLETS: [["wallets"]],
  EXPORT_SECRETS: [["secret"]],
};

type Payload = { name?: string; texts: Readonly<Record<string, string>> };

const opaque: Payload = { texts: {} };

function payload(name: string, param: string, text: string): Payload {
  return { name, texts: { [`activity.params.${param}`]: text } };
}

const rawPayloads: readonly Payload[] = [
  opaque,
  payload("eth.eip_712", "encoding", "PAYLOAD_ENCODING_EIP712"),
  payload("eth.eip_7702_authorization", "encoding", "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"),
];

/** What kinds sign, if policies can look into it. */
const payloads: Readonly<Record<string, readonly Payload[]>> = {
  SIGN_TRANSACTION: [
    payload("eth.tx", "type", "TRANSACTION_TYPE_ETHEREUM"),
    payload("solana.tx", "type", "TRANSACTION_TYPE_SOLANA"),
    payload("tron.tx", "type", "TRANSACTION_TYPE_TRON"),
    payload("bitcoin.tx", "type", "TRANSACTION_TYPE_BITCOIN"),
    payload("tempo.tx", "type", "TRANSACTION_TYPE_TEMPO"),
  ],
  SIGN_RAW_PAYLOAD: rawPayloads,
  SIGN_RAW_PAYLOADS: rawPayloads,
  ETH_SEND_TRANSACTION: [{ name: "eth.tx", texts: {} }],
  SOL_SEND_TRANSACTION: [{ name: "solana.tx", texts: {} }],
};

export const shapes: readonly ActivityShape[] = Object.entries(activityKinds).flatMap(
  ([kind, { resource, action, params }]) => {
    const signs = action === "SIGN" ? [account, privateKey] : [[]];
    const paramNames = Object.keys(params).map((name) => `activity.params.${name}`);
    return (owners[kind] ?? signs).flatMap((owned) =>
      (payloads[kind] ?? [opaque]).map(({ name, texts }) => ({
        kind,
        has: new Set([...owned, ...paramNames, ...(name === undefined ? [] : [name])]),
        texts: { "activity.kind": kind, "activity.resource": resource, "activity.action": action, ...texts },
      })),
    );
  },
);

const knownTexts = Map.groupBy(
  shapes.flatMap(({ texts }) => Object.entries(texts)),
  ([path]) => path,
);

/**
 * Whether a name of such an activity can be equal to a text, and whether it can be something else. A text that no shape
 * knows may be a slip, which is told elsewhere.
 */
export function canEqual(
  { kind, texts }: ActivityShape,
  path: string,
  text: string,
): { equal: boolean; unequal: boolean } {
  if (path === "activity.type") {
    const ofKind = kindOf(text);
    return { equal: ofKind === kind || activityKinds[ofKind] === undefined, unequal: true };
  }
  const own = texts[path];
  const isKnown = knownTexts.get(path)?.some(([, known]) => known === text) === true;
  if (own === undefined || !isKnown) return { equal: true, unequal: true };
  return { equal: own === text, unequal: own !== text };
}
