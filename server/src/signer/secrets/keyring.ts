/**
 * The deployment's own keys, made once at birth and sealed under the root key: the secret behind every MAC, and the
 * service keys that clients pin. Because they are sealed and not derived, changing the root key changes none of them.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { BundleSigner } from "@keystead/core/crypto/bundles.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import {
  bytes,
  decode,
  encode,
  fixed,
  list,
  struct,
  text,
  u8,
  u32,
  type ValueOf,
} from "@keystead/core/encoding/layout.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { generatePrivateKey } from "@keystead/core/keys/key_curves.ts";
import type { StatementMac } from "@keystead/core/oidc/issuer_statement.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { nodeBundleSigner, nodeHpke } from "../../curves/node_hpke.ts";
import { createStatementMac } from "../../outbox/statement_mac.ts";
import { type Authenticity, createAuthenticity } from "../../state/authenticity.ts";
import { createMac, deriveKey } from "../../state/digest.ts";
import { type AttestationRoot, createAttestationRoot } from "./attestation_root.ts";
import { type CodeSecrets, createCodeSecrets } from "./code_secrets.ts";
import { createSealer, type SealContext, type Sealer, seal, unseal, versionOf } from "./seal.ts";

/** One row per service key: what it signs or opens. The names are published at `/.well-known/keystead.json`. */
export const serviceKeys = {
  signer: "p256",
  notarizer: "p256",
  otp: "p256",
  clientSecretEncryption: "p256",
  log: "ed25519",
} as const;

export type ServiceKeyName = keyof typeof serviceKeys;

/** Keys that came later: derived, so that older keyrings have them, too. They are published with the others. */
export type DerivedKeyName = "identity";

const keyringLayout = struct({
  format: u8,
  deploymentId: fixed(16),
  authenticity: fixed(32),
  services: list(struct({ name: text, privateKey: bytes })),
});

/** What a blind index and a tag are over. */
const secretLayout = struct({ organizationId: text, kind: text, secret: bytes });

export const keyringContext: SealContext = { purpose: "deployment.keyring", organizationId: "", recordId: "1" };

/** What the launcher hands over. During a rotation there is a second key, which `current` is to replace. */
export type RootKeys = { current: Uint8Array; retiring?: Uint8Array };

/**
 * The version of the current root key. No file says it: the keyring is a box and names the version of its key, and which of the
 * two keys that is shows when it opens. A file could be lost, or come back with another key.
 */
export function versionOfCurrent({ current, retiring }: RootKeys, sealed: Uint8Array): number {
  const version = versionOf(sealed) ?? 0;
  if (opens(current, version, sealed)) return version;
  if (retiring !== undefined && opens(retiring, version, sealed)) return version + 1;
  throw foreignRootKey();
}

function opens(rootKey: Uint8Array, version: number, sealed: Uint8Array): boolean {
  try {
    unseal(rootKey, version, keyringContext, sealed).fill(0);
    return true;
  } catch {
    return false;
  }
}

function foreignRootKey(cause?: unknown): Fault {
  return new Fault(
    "failed_precondition",
    "the root key does not belong to this database: put the right one back, or set DATABASE_URL to the right database " +
      "(a further host needs root.key and bootstrap.json of the first)",
    { cause },
  );
}

export type Keyring = {
  deploymentId: Uint8Array;
  authenticity: Authenticity;
  /** Hex: uncompressed points for P-256, 32 bytes for Ed25519. */
  publicKeys: Record<ServiceKeyName | DerivedKeyName, string>;
  signWithLogKey(message: Uint8Array): Uint8Array;
  /** The `signer` service key, which export and import bundles are signed with. */
  bundleSigner: BundleSigner;
  /** The `notarizer` service key, which sessions are signed with. */
  notarizer: BundleSigner;
  /** The `clientSecretEncryption` service key, which client secrets are encrypted to. */
  clientSecretKey: KeyObject;
  /** The `otp` service key, which target bundles of codes and verification tokens are signed with. */
  otp: BundleSigner;
  /** Its public half as it is verified with: 33 bytes. */
  otpKey: Uint8Array;
  /** What our own identity tokens are signed with; its public half has 65 bytes. */
  identity: BundleSigner;
  /** What one-time codes derive from. */
  codes: CodeSecrets;
  /** Equal for equal secrets of one kind in one organization, and says nothing else about them. */
  blindIndex(organizationId: string, kind: string, secret: Uint8Array): string;
  /** What binds a record to its sealed secret. Equal for equal secrets too; under another key than the index. */
  tag(organizationId: string, kind: string, secret: Uint8Array): string;
  /** What messages are sealed with for the courier: derived, so that keyrings from before there was a courier have it too. */
  courierKey: Uint8Array;
  /** What the courier's statements about issuers are verified with. */
  statementMac: StatementMac;
  /** What vouches for this deployment's boot proofs: derived too. Made when it is first asked for. */
  attestationRoot(): AttestationRoot;
};

/** Fresh keys for a new deployment, sealed. */
export function createKeyring(rootKey: Uint8Array, keyVersion: number): Uint8Array {
  const services = Object.entries(serviceKeys).map(([name, curve]) => ({ name, privateKey: freshPrivateKey(curve) }));
  const plain = encode(keyringLayout, {
    format: 1,
    deploymentId: randomBytes(16),
    authenticity: randomBytes(32),
    services,
  });
  const sealed = seal(rootKey, keyVersion, keyringContext, plain);
  plain.fill(0);
  for (const service of services) service.privateKey.fill(0);
  return sealed;
}

