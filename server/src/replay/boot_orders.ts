/** The orders under which each process of the signer decided: limits, issuers and choices of the operator, as `BOOTED` leaves disclose them. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type Limits, withLimits } from "../endpoints/limits.ts";
import type { OrganizationLog } from "./exported.ts";

/** What decisions read of an order. */
export type DecisionOrders = {
  limits: Limits;
  hasSandboxCodes: boolean;
  allowsPlainAnswers: boolean;
  hasCaptcha: boolean;
  linkingIssuers: ReadonlySet<string>;
  ownIssuer: string | undefined;
};

export type BootOrders = {
  /** Undefined where the export does not disclose them. */
  find(boot: Uint8Array): DecisionOrders | undefined;
  /** What an operator has who chose nothing; or what the caller knows that was chosen. */
  readonly defaults: DecisionOrders;
  readonly areDefaultsKnown: boolean;
};

const defaultOrders: DecisionOrders = {
  limits: withLimits({}),
  hasSandboxCodes: false,
  allowsPlainAnswers: false,
  hasCaptcha: false,
  linkingIssuers: new Set(),
  ownIssuer: undefined,
};

/** Operators' acts are shown to all, so each organization's leaves may tell of all boots. `known`: of those that none tells of. */
export function readBootOrders(logs: Iterable<OrganizationLog>, known?: Partial<DecisionOrders>): BootOrders {
  const orders = new Map<string, DecisionOrders>();
  /** The same orders are the same object: a signer is made for each. */
  const byContent = new Map<string, DecisionOrders>();
  for (const { entries, find } of logs) {
    for (const { leaf } of entries) {
      if (leaf.event !== "BOOTED" || orders.has(toHex(leaf.boot))) continue;
      const content = find(leaf.fingerprint);
      if (content === undefined) continue;
      const text = new TextDecoder().decode(content);
      const order = byContent.get(text) ?? parseOrder(text);
      byContent.set(text, order);
      orders.set(toHex(leaf.boot), order);
    }
  }
  return {
    find: (boot) => orders.get(toHex(boot)),
    defaults: { ...defaultOrders, ...known },
    areDefaultsKnown: known !== undefined,
  };
}

type OrderJson = Partial<Omit<DecisionOrders, "limits" | "linkingIssuers">> & {
  limits?: Readonly<Record<string, number>>;
  linkingIssuers?: readonly string[];
};

function parseOrder(text: string): DecisionOrders {
  const { limits = {}, linkingIssuers = [], ...order } = JSON.parse(text) as OrderJson;
  return {
    limits: withLimits(limits),
    hasSandboxCodes: order.hasSandboxCodes === true,
    allowsPlainAnswers: order.allowsPlainAnswers === true,
    hasCaptcha: order.hasCaptcha === true,
    linkingIssuers: new Set(linkingIssuers),
    ownIssuer: order.ownIssuer,
  };
}
