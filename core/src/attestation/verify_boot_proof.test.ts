import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { nodeP384 } from "../../../server/src/curves/node_p384.ts";
import { attestationCrypto, makeProof, wireOf } from "../../test/boot_proofs.ts";
import { nobleCurves } from "../crypto/noble_curves.ts";
import { Fault } from "../fault.ts";
import { verifyAppProof } from "./app_proof.ts";
import { livePcrOf, pcrCount, readAttestationPayload } from "./attestation_document.ts";
import { type BootProof, decodeBootProof, encodeBootProof } from "./boot_proof.ts";
import { readCoseSign1, writeCoseSign1 } from "./cose_sign1.ts";
import { envelopeOf, readEnvelope, readManifest, writeManifest } from "./manifest.ts";
import { verifyBootProof } from "./verify_boot_proof.ts";
import { bootProofFromWire } from "./wire_boot_proof.ts";

const made = makeProof();
const other = makeProof();
const { root, bootProof, appProof } = made;

const refusal = (why: string) => ({ name: "Fault", code: "invalid_argument", message: `bad boot proof: ${why}` });

test("a boot proof holds under its root, by OpenSSL and by noble alike, and says software", () => {
  const expected = {
    kind: "software",
    timestampMs: bootProof.createdAtMs,
    moduleId: "software-attestor:00ff",
  };
  assert.deepEqual(verifyBootProof(attestationCrypto, bootProof, made.loadedFiles, root), expected);
  assert.deepEqual(verifyBootProof({ ...nodeP384, ...nodeCurves }, bootProof, made.loadedFiles, root), expected);
  assert.deepEqual(decodeBootProof(encodeBootProof(bootProof)), bootProof);
});

test("another deployment's root does not vouch for it, and is not believed inside of it", () => {
  assert.throws(
    () => verifyBootProof(attestationCrypto, bootProof, made.loadedFiles, other.root),
    refusal("it does not lead to the given root"),
  );
  const { authorities } = readAttestationPayload(readCoseSign1(bootProof.document).payload);
  const swapped = made.withDocument({ authorities: [other.root, ...authorities.slice(1)] });
  assert.throws(
    () => verifyBootProof(attestationCrypto, swapped, made.loadedFiles, other.root),
    refusal("its certificate 1 is not issued by the one before"),
  );
});

const zero = new Uint8Array(48);
const { pcrs } = readAttestationPayload(readCoseSign1(bootProof.document).payload);

test("each thing that is wrong is named", () => {
  const manifest = writeManifest({
    deploymentId: "11111111-2222-4333-8444-555555555555",
    quorumKey: new Uint8Array(130),
    pivotHash: nobleCurves.sha256(made.loadedFiles),
    args: [],
    rootCertificate: other.root,
  });
  const anotherRoot = made.withDocument({
    userData: nobleCurves.sha256(manifest),
    pcrs: pcrs.map((pcr, index) =>
      index === 17 ? livePcrOf(attestationCrypto, nobleCurves.sha256(manifest), bootProof.ephemeralKey) : pcr,
    ),
  });
  const cases: [BootProof, string][] = [
    [{ ...bootProof, ephemeralKey: other.bootProof.ephemeralKey }, "its document names another ephemeral key"],
    [{ ...bootProof, createdAtMs: bootProof.createdAtMs + 1 }, "its document has another time"],
    [{ ...bootProof, manifestVersion: "v1" }, "its manifest has an unknown version"],
    [{ ...bootProof, manifest: other.bootProof.manifest }, "its document names another manifest"],
    [{ ...bootProof, deploymentLabel: "r2025.9.2" }, "it does not say that it is software attestation"],
    [made.withDocument({ moduleId: "i-0abc-enc0123" }), "it does not say that it is software attestation"],
    [made.withDocument({ pcrs: pcrs.map(() => zero) }), "register 17 names another manifest or key"],
    [
      made.withDocument({ pcrs: pcrs.map((pcr, index) => (index === 3 ? zero.map(() => 1) : pcr)) }),
      "register 3 is not zero",
    ],
    [{ ...anotherRoot, manifest }, "its manifest names another root"],
    [made.withDocument({ timestampMs: 0 }), "its certificate 0 was not valid at the time of the document"],
    [
      { ...bootProof, document: writeCoseSign1(other.signers.document, readCoseSign1(bootProof.document).payload) },
      "its document is not signed by its certificate",
    ],
  ];
  for (const [proof, why] of cases) {
    assert.throws(() => verifyBootProof(attestationCrypto, proof, made.loadedFiles, root), refusal(why), why);
  }
});

test("a chain that is longer than its authorities allow is refused", () => {
  const { authorities, certificate } = readAttestationPayload(readCoseSign1(bootProof.document).payload);
  const [, intermediate = root] = authorities;
  for (const between of [[intermediate, certificate], [intermediate, intermediate], []]) {
    const proof = made.withDocument({ authorities: [root, ...between] });
    assert.throws(() => verifyBootProof(attestationCrypto, proof, made.loadedFiles, root), {
      code: "invalid_argument",
    });
  }
});

