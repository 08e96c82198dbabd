/**
 * `keystead accept-database`: whoever holds the root key says that what the database holds now is right. Every head is
 * pinned as it is, every organization that is set back is named, and the act leaves a leaf of its own.
 */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { barePrepared } from "../../frames/bare_prepared.ts";
import type { Prepared, Reply, Request } from "../../frames/messages.ts";
import { digestKey, sha256 } from "../../state/digest.ts";
import type { Signer } from "../decision/signer.ts";
import { unlistedLog } from "../log/next_log.ts";
import { type Pin, pinDigestLength } from "../memory/pins.ts";
import { operatorLeaf } from "./operator_leaf.ts";

export type AcceptedHead = { organizationId: Uint8Array; version: number; digest: Uint8Array; marked: Uint8Array };

const pinsPerRecord = 4_096;

/**
 * `heads` gathers over the frames of one acceptance; nothing is pinned before the last. What is set back goes to the
 * operator's terminal from here, because a gateway that lies would leave it out of its report.
 */
export function accept(
  signer: Signer,
  heads: AcceptedHead[],
  firstOrganizationId: string,
  { headers, last }: Request<"accept">,
): Reply<"accept"> {
  const nowMs = signer.now();
  const { memory } = signer;
  const lines: string[] = [];
  for (const marked of headers) {
    try {
      const { header, digest } = signer.line.know(marked);
      const { organizationId, version } = header;
      heads.push({ organizationId: Uint8Array.from(organizationId), version, digest, marked: Uint8Array.from(marked) });
      lines.push(...difference(organizationId, version, digest, memory.pins.get(organizationId)));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      lines.push(`an organization is left out: ${error.message}`);
    }
  }
  if (last) lines.push(...gone(signer, heads));
  for (const line of lines) signer.note(line);
  return { lines, leaf: last ? conclude(signer, heads, firstOrganizationId, nowMs) : undefined };
}

/** Pins every head, and with the last of them the number of the leaf that says so: it cannot be kept back unnoticed. */
function conclude(
  signer: Signer,
  heads: readonly AcceptedHead[],
  firstOrganizationId: string,
  nowMs: number,
): Prepared | undefined {
  const { memory } = signer;
  const leaf = acceptanceLeaf(signer, heads, firstOrganizationId, nowMs);
  if (leaf === undefined) return undefined;
  if (memory.deploymentId === undefined) memory.rememberDeployment(signer.keyring.deploymentId);
  // Before any head is pinned: what was executed since the backup must not be new for a moment.
  memory.rememberAcceptance(nowMs);
  // What the log has is not what the database has any more: the next one begins, and owes this leaf.
  unlistedLog(memory, nowMs);
  const released = [{ boot: leaf.boot, first: leaf.number, last: leaf.number }];
  for (let at = 0; at < heads.length; at += pinsPerRecord) {
    const pins = heads.slice(at, at + pinsPerRecord).map(({ organizationId, version, digest }) => ({
      organizationId,
      pin: { version, digest },
    }));
    memory.rememberRelease(nowMs, pins, at + pinsPerRecord < heads.length ? [] : released);
  }
  // Nobody gives such an order twice for a power cut.
  memory.sync();
  return leaf;
}

function difference(organizationId: Uint8Array, version: number, digest: Uint8Array, pin: Pin | undefined): string[] {
  const name = `organization ${uuidFromBytes(organizationId)}`;
  if (pin === undefined) return [`${name}: accepted at version ${version}, not known to this signer before`];
  if (version < pin.version) return [`${name}: SET BACK from version ${pin.version} to version ${version}`];
  if (version > pin.version) return [`${name}: accepted at version ${version}, ahead of version ${pin.version}`];
  const same = digestKey(digest.subarray(0, pinDigestLength)) === digestKey(pin.digest);
  return same ? [] : [`${name}: SET ASIDE, version ${version} is another than the one released`];
}

/** What was released of organizations that the database has nothing of any more. */
function gone({ memory }: Signer, heads: readonly AcceptedHead[]): string[] {
  const held = new Set(heads.map(({ organizationId }) => digestKey(organizationId)));
  const missing = memory.pins.entries().filter(({ organizationId }) => !held.has(digestKey(organizationId)));
  return Array.from(missing, ({ organizationId, pin }) => {
    return `organization ${uuidFromBytes(organizationId)}: GONE, version ${pin.version} was released`;
  });
}

function acceptanceLeaf(
  signer: Signer,
  heads: readonly AcceptedHead[],
  firstOrganizationId: string,
  nowMs: number,
): Prepared | undefined {
  const first = uuidToBytes(firstOrganizationId);
  const head = heads.find(({ organizationId }) => digestKey(organizationId) === digestKey(first));
  if (head === undefined) return undefined;
  const { boot, number, leaf } = operatorLeaf(signer, {
    event: "DATABASE_ACCEPTED",
    organizationId: first,
    fingerprint: new Uint8Array(32),
    timeMs: nowMs,
    decidedOn: { organizationId: first, version: head.version, digest: head.digest },
    header: undefined,
    // The accepted heads, in the order the database lists them.
    outcome: sha256(Buffer.concat(heads.map(({ digest }) => digest))),
  });
  return {
    ...barePrepared,
    organizationId: firstOrganizationId,
    expectedVersion: head.version,
    expectedHeader: head.marked,
    boot,
    number,
    leaf,
  };
}
