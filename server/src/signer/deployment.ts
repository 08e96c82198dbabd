/** The deployment that the signer has joined: how it is joined, and what each operation may do by what the memory knows of it. */
import { randomBytes } from "node:crypto";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import type { Limits } from "../endpoints/limits.ts";
import { digestKey } from "../state/digest.ts";
import type { SessionProfile } from "../state/entities.ts";
import { createLru } from "../state/lru.ts";
import { createHeads } from "./decision/heads.ts";
import { createJournalCache } from "./decision/journal_cache.ts";
import { createLine } from "./decision/line.ts";
import { createOnItsWay } from "./decision/on_its_way.ts";
import type { ReadPage } from "./decision/open_state.ts";
import { createInterfaceCache } from "./decision/policy_interfaces.ts";
import { createRecordCache } from "./decision/record_cache.ts";
import type { Signer } from "./decision/signer.ts";
import type { Memory } from "./memory/memory.ts";
import { createBlinds } from "./secrets/blinds.ts";
import type { Draws } from "./secrets/draws.ts";
import { createEphemeralPair, type EphemeralPair } from "./secrets/ephemeral_pair.ts";
import { deploymentName, type Keyring, openKeyringWith, type RootKeys, versionOfCurrent } from "./secrets/keyring.ts";
import { createSealer } from "./secrets/seal.ts";

/** Settings of parents: some hundred bytes each. Members and policies of those that act in their sub-organizations: some megabytes at most. */
const maxOtherPageBytes = 16 * 1024 * 1024;
/** Each has at most some thousand characters. */
const maxSessionProfiles = 1_000;

/** What a signer process has before it knows its deployment, and keeps if it joins once more. */
export type SignerParts = {
  readonly rootKeys: RootKeys;
  readonly memory: Memory;
  readonly limits: Limits;
  /** Whether a deployment, or an organization without a pin, is taken as found. */
  readonly adoptUnknown: boolean;
  /** For development: some contacts have a one-time code that everybody knows. */
  readonly hasSandboxCodes: boolean;
  /** Whether one-time codes whose client has a target bundle may be answered in the plain. */
  readonly allowsPlainAnswers: boolean;
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  readonly linkingIssuers: ReadonlySet<string>;
  /** The name of this deployment as an issuer, if it is one: its tokens are verified without a statement. */
  readonly ownIssuer: string | undefined;
  /** Whether the operator has a captcha provider. */
  readonly hasCaptcha: boolean;
  now(): number;
  note(message: string): void;
  drawsOf(keyring: Keyring): Draws;
};

export type Deployment = {
  /** Opens the keyring and makes its deployment the current one. */
  join(sealedKeyring: Uint8Array): Signer;
  /** Undefined before a deployment is joined. */
  readonly current: Signer | undefined;
  /** The signer of the joined deployment, or a refusal. */
  joined(): Signer;
  /** A memory that has lost everything would believe any history, so it needs the operator's word first. */
  mayRelease(): boolean;
  /** For releases: the memory knows this deployment, or has seen it being made. */
  releasing(): Signer;
  /** For all else: before a deployment's birth is released, there is nothing to decide on. */
  remembering(): Signer;
};

export function createDeployment(parts: SignerParts): Deployment {
  const { memory } = parts;
  const boot = new Uint8Array(randomBytes(16));
  const ephemeral = createEphemeralPair();
  const nextNumber = createCounter();
  let signer: Signer | undefined;

  function joined(): Signer {
    if (signer === undefined) throw new Fault("unavailable", "the signer has no deployment yet");
    return signer;
  }

  function mayRelease(): boolean {
    return (
      memory.deploymentId !== undefined || (signer !== undefined && memory.wasBornHere(signer.keyring.deploymentId))
    );
  }

  return {
    join(sealedKeyring) {
      signer = createSigner(parts, { boot, ephemeral }, nextNumber, sealedKeyring);
      return signer;
    },
    get current() {
      return signer;
    },
    joined,
    mayRelease,
    releasing() {
      const current = joined();
      if (!mayRelease()) throw forgotten();
      return current;
    },
    remembering() {
      const current = joined();
      if (memory.deploymentId === undefined) throw forgotten();
      return current;
    },
  };
}

function createCounter(): () => number {
  let number = 0;
  return () => {
    number += 1;
    return number;
  };
}

function createSigner(
  parts: SignerParts,
  { boot, ephemeral }: { boot: Uint8Array; ephemeral: EphemeralPair },
  nextNumber: () => number,
  sealedKeyring: Uint8Array,
): Signer {
  const { rootKeys, memory, limits, adoptUnknown, hasSandboxCodes, allowsPlainAnswers, hasCaptcha } = parts;
  const { linkingIssuers, ownIssuer, now, note, drawsOf } = parts;
  const { current, retiring } = rootKeys;
  const sealer = createSealer(current, versionOfCurrent(rootKeys, sealedKeyring), retiring);
  const keyring = openKeyringWith(sealer, sealedKeyring);
  checkRemembered(memory, keyring);
  // Before it prepares anything: what it prepares counts only once it is released here.
  if (!memory.knowsBoot(boot)) memory.rememberBoot(boot);
  return {
    boot,
    ephemeral,
    curves: nodeCurves,
    limits,
    keyring,
    draws: drawsOf(keyring),
    memory,
    line: createLine(keyring.authenticity),
    heads: createHeads(),
    otherPages: createLru<ReadPage>(maxOtherPageBytes),
    sessionProfiles: createLru<SessionProfile>(maxSessionProfiles),
    journals: createJournalCache(),
    records: createRecordCache(keyring.authenticity),
    interfaces: createInterfaceCache(),
    adoptUnknown,
    hasSandboxCodes,
    allowsPlainAnswers,
    linkingIssuers,
    ownIssuer,
    hasCaptcha,
    sealer,
    onItsWay: createOnItsWay(),
    nextNumber,
    nextBlind: createBlinds(),
    now,
    note,
  };
}

function checkRemembered({ deploymentId: known }: Memory, keyring: Keyring): void {
  if (known === undefined || digestKey(known) === digestKey(keyring.deploymentId)) return;
  throw new Fault(
    "failed_precondition",
    `this signer's memory belongs to deployment ${uuidFromBytes(known)}, the database to ${deploymentName(keyring)}`,
  );
}

/**
 * Joining a deployment that others run. One that was born here is not adopted: its birth may never be committed, or
 * another's may come first, and a memory of it would then refuse the database for ever. Its first release remembers it.
 */
export function adopt({ adoptUnknown, memory, keyring, note }: Signer): void {
  if (!adoptUnknown || memory.deploymentId !== undefined || memory.wasBornHere(keyring.deploymentId)) return;
  note(`this signer is new to deployment ${deploymentName(keyring)} and takes its database as found`);
  memory.rememberDeployment(keyring.deploymentId);
}

function forgotten(): Fault {
  return new Fault("unavailable", "the signer remembers no deployment; run `npx keystead accept-database`");
}
