/**
 * Letting results out. It relies on nothing between calls: it takes committed rows as they are stored, checks that each
 * state lies on one line with the pin, writes one record to its memory, and only then opens anything. After a crash, or
 * from another gateway, it is the same call again.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { ReleaseRow, Reply, Request } from "../frames/messages.ts";
import { digestKey, equalBytes } from "../state/digest.ts";
import { passed } from "../state/steps.ts";
import type { Place } from "./line.ts";
import type { ReleasedRange } from "./memory.ts";
import type { Pin } from "./pins.ts";
import type { Signer } from "./signer.ts";

type Outcome = Reply<"release">[number];

export function release(signer: Signer, { rows, links }: Request<"release">): readonly Outcome[] {
  const { keyring, line, memory } = signer;
  const nowMs = signer.now();
  const given = line.links(links);
  const moved = new Map<string, { organizationId: Uint8Array; pin: Pin }>();
  const leaves: ReleasedRange[] = [];

  const pinOf = ({ organizationId }: Place) =>
    moved.get(digestKey(organizationId))?.pin ?? memory.pins.get(organizationId);

  /** Undefined when the state lies on its organization's line. */
  function objectionTo(place: Place): Outcome | undefined {
    const pin = pinOf(place);
    if (pin === undefined && signer.adoptUnknown) return undefined;
    const standing = line.standing(place, pin, given);
    if (standing.kind === "off") return { kind: "refused", value: { message: standing.why } };
    if (standing.kind === "on") return undefined;
    const { linksFrom, linksTo } = standing;
    return { kind: "missing", value: { organizationId: uuidFromBytes(place.organizationId), linksFrom, linksTo } };
  }

  function movePin(place: Place): void {
    const { organizationId, version, digest } = place;
    const pin = pinOf(place);
    if (pin === undefined && signer.adoptUnknown && version > 1) {
      signer.note(
        `taking organization ${uuidFromBytes(organizationId)} at version ${version}, as found in the database`,
      );
    }
    if (pin !== undefined && version <= pin.version) return;
    moved.set(digestKey(organizationId), { organizationId, pin: { version, digest } });
  }

  const verdicts = rows.map(({ leaf: marked }): { leaf: Leaf } | Outcome => {
    try {
      const leaf = decodeLeaf(keyring.authenticity.check("leaf", marked));
      const places = placesOf(signer, leaf);
      const objection = places.map(objectionTo).find((each) => each !== undefined);
      if (objection !== undefined) return objection;
      places.forEach(movePin);
      addLeaf(leaves, leaf);
      return { leaf };
    } catch (error) {
      if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
      throw error;
    }
  });

  passed("checked");
  // The first thing ever released is a deployment's birth: from here on this memory belongs to it.
  if (leaves.length > 0 && memory.deploymentId === undefined) memory.rememberDeployment(keyring.deploymentId);
  if (leaves.length > 0) memory.rememberRelease(nowMs, [...moved.values()], leaves);

  passed("remembered");
  const outcomes = verdicts.map((verdict, index) => ("leaf" in verdict ? open(signer, rows[index]) : verdict));
  passed("opened");
  return outcomes;
}

/** Leaves of one group are numbered in the order they come here, nearly always without gaps: one range of them is remembered. */
function addLeaf(ranges: ReleasedRange[], { boot, number }: Leaf): void {
  const range = ranges.at(-1);
  if (range !== undefined && range.last === number - 1 && equalBytes(range.boot, boot)) range.last = number;
  else ranges.push({ boot: Uint8Array.from(boot), first: number, last: number });
}

/** One row that was damaged in the database is that row's trouble, not its neighbours'. */
function open(signer: Signer, row: ReleaseRow | undefined): Outcome {
  if (row?.sealed === undefined) return { kind: "released", value: { result: undefined } };
  try {
    return { kind: "released", value: { result: signer.results.open(row.leaf, row.sealed) } };
  } catch (error) {
    if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
    throw error;
  }
}

/**
 * The states a leaf stands for: the one it led to, or else the one it was decided on. A birth stands for both, because they
 * are two organizations': what was decided on a state of the parent that was passed over is not born.
 */
function placesOf({ line }: Signer, leaf: Leaf): Place[] {
  const { organizationId } = leaf;
  const decidedOn = { version: leaf.stateVersion, digest: leaf.stateDigest };
  if (leaf.header === undefined) return [{ organizationId, ...decidedOn }];
  // The header is known by its own MAC too: it may serve as a link for the rows behind it.
  const { header, digest } = line.know(leaf.header);
  const ledTo = { organizationId, version: header.version, digest };
  if (leaf.event !== "BIRTH" || header.parentId === undefined) return [ledTo];
  return [{ organizationId: header.parentId, ...decidedOn }, ledTo];
}
