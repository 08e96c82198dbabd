/** get_boot_proof, get_latest_boot_proof: the same for everybody, and verified under the root that the server publishes. */
import assert from "node:assert/strict";
import { nobleP384 } from "@keystead/core/attestation/noble_p384.ts";
import { readCertificatePem } from "@keystead/core/attestation/read_certificate.ts";
import { verifyBootProof } from "@keystead/core/attestation/verify_boot_proof.ts";
import { bootProofFromWire } from "@keystead/core/attestation/wire_boot_proof.ts";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { invalid, notFound, unknownKey } from "../refusals.ts";
import { assertAccepted, assertRefused } from "../wire.ts";
import { queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";

async function published({ url }: Fixture): Promise<{ apps: { name: string; id: string }[]; attestationRoot: string }> {
  return (await (await fetch(`${url}/.well-known/keystead.json`)).json()) as never;
}

async function checkProof({ bootProof, ...nothing }: Json, fixture: Fixture): Promise<void> {
  assert.deepEqual(nothing, {});
  const root = readCertificatePem((await published(fixture)).attestationRoot);
  const { proof, loadedFiles } = bootProofFromWire(bootProof);
  const checked = verifyBootProof({ ...nobleP384, ...nobleCurves }, proof, loadedFiles, root);
  assert.equal(checked.kind, "software");
  assert.match(new TextDecoder().decode(loadedFiles), /^[0-9a-f]{64} {2}server\/(src|build)\/signer\/main\.(ts|js)$/m);
  assert.equal(bootProof.deploymentLabel, "software-attestation");
}

const latestOf = async (fixture: Fixture): Promise<Json> =>
  (await fixture.ask("get_latest_boot_proof", { appName: "signer" })).bootProof;

export const getBootProof = queryEntry<{ ephemeralKey: string }>({
  good: async (fixture) => ({ ephemeralKey: (await latestOf(fixture)).ephemeralPublicKeyHex }),
  required: ["ephemeralKey"],
  answer: async ({ ephemeralKey }, answer, fixture) => {
    assert.equal(answer.bootProof.ephemeralPublicKeyHex, ephemeralKey);
    await checkProof(answer, fixture);
  },
  bad: [
    {
      name: "a key of no start",
      bend: () => ({ ephemeralKey: "04".repeat(130) }),
      refusal: notFound("no start of the signer had this ephemeral key"),
    },
    {
      name: "no key at all",
      bend: () => ({ ephemeralKey: "" }),
      refusal: invalid("invalid request body: field `ephemeralKey` must not have fewer than 1 characters"),
    },
  ],
  foreign: [],
});

export const getLatestBootProof = queryEntry<{ appName: string }>({
  good: () => ({ appName: "signer" }),
  required: ["appName"],
  answer: (_, answer, fixture) => checkProof(answer, fixture),
  bad: [
    {
      name: "an app that does not run here",
      bend: () => ({ appName: "tls-fetcher" }),
      refusal: notFound("there is no app `tls-fetcher`"),
    },
    {
      name: "no name at all",
      bend: () => ({ appName: "" }),
      refusal: invalid("invalid request body: field `appName` must not have fewer than 1 characters"),
    },
  ],
  foreign: [],
  also: {
    "every app that is published is this signer, by its name and by its id": async (fixture) => {
      const { apps } = await published(fixture);
      assert.deepEqual(
        apps.map(({ name }) => name),
        ["signer", "notarizer", "ump", "evm-parser"],
      );
      assert.equal(new Set(apps.map(({ id }) => id)).size, 4);
      const proof = await latestOf(fixture);
      for (const appName of apps.flatMap(({ name, id }) => [name, id, id.toUpperCase()])) {
        assert.deepEqual((await fixture.ask("get_latest_boot_proof", { appName })).bootProof, proof);
      }
    },
    "a published client gets its own name for the document": async (fixture) => {
      const { organizationId, root } = fixture.place;
      const body = { organizationId, appName: "signer" };
      const path = "get_latest_boot_proof";
      const answer = await fixture.send({ kind: "query", path, body, key: root.p256, spelling: "published" });
      assertAccepted(answer);
      const { cloudAttestationDocB64, ...rest } = await latestOf(fixture);
      assert.deepEqual(answer.json.bootProof, { ...rest, awsAttestationDocB64: cloudAttestationDocB64 });
    },
    "another organization's key opens nothing here": async (fixture) => {
      const { organizationId } = fixture.place;
      const body = { organizationId, appName: "signer" };
      const key = fixture.other.root.p256;
      const answer = await fixture.send({ kind: "query", path: "get_latest_boot_proof", body, key });
      assertRefused(answer, unknownKey(key, organizationId));
    },
  },
});
