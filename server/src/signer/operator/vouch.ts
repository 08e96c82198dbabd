/**
 * The signer's word on what a database holds, for the commands that check one: which bytes are its own, and how heads stand to
 * what it has released. It decides nothing and lets nothing secret out; yet boxes are opened for it, so a signer that serves does not answer.
 */
import { Fault } from "@keystead/core/fault.ts";
import { readBody, readEnvelope } from "../../endpoints/envelope.ts";
import type { HeadStanding, Reply, Request, StoredBody } from "../../frames/messages.ts";
import { activityForms } from "../../generated/activities.ts";
import { shownBody } from "../../rules/bearer_params.ts";
import type { Purpose } from "../../state/authenticity.ts";
import { digestKey, sha256 } from "../../state/digest.ts";
import { type AnyRecord, decodeRecord, isKeyRecord } from "../../state/records.ts";
import { openBody } from "../decision/body_boxes.ts";
import { comparableSecretOf, openSecret } from "../decision/key_records.ts";
import type { KnownHeader, Links } from "../decision/line.ts";
import type { Signer } from "../decision/signer.ts";
import type { Pin } from "../memory/pins.ts";

export function vouch(signer: Signer, { leaves, heads, records, bodies }: Request<"vouch">): Reply<"vouch"> {
  const shown = { links: signer.line.links(heads), led: new Set<string>() };
  return {
    leaves: leaves.map((leaf) => findOwn(signer, "leaf", leaf) !== undefined),
    heads: heads.map((head) => placeHead(signer, head, shown)),
    records: records.map(({ content, sealed }) => openRecord(signer, content, sealed)),
    bodies: bodies.map((body) => describeBody(signer, body)),
  };
}

/** The content of bytes that this deployment's signer has marked; undefined for all others. */
function findOwn({ keyring }: Signer, purpose: Purpose, marked: Uint8Array): Uint8Array | undefined {
  try {
    return keyring.authenticity.check(purpose, marked);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

type PlacedHead = Reply<"vouch">["heads"][number];

/** The heads of one request are each other's links. `led` has the digests of those that proved to be on the line. */
type Shown = { links: Links; led: Set<string> };

function placeHead(signer: Signer, marked: Uint8Array, shown: Shown): PlacedHead {
  if (findOwn(signer, "header", marked) === undefined) return { standing: "FOREIGN", releasedVersion: undefined };
  const known = signer.line.know(marked);
  const pin = signer.memory.pins.get(known.header.organizationId);
  return { standing: standingOf(signer, known, pin, shown), releasedVersion: pin?.version };
}

/** As the signer would take the state if it were offered: what is ahead of the pin must be led to from there. */
function standingOf(
  { line, adoptUnknown }: Signer,
  { header, digest }: KnownHeader,
  pin: Pin | undefined,
  { links, led }: Shown,
): HeadStanding {
  if (pin === undefined && adoptUnknown) return "UNKNOWN";
  if (pin !== undefined && header.version < pin.version) return "BEHIND";
  // Oldest first, each is one step from the one before: a long line is not gone down anew for each.
  const isOnLine =
    led.has(digestKey(header.previous)) || line.standing({ ...header, digest }, pin, links).kind === "on";
  if (isOnLine) led.add(digestKey(digest));
  if (header.version === pin?.version) return isOnLine ? "RELEASED" : "FORKED";
  if (!isOnLine) return "UNLED";
  return pin === undefined ? "UNKNOWN" : "AHEAD";
}

type OpenedRecord = Reply<"vouch">["records"][number];

function openRecord(signer: Signer, content: Uint8Array, sealed: Uint8Array): OpenedRecord {
  const own = findOwn(signer, "record", content);
  if (own === undefined) return { own: false, opens: false, blindIndex: undefined };
  return { own: true, ...openBox(signer, decodeRecord(own), sealed) };
}

/** A box that opens holds what it was sealed with. Of an account nothing else is told: it is found by its address. */
function openBox(signer: Signer, record: AnyRecord, sealed: Uint8Array): Pick<OpenedRecord, "opens" | "blindIndex"> {
  if (!isKeyRecord(record)) return { opens: sealed.length === 0, blindIndex: undefined };
  let secret: Uint8Array | undefined;
  let told: Uint8Array | undefined;
  try {
    secret = openSecret(signer, record, sealed);
    if (record.kind === "walletAccount") return { opens: true, blindIndex: undefined };
    told = comparableSecretOf(record, secret);
    return { opens: true, blindIndex: signer.keyring.blindIndex(record.organizationId, record.kind, told) };
  } catch (error) {
    if (error instanceof Fault) return { opens: false, blindIndex: undefined };
    throw error;
  } finally {
    for (const each of [secret, told]) each?.fill(0);
  }
}

/** What of a sealed body everybody may know. */
function describeBody(signer: Signer, { sealed, ...name }: StoredBody): Reply<"vouch">["bodies"][number] {
  try {
    const { endsAtMs, body } = openBody(signer, name, sealed);
    const form = activityForms.get(readEnvelope(readBody(body)).type);
    const shown = form && shownBody(form, body);
    return shown && { shown: sha256(shown), endsAtMs };
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

const pinsPerPage = 50_000;

export function listPins({ memory }: Signer, page: number): Reply<"pins"> {
  const pins = memory.pins
    .entries()
    .drop(page * pinsPerPage)
    .take(pinsPerPage);
  return {
    pages: Math.max(1, Math.ceil(memory.pins.size / pinsPerPage)),
    pins: Array.from(pins, ({ organizationId, pin }) => ({ organizationId, version: pin.version })),
  };
}
