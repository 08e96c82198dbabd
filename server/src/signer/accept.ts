/**
 * `keystead accept-database`: whoever holds the root key says that what the database holds now is right. Every head is
 * pinned as it is, every organization that is set back is named, and the act leaves a leaf of its own.
 */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import type { Prepared, Reply, Request } from "../frames/messages.ts";
import { digestKey, sha256 } from "../state/digest.ts";
import type { KnownHeader } from "./line.ts";
import { operatorLeaf } from "./operator_leaf.ts";
import { type Pin, pinDigestLength } from "./pins.ts";
import type { Signer } from "./signer.ts";

/** `heads` gathers over the frames of one acceptance; the leaf is the first organization's. */
export function accept(
  signer: Signer,
  heads: KnownHeader[],
  firstOrganizationId: string,
  { headers, last }: Request<"accept">,
): Reply<"accept"> {
  const nowMs = signer.now();
  const { memory } = signer;
  const fresh = headers.map((marked) => signer.line.know(marked));
  heads.push(...fresh);
  const lines = fresh.flatMap(({ header, digest }) =>
    difference(header, digest, memory.pins.get(header.organizationId)),
  );
  if (memory.deploymentId === undefined) memory.rememberDeployment(signer.keyring.deploymentId);
  const pins = fresh.map(({ header, digest }) => ({
    organizationId: header.organizationId,
    pin: { version: header.version, digest },
  }));
  if (pins.length > 0) memory.rememberRelease(nowMs, pins, []);
  return { lines, leaf: last ? acceptanceLeaf(signer, heads, firstOrganizationId, nowMs) : undefined };
}

function difference(header: KnownHeader["header"], digest: Uint8Array, pin: Pin | undefined): string[] {
  const name = `organization ${uuidFromBytes(header.organizationId)}`;
  if (pin === undefined) return [`${name}: accepted at version ${header.version}, not known to this signer before`];
  if (header.version < pin.version)
    return [`${name}: SET BACK from version ${pin.version} to version ${header.version}`];
  if (header.version > pin.version)
    return [`${name}: accepted at version ${header.version}, ahead of version ${pin.version}`];
  const same = digestKey(digest.subarray(0, pinDigestLength)) === digestKey(pin.digest);
  return same ? [] : [`${name}: SET ASIDE, version ${header.version} is another than the one released`];
}

function acceptanceLeaf(
  signer: Signer,
  heads: readonly KnownHeader[],
  firstOrganizationId: string,
  nowMs: number,
): Prepared | undefined {
  const first = uuidToBytes(firstOrganizationId);
  const head = heads.find(({ header }) => digestKey(header.organizationId) === digestKey(first));
  if (head === undefined) return undefined;
  const { boot, number, leaf } = operatorLeaf(signer, {
    event: "DATABASE_ACCEPTED",
    organizationId: first,
    fingerprint: new Uint8Array(32),
    timeMs: nowMs,
    stateVersion: head.header.version,
    stateDigest: head.digest,
    header: undefined,
    // The accepted heads, in the order the database lists them.
    outcome: sha256(Buffer.concat(heads.map(({ digest }) => digest))),
  });
  return {
    organizationId: firstOrganizationId,
    expectedVersion: head.header.version,
    expectedHeader: head.marked,
    birth: undefined,
    next: undefined,
    changes: "[]",
    boot,
    number,
    leaf,
    sealed: undefined,
    activity: undefined,
  };
}
