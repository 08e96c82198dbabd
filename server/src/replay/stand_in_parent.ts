/**
 * A parent in the place of one whose log is not at hand: whoever acted is its only root user, and nothing is forbidden. What it leads a
 * sub-organization to can be held against the log; that the real parent allowed it cannot.
 */
import { apiKeyCurves } from "@keystead/core/crypto/api_key.ts";
import { toSpki } from "@keystead/core/crypto/rsa_public_key.ts";
import { stampSchemes } from "@keystead/core/crypto/stamp.ts";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { LeafEvidence } from "@keystead/core/log/leaf_evidence.ts";
import { newAuthProxy, withAuthProxyFeature } from "../rules/auth_proxy.ts";
import type { Signer } from "../signer/decision/signer.ts";
import { beforeBirth, executedIn, writeState } from "../signer/decision/write_state.ts";
import { type Change, put, type User } from "../state/entities.ts";
import { type ReplayState, stateAfter } from "./replay_state.ts";

/** `leaf`: of the act. */
export function standInParent(signer: Signer, parentId: string, leaf: Leaf): ReplayState {
  const before = beforeBirth(uuidToBytes(parentId), undefined);
  const { next } = writeState(signer, before, changesFor(leaf), executedIn(before));
  return stateAfter(undefined, next);
}

function changesFor({ evidence: [evidence], timeMs, ...leaf }: Leaf): Change[] {
  const times = { createdAtMs: timeMs, updatedAtMs: timeMs };
  const settings = { organizationName: "", features: [], ...times };
  if (evidence === undefined) return [put("settings", settings)];
  const userId = uuidFromBytes(evidence.userId);
  if (evidence.content.kind === "authProxy") {
    const configId = uuidFromBytes(evidence.content.value.configId);
    return [
      put("settings", withAuthProxyFeature(settings, true, timeMs)),
      ...newAuthProxy({ configId, userId }, timeMs),
    ];
  }
  const fingerprint = toHex(leaf.fingerprint);
  const isVote = toHex(evidence.body) !== fingerprint;
  const waiting = {
    activityId: uuidFromBytes(leaf.activityId),
    proposerId: userId,
    createdAtMs: timeMs,
    approvals: [],
  };
  return [
    put("settings", settings),
    put("user", userWith(evidence, timeMs)),
    put("rootQuorum", { threshold: 1, userIds: [userId] }),
    ...(isVote ? [put("pendingActivity", { fingerprint, ...waiting })] : []),
  ];
}

/** A user with the credential that the evidence names. */
function userWith({ userId, credentialId, content }: LeafEvidence, timeMs: number): User {
  const times = { createdAtMs: timeMs, updatedAtMs: timeMs };
  const id = credentialId === undefined ? "" : uuidFromBytes(credentialId);
  const user: User = { userId: uuidFromBytes(userId), userName: "", userTags: [], apiKeys: [], ...times };
  if (content.kind === "apiKey") {
    const { scheme, publicKey } = content.value;
    const curve = stampSchemes[scheme as keyof typeof stampSchemes]?.curve ?? "API_KEY_CURVE_P256";
    const { credentialType: type } = apiKeyCurves[curve];
    const key = { apiKeyId: id, apiKeyName: "", curve, publicKey: toHex(publicKey), type, proven: true } as const;
    return { ...user, apiKeys: [{ ...key, ...times }] };
  }
  if (content.kind !== "webauthn") return user;
  const { rawId, authenticatorData, publicKey } = content.value;
  const passkey = {
    authenticatorId: id,
    authenticatorName: "",
    credentialId: toBase64url(rawId),
    publicKey: toHex(publicKey.kind === "RS256" ? toSpki(publicKey.value) : compressed(publicKey.value.point)),
    rpIdHash: toHex(authenticatorData.subarray(0, 32)),
    aaguid: "00000000-0000-0000-0000-000000000000",
    attestationType: "none",
    transports: [],
    counter: 0,
    proven: true,
    ...times,
  } as const;
  return { ...user, authenticators: [passkey] };
}

function compressed(point: Uint8Array): Uint8Array {
  return Uint8Array.of(2 + ((point[64] ?? 0) & 1), ...point.subarray(1, 33));
}
