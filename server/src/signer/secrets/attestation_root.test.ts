import assert from "node:assert/strict";
import { randomBytes, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { nobleP384 } from "@keystead/core/attestation/noble_p384.ts";
import { readCertificate } from "@keystead/core/attestation/read_certificate.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { sha256 } from "../../state/digest.ts";
import { createAttestationRoot } from "./attestation_root.ts";
import { createKeyring, deploymentName, openKeyring } from "./keyring.ts";

const deploymentId = "11111111-2222-4333-8444-555555555555";

test("one secret has one root: the same certificate at each start, for ever", () => {
  const make = (byte: number) => createAttestationRoot(new Uint8Array(32).fill(byte), deploymentId)();
  assert.equal(
    toHex(sha256(make(1).certificate)),
    "d8c94b424e95810b3c9a46b40aa18af6b1712afe6e13dec2f817ace22dc7ccd1",
    "everybody who pinned a root relies on this",
  );
  assert.deepEqual(make(1).certificate, make(1).certificate);
  assert.notDeepEqual(make(1).certificate, make(2).certificate);
});

test("the certificate is the key's own, and what the key signs verifies under it", () => {
  const { signer, certificate } = createAttestationRoot(randomBytes(32), deploymentId)();
  const theirs = new X509Certificate(certificate);
  assert.ok(theirs.verify(theirs.publicKey) && theirs.ca);
  const { publicKey } = readCertificate(certificate);
  assert.deepEqual(publicKey, signer.publicKey);
  const message = randomBytes(100);
  assert.ok(nobleP384.verifyP384(publicKey, message, signer.sign(message)));
});

test("a keyring has the same root each time that it is opened, and the root names its deployment", () => {
  const rootKey = randomBytes(32);
  const sealed = createKeyring(rootKey, 1);
  const [first, second] = [openKeyring(rootKey, 1, sealed), openKeyring(rootKey, 1, sealed)];
  assert.deepEqual(first.attestationRoot().certificate, second.attestationRoot().certificate);
  const { subject } = new X509Certificate(first.attestationRoot().certificate);
  assert.match(subject, new RegExp(`OU=${deploymentName(first)}\nCN=software attestation\\\\, not a TEE$`));
});
