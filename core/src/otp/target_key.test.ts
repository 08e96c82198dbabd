import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { nodeHpke } from "../../../server/src/curves/node_hpke.ts";
import { createMac } from "../../../server/src/state/digest.ts";
import { p256Key, signerOf } from "../../test/otp/bases.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { toHex } from "../encoding/hex.ts";
import type { KeyedHash } from "./one_time_code.ts";
import { deriveTargetKey, makeOtpTargetBundle } from "./target_key.ts";

const keyedHash = createMac(new Uint8Array(32).fill(4));
const otpId = new Uint8Array(16).fill(1);
const keyOf = (hash: KeyedHash, id = otpId) => nodeHpke.exportKey(deriveTargetKey(nodeHpke, hash, id));

test("the target key is the same whenever it is derived, and another for another code or secret", () => {
  const key = keyOf(keyedHash);
  assert.deepEqual(keyOf(keyedHash), key);
  assert.notDeepEqual(keyOf(keyedHash, new Uint8Array(16).fill(2)), key);
  assert.notDeepEqual(keyOf(createMac(new Uint8Array(32))), key);
  assert.deepEqual(key, keyedHash(Uint8Array.of(...otpId, 0, 0, 0, 0)), "the first block, where that is a key");
});

test("a block that is no private key is passed over, and what was imported is wiped", () => {
  const given: Uint8Array[] = [];
  const hash: KeyedHash = (content) => {
    const block = content.at(-1) ?? 0;
    const bytes = block === 0 ? new Uint8Array(32).fill(0xff) : block === 1 ? new Uint8Array(32) : keyedHash(content);
    given.push(bytes);
    return bytes;
  };
  assert.deepEqual(keyOf(hash), keyedHash(Uint8Array.of(...otpId, 0, 0, 0, 2)));
  assert.ok(given.every((bytes) => bytes.every((byte) => byte === 0)));
});

test("the bundle names the target, the organization and no user, and is signed by the key that it shows", () => {
  const signer = signerOf(p256Key(seededRandom(1)));
  const targetPublicKey = nodeHpke.publicKey(deriveTargetKey(nodeHpke, keyedHash, otpId));
  const organizationId = "7ff189fb-df7d-452e-8540-57632e380b77";
  const bundle = JSON.parse(makeOtpTargetBundle(signer, { organizationId, targetPublicKey })) as Record<string, string>;
  assert.deepEqual(Object.keys(bundle), ["version", "data", "dataSignature", "enclaveQuorumPublic"]);
  assert.equal(bundle.version, "v1.0.0");
  assert.equal(bundle.enclaveQuorumPublic, toHex(signer.publicKey));
  const data = Buffer.from(bundle.data ?? "", "hex");
  assert.equal(
    data.toString(),
    `{"targetPublic":"${toHex(targetPublicKey)}","organizationId":"${organizationId}","userId":""}`,
  );
  const signature = Buffer.from(bundle.dataSignature ?? "", "hex");
  assert.equal(p256.verify(signature, data, signer.publicKey, { lowS: false, format: "der" }), true);
});
