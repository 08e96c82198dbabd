/** Everything the signer's operations share. Made once per boot and deployment; the operations themselves keep nothing. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { ParsedInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import type { Limits } from "../../endpoints/limits.ts";
import type { SessionProfile } from "../../state/entities.ts";
import type { Lru } from "../../state/lru.ts";
import type { Memory } from "../memory/memory.ts";
import type { Draws } from "../secrets/draws.ts";
import type { EphemeralPair } from "../secrets/ephemeral_pair.ts";
import type { Keyring } from "../secrets/keyring.ts";
import type { Sealer } from "../secrets/seal.ts";
import type { Heads } from "./heads.ts";
import type { JournalCache } from "./journal_cache.ts";
import type { Line } from "./line.ts";
import type { OnItsWay } from "./on_its_way.ts";
import type { ReadPage } from "./open_state.ts";
import type { RecordCache } from "./record_cache.ts";

export type Signer = {
  readonly boot: Uint8Array;
  /** The keys of this start, for app proofs. */
  readonly ephemeral: EphemeralPair;
  readonly curves: Curves;
  readonly limits: Limits;
  readonly keyring: Keyring;
  readonly draws: Draws;
  readonly memory: Memory;
  readonly line: Line;
  /** The newest state of each organization at hand: offered by the gateway, or led to by the request before. */
  readonly heads: Heads;
  /** Pages of other organizations' states that were read along lately, by organization and page. */
  readonly otherPages: Lru<ReadPage>;
  /** Session profiles of parents that were read along lately, by parent and id. An id has one scope for good. */
  readonly sessionProfiles: Lru<SessionProfile>;
  readonly journals: JournalCache;
  readonly records: RecordCache;
  /** Interfaces of contracts that were read lately, by organization and id. */
  readonly interfaces: Lru<ParsedInterface>;
  /** Whether organizations without a pin are taken as found: a signer that joins a running PostgreSQL deployment. */
  readonly adoptUnknown: boolean;
  /** For development: some contacts have a one-time code that everybody knows. */
  readonly hasSandboxCodes: boolean;
  /** Whether one-time codes whose client has a target bundle may be answered in the plain. */
  readonly allowsPlainAnswers: boolean;
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  readonly linkingIssuers: ReadonlySet<string>;
  /** The name of this deployment as an issuer, if it is one: its tokens are verified without a statement. */
  readonly ownIssuer: string | undefined;
  /** Whether the operator has a captcha provider, so that configurations may ask for it. */
  readonly hasCaptcha: boolean;
  /** Seals under the root key's current version, and opens what was sealed under any that is known. */
  readonly sealer: Sealer;
  /** What was prepared and not released yet. */
  readonly onItsWay: OnItsWay;
  /** The number of the next leaf. */
  nextNumber(): number;
  /** A new leaf's random bytes. */
  nextBlind(): Uint8Array;
  /** The signer's own clock; refuses when it runs far behind what the memory has seen. */
  now(): number;
  /** A word to the operator. */
  note(message: string): void;
};
