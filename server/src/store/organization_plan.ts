/** What a group writes for one organization, per table: chains of items collapsed to their last word. */
import type { Settings } from "../state/entities.ts";
import type { CommitItem } from "./commit_item.ts";
import type { EntityPlan } from "./entity_plan.ts";
import { type KeyPlan, newKeyPlan } from "./key_plan.ts";
import type { Tables } from "./tables.ts";

export type OrganizationPlan = {
  readonly organizationId: string;
  readonly expectedVersion: number | undefined;
  readonly expectedHeader: Uint8Array | undefined;
  /** Where the chain stands after its last item; the head when some item changed state. */
  version: number | undefined;
  head?: { version: number; header: Uint8Array; directory: Uint8Array };
  /** Heads of other organizations that must stand, by their ids. */
  readonly standing: Map<string, Uint8Array>;
  readonly birth: CommitItem["birth"];
  readonly pages: Map<string, Tables["pages"]>;
  readonly leaves: Tables["leaves"][];
  readonly disclosures: Tables["disclosures"][];
  readonly sealedDisclosures: Tables["sealed_disclosures"][];
  readonly activities: Map<string, Tables["activities"]>;
  readonly sealedBodies: Tables["sealed_bodies"][];
  readonly appProofs: Tables["app_proofs"][];
  /** By digest: several activities of a group have one context's pages in common. */
  readonly decisionContexts: Map<string, Tables["decision_contexts"]>;
  readonly votes: Tables["votes"][];
  readonly otpCodes: Tables["otp_codes"][];
  /** Of codes whose tokens are given out. */
  readonly otpAttempts: Tables["otp_attempts"][];
  readonly idempotencyKeys: Tables["idempotency_keys"][];
  /** By organization, user and day. The organization is the user's: this one, or its parent. */
  readonly refusedBytes: Map<string, Tables["refused_bytes"]>;
  readonly signUpClaims: Tables["sign_up_claims"][];
  /** By kind and contact. */
  readonly contactClaims: Map<string, Tables["contact_claims"]>;
  readonly outbox: Tables["outbox"][];
  readonly bootProofs: Tables["boot_proofs"][];
  readonly loadedFiles: Tables["loaded_files"][];
  /** Organizations that are born with this one's items. */
  readonly births: OrganizationPlan[];
  settings?: Settings;
  readonly entities: EntityPlan;
  readonly keys: KeyPlan;
};

export function newPlan({ organizationId, expectedVersion, expectedHeader, birth }: CommitItem): OrganizationPlan {
  return {
    organizationId,
    expectedVersion,
    expectedHeader,
    version: expectedVersion,
    standing: new Map(),
    birth,
    pages: new Map(),
    leaves: [],
    disclosures: [],
    sealedDisclosures: [],
    activities: new Map(),
    sealedBodies: [],
    appProofs: [],
    decisionContexts: new Map(),
    votes: [],
    otpCodes: [],
    otpAttempts: [],
    idempotencyKeys: [],
    refusedBytes: new Map(),
    signUpClaims: [],
    contactClaims: new Map(),
    outbox: [],
    bootProofs: [],
    loadedFiles: [],
    births: [],
    entities: new Map(),
    keys: newKeyPlan(),
  };
}
