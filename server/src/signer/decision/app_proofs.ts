/**
 * App proofs of an act whose body asks for them: of each wallet account that it derives, and of the decision. They are worth something
 * alone, so they leave sealed like signatures, and open once the act's own leaf is released.
 */
import type { ProvenActivity } from "@keystead/core/attestation/app_proof.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { mapWithPauses, type Work } from "@keystead/core/work.ts";
import type { ActivityOutcome } from "../../endpoints/define_activity.ts";
import type { Prepared, Reply, Request } from "../../frames/messages.ts";
import { type AppProof, type AppProofPayload, appProofScheme } from "../../state/app_proof.ts";
import { sha256 } from "../../state/digest.ts";
import type { WalletAccountRecord } from "../../state/records.ts";
import type { SealContext } from "../secrets/seal.ts";
import type { Act, Decided } from "./act.ts";
import { idOf } from "./act_leaf.ts";
import { contextOf, hashingDecidedPages, parentDigestOf } from "./decision_context.ts";
import type { Signer } from "./signer.ts";

/** What a proof says beside the time and the activity, which are the same in all proofs of an act. */
type Proven = WithoutCommon<AppProofPayload>;
type WithoutCommon<P> = P extends unknown ? Omit<P, "timestampMs" | keyof ProvenActivity> : never;

/** What a row has of proofs. */
type ProofsOfRow = Pick<Prepared, "proofs" | "context">;

const none: ProofsOfRow = { proofs: undefined, context: undefined };

/**
 * What takes long and can be done before there is a leaf: nothing may come between that and the proofs. Of an act that was executed, the
 * proofs of its addresses.
 */
export function* readyingProofs(act: Act, outcome?: ActivityOutcome<unknown>): Work<readonly AppProof[]> {
  if (act.decided === undefined) return [];
  yield* hashingDecidedPages(act);
  return outcome === undefined ? [] : yield* provingAddresses(act, outcome);
}

/** Proofs of the accounts that an act derives, its own and those of the organization that it brings into the world. */
function* provingAddresses(act: Act, outcome: ActivityOutcome<unknown>): Work<readonly AppProof[]> {
  const { records = [], births = [] } = outcome;
  const made = [...records, ...births.flatMap((birth) => birth.records ?? [])].map(({ record }) => record);
  const accounts = made.filter((record): record is WalletAccountRecord => record.kind === "walletAccount");
  return yield* mapWithPauses(accounts, ({ organizationId, walletId, path, address }) =>
    prove(act, {
      type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
      addressDerivationProof: { organizationId, walletId, derivationPath: path, address },
    }),
  );
}

/** The sealed proofs of an act that is over, beside its leaf; nothing where nobody asked for any. */
export function sealedProofs(act: Act, leaf: Uint8Array, addresses: readonly AppProof[]): ProofsOfRow {
  if (act.decided === undefined) return none;
  const context = contextOf(act, act.decided);
  const proofs = [...addresses, proveOutcome(act, act.decided, context[0].content)];
  const text = new TextEncoder().encode(JSON.stringify(proofs));
  return { proofs: act.signer.sealer.seal(proofsContext(leaf), text), context };
}

function proveOutcome(act: Act, { outcome, approvals }: Decided, context: Uint8Array): AppProof {
  const { state } = act;
  const parentDigest = parentDigestOf(act);
  return prove(act, {
    type: "APP_PROOF_TYPE_POLICY_OUTCOME",
    policyOutcomeProof: {
      organizationId: state.organizationId,
      outcome,
      decisionContextDigest: toHex(sha256(context)),
      organizationDataDigest: toHex(state.known.digest),
      ...(parentDigest && { parentOrganizationDataDigest: toHex(parentDigest) }),
      userRequestApprovals: approvals.map(({ userId, credentialId, atMs }) => ({
        userId,
        credentialId,
        timestampMs: String(atMs),
      })),
    },
  });
}

/** Clients read the payload's fields by name, and sign for nothing but its characters. */
function prove(act: Act, { type, ...about }: Proven): AppProof {
  const { ephemeral } = act.signer;
  const proofPayload = JSON.stringify({ type, timestampMs: String(act.nowMs), ...activityOf(act), ...about });
  const signature = ephemeral.sign(new TextEncoder().encode(proofPayload));
  return {
    scheme: appProofScheme,
    publicKey: toHex(ephemeral.publicKey),
    proofPayload,
    signature: toHex(signature),
  };
}

function activityOf(act: Act): ProvenActivity {
  return { activityId: uuidFromBytes(idOf(act)), fingerprint: `sha256:${toHex(act.asked.fingerprint)}` };
}

/** Proofs open only beside the very leaf they were prepared with. */
export function proofsContext(leaf: Uint8Array): SealContext {
  return { purpose: "leaves.proofs", organizationId: "", recordId: toHex(sha256(leaf)) };
}

/** For the gateway: of leaves that this memory has released, and of no other. */
export function openProofs(signer: Signer, { rows }: Request<"openProofs">): Reply<"openProofs"> {
  return rows.map(({ leaf, proofs }) => {
    try {
      return { kind: "opened", value: { proofs: openBox(signer, leaf, proofs) } };
    } catch (error) {
      if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
      throw error;
    }
  });
}

function openBox({ keyring, memory, sealer }: Signer, marked: Uint8Array, box: Uint8Array): string {
  const { boot, number } = decodeLeaf(keyring.authenticity.check("leaf", marked));
  if (!memory.wasReleased(boot, number)) {
    throw new Fault("failed_precondition", "the app proofs of a leaf that is not released stay sealed");
  }
  return new TextDecoder().decode(sealer.unseal(proofsContext(marked), box));
}
