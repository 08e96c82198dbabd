/**
 * Leaves written once more, field by field as core/src/log/SPEC.md lists them and without the code that the product writes and
 * reads them with. Numbers in the tables are places in the lists there.
 */
import type { Leaf } from "../src/log/leaf.ts";
import type { LeafEvidence } from "../src/log/leaf_evidence.ts";

const places = {
  COMPLETED: 0,
  FAILED: 1,
  REJECTED: 2,
  SUBMITTED: 3,
  VOTED: 4,
  BIRTH: 5,
  DATABASE_ACCEPTED: 6,
  LOG_OPENED: 7,
  BOOTED: 8,
  NONE: 0,
  ROOT_QUORUM: 1,
  OWN_CREDENTIAL: 2,
  POLICY: 3,
  OPERATOR: 4,
  AUTH_PROXY: 5,
  issuerKey: 0,
  oauth2Identity: 1,
  openedLog: 2,
  memoryVerdict: 3,
  made: 4,
  importTarget: 5,
  order: 6,
} as const;

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** Bytes or text behind their length. */
export function counted(value: Uint8Array | string): Buffer {
  return Buffer.concat([u32(Buffer.from(value).length), Buffer.from(value)]);
}

const optional = (value: Uint8Array | undefined, written: (value: Uint8Array) => Uint8Array): Buffer =>
  value === undefined ? Buffer.of(0) : Buffer.concat([Buffer.of(1), written(value)]);

function content({ content: { kind, value } }: LeafEvidence): Buffer {
  if (kind === "apiKey") {
    return Buffer.concat([Buffer.of(0), counted(value.scheme), counted(value.publicKey), counted(value.signature)]);
  }
  if (kind === "attested") {
    const { scheme, publicKey, signature, tokenId, tokenDigest } = value;
    return Buffer.concat([Buffer.of(2), counted(scheme), publicKey, signature, tokenId, tokenDigest]);
  }
  if (kind === "attestedIdentity") {
    const { scheme, publicKey, signature, tokenDigest } = value;
    return Buffer.concat([Buffer.of(3), counted(scheme), publicKey, signature, tokenDigest]);
  }
  if (kind === "authProxy") return Buffer.concat([Buffer.of(4), value.configId]);
  const { rawId, authenticatorData, clientDataJson, signature, publicKey: key } = value;
  const written =
    key.kind === "ES256"
      ? [Buffer.of(0), key.value.point]
      : [Buffer.of(1), counted(key.value.modulus), counted(key.value.exponent)];
  return Buffer.concat([
    Buffer.of(1),
    ...[rawId, authenticatorData, clientDataJson, signature].map(counted),
    ...written,
  ]);
}

/** Each as bytes or as a digest. */
function writtenOutside({ outside }: Leaf): Buffer {
  const written = outside.map(({ kind: from, value: { kind, value } }) =>
    Buffer.concat(
      kind === "bytes" ? [Buffer.of(places[from], 0), counted(value)] : [Buffer.of(places[from], 1), value],
    ),
  );
  return Buffer.concat([u32(outside.length), ...written]);
}

/** What a test may write otherwise than a leaf says. */
export type Overrides = { format?: number; evidence?: Uint8Array; outside?: Uint8Array };

/** A leaf of format 2, without a MAC. */
export function formatTwo(
  leaf: Leaf,
  { format = 2, evidence, outside = writtenOutside(leaf) }: Overrides = {},
): Buffer {
  return Buffer.concat([
    Buffer.of(format),
    leaf.boot,
    u64(leaf.number),
    leaf.blind ?? Buffer.alloc(16),
    Buffer.of(places[leaf.event], places[leaf.grounds]),
    leaf.organizationId,
    leaf.activityId,
    counted(leaf.activityType),
    leaf.fingerprint,
    u64(leaf.timeMs),
    u32(leaf.states.length),
    ...leaf.states.flatMap(({ organizationId, version, digest }) => [organizationId, u64(version), digest]),
    optional(leaf.header, counted),
    evidence ??
      Buffer.concat([
        u32(leaf.evidence.length),
        ...leaf.evidence.flatMap((each) => [
          each.userId,
          optional(each.credentialId, (id) => id),
          each.body,
          content(each),
        ]),
      ]),
    outside,
    leaf.outcome,
  ]);
}

/** The same as format 1 wrote it, without a MAC: one state, and stamps of API keys. */
export function formatOne(leaf: Leaf): Buffer {
  const [state = { version: 0, digest: new Uint8Array(32) }, ...others] = leaf.states;
  if (others.length > 0) throw new Error("format 1 names one state");
  return Buffer.concat([
    Buffer.of(1),
    leaf.boot,
    u64(leaf.number),
    Buffer.of(places[leaf.event], places[leaf.grounds]),
    leaf.organizationId,
    leaf.activityId,
    counted(leaf.activityType),
    leaf.fingerprint,
    u64(leaf.timeMs),
    u64(state.version),
    state.digest,
    optional(leaf.header, counted),
    u32(leaf.evidence.length),
    ...leaf.evidence.flatMap(({ userId, credentialId, body, content: { kind, value } }) => {
      if (kind !== "apiKey" || credentialId === undefined) throw new Error("format 1 knows API keys");
      return [userId, credentialId, counted(value.scheme), counted(value.publicKey), counted(value.signature), body];
    }),
    leaf.outcome,
  ]);
}