/** Opens a stored keyring. That it opens is also the proof that this root key belongs to this database. */
export function openKeyring(rootKey: Uint8Array, keyVersion: number, sealed: Uint8Array): Keyring {
  return openKeyringWith(createSealer(rootKey, keyVersion), sealed);
}

export function openKeyringWith(sealer: Sealer, sealed: Uint8Array): Keyring {
  let plain: Uint8Array;
  try {
    plain = sealer.unseal(keyringContext, sealed);
  } catch (cause) {
    throw foreignRootKey(cause);
  }
  const ring: ValueOf<typeof keyringLayout> = decode(keyringLayout, plain);
  if (ring.format !== 1) throw new Fault("failed_precondition", `unknown keyring format ${ring.format}`);
  const privateKeys = new Map<string, KeyObject>(
    ring.services.map(({ name, privateKey }) => [name, readPrivateKey(privateKey)]),
  );
  const logKey = privateKeys.get("log");
  const bundleKey = privateKeys.get("signer");
  const notarizerKey = privateKeys.get("notarizer");
  const otpKey = privateKeys.get("otp");
  const clientSecretKey = privateKeys.get("clientSecretEncryption");
  if (logKey === undefined || bundleKey === undefined || notarizerKey === undefined || otpKey === undefined) {
    throw new Fault("failed_precondition", "the keyring lacks a service key");
  }
  if (clientSecretKey === undefined) throw new Fault("failed_precondition", "the keyring lacks a service key");
  const blindMac = createMac(deriveKey(ring.authenticity, "blind-index"));
  const tagMac = createMac(deriveKey(ring.authenticity, "record-tag"));
  function macOf(mac: typeof blindMac, organizationId: string, kind: string, secret: Uint8Array): string {
    const content = encode(secretLayout, { organizationId, kind, secret });
    const text = toHex(mac(content));
    content.fill(0);
    return text;
  }
  const courierKey = deriveKey(ring.authenticity, "courier-messages");
  const identity = nodeBundleSigner(deriveP256Key(ring.authenticity, "identity-tokens"));
  const keyring = {
    deploymentId: Uint8Array.from(ring.deploymentId),
    authenticity: createAuthenticity(ring.authenticity),
    publicKeys: Object.fromEntries([
      ...[...privateKeys].map(([name, key]) => [name, publicKeyHex(key)]),
      ["identity", toHex(identity.publicKey)],
    ]) as Keyring["publicKeys"],
    identity,
    signWithLogKey: (message: Uint8Array) => new Uint8Array(sign(null, message, logKey)),
    bundleSigner: nodeBundleSigner(bundleKey),
    notarizer: nodeBundleSigner(notarizerKey),
    clientSecretKey,
    otp: nodeBundleSigner(otpKey),
    otpKey: nodeCurves.compressPoint("p256", fromHex(publicKeyHex(otpKey))),
    codes: createCodeSecrets(ring.authenticity),
    blindIndex: (organizationId: string, kind: string, secret: Uint8Array) =>
      macOf(blindMac, organizationId, kind, secret),
    tag: (organizationId: string, kind: string, secret: Uint8Array) => macOf(tagMac, organizationId, kind, secret),
    courierKey,
    statementMac: createStatementMac(courierKey),
    attestationRoot: createAttestationRoot(ring.authenticity, uuidFromBytes(ring.deploymentId)),
  };
  plain.fill(0);
  return keyring;
}

export function deploymentName(keyring: Keyring): string {
  return uuidFromBytes(keyring.deploymentId);
}

function freshPrivateKey(curve: "p256" | "ed25519"): Uint8Array {
  const { privateKey } =
    curve === "p256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("ed25519");
  return new Uint8Array(privateKey.export({ format: "der", type: "pkcs8" }));
}

/** The same key on every host: the first of a keyed sequence of numbers that is a private key. */
function deriveP256Key(secret: Uint8Array, label: string): KeyObject {
  const mac = createMac(deriveKey(secret, label));
  let block = 0;
  const scalar = generatePrivateKey("CURVE_P256", () => mac(encode(u32, block++)));
  try {
    return nodeHpke.importKey(scalar);
  } finally {
    scalar.fill(0);
  }
}

/** Node takes the structure as a Buffer only; the copy is wiped, the caller wipes what it came from. */
function readPrivateKey(pkcs8: Uint8Array): KeyObject {
  const copy = Buffer.from(pkcs8);
  try {
    return createPrivateKey({ key: copy, format: "der", type: "pkcs8" });
  } finally {
    copy.fill(0);
  }
}

/** The last bytes of an SPKI structure are the key itself: 65 for an uncompressed P-256 point, 32 for Ed25519. */
function publicKeyHex(privateKey: KeyObject): string {
  const spki = new Uint8Array(createPublicKey(privateKey).export({ format: "der", type: "spki" }));
  return toHex(spki.subarray(spki.length - (privateKey.asymmetricKeyType === "ec" ? 65 : 32)));
}
