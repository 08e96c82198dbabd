/** Reads X.509 version 3 certificates of P-384 keys that are signed with ECDSA and SHA-384, and checks one under its issuer. */
import { fromBase64url } from "../encoding/base64url.ts";
import { sameBytes } from "../encoding/bytes.ts";
import {
  contextTag,
  type DerValue,
  derTag,
  readBitString,
  readDer,
  readDerInteger,
  readDerValues,
} from "../encoding/der_values.ts";
import { Fault } from "../fault.ts";
import { ecdsaSha384, extensionIds, nameParts, p384KeyAlgorithm } from "./certificate_words.ts";
import { isP384Encoding, type P384 } from "./p384.ts";

export type Certificate = {
  /** What the signature is over. */
  signed: Uint8Array;
  /** r‖s, 96 bytes. */
  signature: Uint8Array;
  /** Names as DER: two names are the same if their bytes are. */
  issuer: Uint8Array;
  subject: Uint8Array;
  /** The subject's common name, or an empty text. */
  commonName: string;
  notBeforeMs: number;
  notAfterMs: number;
  publicKey: Uint8Array;
  /** Whether it may sign certificates, and how many authorities may stand below. */
  isAuthority: boolean;
  authoritiesBelow: number;
};

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed certificate: ${why}`);
}

export function readCertificate(bytes: Uint8Array): Certificate {
  const [signed, algorithm, signature, ...rest] = readDerValues(readDer(bytes, derTag.sequence).content);
  if (signed === undefined || algorithm === undefined || signature === undefined || rest.length > 0) {
    throw malformed("not three parts");
  }
  if (signed.tag !== derTag.sequence) throw malformed("not a sequence");
  if (!sameBytes(algorithm.whole, ecdsaSha384)) throw malformed("not signed with ECDSA and SHA-384");
  return { signed: signed.whole, signature: readSignature(signature), ...readSigned(signed.content) };
}

/** The one certificate in a PEM text. */
export function readCertificatePem(text: string): Uint8Array<ArrayBuffer> {
  const inside = /^\s*-----BEGIN CERTIFICATE-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END CERTIFICATE-----\s*$/.exec(
    text,
  )?.[1];
  if (inside === undefined) throw malformed("not exactly one certificate in PEM");
  return fromBase64url(inside.replaceAll(/\s/g, ""));
}

/** Whether `issuer` may have signed `certificate`, and did. Times are the caller's to check. */
export function isIssuedBy(curve: P384, certificate: Certificate, issuer: Certificate): boolean {
  return (
    issuer.isAuthority &&
    sameBytes(certificate.issuer, issuer.subject) &&
    curve.verifyP384(issuer.publicKey, certificate.signed, certificate.signature)
  );
}

function readSignature(value: DerValue): Uint8Array {
  const [r, s, ...rest] = readDerValues(readDer(readBitString(value), derTag.sequence).content);
  if (r === undefined || s === undefined || rest.length > 0) throw malformed("not a signature of two numbers");
  const signature = new Uint8Array(96);
  signature.set(readDerInteger(r, 48), 0);
  signature.set(readDerInteger(s, 48), 48);
  return signature;
}

function readSigned(content: Uint8Array): Omit<Certificate, "signed" | "signature"> {
  const [version, serial, algorithm, issuer, validity, subject, key, extensions, ...rest] = readDerValues(content);
  if (issuer === undefined || validity === undefined || subject === undefined || key === undefined) {
    throw malformed("too few parts");
  }
  if (version?.tag !== contextTag(0, true) || readDer(version.content, derTag.integer).content[0] !== 2) {
    throw malformed("not version 3");
  }
  if (serial === undefined) throw malformed("no serial number");
  readDerInteger(serial, 20);
  if (algorithm === undefined || !sameBytes(algorithm.whole, ecdsaSha384)) throw malformed("two different algorithms");
  if (extensions?.tag !== contextTag(3, true) || rest.length > 0) throw malformed("no extensions, or more than that");
  const times = readDerValues(validity.content);
  const [notBefore, notAfter] = times;
  if (notBefore === undefined || notAfter === undefined || times.length > 2) throw malformed("not two times");
  return {
    issuer: issuer.whole,
    subject: subject.whole,
    commonName: readCommonName(subject),
    notBeforeMs: readTime(notBefore),
    notAfterMs: readTime(notAfter),
    publicKey: readPublicKey(key),
    ...readExtensions(readDer(extensions.content, derTag.sequence).content),
  };
}

function readCommonName(subject: DerValue): string {
  for (const part of readDerValues(subject.content)) {
    const [id, value] = readDerValues(readDer(part.content, derTag.sequence).content);
    if (id !== undefined && value !== undefined && sameBytes(id.whole, nameParts.commonName)) {
      return fromUtf8(value.content);
    }
  }
  return "";
}

function fromUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed("text that is not UTF-8");
  }
}

function readTime({ tag, content }: DerValue): number {
  const text = fromUtf8(content);
  const digits = tag === derTag.utcTime ? `${Number(text.slice(0, 2)) < 50 ? 20 : 19}${text}` : text;
  const fields = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if ((tag !== derTag.utcTime && tag !== derTag.generalizedTime) || fields === null) throw malformed("not a time");
  const [, year, month, day, hour, minute, second] = fields;
  const timeMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(timeMs)) throw malformed("not a time");
  return timeMs;
}

function readPublicKey({ content }: DerValue): Uint8Array {
  const [algorithm, bits, ...rest] = readDerValues(content);
  if (algorithm === undefined || bits === undefined || rest.length > 0) throw malformed("not a key");
  const publicKey = readBitString(bits);
  if (!sameBytes(algorithm.whole, p384KeyAlgorithm) || !isP384Encoding(publicKey)) throw malformed("not a P-384 key");
  return publicKey;
}

/** Those that matter here are read. One that is marked as critical and not known makes the certificate unusable. */
function readExtensions(content: Uint8Array): Pick<Certificate, "isAuthority" | "authoritiesBelow"> {
  let authoritiesBelow: number | undefined;
  let signsCertificates = true;
  for (const extension of readDerValues(content)) {
    const parts = readDerValues(extension.content);
    const [id, second] = parts;
    const isCritical = second?.tag === derTag.boolean;
    const value = parts[isCritical ? 2 : 1];
    if (id === undefined || value?.tag !== derTag.octetString || parts.length > (isCritical ? 3 : 2)) {
      throw malformed("not an extension");
    }
    if (sameBytes(id.whole, extensionIds.basicConstraints)) authoritiesBelow = readConstraints(value.content);
    else if (sameBytes(id.whole, extensionIds.keyUsage)) signsCertificates = mayCertify(value.content);
    else if (isCritical && !isKeyId(id.whole)) throw malformed("an unknown critical extension");
  }
  const isAuthority = authoritiesBelow !== undefined && signsCertificates;
  return { isAuthority, authoritiesBelow: authoritiesBelow ?? 0 };
}

function isKeyId(id: Uint8Array): boolean {
  return sameBytes(id, extensionIds.subjectKeyId) || sameBytes(id, extensionIds.authorityKeyId);
}

function readConstraints(bytes: Uint8Array): number | undefined {
  const [isAuthority, below] = readDerValues(readDer(bytes, derTag.sequence).content);
  if (isAuthority === undefined) return undefined;
  if (isAuthority.tag !== derTag.boolean || isAuthority.content[0] !== 0xff) throw malformed("not constraints");
  return below === undefined ? 255 : (readDerInteger(below, 1)[0] ?? 0);
}

/** Bit 5 from the left, behind the byte that counts unused bits. */
function mayCertify(bytes: Uint8Array): boolean {
  const { tag, content } = readDer(bytes);
  if (tag !== derTag.bitString) throw malformed("not a usage");
  return ((content[1] ?? 0) & 0x04) !== 0;
}
