/**
 * What a leaf and the bodies beside it say by themselves, whatever log they stand in. The verdict depends on these bytes alone, so it is kept:
 * whoever checks many exports of one log verifies each stamp once.
 */
import type { Curves } from "../../crypto/curves.ts";
import { sameBytes } from "../../encoding/bytes.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { readJson } from "../../encoding/json.ts";
import { isUuid, uuidToBytes } from "../../encoding/uuid.ts";
import { Fault } from "../../fault.ts";
import { namedBodies } from "../export/named_bodies.ts";
import { decodeLeaf, type Leaf } from "../leaf.ts";
import type { LeafEvidence } from "../leaf_evidence.ts";
import { checkEvidence } from "./check_evidence.ts";
import type { VerifierCurves } from "./check_token.ts";
import { headerIn, shapeFlaw } from "./leaf_shape.ts";

/** A state by what names it. */
export type StateName = { organizationId: string; version: number; digest: string };

export type LedTo = StateName & { previous: string; parentId: string | undefined };

/** What the rest of the checks need of a leaf. */
export type LeafFacts = {
  leaf: Leaf;
  boot: string;
  organizationId: string;
  activityId: string;
  states: readonly StateName[];
  ledTo: LedTo | undefined;
  /** Users who approve with this leaf. */
  approvers: readonly string[];
  /** The organization that this act of its parent has brought into the world. */
  made: string | undefined;
};

export type LeafVerdict = {
  facts: LeafFacts | undefined;
  bad: string | undefined;
  unchecked: readonly string[];
  stamps: number;
};

const approveType = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
const rejectType = "ACTIVITY_TYPE_REJECT_ACTIVITY";
/** All its versions begin with it. */
const birthType = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";

/** A fresh check without memory. `bodies` are as a record has them. */
export function checkLeaf(curves: VerifierCurves, bytes: Uint8Array, bodies: readonly Uint8Array[]): LeafVerdict {
  const unchecked: string[] = [];
  const none = { facts: undefined, unchecked, stamps: 0 };
  let facts: LeafFacts;
  try {
    facts = factsOf(curves, decodeLeaf(bytes));
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return { ...none, bad: error.message };
    throw error;
  }
  const { leaf } = facts;
  const verdict = (bad: string | undefined, stamps = 0): LeafVerdict => ({ facts, bad, unchecked, stamps });
  const flaw = shapeFlaw(leaf) ?? transitionFlaw(facts);
  if (flaw !== undefined) return verdict(flaw);
  const shown = match(curves, leaf, bodies);
  if (shown === undefined) return verdict("a body is not one that the leaf names, or not in its place");
  for (const { role, name } of namedBodies(leaf)) {
    if (!shown.has(name) && !isDerived(leaf, role, shown)) unchecked.push(`undisclosed: ${role}`);
  }
  let stamps = 0;
  const approvers: string[] = [];
  for (const evidence of leaf.evidence) {
    const body = shown.get(toHex(evidence.body));
    if (body === undefined) continue;
    const token = tokenOf(evidence, shown);
    const result = checkEvidence(curves, evidence, { leaf, body, token });
    if ("bad" in result) return verdict(result.bad);
    if ("unchecked" in result) unchecked.push(result.unchecked);
    stamps += evidence.content.kind === "authProxy" ? 0 : 1;
    const asked = askedIn(leaf, evidence.body, body);
    if ("bad" in asked) return verdict(asked.bad);
    if (asked.approves) approvers.push(toHex(evidence.userId));
  }
  const orderFlaw = birthFlaw(curves, leaf, shown);
  if (orderFlaw !== undefined) return verdict(orderFlaw);
  const made = facts.made ?? madeIn(leaf, shown.get(toHex(leaf.outcome)));
  return { facts: { ...facts, approvers, made }, bad: undefined, unchecked, stamps };
}

function factsOf(curves: Curves, leaf: Leaf): LeafFacts {
  const own = headerIn(leaf);
  const organizationId = toHex(leaf.organizationId);
  const ledToId = own && toHex(own.header.organizationId);
  return {
    leaf,
    boot: toHex(leaf.boot),
    organizationId,
    activityId: toHex(leaf.activityId),
    states: leaf.states.map(({ organizationId, version, digest }) => ({
      organizationId: toHex(organizationId),
      version,
      digest: toHex(digest),
    })),
    ledTo: own && {
      organizationId: toHex(own.header.organizationId),
      version: own.header.version,
      digest: toHex(curves.sha256(own.content)),
      previous: toHex(own.header.previous),
      parentId: own.header.parentId && toHex(own.header.parentId),
    },
    approvers: [],
    made: ledToId === organizationId ? undefined : ledToId,
  };
}

