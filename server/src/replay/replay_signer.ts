/** The signer's own code under a throw-away root key: it decides as the real one did, and what it signs and seals is worth nothing. */
import { randomBytes } from "node:crypto";
import type { Signer } from "../signer/decision/signer.ts";
import { createDeployment } from "../signer/deployment.ts";
import { createKeyring, type Keyring, openKeyring } from "../signer/secrets/keyring.ts";
import type { DecisionOrders } from "./boot_orders.ts";
import { noMemory } from "./no_memory.ts";
import { createTold, type Told } from "./told.ts";

export type ReplaySigner = {
  readonly told: Told;
  readonly keyring: Keyring;
  readonly sealedKeyring: Uint8Array;
  /** What the clock says from now on. */
  setTime(timeMs: number): void;
  /** The signer that decides under these orders. */
  under(orders: DecisionOrders): Signer;
};

const keyVersion = 1;

export function createReplaySigner(): ReplaySigner {
  const told = createTold();
  let nowMs = 0;
  const rootKey = new Uint8Array(randomBytes(32));
  const sealedKeyring = createKeyring(rootKey, keyVersion);
  const memory = noMemory(() => told.acceptedAtMs);
  const signers = new Map<DecisionOrders, Signer>();
  return {
    told,
    keyring: openKeyring(rootKey, keyVersion, sealedKeyring),
    sealedKeyring,
    setTime(timeMs) {
      nowMs = timeMs;
    },
    under(orders) {
      const known = signers.get(orders);
      if (known !== undefined) return known;
      const deployment = createDeployment({
        ...orders,
        rootKeys: { current: rootKey },
        memory,
        adoptUnknown: true,
        now: () => nowMs,
        note: () => undefined,
        drawsOf: told.drawsOf,
      });
      const signer = deployment.join(sealedKeyring);
      signers.set(orders, signer);
      return signer;
    },
  };
}
