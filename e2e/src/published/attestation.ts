/** App proofs and boot proofs, as the published verifier judges them: it takes the signature, and never software for hardware. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { verify, verifyAppProofSignature, verifyWithQosPolicy } from "@turnkey/crypto";
import type { KeysteadServer } from "../keystead_server.ts";
import type { Person } from "./clients.ts";
import { verifierWithRoot } from "./swapped_root.ts";

export async function attestation(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const { organizationId, http } = root;
  const { activity } = await http.createWallet({
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    timestampMs: String(Date.now()),
    organizationId,
    parameters: {
      walletName: randomUUID(),
      accounts: [
        {
          curve: "CURVE_SECP256K1",
          pathFormat: "PATH_FORMAT_BIP32",
          path: "m/44'/60'/0'/0/0",
          addressFormat: "ADDRESS_FORMAT_ETHEREUM",
        },
      ],
    },
    generateAppProofs: true,
  });
  const [appProof] = activity.appProofs ?? [];
  assert.ok(appProof);
  const { bootProof } = await http.getBootProof({ organizationId, ephemeralKey: appProof.publicKey });
  const answer = await fetch(`${server.url}/.well-known/keystead.json`);
  const { attestationRoot } = (await answer.json()) as { attestationRoot: string };

  const policy = {
    allowedManifestSha256: [
      new Uint8Array(createHash("sha256").update(Buffer.from(bootProof.qosManifestB64, "base64")).digest()),
    ],
    expectedPcrs: Object.fromEntries([0, 1, 2, 3].map((index) => [index, new Uint8Array(48)])),
  } as unknown as Parameters<typeof verifyWithQosPolicy>[2];

  await t.test(
    "unmodified, it takes the app proof's signature and refuses the chain: software is no hardware",
    async () => {
      verifyAppProofSignature(appProof);
      const refusal = {
        message: "Certificate chain verification failed: Incorrect number of certs in X509 Chain. Expected 3, got 2",
      };
      await assert.rejects(verify(appProof, bootProof), refusal);
      await assert.rejects(verifyWithQosPolicy(appProof, bootProof, policy), refusal);
    },
  );

  await t.test("with our root in the place of the pinned one it takes all, by both of its functions", async () => {
    const swapped = await verifierWithRoot(attestationRoot);
    await swapped.verify(appProof, bootProof);
    await swapped.verifyWithQosPolicy(appProof, bootProof, policy);
    const { bootProof: latest } = await http.getLatestBootProof({ organizationId, appName: "signer" });
    assert.deepEqual(latest, bootProof);
    await swapped.verify(appProof, latest);
  });

  await t.test("with our root it still refuses another payload, another manifest and another policy", async () => {
    const swapped = await verifierWithRoot(attestationRoot);
    const changed = { ...appProof, proofPayload: `${appProof.proofPayload} ` };
    await assert.rejects(swapped.verify(changed, bootProof), { message: "Signature verification failed" });
    const qosManifestB64 = Buffer.from("{}").toString("base64");
    await assert.rejects(swapped.verify(appProof, { ...bootProof, qosManifestB64 }), {
      message: /^attestationDoc's user_data doesn't match the hash of the manifest/,
    });
    const others = { ...policy, allowedManifestSha256: [new Uint8Array(32)] };
    await assert.rejects(swapped.verifyWithQosPolicy(appProof, bootProof, others), {
      message: /^QOS manifest digest is not allowed by policy/,
    });
  });
}
