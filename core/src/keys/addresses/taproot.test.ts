import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toHex } from "../../encoding/hex.ts";
import { publicKeyOf } from "../key_curves.ts";
import { nobleKeyMaths } from "../noble_key_maths.ts";
import { taprootOutputKey, taprootPrivateKey } from "./taproot.ts";

test("the tweaked private key is the output key's, for keys of either y, and the key itself is left alone", () => {
  const seen = new Set<number | undefined>();
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 31, maxLength: 31 }), (bytes) => {
      const privateKey = Uint8Array.of(1, ...bytes);
      const before = toHex(privateKey);
      const { compressed } = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", privateKey);
      const tweaked = taprootPrivateKey(nobleKeyMaths, privateKey, compressed);
      const own = publicKeyOf(nobleKeyMaths, "CURVE_SECP256K1", tweaked).compressed.subarray(1);
      assert.equal(toHex(own), toHex(taprootOutputKey(compressed)));
      assert.equal(toHex(privateKey), before);
      seen.add(compressed[0]);
    }),
    { seed: 54, numRuns: 30 },
  );
  assert.equal(seen.size, 2);
});
