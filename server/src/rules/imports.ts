/**
 * One-time targets: a key pair is made for an import, its public half signed for the one user who asked, its private half
 * sealed into the state. It opens one import; then, or after an hour, it is gone.
 */
import { makeImportTargetBundle, openImportBundle } from "@keystead/core/crypto/bundles.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { HpkeKey, KeyAccess } from "../endpoints/key_access.ts";
import { type Change, type ImportTarget, put, remove } from "../state/entities.ts";
import { getUser } from "../state/members.ts";
import type { Pages } from "../state/pages.ts";

export const targetLifeMs = 3_600_000;
/** Of one user and kind. A sixth takes the place of the oldest, so that nobody waits for an hour to start over. */
export const maxPendingTargets = 5;

export type ImportState = Pick<Pages, "members" | "importTargets">;

export function importStateOf({ members, importTargets }: Pages): ImportState {
  return { members, importTargets };
}

/** The user must still be there: an activity that waited for consensus can outlive the one who proposed it. */
export function startImport(
  { members, importTargets }: ImportState,
  kind: ImportTarget["kind"],
  userId: string,
  context: ActivityContext,
): { changes: Change[]; importBundle: string } {
  const { keys, nowMs, organizationId } = context;
  getUser(members, organizationId, userId);
  const pending = pendingTargets(importTargets, kind, userId, nowMs);
  const surplus = pending.slice(maxPendingTargets - 1);
  const { target, publicKey } = newTarget(kind, userId, context);
  return {
    changes: [
      ...expiredTargets(importTargets, nowMs).map(({ targetId }) => remove("importTarget", targetId)),
      ...surplus.map(({ targetId }) => remove("importTarget", targetId)),
      put("importTarget", target),
    ],
    importBundle: makeImportTargetBundle(keys.bundleSigner, { organizationId, userId, targetPublicKey: publicKey }),
  };
}

function newTarget(
  kind: ImportTarget["kind"],
  userId: string,
  { keys, nowMs, newId }: ActivityContext,
): { target: ImportTarget; publicKey: Uint8Array } {
  const targetId = newId();
  const { publicKey, privateKey } = keys.newTargetKey();
  try {
    const sealed = keys.sealTarget(targetId, privateKey);
    return { target: { targetId, userId, kind, publicKey: toHex(publicKey), sealed, createdAtMs: nowMs }, publicKey };
  } finally {
    privateKey.fill(0);
  }
}

type Opened = { plaintext: Uint8Array; targetId: string };

/**
 * What came in, and the changes that use up its target. The caller wipes the plaintext. `standIn` is a secret that takes its place where
 * the log is executed anew.
 */
export function openImport(
  { members, importTargets }: ImportState,
  kind: ImportTarget["kind"],
  { userId, encryptedBundle }: { userId: string; encryptedBundle: string },
  { keys, verdicts, nowMs, organizationId }: ActivityContext,
  standIn: () => Uint8Array,
): { plaintext: Uint8Array; changes: Change[] } {
  getUser(members, organizationId, userId);
  const pending = pendingTargets(importTargets, kind, userId, nowMs);
  const { plaintext, targetId } = verdicts.judge<Opened>({
    subject: "import",
    ask: () => openWithTargets(keys, pending, encryptedBundle),
    tell: ({ targetId }) => ({ ids: [targetId] }),
    standIn: ({ ids: [told = ""] }) => ({ plaintext: standIn(), targetId: told }),
  });
  return { plaintext, changes: [remove("importTarget", targetId)] };
}

function openWithTargets(keys: KeyAccess, pending: readonly ImportTarget[], encryptedBundle: string): Opened {
  const opened = pending.flatMap((target) => {
    const key = openKey(keys, target);
    return key === undefined ? [] : [{ target, key }];
  });
  const { plaintext, target: used } = openImportBundle(
    keys.hpke,
    opened.map(({ key }) => key),
    encryptedBundle,
  );
  const targetId = opened.find(({ key }) => key === used)?.target.targetId;
  if (targetId === undefined) throw new Fault("internal", "an import opened with a key that no target has");
  return { plaintext, targetId };
}

/** Words of nobody's wallet. */
export function newSentence(keys: KeyAccess): Uint8Array {
  return toSentence(keys.signing.keys, { entropy: keys.random(16), language: "MNEMONIC_LANGUAGE_ENGLISH" });
}

function openKey(keys: KeyAccess, target: ImportTarget): HpkeKey | undefined {
  const privateKey = keys.openTarget(target);
  if (privateKey === undefined) return undefined;
  try {
    return keys.hpke.importKey(privateKey);
  } finally {
    privateKey.fill(0);
  }
}

/** Newest first. */
function pendingTargets(
  importTargets: ImportState["importTargets"],
  kind: ImportTarget["kind"],
  userId: string,
  nowMs: number,
): ImportTarget[] {
  const own = importTargets.values().filter((target) => target.kind === kind && target.userId === userId);
  const pending = own.filter((target) => !isExpired(target, nowMs));
  // The page keeps the order in which they were put, which decides between two of the same millisecond.
  return [...pending].reverse().sort((a, b) => b.createdAtMs - a.createdAtMs);
}

function expiredTargets(importTargets: ImportState["importTargets"], nowMs: number): ImportTarget[] {
  return [...importTargets.values().filter((target) => isExpired(target, nowMs))];
}

function isExpired({ createdAtMs }: ImportTarget, nowMs: number): boolean {
  return nowMs - createdAtMs >= targetLifeMs;
}
