import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { nodeP384 } from "../../../server/src/curves/node_p384.ts";
import { makeProof } from "../../test/boot_proofs.ts";
import { nobleCurves } from "../crypto/noble_curves.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { readAttestationPayload } from "./attestation_document.ts";
import { certificatePem, writeCertificate } from "./certificate.ts";
import { noEndMs } from "./certificate_words.ts";
import { readCoseSign1 } from "./cose_sign1.ts";
import { nobleP384, nobleP384Signer } from "./noble_p384.ts";
import { isIssuedBy, readCertificate, readCertificatePem } from "./read_certificate.ts";
import { softwareWords, writeRootCertificate } from "./software_certificates.ts";

const { root, bootProof } = makeProof();
const document = readAttestationPayload(readCoseSign1(bootProof.document).payload);
const [, intermediate = root] = document.authorities;
const chain = [root, intermediate, document.certificate];

test("Node reads our certificates as we do, and its own chain check accepts them", () => {
  const theirs = chain.map((certificate) => new X509Certificate(certificate));
  const ours = chain.map(readCertificate);
  theirs.forEach((certificate, index) => {
    const issuer = theirs[Math.max(index - 1, 0)] ?? certificate;
    const own = ours[index] ?? readCertificate(root);
    assert.ok(certificate.verify(issuer.publicKey));
    assert.ok(certificate.checkIssued(issuer));
    assert.equal(certificate.ca, own.isAuthority);
    assert.equal(certificate.ca, index < 2);
    assert.equal(Date.parse(certificate.validFrom), own.notBeforeMs);
    assert.equal(Date.parse(certificate.validTo), noEndMs);
    assert.equal(own.notAfterMs, noEndMs);
    assert.match(certificate.subject, /CN=software attestation.*, not a TEE$/);
    assert.ok(isIssuedBy(nodeP384, own, ours[Math.max(index - 1, 0)] ?? own));
  });
});

test("the root says that it is software, and is the same text each time and everywhere", () => {
  const signer = nobleP384Signer(fromHex("0b".repeat(48)));
  const certificate = writeRootCertificate(nobleCurves, "11111111-2222-4333-8444-555555555555", signer);
  assert.equal(
    toHex(nobleCurves.sha256(certificate)),
    "5ef433d66cd8e42a6a164820567e73994fe81d1943ba2d2cdda4ea95854ea61e",
    "a changed root certificate breaks everyone who pinned it",
  );
  const pem = certificatePem(certificate);
  assert.deepEqual(readCertificatePem(pem), certificate);
  assert.equal(new X509Certificate(pem).toString(), pem);
  assert.equal(readCertificate(certificate).commonName, softwareWords.root);
  assert.equal(softwareWords.root, "software attestation, not a TEE");
});

test("PEM that holds anything but one certificate is refused", () => {
  const pem = certificatePem(root);
  for (const text of ["", "x", pem + pem, pem.replace("BEGIN", "END"), `text\n${pem}`, pem.replace("M", "*")]) {
    assert.throws(() => readCertificatePem(text), { name: "Fault", code: "invalid_argument" }, text.slice(0, 20));
  }
});

test("a document's certificate, or one of another name, issues nothing", () => {
  const [rootRead, intermediateRead, leafRead] = chain.map(readCertificate);
  assert.ok(rootRead && intermediateRead && leafRead);
  assert.equal(isIssuedBy(nobleP384, leafRead, rootRead), false, "signed by another");
  assert.equal(isIssuedBy(nobleP384, leafRead, { ...intermediateRead, isAuthority: false }), false);
  assert.equal(isIssuedBy(nobleP384, leafRead, { ...intermediateRead, subject: rootRead.subject }), false);
});

test("times before and after 2050 are written in the form that RFC 5280 demands, and read back", () => {
  const signer = nobleP384Signer(fromHex("0c".repeat(48)));
  const name = { organization: "a", unit: "b", commonName: "c" };
  for (const notAfterMs of [Date.UTC(2049, 11, 31, 23, 59, 59), Date.UTC(2050, 0, 1), noEndMs]) {
    const certificate = writeCertificate(
      nobleCurves,
      { name, signer },
      {
        subject: name,
        publicKey: signer.publicKey,
        notBeforeMs: Date.UTC(2025, 0, 1),
        notAfterMs,
        authoritiesBelow: undefined,
      },
    );
    assert.equal(readCertificate(certificate).notAfterMs, notAfterMs);
    assert.equal(Date.parse(new X509Certificate(certificate).validTo), notAfterMs);
  }
});

test("every bit that is flipped, and every cut, is refused or breaks the signature", () => {
  const issuer = readCertificate(root);
  const counts = { refused: 0, unverified: 0 };
  const judge = (bytes: Uint8Array) => {
    try {
      assert.equal(isIssuedBy(nodeP384, readCertificate(bytes), issuer), false);
      counts.unverified++;
    } catch (error) {
      assert.ok(error instanceof Fault && error.code === "invalid_argument", `${error}`);
      counts.refused++;
    }
  };
  for (let at = 0; at < intermediate.length; at++) {
    for (const bit of [0x01, 0x80]) {
      const bent = Uint8Array.from(intermediate);
      bent[at] = (bent[at] ?? 0) ^ bit;
      judge(bent);
    }
    judge(intermediate.subarray(0, at));
  }
  judge(Uint8Array.of(...intermediate, 0));
  assert.equal(counts.refused + counts.unverified, 3 * intermediate.length + 1);
  assert.ok(counts.refused > 500 && counts.unverified > 500, JSON.stringify(counts));
});
