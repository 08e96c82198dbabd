/** What tests of app proofs do again and again. */
import assert from "node:assert/strict";
import { activityProvenBy, type ProvenActivity } from "@keystead/core/attestation/app_proof.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { nodeCurves } from "../src/curves/node_curves.ts";
import { decideAgain } from "../src/proofs/decide_again.ts";
import { parseProofFile } from "../src/proofs/proof_file.ts";
import { getProofContext } from "../src/queries/get_proof_context.ts";
import type { AddressDerivation, AppProof, PolicyOutcome } from "../src/state/app_proof.ts";
import { findAppProofs } from "../src/store/app_proofs.ts";
import { dialectOf } from "../src/views/dialect.ts";
import { testCaller } from "./caller.ts";
import type { ActivityPath, BodyOptions, GatewayRig, Person } from "./gateway_rig.ts";
import { parentActBody, registerParentAct, sendParentAct } from "./parent_act.ts";
import { ask } from "./policy_rig.ts";

/** The bytes of a request that asks for app proofs. */
export function provenBody(rig: GatewayRig, path: ActivityPath, parameters: object, options?: BodyOptions): Uint8Array {
  const body = JSON.parse(Buffer.from(rig.body(path, parameters, options)).toString()) as object;
  return Buffer.from(JSON.stringify({ ...body, generateAppProofs: true }));
}

type Read = { timestampMs: string; activity: ProvenActivity; address?: AddressDerivation; outcome?: PolicyOutcome };

/** What a proof says, once its signature is seen to hold. */
export function readProof({ scheme, publicKey, proofPayload, signature }: AppProof): Read {
  assert.equal(scheme, "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256");
  assert.match(publicKey, /^(04[0-9a-f]{128}){2}$/);
  const key = nodeCurves.compressPoint("p256", fromHex(publicKey.slice(130)));
  assert.ok(nodeCurves.verifyP256(key, Buffer.from(proofPayload), fromHex(signature)));
  const payload = JSON.parse(proofPayload);
  const { type, timestampMs, addressDerivationProof: address, policyOutcomeProof: outcome, ...activity } = payload;
  assert.deepEqual(activity, activityProvenBy({ proofPayload }));
  assert.match(timestampMs, /^[0-9]{13}$/);
  assert.equal(type, `APP_PROOF_TYPE_${address === undefined ? "POLICY_OUTCOME" : "ADDRESS_DERIVATION"}`);
  return { timestampMs, activity, ...(address && { address }), ...(outcome && { outcome }) };
}

/** The text of a file for `proof replay`, as this person is given it. */
export async function proofFile(
  rig: GatewayRig,
  person: Person,
  appProof: AppProof,
  organizationId = rig.organizationId,
): Promise<string> {
  const digest = readProof(appProof).outcome?.decisionContextDigest;
  const context = await ask(rig, person, getProofContext, { digest }, { organizationId });
  return JSON.stringify({ appProof, context });
}

export async function replayed(rig: GatewayRig, person: Person, appProof: AppProof | undefined, where?: string) {
  if (appProof === undefined) assert.fail("there is no proof");
  return decideAgain(parseProofFile(await proofFile(rig, person, appProof, where))).outcome;
}

/** App proofs of an activity, opened by the gateway where nobody has yet. */
export async function openedProofs(rig: GatewayRig, activityId: string, organizationId = rig.organizationId) {
  const stored = await findAppProofs(rig.store, organizationId, activityId);
  if (stored === undefined) return undefined;
  return JSON.parse((await rig.dependencies.committer.openProofs(stored)) ?? "[]") as AppProof[];
}

/** A proven act of the first organization in a new sub-organization of it, and the file that its own members are given. */
export async function provenParentAct(rig: GatewayRig) {
  registerParentAct();
  const { organizationId, people } = await rig.newSubOrganization(1, ["Ann"]);
  const [ann] = people;
  assert.ok(ann);
  const model = JSON.parse(Buffer.from(parentActBody(rig, organizationId, ann.userId, "Anna")).toString());
  const body = Buffer.from(JSON.stringify({ ...model, generateAppProofs: true }));
  const { appProofs } = await sendParentAct(rig, rig.root, body);
  const [proof, ...others] = appProofs;
  assert.ok(proof && others.length === 0);
  const { outcome } = readProof(proof);
  assert.ok(outcome);
  const caller = testCaller({ organizationId: rig.organizationId, userId: rig.root.userId });
  const request = { organizationId, digest: outcome.decisionContextDigest };
  const context = await getProofContext.run(rig.store, caller, request, dialectOf(undefined));
  return { organizationId, ann, proof, outcome, file: JSON.stringify({ appProof: proof, context }) };
}
