/**
 * A signer in this process, with a real memory file and a gateway's part played by the test: it holds states and committed
 * rows in plain variables, so that a test can offer any of them at any time, as a hostile gateway would.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import type { StampScheme } from "@keystead/core/crypto/stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { encodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { p256 } from "@noble/curves/nist.js";
import { protocolVersion } from "../src/frames/frame.ts";
import type { OfferedState, Prepared, Reply, Request } from "../src/frames/messages.ts";
import { type Memory, openMemory } from "../src/signer/memory/memory.ts";
import { createOperations, type Operations, type Orders } from "../src/signer/operations.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { sha256 } from "../src/state/digest.ts";
import { encodeDirectory } from "../src/state/directory.ts";
import { nothingDrawn } from "../src/state/drawn.ts";
import type { PendingActivity, RootQuorum, User } from "../src/state/entities.ts";
import { encodePage } from "../src/state/pages.ts";
import { stampEvidence } from "./evidence.ts";

export type StoredState = Omit<OfferedState, "links"> & { version: number };

export type SignerRig = {
  operations: Operations;
  memory: Memory;
  /** Where its memory is. */
  folder: string;
  orders: Orders;
  rootKey: Uint8Array;
  apiPrivateKey: Uint8Array;
  keyring: Uint8Array;
  /** The first organization's state after birth. */
  born: StoredState;
  birthRow: Prepared;
  notes: string[];
  /** The signer's clock; tests set it. */
  clock: { nowMs: number };
  /** A new process on the same memory and keyring. */
  restart(options?: { orders?: Partial<Orders>; folder?: string }): SignerRig;
};

/** What tokens of the rig's own have as their issuer. */
export const ownIssuerUrl = "https://keys.example.com";

export function createSignerRig({ releaseBirth = true, nowMs = 1_800_000_000_000 } = {}): SignerRig {
  const rootKey = new Uint8Array(randomBytes(32));
  const apiPrivateKey = p256.utils.randomSecretKey();
  const orders: Orders = {
    ownIssuer: ownIssuerUrl,
    linkingIssuers: ["https://accounts.google.com"],
    hasCaptcha: true,
    adoptUnknown: false,
    acceptDatabase: false,
    reseal: false,
    vouch: false,
    limits: {},
    birth: {
      organizationId: uuidFromBytes(randomBytes(16)),
      organizationName: "First",
      userId: uuidFromBytes(randomBytes(16)),
      userName: "Root",
      apiPublicKey: toHex(p256.getPublicKey(apiPrivateKey)),
    },
  };
  const clock = { nowMs };
  const folder = mkdtempSync(join(tmpdir(), "keystead-signer-"));
  const notes: string[] = [];

  function start(startOrders: Orders, memoryFolder: string): { operations: Operations; memory: Memory } {
    const memory = openMemory(memoryFolder, rootKey);
    const operations = createOperations(
      { current: rootKey },
      memory,
      startOrders,
      () => clock.nowMs,
      (note) => notes.push(note),
    );
    return { operations, memory };
  }

  const first = start(orders, folder);
  first.operations.hello({ protocol: protocolVersion, keyring: undefined });
  const birthRow = first.operations.birth({});
  const keyring = birthRow.birth?.keyring;
  if (keyring === undefined || birthRow.next === undefined) throw new Error("a birth without keyring or state");
  if (releaseBirth) {
    const released = first.operations.release({ rows: [{ leaf: birthRow.leaf, sealed: undefined }], links: [] });
    if (released[0]?.kind !== "released") throw new Error("the birth was not released");
  }

  const rig = (
    running: { operations: Operations; memory: Memory },
    current: Orders,
    memoryFolder = folder,
  ): SignerRig => ({
    ...running,
    folder: memoryFolder,
    orders: current,
    rootKey,
    apiPrivateKey,
    keyring,
    born: stateAfter(undefined, birthRow),
    birthRow,
    notes,
    clock,
    restart(options = {}) {
      running.memory.close();
      const next = { ...current, ...options.orders };
      const fresh = start(next, options.folder ?? memoryFolder);
      fresh.operations.hello({ protocol: protocolVersion, keyring });
      return rig(fresh, next, options.folder ?? memoryFolder);
    },
  });
  return rig(first, orders);
}

