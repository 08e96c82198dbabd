/** The fixed parts of X.509 (RFC 5280) certificates for P-384 keys (RFC 5480), which writer and reader share. */
import { derTag, writeDer, writeObjectId } from "../encoding/der_values.ts";

/** SEQUENCE { id-ecPublicKey, secp384r1 } */
export const p384KeyAlgorithm = writeDer(
  derTag.sequence,
  writeObjectId("1.2.840.10045.2.1"),
  writeObjectId("1.3.132.0.34"),
);

/** SEQUENCE { ecdsa-with-SHA384 } */
export const ecdsaSha384 = writeDer(derTag.sequence, writeObjectId("1.2.840.10045.4.3.3"));

export const nameParts = {
  organization: writeObjectId("2.5.4.10"),
  unit: writeObjectId("2.5.4.11"),
  commonName: writeObjectId("2.5.4.3"),
} as const;

export const extensionIds = {
  subjectKeyId: writeObjectId("2.5.29.14"),
  keyUsage: writeObjectId("2.5.29.15"),
  basicConstraints: writeObjectId("2.5.29.19"),
  authorityKeyId: writeObjectId("2.5.29.35"),
} as const;

/** Who a certificate is about, or who signed it. */
export type CertificateName = { organization: string; unit: string; commonName: string };

/** RFC 5280, section 4.1.2.5: the time of certificates that have no end. */
export const noEndMs = Date.UTC(9999, 11, 31, 23, 59, 59);
