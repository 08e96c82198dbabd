/**
 * Deployments with more in them than the API can make yet: further users, keys of every curve, sub-organizations.
 *
 * The signer believes only pages that carry its own MAC and stand on its own line, so rows put into the database would
 * be refused. With the server stopped, this runs the signer's own code on the deployment's own root key, keyring and
 * memory: it writes the next state, commits it by the one function of the store, and has it released. What the server
 * finds afterwards is what a signer left behind. It is no way around the signer: whoever holds the root key is one.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { apiKeyCurves } from "@keystead/core/crypto/api_key.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { noState } from "@keystead/core/log/header.ts";
import { encodeLeaf } from "@keystead/core/log/leaf.ts";
import type { NamedState } from "@keystead/core/log/leaf_format_2.ts";
import { makeVerificationToken } from "@keystead/core/otp/verification_token.ts";
import type { Furnisher, UserPlan } from "@keystead/e2e/furnish.ts";
import { nodeCurves } from "@keystead/server/curves/node_curves.ts";
import { withLimits } from "@keystead/server/endpoints/limits.ts";
import { createHeads } from "@keystead/server/signer/decision/heads.ts";
import { createJournalCache } from "@keystead/server/signer/decision/journal_cache.ts";
import { createLine } from "@keystead/server/signer/decision/line.ts";
import { openState } from "@keystead/server/signer/decision/offered_state.ts";
import { createOnItsWay } from "@keystead/server/signer/decision/on_its_way.ts";
import { createInterfaceCache } from "@keystead/server/signer/decision/policy_interfaces.ts";
import { createRecordCache } from "@keystead/server/signer/decision/record_cache.ts";
import { release } from "@keystead/server/signer/decision/release.ts";
import type { Signer } from "@keystead/server/signer/decision/signer.ts";
import { type Before, beforeBirth, executedIn, writeState } from "@keystead/server/signer/decision/write_state.ts";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { createBlinds } from "@keystead/server/signer/secrets/blinds.ts";
import { createDraws } from "@keystead/server/signer/secrets/draws.ts";
import { createEphemeralPair } from "@keystead/server/signer/secrets/ephemeral_pair.ts";
import { openKeyringWith } from "@keystead/server/signer/secrets/keyring.ts";
import { createSealer, type Sealer } from "@keystead/server/signer/secrets/seal.ts";
import { verificationTokenId } from "@keystead/server/state/derived_id.ts";
import { type Change, put, type User } from "@keystead/server/state/entities.ts";
import { createLru } from "@keystead/server/state/lru.ts";
import { findDeployment } from "@keystead/server/store/across.ts";
import { commitGroup } from "@keystead/server/store/commit.ts";
import type { CommitItem } from "@keystead/server/store/commit_item.ts";
import { loadState } from "@keystead/server/store/organizations.ts";
import { closeStore, openStore, type Store } from "@keystead/server/store/store.ts";

export type InnerFurnisher = Furnisher & {
  /** Changes an organization that exists. */
  change(organizationId: string, changes: readonly Change[]): Promise<void>;
};

const hourMs = 3_600_000;