test("no byte of a document, a manifest or a key can be changed", () => {
  let refused = 0;
  for (const part of ["document", "manifest", "ephemeralKey"] as const) {
    for (let at = 0; at < bootProof[part].length; at += 37) {
      const bent = Uint8Array.from(bootProof[part]);
      bent[at] = (bent[at] ?? 0) ^ 0x10;
      assert.throws(
        () => verifyBootProof({ ...nodeP384, ...nodeCurves }, { ...bootProof, [part]: bent }, made.loadedFiles, root),
        (error) => error instanceof Fault && error.code === "invalid_argument",
        `${part} ${at}`,
      );
      refused++;
    }
  }
  assert.ok(refused > 100, String(refused));
});

test("the document has 32 registers that are zero but for 17, no nonce, and its root first", () => {
  const document = readAttestationPayload(readCoseSign1(bootProof.document).payload);
  assert.equal(document.pcrs.length, pcrCount);
  document.pcrs.forEach((pcr, index) => {
    assert.equal(
      pcr.every((byte) => byte === 0),
      index !== 17,
    );
  });
  assert.deepEqual(document.authorities[0], root);
  assert.equal(document.authorities.length, 2);
});

test("the manifest is canonical JSON of sorted keys, and any other spelling of it is refused", () => {
  const text = new TextDecoder().decode(bootProof.manifest);
  assert.match(
    text,
    /^\{"enclave":\{"pcr0":"0{96}","pcr1":"0{96}","pcr2":"0{96}","pcr3":"0{96}","rootCertificate":"[0-9a-f]+"\},"manifestSet":\{"members":\[\],"threshold":"0"\},"namespace":\{"name":"keystead\/[0-9a-f-]{36}","nonce":"0","quorumKey":"04[0-9a-f]{258}"\},"pivot":\{"args":\["--permission"\],"hash":"[0-9a-f]{64}","restart":"always"\},"shareSet":\{"members":\[\],"threshold":"0"\}\}$/,
  );
  for (const bent of [` ${text}`, text.replace('"nonce":"0"', '"nonce":0'), text.replace('"0"', '"\\u0030"')]) {
    assert.throws(() => readManifest(new TextEncoder().encode(bent)), { name: "Fault", code: "invalid_argument" });
  }
});

test("an envelope holds the manifest and the list that it names, and nothing else", () => {
  const { manifest } = bootProof;
  const envelope = envelopeOf(manifest, made.loadedFiles);
  assert.deepEqual(readEnvelope(envelope), { manifest, loadedFiles: made.loadedFiles });
  const more = new TextDecoder().decode(envelope).replace(/^\{/, '{"a":"b",');
  assert.throws(() => readEnvelope(new TextEncoder().encode(more)), {
    code: "invalid_argument",
    message: "malformed manifest: an envelope that holds more",
  });
  assert.throws(
    () => verifyBootProof(attestationCrypto, bootProof, made.loadedFiles.subarray(1), root),
    refusal("its manifest names another list of files"),
  );
});

test("what the API answers is read back; another envelope, two documents or none are refused", () => {
  const wire = wireOf(bootProof, made.loadedFiles);
  assert.deepEqual(bootProofFromWire(wire), { proof: bootProof, loadedFiles: made.loadedFiles });
  const { cloudAttestationDocB64, ...without } = wire;
  assert.deepEqual(bootProofFromWire({ ...without, someAttestationDocB64: cloudAttestationDocB64 }).proof, bootProof);
  const { qosManifestEnvelopeB64 } = wireOf(other.bootProof, other.loadedFiles);
  for (const [bent, why] of [
    [{ ...wire, qosManifestEnvelopeB64 }, "its envelope holds another manifest"],
    [without, "it has not exactly one attestation document"],
    [{ ...wire, otherAttestationDocB64: "" }, "it has not exactly one attestation document"],
    [{ ...wire, createdAt: "2026" }, "`createdAt` is not a time"],
    [{ ...wire, owner: 1 }, "`owner` is not text"],
    [undefined, "it has not exactly one attestation document"],
  ] as const) {
    assert.throws(() => bootProofFromWire(bent), {
      code: "invalid_argument",
      message: `malformed boot proof: ${why}`,
    });
  }
});

test("an app proof's signature holds; another text, key, length or scheme does not", () => {
  assert.deepEqual(verifyAppProof(nobleCurves, appProof), bootProof.ephemeralKey);
  assert.deepEqual(verifyAppProof(nodeCurves, appProof), bootProof.ephemeralKey);
  for (const [change, why] of [
    [{ proofPayload: `${appProof.proofPayload} ` }, "its signature does not hold"],
    [{ publicKey: other.appProof.publicKey }, "its signature does not hold"],
    [{ signature: appProof.signature.slice(2) }, "its key or its signature has a wrong length"],
    [{ publicKey: appProof.publicKey.slice(130) }, "its key or its signature has a wrong length"],
    [{ publicKey: appProof.publicKey.toUpperCase() }, "not lower-case hex"],
    [{ scheme: "SIGNATURE_SCHEME_TK_API_P256" }, "it has an unknown scheme"],
  ] as const) {
    assert.throws(() => verifyAppProof(nobleCurves, { ...appProof, ...change }), {
      name: "Fault",
      code: "invalid_argument",
      message: `bad app proof: ${why}`,
    });
  }
});