/** A signer on the same memory that was started to check the database. */
export function checkingSigner(rig: SignerRig): Operations {
  return signerUnder(rig, { vouch: true });
}

/** A signer on the same memory that was started under other orders. */
export function signerUnder(
  { rootKey, memory, orders, clock, keyring }: SignerRig,
  change: Partial<Orders>,
): Operations {
  const operations = createOperations(
    { current: rootKey },
    memory,
    { ...orders, ...change },
    () => clock.nowMs,
    () => undefined,
  );
  operations.hello({ protocol: protocolVersion, keyring });
  return operations;
}

/** The state a prepared activity leads to, as a database would hold it. */
export function stateAfter(before: StoredState | undefined, { next, expectedVersion }: Prepared): StoredState {
  if (next === undefined) {
    if (before === undefined) throw new Error("no state");
    return before;
  }
  if ((before?.version ?? 0) !== expectedVersion) throw new Error("committed out of order");
  const pages = new Map(before?.pages.map(({ name, content }) => [name, content]));
  for (const { name, content } of next.pages) pages.set(name, content);
  return {
    version: next.version,
    header: next.header,
    directory: next.directory,
    pages: [...pages].map(([name, content]) => ({ name, content })),
  };
}

let ticks = 0;

export function activityBody(
  rig: SignerRig,
  type: string,
  parameters: unknown,
  overrides: Record<string, unknown> = {},
): Uint8Array {
  ticks += 1;
  const envelope = {
    type,
    timestampMs: String(rig.clock.nowMs + (ticks % 1000)),
    organizationId: rig.orders.birth.organizationId,
    parameters,
    ...overrides,
  };
  return new TextEncoder().encode(JSON.stringify(envelope));
}

export function createTagBody(rig: SignerRig, name: string): Uint8Array {
  return activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: name, userIds: [] });
}

export function stampOf(
  rig: SignerRig,
  body: Uint8Array,
  scheme: StampScheme = "SIGNATURE_SCHEME_TK_API_P256",
): string {
  return signStamp(rig.apiPrivateKey, scheme, body);
}

/** Offers a state and a body; the reply as it is. */
export function offer(
  rig: SignerRig,
  state: StoredState | undefined,
  body: Uint8Array,
  options: { stamp?: string; links?: readonly Uint8Array[]; journal?: Uint8Array; target?: Uint8Array } & Partial<
    Pick<
      Request<"prepare">,
      "records" | "wishes" | "pages" | "others" | "statements" | "evidence" | "subOrganizationId"
    >
  > = {},
): Reply<"prepare"> {
  return rig.operations.prepare({
    body,
    evidence: options.evidence ?? stampEvidence(options.stamp ?? stampOf(rig, body)),
    subOrganizationId: options.subOrganizationId,
    state: state && { ...state, links: options.links ?? [] },
    journal: options.journal,
    target: options.target,
    records: options.records ?? [],
    wishes: options.wishes ?? [],
    pages: options.pages ?? [],
    others: options.others ?? [],
    statements: options.statements ?? [],
  });
}

/** Prepares on a state, or says what is missing. */
export function prepareOn(
  rig: SignerRig,
  state: StoredState | undefined,
  body: Uint8Array,
  links?: readonly Uint8Array[],
): Prepared {
  const reply = offer(rig, state, body, links === undefined ? {} : { links });
  if (reply.kind !== "prepared") throw new Error(`missing: ${JSON.stringify(reply.value)}`);
  return only(reply.value);
}

/** The one item of what was prepared: most activities bring no organization into the world. */
export function only(prepared: readonly Prepared[]): Prepared {
  const [own, ...others] = prepared;
  if (own === undefined || others.length > 0) throw new Error(`${prepared.length} items were prepared`);
  return own;
}

/** The leaf of a prepared item. */
export function leafOf({ leaf }: Prepared): Leaf {
  return decodeLeaf(Uint8Array.from(withoutMac(leaf)));
}

export function releaseRows(
  rig: SignerRig,
  rows: readonly Prepared[],
  links: readonly Uint8Array[] = [],
): Reply<"release"> {
  return rig.operations.release({ rows: rows.map(({ leaf, sealed }) => ({ leaf, sealed })), links });
}

