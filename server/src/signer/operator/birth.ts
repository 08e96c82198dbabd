/** The first organization. The launcher orders it on a descriptor the gateway never has; the gateway only stores it. */

import { apiKeyCurves, normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { noState } from "@keystead/core/log/header.ts";
import type { OpenedLog } from "@keystead/core/log/outside_values.ts";
import { barePrepared } from "../../frames/bare_prepared.ts";
import type { Prepared } from "../../frames/messages.ts";
import { newAuthProxy, withAuthProxyFeature } from "../../rules/auth_proxy.ts";
import { objectId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";
import { put } from "../../state/entities.ts";
import type { Signer } from "../decision/signer.ts";
import { beforeBirth, executedIn, writeState } from "../decision/write_state.ts";
import { listLog, openedLogValue } from "../log/listed_log.ts";
import { unlistedLog } from "../log/next_log.ts";
import { operatorLeaf } from "./operator_leaf.ts";

export type BirthOrder = {
  organizationId: string;
  organizationName: string;
  userId: string;
  userName: string;
  /** Hex of a P-256 point. */
  apiPublicKey: string;
  /** The auth proxy that it begins with, turned on. Orders of earlier releases have none. */
  authProxy?: { configId: string; userId: string };
};

export function birth(signer: Signer, order: BirthOrder, sealedKeyring: Uint8Array): Prepared {
  // Its log begins with it.
  return birthIn(signer, order, sealedKeyring, unlistedLog(signer.memory, signer.now()));
}

/** `log`: the one that it lists; none of a birth from before there were logs, when it is executed anew. */
export function birthIn(
  signer: Signer,
  order: BirthOrder,
  sealedKeyring: Uint8Array,
  log: OpenedLog | undefined,
): Prepared {
  const nowMs = signer.now();
  const organizationId = uuidToBytes(order.organizationId);
  const orderText = new TextEncoder().encode(JSON.stringify(order));
  const orderDigest = sha256(orderText);
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const settings = { organizationName: order.organizationName, features: [], ...times };
  const { authProxy } = order;
  const changes = [
    put("settings", authProxy === undefined ? settings : withAuthProxyFeature(settings, true, nowMs)),
    put("user", {
      userId: order.userId,
      userName: order.userName,
      userTags: [],
      apiKeys: [
        {
          apiKeyId: objectId(organizationId, orderDigest, 0),
          apiKeyName: "First API key",
          curve: "API_KEY_CURVE_P256",
          publicKey: normalisePublicKey(signer.curves, "API_KEY_CURVE_P256", order.apiPublicKey),
          type: apiKeyCurves.API_KEY_CURVE_P256.credentialType,
          proven: true,
          ...times,
        },
      ],
      ...times,
    }),
    put("rootQuorum", { threshold: 1, userIds: [order.userId] }),
    ...(authProxy === undefined ? [] : newAuthProxy(authProxy, nowMs)),
    ...(log === undefined ? [] : [listLog(log, nowMs)]),
  ];
  const before = beforeBirth(organizationId, undefined);
  const { next } = writeState(signer, before, changes, executedIn(before));
  const { boot, number, leaf } = operatorLeaf(signer, {
    event: "BIRTH",
    organizationId,
    fingerprint: orderDigest,
    timeMs: nowMs,
    decidedOn: undefined,
    header: next.header,
    outside: log === undefined ? [] : [openedLogValue(log)],
    outcome: sha256(fromHex(order.apiPublicKey)),
  });
  return {
    ...barePrepared,
    organizationId: uuidFromBytes(organizationId),
    expectedVersion: noState.version,
    expectedHeader: undefined,
    birth: { parentId: undefined, organizationName: order.organizationName, keyring: sealedKeyring },
    next,
    changes: JSON.stringify(changes),
    disclosed: [orderText],
    boot,
    number,
    leaf,
  };
}
