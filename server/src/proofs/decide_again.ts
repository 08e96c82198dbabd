/**
 * Decides a proven decision again: the same rules, on what the context holds. It trusts nobody but the proof's own signature; whose key that
 * is, `proof verify` tells.
 */
import { activityProvenBy, type ProvenActivity, refuseMovedProof } from "@keystead/core/attestation/app_proof.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader, type Header } from "@keystead/core/log/header.ts";
import type { Outcome } from "@keystead/core/policy/decision/decide.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { authorise } from "../rules/authorise.ts";
import { outcomeOf } from "../rules/policy_outcome.ts";
import { rulesVersion } from "../rules/rules_version.ts";
import type { AppProof, PolicyOutcome } from "../state/app_proof.ts";
import { type DecisionContextContent, decodeDecisionContext } from "../state/decision_context.ts";
import { activityId } from "../state/derived_id.ts";
import { sha256 } from "../state/digest.ts";
import { decodeDirectory } from "../state/directory.ts";
import { CannotTell, objectIn, type ProofFile, parseJson } from "./proof_file.ts";
import { parentPages, questionIn, questionPages, requestIn } from "./question_in.ts";

/** The proof says something that is not so. */
export class Contradiction extends Error {
  override readonly name = "Contradiction";
}

/** What was decided, and about which activity. */
export type DecidedAgain = ProvenActivity & { outcome: Outcome };

/** The outcome, which is the same as then. Throws `Contradiction` where it is another, and `CannotTell` where nobody could say. */
export function decideAgain(file: ProofFile): DecidedAgain {
  checkSignature(file.appProof);
  const { timestampMs, outcome: proven } = readPayload(file.appProof);
  if (toHex(sha256(file.content)) !== proven.decisionContextDigest) {
    throw new Contradiction("the context is not the one that the proof names");
  }
  const context = readContext(file.content);
  checkActivity(file, { fingerprint: fingerprintOf(context) });
  if (String(context.nowMs) !== timestampMs) throw new Contradiction("the context is of another time than the proof");
  checkState(context, proven, file.parts);
  checkApprovals(context, proven);
  if (context.rulesVersion !== rulesVersion) {
    throw new CannotTell(
      `it was decided by version ${context.rulesVersion} of the rules, and these are ${rulesVersion}`,
    );
  }
  const outcome = outcomeOf(authorise(questionIn(context, file)));
  if (outcome !== proven.outcome) throw new Contradiction(`the proof says ${proven.outcome}, the rules say ${outcome}`);
  const activity = activityIn(context, file);
  checkActivity(file, activity);
  return { outcome, ...activity };
}

/** Neither the proof nor the one who fetched it may name another activity than the context is of, as far as that is known. */
function checkActivity({ appProof, expected }: ProofFile, known: Partial<ProvenActivity>): void {
  try {
    const named = activityProvenBy(appProof) ?? known;
    refuseMovedProof(named, known);
    refuseMovedProof(named, expected ?? {});
  } catch (error) {
    if (error instanceof Fault) throw new Contradiction(error.message);
    throw error;
  }
}

/** The id follows from the body, which the context names: a proof of an earlier release is known to be of this activity, too. */
function activityIn(context: DecisionContextContent, { body }: ProofFile): ProvenActivity {
  const { organizationId, fingerprint } = context;
  const id = activityId(organizationId, fingerprint, requestIn(context, body).timestampMs);
  return { activityId: uuidFromBytes(id), fingerprint: fingerprintOf(context) };
}

function fingerprintOf({ fingerprint }: DecisionContextContent): string {
  return `sha256:${toHex(fingerprint)}`;
}

function checkSignature({ publicKey, proofPayload, signature }: AppProof): void {
  if (!/^(04[0-9a-f]{128}){2}$/.test(publicKey) || !/^[0-9a-f]{128}$/.test(signature)) {
    throw new Contradiction("the proof's key or signature is malformed");
  }
  const key = nodeCurves.compressPoint("p256", fromHex(publicKey.slice(130)));
  if (!nodeCurves.verifyP256(key, new TextEncoder().encode(proofPayload), fromHex(signature))) {
    throw new Contradiction("the proof's signature does not hold");
  }
}

function readPayload({ proofPayload }: AppProof): { timestampMs: string; outcome: PolicyOutcome } {
  const { type, timestampMs, policyOutcomeProof } = objectIn(parseJson(proofPayload), "appProof.proofPayload");
  if (type !== "APP_PROOF_TYPE_POLICY_OUTCOME") throw new CannotTell("the proof is not about a policy's outcome");
  const outcome = objectIn(policyOutcomeProof, "policyOutcomeProof") as PolicyOutcome;
  return { timestampMs: String(timestampMs), outcome };
}