/** A user as the members page holds it. */
function userOf({ userId, userName, apiKeys }: UserPlan): User {
  const nowMs = Date.now();
  return {
    userId,
    userName,
    userTags: [],
    apiKeys: apiKeys.map(({ apiKeyId, curve, publicKey, expiresAtMs }, index) => {
      // A key that has expired was made before that.
      const createdAtMs = Math.min(nowMs, (expiresAtMs ?? nowMs) - hourMs);
      return {
        apiKeyId,
        apiKeyName: `Key ${index + 1}`,
        curve,
        publicKey,
        type: apiKeyCurves[curve].credentialType,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
        createdAtMs,
        updatedAtMs: createdAtMs,
      };
    }),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Opens the deployment of a stopped server, hands it to `work`, and leaves everything committed and released. */
export async function furnish(
  dataFolder: string,
  databaseUrl: string | undefined,
  work: (furnisher: InnerFurnisher) => Promise<void>,
): Promise<void> {
  const store = await openStore(
    databaseUrl === undefined
      ? { kind: "sqlite", folder: join(dataFolder, "database") }
      : { kind: "postgres", url: databaseUrl },
  );
  try {
    const rootKey = new Uint8Array(readFileSync(join(dataFolder, "root.key")));
    const memory = openMemory(join(dataFolder, "signer"), rootKey);
    try {
      const keyring = await findDeployment(store);
      if (keyring === undefined) throw new Error("the deployment has not been born: start the server once");
      const sealer = createSealer(rootKey, 1);
      await work(createFurnisher(store, createSigner(memory, sealer, openKeyringWith(sealer, keyring))));
    } finally {
      memory.close();
    }
  } finally {
    await closeStore(store);
  }
}

function createSigner(memory: Signer["memory"], sealer: Sealer, keyring: Signer["keyring"]): Signer {
  let number = 0;
  return {
    boot: new Uint8Array(randomBytes(16)),
    ephemeral: createEphemeralPair(),
    curves: nodeCurves,
    limits: withLimits({}),
    keyring,
    draws: createDraws(keyring),
    memory,
    line: createLine(keyring.authenticity),
    heads: createHeads(),
    otherPages: createLru(10),
    sessionProfiles: createLru(10),
    journals: createJournalCache(),
    records: createRecordCache(keyring.authenticity),
    interfaces: createInterfaceCache(),
    sealer,
    adoptUnknown: false,
    hasSandboxCodes: false,
    allowsPlainAnswers: false,
    linkingIssuers: new Set(),
    ownIssuer: undefined,
    hasCaptcha: false,
    onItsWay: createOnItsWay(),
    nextNumber: () => ++number,
    nextBlind: createBlinds(),
    now: Date.now,
    note: () => undefined,
  };
}

function stateOf({ organizationId, version, digest }: Before): NamedState {
  return { organizationId, version, digest };
}

function createFurnisher(store: Store, signer: Signer): InnerFurnisher {
  async function write(
    organizationId: string,
    before: Before,
    changes: readonly Change[],
    birth: CommitItem["birth"],
  ): Promise<void> {
    const { next } = writeState(signer, before, changes, executedIn(before));
    const number = signer.nextNumber();
    const leaf = signer.keyring.authenticity.mark(
      "leaf",
      encodeLeaf({
        boot: signer.boot,
        number,
        blind: signer.nextBlind(),
        event: "BIRTH",
        grounds: "OPERATOR",
        organizationId: before.organizationId,
        activityId: new Uint8Array(16),
        activityType: "",
        fingerprint: new Uint8Array(32),
        timeMs: signer.now(),
        states: before.version === noState.version ? [] : [stateOf(before)],
        header: next.header,
        evidence: [],
        outside: [],
        outcome: new Uint8Array(32),
      }),
    );
    const boot = toHex(signer.boot);
    const item = {
      organizationId,
      expectedVersion: before.version,
      ...(birth && { birth }),
      next,
      changes,
      leaf: { boot, number, leaf },
    };
    const { committed } = await commitGroup(store, [item], []);
    const [outcome] = release(signer, { rows: [{ leaf, sealed: undefined }], links: [] });
    if (committed[0] !== true || outcome?.kind !== "released") throw new Error("the fixture was not taken");
    await commitGroup(store, [], [{ organizationId, boot, number }]);
  }

  async function change(organizationId: string, changes: readonly Change[]): Promise<void> {
    const stored = await loadState(store, organizationId);
    if (stored === undefined) throw new Error(`there is no organization ${organizationId}`);
    const { known, directory, pages, pageLengths } = openState(signer, { ...stored, links: [] });
    const before = { ...known.header, digest: known.digest, directory, pages, pageLengths };
    await write(organizationId, before, changes, undefined);
  }

  return {
    change,
    async issueToken({ organizationId, contact, publicKey }) {
      const nowMs = Date.now();
      return makeVerificationToken(signer.keyring.otp, {
        tokenId: verificationTokenId(randomBytes(16), randomBytes(32), nowMs),
        expiresAtMs: nowMs + 24 * hourMs,
        organizationId,
        verificationType: "OTP_TYPE_EMAIL",
        contact,
        publicKey,
      });
    },
    async addUsers(organizationId, users, rootUserIds) {
      await change(organizationId, [
        ...users.map((user) => put("user", userOf(user))),
        put("rootQuorum", { threshold: 1, userIds: [...rootUserIds] }),
      ]);
    },
    async found({ organizationName, parentId, users, rootUserIds, tagNames = [] }) {
      const organizationId = randomUUID();
      const times = { createdAtMs: Date.now(), updatedAtMs: Date.now() };
      const before = beforeBirth(
        uuidToBytes(organizationId),
        parentId === undefined ? undefined : uuidToBytes(parentId),
      );
      const changes = [
        put("settings", { organizationName, features: [], ...times }),
        ...users.map((user) => put("user", userOf(user))),
        put("rootQuorum", {
          threshold: 1,
          userIds: rootUserIds === undefined ? users.map(({ userId }) => userId) : [...rootUserIds],
        }),
        ...tagNames.map((tagName) => put("userTag", { tagId: randomUUID(), tagName, ...times })),
      ];
      await write(organizationId, before, changes, { organizationName, ...(parentId !== undefined && { parentId }) });
      return organizationId;
    },
  };
}
