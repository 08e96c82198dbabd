/** The envelope of OAuth 2.0 client secrets: the published vector, the published client, and altered envelopes. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { openClientSecret, sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { encryptOauth2ClientSecret } from "@turnkey/crypto";
import { nodeHpke } from "./node_hpke.ts";

const vector = {
  privateKey: "20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56",
  envelope:
    "df3408600f220eebaecb7aca04fbc54b2673196cd7f01ac0171daed1fedd8ecd6165f2ee93894a6f194d87f4b77ae76d6340fc3c998ab75f19d9763ffec35fac" +
    "4ba33eb60dbb01ccdd49751a76160000004a2bc3304b07aff62dfe764e16cf5f2369a7e3b23320",
  secret: "s3cret",
};

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8");
const key = nodeHpke.importKey(fromHex(vector.privateKey));

test("the published vector opens", () => {
  assert.equal(textOf(openClientSecret(nodeHpke, key, fromHex(vector.envelope))), vector.secret);
});

test("what the published client encrypts to our key opens, and so does what we seal", async () => {
  const own = nodeHpke.generateKey();
  const publicKey = nodeHpke.publicKey(own);
  for (const secret of ["x", "Größe 🔑", "a".repeat(1_000)]) {
    const envelope = fromHex(await encryptOauth2ClientSecret(secret, toHex(publicKey)));
    assert.equal(textOf(openClientSecret(nodeHpke, own, envelope)), secret);
    const sealed = sealClientSecret(nodeHpke, publicKey, randomBytes(12), Buffer.from(secret));
    assert.equal(sealed.length, envelope.length);
    assert.equal(textOf(openClientSecret(nodeHpke, own, sealed)), secret);
  }
});

test("nothing else opens: another key, an altered byte, a missing or surplus one", () => {
  const envelope = fromHex(vector.envelope);
  const refused = (bytes: Uint8Array, by = key) =>
    assert.throws(() => openClientSecret(nodeHpke, by, bytes), { code: "invalid_argument" }, toHex(bytes));
  refused(envelope, nodeHpke.generateKey());
  for (let at = 0; at < envelope.length; at++) {
    refused(envelope.with(at, (envelope[at] ?? 0) ^ (1 << (at % 8))));
    refused(envelope.subarray(0, at));
  }
  refused(Uint8Array.from([...envelope, 0]));
});
