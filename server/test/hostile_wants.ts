/**
 * What somebody could want of a signer, as fresh stamped requests, each with what an honest deployment makes of it now. A hostile
 * gateway may send any of them with whatever it likes beside; the answer must never be more than this.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { sha256 } from "../src/state/digest.ts";
import { newBody, type Run, stampWith } from "./hostile_run.ts";
import { type ActivityPath, type Actor, signedPayload } from "./hostile_story.ts";
import { exportClient } from "./imports.ts";
import type { Random } from "./seeded_random.ts";
import { ethereumVectors, pauseCall } from "./transactions.ts";

/** At most: done at once, kept waiting for others, or nothing but a refusal. */
export type Verdict = "DONE" | "WAITS" | "NOTHING";

/** Where somebody wants it: an organization of the story, another one of the same kind, and those around it. */
export type Place = Pick<Run, "targetOrganization" | "neighbour" | "root" | "ruinId">;

export type Want = {
  organizationId: string;
  path: ActivityPath;
  body: Uint8Array;
  stamp: string;
  verdict: Verdict;
  /** The body that is voted on. */
  target?: Uint8Array;
};

type Wish = {
  by: (place: Place) => Actor;
  path: ActivityPath;
  parameters: (place: Place, random: Random) => object;
  verdict: Verdict;
  target?: (place: Place) => Uint8Array;
  /** The target organization unless told. */
  organizationId?: (place: Place) => string;
  agoMs?: number;
};

const tag = (_: Place, random: Random) => ({ userTagName: `Tag ${random.below(2 ** 31)}`, userIds: [] });
const payload = ({ targetOrganization }: Place, random: Random) => ({
  signWith: targetOrganization.address,
  payload: random
    .below(2 ** 31)
    .toString(16)
    .padStart(8, "0"),
  ...signedPayload,
});
const transaction = (unsignedTransaction: string) => (place: Place) => ({
  signWith: place.targetOrganization.address,
  type: "TRANSACTION_TYPE_ETHEREUM",
  unsignedTransaction,
});
const oneSuffices = ({ targetOrganization: { ann, bob, cleo } }: Place) => ({
  threshold: 1,
  userIds: [ann, bob, cleo].map(({ userId }) => userId),
});
const vote = (body: Uint8Array) => ({ fingerprint: `sha256:${toHex(sha256(body))}` });
const hourMs = 3_600_000;

