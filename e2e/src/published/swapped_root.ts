/** The published verifier with one thing changed: the root that it pins. Everything else of it is as it came from npm. */
import { createHash } from "node:crypto";
import { registerHooks } from "node:module";
import { readCertificatePem } from "@keystead/core/attestation/read_certificate.ts";

export type Verifier = Pick<
  typeof import("@turnkey/crypto"),
  "verify" | "verifyAppProofSignature" | "verifyWithQosPolicy"
>;

const mark = "?root=";

/** A second copy of the package's modules for proofs, whose pinned certificate and fingerprint are these. */
export async function verifierWithRoot(pem: string): Promise<Verifier> {
  const fingerprint = createHash("sha256").update(readCertificatePem(pem)).digest("hex").toUpperCase();
  const name = `${mark}${fingerprint}`;
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const isSwapped = context.parentURL?.endsWith(name) === true && specifier === "./constants.mjs";
      return isSwapped ? { ...resolved, url: `${resolved.url}${name}` } : resolved;
    },
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/constants.mjs${name}`)) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array)
        .toString()
        .replace(/(const AWS_ROOT_CERT_PEM = )`[^`]*`/, `$1${JSON.stringify(pem)}`)
        .replace(/(const AWS_ROOT_CERT_SHA256 = )"[^"]*"/, `$1"${fingerprint}"`);
      return { ...loaded, source };
    },
  });
  try {
    const package_ = import.meta.resolve("@turnkey/crypto");
    return (await import(new URL(`proof.mjs${name}`, package_).href)) as Verifier;
  } finally {
    hooks.deregister();
  }
}
