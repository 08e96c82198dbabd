/** The orders under which each process of the signer decided: limits, issuers and choices of the operator, as `BOOTED` leaves disclose them. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type Limits, withLimits } from "../endpoints/limits.ts";
import { decodeBootOrder } from "../rules/boot_order.ts";
import { rulesVersion } from "../rules/rules_version.ts";
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
  const byContent = new Map<string, DecisionOrders | undefined>();
  for (const { entries, find } of logs) {
    for (const { leaf } of entries) {
      if (leaf.event !== "BOOTED" || orders.has(toHex(leaf.boot))) continue;
      const content = find(leaf.fingerprint);
      if (content === undefined) continue;
      const name = toHex(leaf.fingerprint);
      const order = byContent.has(name) ? byContent.get(name) : readOrder(content);
      byContent.set(name, order);
      if (order !== undefined) orders.set(toHex(leaf.boot), order);
    }
  }
  return {
    find: (boot) => orders.get(toHex(boot)),
    defaults: { ...defaultOrders, ...known },
    areDefaultsKnown: known !== undefined,
  };
}

/** Undefined where other rules than ours decided. */
function readOrder(content: Uint8Array): DecisionOrders | undefined {
  const { rulesVersion: version, limits, linkingIssuers, ownIssuer, ...choices } = decodeBootOrder(content);
  if (version !== rulesVersion) return undefined;
  const { hasSandboxCodes, allowsPlainAnswers, hasCaptcha } = choices;
  const known = { hasSandboxCodes, allowsPlainAnswers, hasCaptcha };
  return { ...known, limits: withLimits(limits), linkingIssuers: new Set(linkingIssuers), ownIssuer };
}
