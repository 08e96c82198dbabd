/** Checks a boot proof, and the list of files beside it, under an attestation root that the caller already trusts. */
import type { Curves } from "../crypto/curves.ts";
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";
import {
  type AttestationDocument,
  livePcr,
  pcrLength,
  readAttestationPayload,
  softwarePcrs,
} from "./attestation_document.ts";
import { type BootProof, softwareLabel, softwareModule } from "./boot_proof.ts";
import { readCoseSign1, verifyCoseSign1 } from "./cose_sign1.ts";
import { manifestVersion, readManifest } from "./manifest.ts";
import type { P384 } from "./p384.ts";
import { type Certificate, isIssuedBy, readCertificate } from "./read_certificate.ts";
import { softwareWords } from "./software_certificates.ts";

export type AttestationCrypto = P384 & Pick<Curves, "sha256">;

export type CheckedBoot = {
  /** The one kind there is: no hardware stands behind it. */
  kind: "software";
  timestampMs: number;
  moduleId: string;
};

/** Throws `invalid_argument` with the first thing that is wrong. */
export function verifyBootProof(
  crypto: AttestationCrypto,
  proof: BootProof,
  loadedFiles: Uint8Array,
  root: Uint8Array,
): CheckedBoot {
  const message = readCoseSign1(proof.document);
  const document = readAttestationPayload(message.payload);
  const leaf = verifyChain(crypto, document, root);
  if (!verifyCoseSign1(crypto, leaf.publicKey, message)) throw bad("its document is not signed by its certificate");
  refuseOtherKinds(crypto, proof, document, root);
  if (!sameBytes(document.publicKey, proof.ephemeralKey)) throw bad("its document names another ephemeral key");
  if (document.timestampMs !== proof.createdAtMs) throw bad("its document has another time");
  if (proof.manifestVersion !== manifestVersion) throw bad("its manifest has an unknown version");
  if (!sameBytes(document.userData, crypto.sha256(proof.manifest))) throw bad("its document names another manifest");
  const { pivotHash, rootCertificate } = readManifest(proof.manifest);
  if (!sameBytes(pivotHash, crypto.sha256(loadedFiles))) throw bad("its manifest names another list of files");
  if (!sameBytes(rootCertificate, root)) throw bad("its manifest names another root");
  return { kind: "software", timestampMs: document.timestampMs, moduleId: document.moduleId };
}

/** The certificate of the document, if it leads to `root`: root, any authorities between, and the document's own. */
function verifyChain(crypto: P384, { authorities, certificate, timestampMs }: AttestationDocument, root: Uint8Array) {
  const [first, ...between] = authorities;
  if (first === undefined || !sameBytes(first, root)) throw bad("it does not lead to the given root");
  const chain = [root, ...between, certificate].map(readCertificate);
  chain.forEach((current, index) => {
    const issuer = chain[Math.max(index - 1, 0)] as Certificate;
    if (!isIssuedBy(crypto, current, issuer)) throw bad(`its certificate ${index} is not issued by the one before`);
    const authoritiesBelow = chain.length - 2 - index;
    if (current.isAuthority && current.authoritiesBelow < authoritiesBelow) throw bad("its chain is too long");
    if (timestampMs < current.notBeforeMs || timestampMs > current.notAfterMs) {
      throw bad(`its certificate ${index} was not valid at the time of the document`);
    }
  });
  return chain[chain.length - 1] as Certificate;
}

/** A proof that claims more than software is none of ours, whoever signed it. */
function refuseOtherKinds(
  crypto: AttestationCrypto,
  proof: BootProof,
  { moduleId, pcrs, userData, publicKey }: AttestationDocument,
  root: Uint8Array,
): void {
  const saysSo =
    readCertificate(root).commonName === softwareWords.root &&
    moduleId.startsWith(softwareModule) &&
    proof.deploymentLabel === softwareLabel;
  if (!saysSo) throw bad("it does not say that it is software attestation");
  const expected = softwarePcrs(crypto, userData, publicKey);
  pcrs.forEach((pcr, index) => {
    if (sameBytes(pcr, expected[index] ?? new Uint8Array(pcrLength))) return;
    throw bad(index === livePcr ? "register 17 names another manifest or key" : `register ${index} is not zero`);
  });
}

function bad(why: string): Fault {
  return new Fault("invalid_argument", `bad boot proof: ${why}`);
}
