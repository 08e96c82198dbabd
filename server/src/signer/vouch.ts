/**
 * The signer's word on what a database holds, for the commands that check one: which bytes are its own, and how heads stand to
 * what it has released. It decides nothing and lets nothing secret out, so it is answered to whoever asks.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { HeadStanding, Reply, Request } from "../frames/messages.ts";
import type { Purpose } from "../state/authenticity.ts";
import { digestKey } from "../state/digest.ts";
import { type AnyRecord, decodeRecord, isKeyRecord } from "../state/records.ts";
import { secretContext, toldBy } from "./key_room.ts";
import { type Pin, pinDigestLength } from "./pins.ts";
import type { Signer } from "./signer.ts";

export function vouch(signer: Signer, { leaves, heads, records }: Request<"vouch">): Reply<"vouch"> {
  return {
    leaves: leaves.map((leaf) => findOwn(signer, "leaf", leaf) !== undefined),
    heads: heads.map((head) => placeHead(signer, head)),
    records: records.map(({ content, sealed }) => openRecord(signer, content, sealed)),
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

function placeHead(signer: Signer, marked: Uint8Array): PlacedHead {
  if (findOwn(signer, "header", marked) === undefined) return { standing: "FOREIGN", releasedVersion: undefined };
  const { header, digest } = signer.line.know(marked);
  const pin = signer.memory.pins.get(header.organizationId);
  return { standing: standingOf(header.version, digest, pin), releasedVersion: pin?.version };
}

function standingOf(version: number, digest: Uint8Array, pin: Pin | undefined): HeadStanding {
  if (pin === undefined) return "UNKNOWN";
  if (version !== pin.version) return version > pin.version ? "AHEAD" : "BEHIND";
  return digestKey(digest.subarray(0, pinDigestLength)) === digestKey(pin.digest) ? "RELEASED" : "FORKED";
}

type OpenedRecord = Reply<"vouch">["records"][number];

function openRecord(signer: Signer, content: Uint8Array, sealed: Uint8Array): OpenedRecord {
  const own = findOwn(signer, "record", content);
  if (own === undefined) return { own: false, opens: false, blindIndex: undefined };
  return { own: true, ...openBox(signer, decodeRecord(own), sealed) };
}

/** A box that opens holds what it was sealed with. Of an account nothing else is told: it is found by its address. */
function openBox(
  { keyring, sealer }: Signer,
  record: AnyRecord,
  sealed: Uint8Array,
): Pick<OpenedRecord, "opens" | "blindIndex"> {
  if (!isKeyRecord(record)) return { opens: sealed.length === 0, blindIndex: undefined };
  let secret: Uint8Array;
  try {
    secret = sealer.unseal(secretContext(record), sealed);
  } catch (error) {
    if (error instanceof Fault) return { opens: false, blindIndex: undefined };
    throw error;
  }
  const told = record.kind === "walletAccount" ? undefined : toldBy(record, secret);
  const blindIndex = told && keyring.blindIndex(record.organizationId, record.kind, told);
  for (const each of [secret, told]) each?.fill(0);
  return { opens: true, blindIndex };
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
