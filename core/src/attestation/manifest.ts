/** The manifest: what a signer says it runs, in the second version of the format that clients know (canonical JSON). */
import { sameBytes } from "../encoding/bytes.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { pcrLength } from "./attestation_document.ts";
import { type CanonicalJson, readCanonicalJson, writeCanonicalJson } from "./canonical_json.ts";

export const manifestVersion = "v2";

export type ManifestFields = {
  deploymentId: string;
  /** Encryption key and signing key of the deployment, 65 bytes each. */
  quorumKey: Uint8Array;
  /** SHA-256 of the list of loaded files. */
  pivotHash: Uint8Array;
  /** Node's flags, without those that name folders of this host. */
  args: readonly string[];
  /** The attestation root, DER. */
  rootCertificate: Uint8Array;
};

/** Nobody has to approve a manifest here: both sets are empty, and say so. */
const nobody = { members: [], threshold: "0" };

export function writeManifest(fields: ManifestFields): Uint8Array<ArrayBuffer> {
  return writeCanonicalJson(manifestJson(fields));
}

/** The manifest together with its approvals, of which there are none, and the list of files whose digest is `pivot.hash`. */
export function envelopeOf(manifest: Uint8Array, loadedFiles: Uint8Array): Uint8Array<ArrayBuffer> {
  return writeCanonicalJson({
    loadedFiles: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(loadedFiles),
    manifest: readCanonicalJson(manifest),
    manifestSetApprovals: [],
    shareSetApprovals: [],
  });
}

export function readEnvelope(envelope: Uint8Array): { manifest: Uint8Array; loadedFiles: Uint8Array } {
  const { loadedFiles, manifest } = fieldsOf(readCanonicalJson(envelope));
  if (typeof loadedFiles !== "string" || manifest === undefined)
    throw malformed("an envelope without list or manifest");
  const parts = { manifest: writeCanonicalJson(manifest), loadedFiles: new TextEncoder().encode(loadedFiles) };
  if (!sameBytes(envelopeOf(parts.manifest, parts.loadedFiles), envelope))
    throw malformed("an envelope that holds more");
  return parts;
}

function manifestJson({ deploymentId, quorumKey, pivotHash, args, rootCertificate }: ManifestFields): CanonicalJson {
  const zero = toHex(new Uint8Array(pcrLength));
  return {
    namespace: { name: `keystead/${deploymentId}`, nonce: "0", quorumKey: toHex(quorumKey) },
    pivot: { args, hash: toHex(pivotHash), restart: "always" },
    manifestSet: nobody,
    shareSet: nobody,
    enclave: { pcr0: zero, pcr1: zero, pcr2: zero, pcr3: zero, rootCertificate: toHex(rootCertificate) },
  };
}

/** What a verifier looks at: the digest of the list of files, Node's arguments, and the root that it names. */
export function readManifest(bytes: Uint8Array): Pick<ManifestFields, "pivotHash" | "args" | "rootCertificate"> {
  const { pivot, enclave } = fieldsOf(readCanonicalJson(bytes));
  const { hash, args } = fieldsOf(pivot);
  const { rootCertificate } = fieldsOf(enclave);
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/.test(hash)) throw malformed("`pivot.hash` is not 32 bytes in hex");
  if (typeof rootCertificate !== "string" || !/^[0-9a-f]+$/.test(rootCertificate)) {
    throw malformed("`enclave.rootCertificate` is not hex");
  }
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === "string")) {
    throw malformed("`pivot.args` is not a list of texts");
  }
  return { pivotHash: fromHex(hash), args, rootCertificate: fromHex(rootCertificate) };
}

function fieldsOf(value: CanonicalJson | undefined): { readonly [key: string]: CanonicalJson | undefined } {
  return typeof value === "object" && !Array.isArray(value)
    ? (value as { readonly [key: string]: CanonicalJson | undefined })
    : {};
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed manifest: ${why}`);
}
