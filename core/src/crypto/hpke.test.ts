import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { test } from "node:test";
import { findVectors } from "../../test/vectors.ts";
import { fromBase58check } from "../encoding/base58.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { keyScheduleContext, openMessage } from "./hpke.ts";
import { createWebHpke } from "./hpke_web.ts";

type File = {
  credentialBundle: { bundle: string; targetPrivateKey: string; expectedPlaintextHex: string };
  hpkeConstants: { info: string; AES_KEY_INFO: number[]; IV_INFO: number[] };
};

test("the constants of the published client are the key schedule of its info string", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { hpkeConstants } = vectors.json<File>("client-acceptance/tkhq-sdk.json");
  const context = keyScheduleContext(new TextEncoder().encode(hpkeConstants.info));
  for (const info of [hpkeConstants.AES_KEY_INFO, hpkeConstants.IV_INFO]) {
    assert.deepEqual(Uint8Array.from(info.slice(-65)), context);
  }
});

test("a credential bundle of the hosted service opens: its point is compressed, the message is the same", async (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { credentialBundle } = vectors.json<File>("client-acceptance/tkhq-sdk.json");
  const primitives = createWebHpke(webcrypto.subtle);
  const bytes = fromBase58check(credentialBundle.bundle);
  const key = primitives.importKey(fromHex(credentialBundle.targetPrivateKey));
  const opened = await openMessage(primitives, key, bytes.subarray(0, 33), bytes.subarray(33));
  assert.equal(toHex(opened), credentialBundle.expectedPlaintextHex);
});