/** Prepares the act that lists the signer's log, on the first organization's newest state. */
export function openLogOn(
  { operations }: Pick<SignerRig, "operations">,
  state: Omit<StoredState, "version">,
  { links = [], checkpoints = [] }: { links?: readonly Uint8Array[]; checkpoints?: readonly string[] } = {},
): Prepared {
  const reply = operations.openLog({ state: { ...state, links }, checkpoints });
  if (reply.kind !== "prepared") throw new Error(`missing: ${JSON.stringify(reply.value)}`);
  return reply.value;
}

/** A signer whose memory is new, or was accepted, lists its log; the state that this leads to. */
export function listLog(rig: SignerRig, state: StoredState, links: readonly Uint8Array[] = []): StoredState {
  const row = openLogOn(rig, state, { links });
  const [outcome] = releaseRows(rig, [row], links);
  if (outcome?.kind !== "released") throw new Error(`the log is not listed: ${JSON.stringify(outcome)}`);
  return stateAfter(state, row);
}

/** What an organization made by a test may differ in. */
export type Made = {
  rootQuorum?: RootQuorum;
  parentId?: string;
  pending?: readonly PendingActivity[];
  /** Pages that it has beside its own. */
  pages?: StoredState["pages"];
  /** With a members page as it was before keys were proven. */
  format1?: true;
};

/**
 * Another organization of the same deployment, made with the deployment's own keyring, in its first state. Its root quorum
 * is the first user unless said otherwise.
 */
export function anotherOrganization(
  rig: SignerRig,
  organizationId: string,
  users: readonly User[],
  { rootQuorum, parentId, pending, pages: further = [], format1 }: Made = {},
): StoredState {
  const { authenticity } = openKeyring(rig.rootKey, 1, rig.keyring);
  const times = { createdAtMs: rig.clock.nowMs, updatedAtMs: rig.clock.nowMs };
  const userIds = users.slice(0, 1).map((user) => user.userId);
  const pages: StoredState["pages"][number][] = [
    {
      name: "members",
      content: encodePage("members", {
        users: new Map(users.map((user) => [user.userId, user])),
        userTags: new Map(),
        rootQuorum: rootQuorum ?? { threshold: 1, userIds },
      }),
    },
    { name: "settings", content: encodePage("settings", { organizationName: "Other", features: [], ...times }) },
  ];
  for (const page of pages) {
    if (format1 !== true || page.name !== "members") continue;
    page.content = Buffer.from(Buffer.from(page.content).toString().replace('"format":2', '"format":1'));
  }
  if (pending !== undefined) {
    const waiting = new Map(pending.map((each) => [each.fingerprint, each]));
    pages.push({ name: "pending", content: encodePage("pending", waiting) });
  }
  pages.push(...further);
  const listed = pages.map(({ name, content }) => ({ name, digest: sha256(content) }));
  const directory = encodeDirectory({
    pages: listed.sort((a, b) => (a.name < b.name ? -1 : 1)),
    floor: 0,
    journals: new Uint8Array(0),
    drawn: nothingDrawn,
  });
  const header = encodeHeader({
    organizationId: uuidToBytes(organizationId),
    parentId: parentId === undefined ? undefined : uuidToBytes(parentId),
    version: 1,
    previous: new Uint8Array(32),
    directory: sha256(directory),
  });
  return { version: 1, header: authenticity.mark("header", header), directory, pages };
}

/** As one who came with the organization, unless its key still has to prove itself. */
export function userWithKey(userName: string, privateKey: Uint8Array, nowMs: number, isProven = true): User {
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  return {
    userId: uuidFromBytes(randomBytes(16)),
    userName,
    userTags: [],
    apiKeys: [
      {
        apiKeyId: uuidFromBytes(randomBytes(16)),
        apiKeyName: "key",
        curve: "API_KEY_CURVE_P256",
        publicKey: toHex(p256.getPublicKey(privateKey)),
        type: "CREDENTIAL_TYPE_API_KEY_P256",
        ...(isProven && { proven: true }),
        ...times,
      },
    ],
    ...times,
  };
}