function readContext(content: Uint8Array): DecisionContextContent {
  try {
    return decodeDecisionContext(content);
  } catch (error) {
    if (error instanceof Fault) throw new CannotTell(error.message);
    throw error;
  }
}

/** From the state's digest in the proof to each page that the rules read: header, directory, page. */
function checkState(context: DecisionContextContent, proven: PolicyOutcome, parts: ProofFile["parts"]): void {
  const header = decodeHeader(context.header);
  const organizationId = uuidFromBytes(context.organizationId);
  const isNamed = (digest: Uint8Array | undefined, hex: string | undefined) => (digest && toHex(digest)) === hex;
  if (organizationId !== proven.organizationId || uuidFromBytes(header.organizationId) !== organizationId) {
    throw new Contradiction("the context is of another organization than the proof");
  }
  if (!isNamed(sha256(context.header), proven.organizationDataDigest)) {
    throw new Contradiction("the context is of another state than the proof");
  }
  const { parentId } = header;
  const parent = parentId && context.states.find((state) => toHex(state.organizationId) === toHex(parentId));
  if (!isNamed(parent?.digest, proven.parentOrganizationDataDigest)) {
    throw new Contradiction("the context is of another state of the parent than the proof");
  }
  // Whoever made the proof could leave it out, and name any pages.
  if (context.directory === undefined) {
    throw new CannotTell("the context has no directory: nothing shows that its pages are those of the state");
  }
  if (toHex(context.directory) !== toHex(header.directory)) {
    throw new Contradiction("the directory is not the one of the state");
  }
  const own = { organizationId: header.organizationId, ...listedIn(header, parts, "the state") };
  const deciding = context.isByParent ? decidingParent(context, parent, parts) : { ...own, asks: questionPages };
  checkPages(context, own, deciding);
}

/** A state that pages are of. */
type Place = { organizationId: Uint8Array; whose: string; listed: ReadonlyMap<string, string> };

/** The state that quorum and policies are asked on, and the pages that they are asked with. */
type DecidingPlace = Place & { asks: readonly string[] };

function listedIn({ directory }: Header, parts: ProofFile["parts"], whose: string): Omit<Place, "organizationId"> {
  const content = parts.get(toHex(directory));
  if (content === undefined) throw new CannotTell(`the directory of ${whose} is missing`);
  return { whose, listed: new Map(decodeDirectory(content).pages.map(({ name, digest }) => [name, toHex(digest)])) };
}

/** The parent whose users decided in this sub-organization, from its digest in the proof downwards. */
function decidingParent(
  { parentHeader }: DecisionContextContent,
  parent: DecisionContextContent["states"][number] | undefined,
  parts: ProofFile["parts"],
): DecidingPlace {
  if (parent === undefined) throw new Contradiction("a parent decided, and the context names no state of it");
  if (parentHeader === undefined) {
    throw new CannotTell("an older release wrote the context: nothing shows that its pages are those of the parent");
  }
  const header = decodeHeader(parentHeader);
  const { organizationId } = parent;
  if (
    toHex(sha256(parentHeader)) !== toHex(parent.digest) ||
    toHex(header.organizationId) !== toHex(organizationId) ||
    header.version !== parent.version
  ) {
    throw new Contradiction("the parent's header is not the one of its state");
  }
  return { organizationId, ...listedIn(header, parts, "the parent's state"), asks: parentPages };
}

/** Each page is one of the state that it is said to be of, whoever decided is asked with that one's pages, and none is held back. */
function checkPages({ pages }: DecisionContextContent, own: Place, deciding: DecidingPlace): void {
  for (const { organizationId, name, digest } of pages) {
    const { asks } = deciding;
    const place = asks.includes(name) ? deciding : own;
    // A page that others decide with must not stand in for one that was never read.
    const isStrange = !asks.includes(name) && questionPages.some((each) => each === name);
    if (isStrange || toHex(organizationId) !== toHex(place.organizationId)) {
      throw new Contradiction(`page \`${name}\` is none that this was decided with`);
    }
    if (place.listed.get(name) !== toHex(digest)) {
      throw new Contradiction(`page \`${name}\` is not the one of ${place.whose}`);
    }
  }
  const lacking = deciding.asks.find((name) => deciding.listed.has(name) && !pages.some((page) => page.name === name));
  if (lacking !== undefined) throw new Contradiction(`the context lacks page \`${lacking}\` of ${deciding.whose}`);
}

function checkApprovals({ approvals }: DecisionContextContent, { userRequestApprovals }: PolicyOutcome): void {
  const own = approvals.map(({ userId, credentialId, atMs }) => ({ userId, credentialId, timestampMs: String(atMs) }));
  if (JSON.stringify(own) === JSON.stringify(userRequestApprovals)) return;
  throw new Contradiction("the context has other approvals than the proof");
}
