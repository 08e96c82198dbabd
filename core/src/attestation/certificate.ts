/** Writes X.509 version 3 certificates for P-384 keys. SPEC.md has the fields. */
import type { Curves } from "../crypto/curves.ts";
import { toBase64url } from "../encoding/base64url.ts";
import { contextTag, derTag, writeDer, writeDerInteger } from "../encoding/der_values.ts";
import { type CertificateName, ecdsaSha384, extensionIds, nameParts, p384KeyAlgorithm } from "./certificate_words.ts";
import type { P384Signer } from "./p384.ts";

export type CertificateFields = {
  subject: CertificateName;
  /** 97 bytes. */
  publicKey: Uint8Array;
  notBeforeMs: number;
  notAfterMs: number;
  /** How many authorities may stand below this one; undefined of a certificate that may sign none. */
  authoritiesBelow: number | undefined;
};

export type Issuer = { name: CertificateName; signer: P384Signer };

type Hash = Pick<Curves, "sha256">;

const utf8 = new TextEncoder();

/** The certificate as DER. A key has one certificate, so the key gives the serial number. */
export function writeCertificate(hash: Hash, issuer: Issuer, fields: CertificateFields): Uint8Array<ArrayBuffer> {
  const signed = writeDer(
    derTag.sequence,
    writeDer(contextTag(0, true), writeDerInteger(Uint8Array.of(2))),
    writeDerInteger(serialOf(hash, fields.publicKey)),
    ecdsaSha384,
    writeName(issuer.name),
    writeDer(derTag.sequence, writeTime(fields.notBeforeMs), writeTime(fields.notAfterMs)),
    writeName(fields.subject),
    writeDer(derTag.sequence, p384KeyAlgorithm, writeBits(0, fields.publicKey)),
    writeDer(contextTag(3, true), writeDer(derTag.sequence, ...writeExtensions(hash, issuer, fields))),
  );
  const signature = issuer.signer.sign(signed);
  const half = signature.length / 2;
  const numbers = [signature.subarray(0, half), signature.subarray(half)].map(writeDerInteger);
  return writeDer(derTag.sequence, signed, ecdsaSha384, writeBits(0, writeDer(derTag.sequence, ...numbers)));
}

/** As text with lines of 64 characters (RFC 7468). */
export function certificatePem(certificate: Uint8Array): string {
  const text = toBase64url(certificate).replaceAll("-", "+").replaceAll("_", "/");
  const padded = text.padEnd(Math.ceil(text.length / 4) * 4, "=");
  return `-----BEGIN CERTIFICATE-----\n${padded.replaceAll(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`;
}

/** 16 bytes of a digest, with the first digit so that the number is positive and always as long. */
function serialOf({ sha256 }: Hash, publicKey: Uint8Array): Uint8Array {
  const serial = Uint8Array.from(sha256(publicKey).subarray(0, 16));
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40;
  return serial;
}

/** RFC 7093, section 2, method 1. */
function keyIdOf({ sha256 }: Hash, publicKey: Uint8Array): Uint8Array {
  return sha256(publicKey).subarray(0, 20);
}

function writeName(name: CertificateName): Uint8Array<ArrayBuffer> {
  const parts = (Object.keys(nameParts) as (keyof CertificateName)[]).map((part) =>
    writeDer(derTag.set, writeDer(derTag.sequence, nameParts[part], writeDer(derTag.utf8, utf8.encode(name[part])))),
  );
  return writeDer(derTag.sequence, ...parts);
}

/** RFC 5280, section 4.1.2.5: two digits of the year until 2049. */
function writeTime(timeMs: number): Uint8Array<ArrayBuffer> {
  const digits = `${new Date(timeMs).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`;
  const isShort = new Date(timeMs).getUTCFullYear() < 2050;
  return writeDer(isShort ? derTag.utcTime : derTag.generalizedTime, utf8.encode(isShort ? digits.slice(2) : digits));
}

function writeBits(unused: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return writeDer(derTag.bitString, Uint8Array.of(unused), bytes);
}

const isCritical = writeDer(derTag.boolean, Uint8Array.of(0xff));
/** Bits from the left: 0 digitalSignature, 5 keyCertSign. */
const signsDocuments = writeBits(7, Uint8Array.of(0x80));
const signsCertificates = writeBits(2, Uint8Array.of(0x04));

function writeExtensions(hash: Hash, issuer: Issuer, { publicKey, authoritiesBelow }: CertificateFields): Uint8Array[] {
  const constraints =
    authoritiesBelow === undefined ? [] : [isCritical, writeDerInteger(Uint8Array.of(authoritiesBelow))];
  const usage = authoritiesBelow === undefined ? signsDocuments : signsCertificates;
  const subjectKeyId = writeDer(derTag.octetString, keyIdOf(hash, publicKey));
  const authorityKeyId = writeDer(contextTag(0, false), keyIdOf(hash, issuer.signer.publicKey));
  return [
    writeExtension(extensionIds.basicConstraints, true, writeDer(derTag.sequence, ...constraints)),
    writeExtension(extensionIds.keyUsage, true, usage),
    writeExtension(extensionIds.subjectKeyId, false, subjectKeyId),
    writeExtension(extensionIds.authorityKeyId, false, writeDer(derTag.sequence, authorityKeyId)),
  ];
}

function writeExtension(id: Uint8Array, critical: boolean, value: Uint8Array): Uint8Array {
  return writeDer(derTag.sequence, id, ...(critical ? [isCritical] : []), writeDer(derTag.octetString, value));
}
