/**
 * Who sent a large body, told without reading it: parsing takes long, and is done by turns. The stamp is over the raw bytes, so it can be
 * verified as they are; only the organization is looked for in them. Whatever they say there, the turn that is taken is that of the
 * organization which has the credential: nobody can take another one's by naming it.
 */
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { authenticateQuery } from "../evidence/authenticate_query.ts";
import { type RequestKind, readEvidence } from "../evidence/evidence_header.ts";
import { type BodyOwner, strangerAt } from "../http/body_work.ts";
import type { RouteRequest } from "../http/route.ts";
import { type ApiDependencies, sourceOf } from "./api_dependencies.ts";

const field = '"organizationId"';
const idAfterField = /^\s{0,8}:\s{0,8}"([^"]{36})"/;

/** Whoever cannot be told is a stranger; those take turns by their addresses. Why is said when the body has been read. */
export async function findLargeBodyOwner(
  dependencies: ApiDependencies,
  kind: RequestKind,
  request: RouteRequest,
): Promise<BodyOwner> {
  return (await findOwner(dependencies, kind, request)) ?? strangerAt(request.callerAddress ?? "");
}

async function findOwner(
  dependencies: ApiDependencies,
  kind: RequestKind,
  { rawHeaders, callerAddress, body }: RouteRequest,
): Promise<BodyOwner | undefined> {
  const organizationId = claimedOrganization(body);
  if (organizationId === undefined) return undefined;
  try {
    const evidence = readEvidence(rawHeaders, kind);
    // Others would be asked about it first, and that can take seconds.
    if (evidence.kind === "attestedIdentity") return undefined;
    const source = sourceOf(dependencies, { callerAddress });
    return await authenticateQuery(dependencies, organizationId, evidence, body, "named", source);
  } catch {
    return undefined;
  }
}

/** The last one that the bytes name: published clients write it behind the parameters. */
function claimedOrganization(body: Uint8Array): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const at = bytes.lastIndexOf(field);
  if (at < 0) return undefined;
  const after = bytes.toString("latin1", at + field.length, at + field.length + 64);
  const id = idAfterField.exec(after)?.[1];
  return id !== undefined && isUuid(id) ? id.toLowerCase() : undefined;
}
