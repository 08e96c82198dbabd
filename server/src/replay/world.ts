/** What the replays of all organizations of one export share. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { Prepared } from "../frames/messages.ts";
import type { BootOrders, DecisionOrders } from "./boot_orders.ts";
import type { Entry, OrganizationLog } from "./exported.ts";
import { createReplaySigner, type ReplaySigner } from "./replay_signer.ts";
import type { ReplayState } from "./replay_state.ts";

export type World = {
  readonly signer: ReplaySigner;
  readonly orders: BootOrders;
  readonly logs: ReadonlyMap<string, OrganizationLog>;
  /** States that leaves of other organizations name, by digest. */
  readonly states: Map<string, ReplayState>;
  /** Where the logs of organizations that were executed so far end. */
  readonly newest: Map<string, ReplayState>;
  /** Organizations of which all acts were executed. */
  readonly whole: Set<string>;
  isNeeded(digest: string): boolean;
  /** What acts of their parents made of organizations that were born, by their ids. */
  readonly births: Map<string, Prepared>;
  /** The birth that an act brought about, where the log of what was born is here. */
  childOf(leaf: Leaf): { log: OrganizationLog; entry: Entry } | undefined;
  /** Orders that nothing discloses, and how many acts were decided under them. */
  readonly undisclosed: Map<string, number>;
};

export function createWorld(logs: ReadonlyMap<string, OrganizationLog>, orders: BootOrders): World {
  const needed = new Set<string>();
  const children = new Map<string, { log: OrganizationLog; entry: Entry }>();
  for (const [organizationId, log] of logs) {
    for (const entry of log.entries) {
      const { leaf } = entry;
      if (leaf.event === "BIRTH") children.set(toHex(leaf.fingerprint), { log, entry });
      for (const state of leaf.states) {
        if (uuidFromBytes(state.organizationId) !== organizationId) needed.add(toHex(state.digest));
      }
    }
  }
  return {
    signer: createReplaySigner(),
    orders,
    logs,
    states: new Map(),
    newest: new Map(),
    whole: new Set(),
    isNeeded: (digest) => needed.has(digest),
    births: new Map(),
    childOf: ({ event, fingerprint }) => (event === "COMPLETED" ? children.get(toHex(fingerprint)) : undefined),
    undisclosed: new Map(),
  };
}

/** The orders that an act was decided under, and whether they are known. */
export function ordersOf(
  { orders, undisclosed }: World,
  boot: Uint8Array,
): { orders: DecisionOrders; areKnown: boolean } {
  const found = orders.find(boot);
  if (found !== undefined) return { orders: found, areKnown: true };
  const name = toHex(boot);
  undisclosed.set(name, (undisclosed.get(name) ?? 0) + 1);
  return { orders: orders.defaults, areKnown: orders.areDefaultsKnown };
}
