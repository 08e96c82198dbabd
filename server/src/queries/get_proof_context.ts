import { toBase64 } from "@keystead/core/encoding/base64.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { activityForms } from "../generated/activities.ts";
import { isWholeBody } from "../rules/bearer_params.ts";
import { decodeDecisionContext, partsOf } from "../state/decision_context.ts";
import { findActivityByFingerprint } from "../store/activities.ts";
import { loadContexts } from "../store/app_proofs.ts";
import type { Store } from "../store/store.ts";

const base64 = (description: string) => Type.String({ description });

/**
 * Gets what a proven decision was taken on, by the digest in its app proof. Pages of a parent that acted in its sub-organization are shown
 * to the parent's members alone.
 */
export const getProofContext = defineQuery({
  path: "get_proof_context",
  summary: "Get what a proven decision was taken on",
  request: Type.Object({
    organizationId,
    digest: Type.String({ pattern: "^[0-9a-f]{64}$", description: "`decisionContextDigest` of an app proof." }),
  }),
  response: Type.Object({
    content: base64("Base64 of the bytes that the digest is of."),
    parts: Type.Array(base64("Base64 of a page, a record or a directory that the context names by its digest.")),
    body: optional(base64("Base64 of the decided request; absent until the bearer values in it have expired.")),
  }),
  async run(store, caller, { organizationId, digest }) {
    const [found] = await loadContexts(store, organizationId, [digest]);
    const context = found && readContext(found.content);
    if (found === undefined || context === undefined) {
      throw new Fault("not_found", `unable to find decision context ${digest} in organization ${organizationId}`);
    }
    const parts = await loadContexts(store, organizationId, [...partsOf(context).keys()]);
    const shown = parts.filter(({ ownerId }) => ownerId === organizationId || ownerId === caller.organizationId);
    const body = await wholeBody(store, organizationId, toHex(context.fingerprint));
    return {
      content: toBase64(found.content),
      parts: shown.map(({ content }) => toBase64(content)),
      ...(body && { body: toBase64(body) }),
    };
  },
});

/** Pages and records lie in the same table: they are parts, and no contexts. */
function readContext(content: Uint8Array) {
  try {
    return decodeDecisionContext(content);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

async function wholeBody(store: Store, organizationId: string, fingerprint: string): Promise<Uint8Array | undefined> {
  const row = await findActivityByFingerprint(store, organizationId, fingerprint);
  return row !== undefined && isWholeBody(activityForms.get(row.type)?.activity, row) ? row.body : undefined;
}