export const wishes = {
  "a user whom a policy allows it signs": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "DONE",
  },
  "the same user signs a transaction that nobody denies": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_transaction",
    parameters: transaction(ethereumVectors.eip1559.unsigned),
    verdict: "DONE",
  },
  "the same user signs what a policy denies": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_transaction",
    parameters: transaction(pauseCall),
    verdict: "NOTHING",
  },
  "the same user signs with a wallet that was deleted": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: (place, random) => ({ ...payload(place, random), signWith: place.targetOrganization.goneAddress }),
    verdict: "NOTHING",
  },
  "the same user signs with a private key that was deleted": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: (place, random) => ({ ...payload(place, random), signWith: place.targetOrganization.gonePrivateKeyId }),
    verdict: "NOTHING",
  },
  "the same user signs with another organization's wallet": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: (place, random) => ({ ...payload(place, random), signWith: place.neighbour.address }),
    verdict: "NOTHING",
  },
  "the same user signs with a private key that no policy names": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: (place, random) => ({ ...payload(place, random), signWith: place.targetOrganization.privateKeyId }),
    verdict: "NOTHING",
  },
  "the same user exports the wallet": {
    by: (place) => place.targetOrganization.dave,
    path: "export_wallet",
    // The policy speaks of the wallet, and an export is of it: that was dave's to be given.
    parameters: (place) => ({ walletId: place.neighbour.walletId, targetPublicKey: exportClient().targetPublicKey }),
    verdict: "NOTHING",
  },
  "a removed user signs": {
    by: (place) => place.targetOrganization.eve,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "NOTHING",
  },
  "a removed user makes a tag": {
    by: (place) => place.targetOrganization.eve,
    path: "create_user_tag",
    parameters: tag,
    verdict: "NOTHING",
  },
  "a user signs with a removed key": {
    by: (place) => place.targetOrganization.gina,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "NOTHING",
  },
  "a user signs by a deleted policy": {
    by: (place) => place.targetOrganization.fred,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "NOTHING",
  },
  "one of a quorum of two makes a tag": {
    by: (place) => place.targetOrganization.ann,
    path: "create_user_tag",
    parameters: tag,
    verdict: "WAITS",
  },
  "one of a quorum of two signs": {
    by: (place) => place.targetOrganization.ann,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "WAITS",
  },
  "one of a quorum of two lowers it": {
    by: (place) => place.targetOrganization.bob,
    path: "update_root_quorum",
    parameters: oneSuffices,
    verdict: "WAITS",
  },
  "one of a quorum of two exports": {
    by: (place) => place.targetOrganization.ann,
    path: "export_wallet",
    parameters: ({ targetOrganization }) => ({
      walletId: targetOrganization.walletId,
      targetPublicKey: exportClient().targetPublicKey,
    }),
    verdict: "WAITS",
  },
  "one of a quorum of two deletes the policy that denies": {
    by: (place) => place.targetOrganization.cleo,
    path: "delete_policies",
    parameters: ({ targetOrganization }) => ({ policyIds: [targetOrganization.policyId] }),
    verdict: "WAITS",
  },
  "a second approval of what waits": {
    by: (place) => place.targetOrganization.bob,
    path: "approve_activity",
    parameters: ({ targetOrganization }) => vote(targetOrganization.waiting),
    target: (place) => place.targetOrganization.waiting,
    verdict: "DONE",
  },
  "an approval of what was rejected": {
    by: (place) => place.targetOrganization.bob,
    path: "approve_activity",
    parameters: ({ targetOrganization }) => vote(targetOrganization.rejected),
    target: (place) => place.targetOrganization.rejected,
    verdict: "NOTHING",
  },
  "an approval by its own proposer": {
    by: (place) => place.targetOrganization.ann,
    path: "approve_activity",
    parameters: ({ targetOrganization }) => vote(targetOrganization.waiting),
    target: (place) => place.targetOrganization.waiting,
    verdict: "NOTHING",
  },
  "an approval by a removed user": {
    by: (place) => place.targetOrganization.eve,
    path: "approve_activity",
    parameters: ({ targetOrganization }) => vote(targetOrganization.waiting),
    target: (place) => place.targetOrganization.waiting,
    verdict: "NOTHING",
  },
  "the neighbour's root user makes a tag here": {
    by: (place) => place.neighbour.ann,
    path: "create_user_tag",
    parameters: tag,
    verdict: "NOTHING",
  },
  "the parent's root user signs here": {
    by: (place) => place.root,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "NOTHING",
  },
  "the parent's root user exports here": {
    by: (place) => place.root,
    path: "export_wallet",
    parameters: ({ targetOrganization }) => ({
      walletId: targetOrganization.walletId,
      targetPublicKey: exportClient().targetPublicKey,
    }),
    verdict: "NOTHING",
  },
  "a request of two hours ago": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "NOTHING",
    agoMs: 2 * hourMs,
  },
  "a request of ten minutes ahead": {
    by: (place) => place.targetOrganization.dave,
    path: "sign_raw_payload",
    parameters: payload,
    verdict: "NOTHING",
    agoMs: -hourMs / 6,
  },
  "an owner of a deleted organization makes a tag": {
    by: (place) => place.targetOrganization.ann,
    path: "create_user_tag",
    parameters: tag,
    organizationId: (place) => place.ruinId,
    verdict: "NOTHING",
  },
} as const satisfies Record<string, Wish>;

export type WishName = keyof typeof wishes;
export const wishNames = Object.keys(wishes) as WishName[];

export function wantOf(place: Place, random: Random, name: WishName): Want {
  const wish: Wish = wishes[name];
  const organizationId = wish.organizationId?.(place) ?? place.targetOrganization.organizationId;
  const body = newBody(wish.path, wish.parameters(place, random), organizationId, { agoMs: wish.agoMs ?? 0 });
  return {
    organizationId,
    path: wish.path,
    body,
    stamp: stampWith(wish.by(place), body),
    verdict: wish.verdict,
    ...(wish.target && { target: wish.target(place) }),
  };
}
