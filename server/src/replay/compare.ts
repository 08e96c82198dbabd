/** Holds what an act came to now against the leaf that it left then. Whatever depends on keys and draws is left out. */
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { LeafEvidence } from "@keystead/core/log/leaf_evidence.ts";
import type { Prepared } from "../frames/messages.ts";
import { activityForms } from "../generated/activities.ts";
import { withoutMac } from "../state/authenticity.ts";
import { sha256 } from "../state/digest.ts";

/** What cannot be held against the leaf, and why not is said elsewhere. */
export type Leniency = {
  /** A stand-in decided in the place of a parent. */
  withoutParent: boolean;
  /** The leaf says that it was refused, and not in which words. */
  isRefused: boolean;
  /** It names the first state of an organization whose keys are not disclosed. */
  withoutHeader?: boolean;
};

/** Results that hold what is drawn at random, or signed with a key that was. */
const drawnResults = /WALLET|PRIVATE_KEY|SUB_ORGANIZATION|SIGN_|EXPORT|IMPORT|LOGIN|SESSION|OTP|EMAIL|OAUTH/;

export function compareLeaves(was: Leaf, prepared: Prepared, leniency: Leniency): string[] {
  const { withoutParent, isRefused, withoutHeader = false } = leniency;
  const found: string[] = [];
  const is = decodeLeaf(Uint8Array.from(withoutMac(prepared.leaf)));
  for (const field of ["event", "activityType", "timeMs"] as const) {
    if (was[field] !== is[field]) found.push(`${field} was ${was[field]}, and now is ${is[field]}`);
  }
  if (!withoutParent && was.grounds !== is.grounds)
    found.push(`grounds were ${was.grounds}, and now are ${is.grounds}`);
  for (const field of ["organizationId", "activityId", "fingerprint"] as const) {
    if (toHex(was[field]) !== toHex(is[field])) found.push(`another ${field}`);
  }
  if (!isDeepStrictEqual(was.evidence.map(withoutToken), is.evidence.map(withoutToken))) {
    found.push("was asked for by other evidence than now");
  }
  if (!isDeepStrictEqual(takenIn(was), takenIn(is))) found.push("took other values from outside than now");
  if (!withoutParent && !isDeepStrictEqual(statesIn(was, was), statesIn(is, was)))
    found.push("was decided on other states than now");
  if (!withoutHeader && headerDigest(was.header) !== headerDigest(is.header)) found.push("leads to another state");
  if (!isRefused && !isDrawn(was) && toHex(was.outcome) !== outcomeAs(was, is, prepared.activity?.result)) {
    found.push(`came to another outcome than ${prepared.activity?.result ?? prepared.activity?.failure ?? "none"}`);
  }
  return found;
}

/** The digest of a header's content, which no key of ours is in. */
export function headerDigest(header: Uint8Array | undefined): string | undefined {
  return header && toHex(sha256(withoutMac(header)));
}

function isDrawn({ event, activityType }: Leaf): boolean {
  return (
    event === "COMPLETED" &&
    (activityForms.get(activityType)?.activity.sealed === true || drawnResults.test(activityType))
  );
}

/** A result that names its own leaf names another one now. */
function outcomeAs(was: Leaf, is: Leaf, result: string | undefined): string {
  const { leaf, ...others } = JSON.parse(result ?? "{}") as Record<string, unknown>;
  if (leaf === undefined) return toHex(is.outcome);
  return toHex(sha256(JSON.stringify({ ...others, leaf: { boot: toHex(was.boot), number: was.number } })));
}

const noToken = new Uint8Array(32);

/** The token that a stamp came with is not kept, and another one stands in its place. */
function withoutToken({ content, ...evidence }: LeafEvidence): unknown {
  if (content.kind !== "attested" && content.kind !== "attestedIdentity") return { ...evidence, content };
  return { ...evidence, content: { ...content, value: { ...content.value, tokenDigest: noToken } } };
}

/** What the courier said. What was drawn, and what the memory answered, was told. */
function takenIn({ outside, evidence }: Leaf): unknown {
  const isMadeUp = evidence.some(({ content }) => content.kind === "attestedIdentity");
  return outside.filter(({ kind }) => kind === "oauth2Identity" || (kind === "issuerKey" && !isMadeUp));
}

/** In one order, of organizations that `named` names. What the signer had at hand then, it reads from a state now. */
function statesIn({ states }: Leaf, named: Leaf): string[] {
  const ids = new Set(named.states.map(({ organizationId }) => toHex(organizationId)));
  const own = states.filter(({ organizationId }) => ids.has(toHex(organizationId)));
  return own
    .map(({ organizationId, version, digest }) => `${toHex(organizationId)} ${version} ${toHex(digest)}`)
    .sort();
}
