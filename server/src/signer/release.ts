/**
 * Letting results out. It remembers nothing between calls: it takes committed rows as they are stored, checks that each
 * state lies on one line with the pin, writes one record to its memory, and only then opens anything. After a crash, or
 * from another gateway, it is the same call again.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { ReleaseRow, Reply, Request } from "../frames/messages.ts";
import { digestKey } from "../state/digest.ts";
import type { Place } from "./line.ts";
import type { Pin } from "./pins.ts";
import type { Signer } from "./signer.ts";

type Outcome = Reply<"release">[number];

export function release(signer: Signer, { rows, links }: Request<"release">): readonly Outcome[] {
  const { keyring, line, memory } = signer;
  const nowMs = signer.now();
  const given = line.links(links);
  const moved = new Map<string, { organizationId: Uint8Array; pin: Pin }>();
  const leaves: { boot: Uint8Array; first: number; last: number }[] = [];

  const verdicts = rows.map(({ leaf: marked }): { leaf: Leaf } | Outcome => {
    try {
      const leaf = decodeLeaf(keyring.authenticity.check("leaf", marked));
      const place = placeOf(signer, leaf);
      const organization = digestKey(leaf.organizationId);
      const pin = moved.get(organization)?.pin ?? memory.pins.get(leaf.organizationId);
      const adopts = pin === undefined && signer.adoptUnknown;
      const standing = adopts ? ({ kind: "on" } as const) : line.standing(place, pin, given);
      if (standing.kind === "unknown") {
        const { linksFrom, linksTo } = standing;
        return { kind: "missing", value: { organizationId: uuidFromBytes(leaf.organizationId), linksFrom, linksTo } };
      }
      if (standing.kind === "off") return { kind: "refused", value: { message: standing.why } };
      if (adopts && place.version > 1) {
        const id = uuidFromBytes(leaf.organizationId);
        signer.note(`taking organization ${id} at version ${place.version}, as found in the database`);
      }
      if (pin === undefined || place.version > pin.version) {
        moved.set(organization, {
          organizationId: place.organizationId,
          pin: { version: place.version, digest: place.digest },
        });
      }
      leaves.push({ boot: Uint8Array.from(leaf.boot), first: leaf.number, last: leaf.number });
      return { leaf };
    } catch (error) {
      if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
      throw error;
    }
  });

  // The first thing ever released is a deployment's birth: from here on this memory belongs to it.
  if (leaves.length > 0 && memory.deploymentId === undefined) memory.rememberDeployment(keyring.deploymentId);
  if (leaves.length > 0) memory.rememberRelease(nowMs, [...moved.values()], leaves);

  return verdicts.map((verdict, index) => ("leaf" in verdict ? open(signer, rows[index]) : verdict));
}

/** One row that was damaged in the database is that row's trouble, not its neighbours'. */
function open(signer: Signer, row: ReleaseRow | undefined): Outcome {
  if (row?.sealed === undefined) return { kind: "released", value: { result: undefined } };
  try {
    return { kind: "released", value: { result: signer.openResult(row.leaf, row.sealed) } };
  } catch (error) {
    if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
    throw error;
  }
}

/** The state a leaf stands for: the one it led to, or the one it was decided on. */
function placeOf({ line }: Signer, leaf: Leaf): Place {
  const { organizationId } = leaf;
  // The header is known by its own MAC too: it may serve as a link for the rows behind it.
  if (leaf.header === undefined) return { organizationId, version: leaf.stateVersion, digest: leaf.stateDigest };
  const { header, digest } = line.know(leaf.header);
  return { organizationId, version: header.version, digest };
}