/** An act that changed its own organization has the header of that; whom it made beside that, its result says. */
function madeIn({ event, activityType }: Leaf, outcome: Uint8Array | undefined): string | undefined {
  if (event !== "COMPLETED" || !activityType.startsWith(birthType) || outcome === undefined) return undefined;
  const { subOrganizationId } = fieldsOf(outcome);
  return typeof subOrganizationId === "string" && isUuid(subOrganizationId)
    ? toHex(uuidToBytes(subOrganizationId))
    : undefined;
}

/** A header follows the state that the leaf says it was decided on; a birth has the first one. */
function transitionFlaw({ leaf, organizationId, states, ledTo }: LeafFacts): string | undefined {
  if (leaf.event === "BIRTH") {
    const isFirst = ledTo?.organizationId === organizationId && ledTo.version === 1;
    return isFirst ? undefined : "a birth whose header is not the organization's first";
  }
  const own = states.find((state) => state.organizationId === organizationId);
  if (ledTo === undefined || ledTo.organizationId !== organizationId) return undefined;
  if (own === undefined) return "a header without the state that it follows";
  const follows = ledTo.version === own.version + 1 && ledTo.previous === own.digest;
  return follows ? undefined : "the header does not follow the state that was decided on";
}

/** The bodies by the digests that name them; undefined if one is not named, comes twice or stands in another order. */
function match(curves: Curves, leaf: Leaf, bodies: readonly Uint8Array[]): Map<string, Uint8Array> | undefined {
  const names = namedBodies(leaf).map(({ name }) => name);
  const shown = new Map<string, Uint8Array>();
  let from = 0;
  for (const body of bodies) {
    const name = toHex(curves.sha256(body));
    const at = names.indexOf(name, from);
    if (at < 0) return undefined;
    from = at + 1;
    shown.set(name, body);
  }
  return shown;
}

function tokenOf({ content }: LeafEvidence, shown: ReadonlyMap<string, Uint8Array>): Uint8Array | undefined {
  return "tokenDigest" in content.value ? shown.get(toHex(content.value.tokenDigest)) : undefined;
}

/** The outcome of a birth by order follows from the order. */
function isDerived(leaf: Leaf, role: string, shown: ReadonlyMap<string, Uint8Array>): boolean {
  return role === "outcome" && isBirthByOrder(leaf) && shown.has(toHex(leaf.fingerprint));
}

function isBirthByOrder({ event, grounds }: Leaf): boolean {
  return event === "BIRTH" && grounds === "OPERATOR";
}

function birthFlaw(curves: Curves, leaf: Leaf, shown: ReadonlyMap<string, Uint8Array>): string | undefined {
  const order = isBirthByOrder(leaf) ? shown.get(toHex(leaf.fingerprint)) : undefined;
  if (order === undefined) return undefined;
  const { apiPublicKey } = fieldsOf(order);
  if (typeof apiPublicKey !== "string" || !/^(?:[0-9a-f]{2})+$/i.test(apiPublicKey)) return "the order has no key";
  const isSame = sameBytes(curves.sha256(fromHex(apiPublicKey)), leaf.outcome);
  return isSame ? undefined : "the outcome is not that of the order";
}

type Asked = { approves: boolean } | { bad: string };

/** The stamped body is the activity itself, or a vote that names it by its fingerprint. */
function askedIn({ fingerprint, activityType, event }: Leaf, digest: Uint8Array, body: Uint8Array): Asked {
  const { type, parameters } = fieldsOf(body);
  if (sameBytes(digest, fingerprint)) {
    return type === activityType ? { approves: true } : { bad: "the body is of another type than the leaf says" };
  }
  const { fingerprint: named } = { ...(parameters as { fingerprint?: unknown } | undefined) };
  const isVote = type === approveType || type === rejectType;
  if (!isVote || typeof named !== "string" || named.toLowerCase() !== `sha256:${toHex(fingerprint)}`) {
    return { bad: "the vote does not name the activity's fingerprint" };
  }
  if (type === rejectType && event !== "REJECTED") return { bad: `${event} by a vote that rejects` };
  return { approves: type === approveType };
}

/** A body that is no JSON object has no fields. */
function fieldsOf(body: Uint8Array): Record<string, unknown> {
  try {
    const value = readJson(body, Number.POSITIVE_INFINITY);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof Fault) return {};
    throw error;
  }
}

export type LeafChecker = {
  sha256: Curves["sha256"];
  check(digest: string, bytes: Uint8Array, bodies: readonly Uint8Array[]): LeafVerdict;
};

/** Keeps verdicts by the digests of leaf and bodies, across any number of exports. */
export function createLeafChecker(curves: VerifierCurves): LeafChecker {
  const known = new Map<string, LeafVerdict>();
  return {
    sha256: curves.sha256,
    check(digest, bytes, bodies) {
      let name = digest;
      for (const body of bodies) name += toHex(curves.sha256(body));
      const kept = known.get(name);
      if (kept !== undefined) return kept;
      // The bytes may be a view into a file that its reader writes to again.
      const verdict = checkLeaf(curves, bytes.slice(), bodies);
      known.set(name, verdict);
      return verdict;
    },
  };
}
