import assert from "node:assert/strict";
import { test } from "node:test";
import { NETWORK, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, TEST_NETWORK } from "@scure/btc-signer";
import fc from "fast-check";
import { addr } from "micro-eth-signer";
import { samples } from "../../test/samples.ts";
import {
  type AddressFormat,
  addressFormatNames,
  addressFormats,
  getAddressFormat,
  getAddressUse,
  isSameAddress,
} from "./address_formats.ts";
import { addressKey } from "./address_spelling.ts";
import { type Curve, curveNames, type PublicKey, publicKeyOf } from "./key_curves.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";

const privateKey = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Uint8Array.of(1, ...bytes.subarray(1)));
const publicKeyFor = (curve: Curve, key: Uint8Array): PublicKey => publicKeyOf(nobleKeyMaths, curve, key);

/** Written out once more, so that a curve can be added to a format only on purpose. */
const ed25519Formats = ["SOLANA", "SUI", "APTOS", "XLM", "TON_V3R2", "TON_V4R2", "TON_V5R1"];
const expectedCurves = (format: AddressFormat): Curve[] => {
  const name = format.slice("ADDRESS_FORMAT_".length);
  if (name === "COMPRESSED") return ["CURVE_SECP256K1", "CURVE_P256", "CURVE_ED25519"];
  if (name === "UNCOMPRESSED") return ["CURVE_SECP256K1", "CURVE_P256"];
  if (name === "SEI") return ["CURVE_SECP256K1", "CURVE_ED25519"];
  return ed25519Formats.includes(name) ? ["CURVE_ED25519"] : ["CURVE_SECP256K1"];
};

test("there are 38 formats, and each takes its own curves and refuses every other with `invalid curve`", () => {
  assert.equal(addressFormatNames.length, 38);
  assert.deepEqual(Object.keys(addressFormats), [...addressFormatNames]);
  const key = new Uint8Array(32).fill(7);
  let refused = 0;
  for (const format of addressFormatNames) {
    for (const curve of curveNames) {
      if (expectedCurves(format).includes(curve)) {
        const address = getAddressUse(format, curve).encode(publicKeyFor(curve, key));
        assert.match(address, /^[!-~]{26,130}$/, format);
        continue;
      }
      const message = `invalid curve: ${format} needs ${Object.keys(addressFormats[format].curves).join(" or ")}`;
      assert.throws(() => getAddressUse(format, curve), { code: "invalid_argument", message });
      refused++;
    }
  }
  assert.equal(refused, 38 * 3 - 42);
});

test("names outside the tables are refused with the published texts", () => {
  for (const name of ["", "ADDRESS_FORMAT_BITCOIN", "ethereum", "toString", "__proto__"]) {
    assert.throws(() => getAddressFormat(name), { code: "invalid_argument", message: "invalid address format" }, name);
  }
  for (const curve of ["", "CURVE_P384", "toString", "__proto__"]) {
    assert.throws(() => getAddressUse("ADDRESS_FORMAT_COMPRESSED", curve), {
      message: /^invalid curve: ADDRESS_FORMAT_COMPRESSED needs CURVE_SECP256K1 or /,
    });
  }
});

test("the format chooses how to sign: Schnorr for Taproot and Spark, else as the curve signs", () => {
  for (const format of addressFormatNames) {
    for (const curve of expectedCurves(format)) {
      const { scheme } = getAddressUse(format, curve);
      if (format.endsWith("_P2TR")) assert.equal(scheme, "bip340_taproot");
      else if (format.includes("_SPARK_")) assert.equal(scheme, "bip340");
      else assert.equal(scheme, curve === "CURVE_ED25519" ? "ed25519" : "ecdsa");
    }
  }
});

test("namespaces are those of CAIP-2, and absent where there is none", () => {
  const counts: Record<string, number> = {};
  for (const format of addressFormatNames) {
    const prefix = getAddressFormat(format).caip2Prefix ?? "none";
    counts[prefix] = (counts[prefix] ?? 0) + 1;
  }
  assert.deepEqual(counts, {
    ...{ none: 4, eip155: 1, solana: 1, cosmos: 2, tron: 1, sui: 1, aptos: 1, bip122: 22, stellar: 1, tvm: 3, xrpl: 1 },
  });
});

test("Bitcoin and Ethereum addresses of random keys are other libraries'", () => {
  const regtest = { ...TEST_NETWORK, bech32: "bcrt" };
  const networks = { MAINNET: NETWORK, TESTNET: TEST_NETWORK, SIGNET: TEST_NETWORK, REGTEST: regtest };
  fc.assert(
    fc.property(privateKey, (key) => {
      const publicKey = publicKeyFor("CURVE_SECP256K1", key);
      const { compressed, uncompressed } = publicKey;
      const ours = (format: string) => getAddressUse(`ADDRESS_FORMAT_${format}`, "CURVE_SECP256K1").encode(publicKey);
      assert.equal(ours("ETHEREUM"), addr.fromPublicKey(uncompressed));
      for (const [name, network] of Object.entries(networks)) {
        const theirs = {
          P2PKH: p2pkh(compressed, network).address,
          P2SH: p2sh(p2wpkh(compressed, network), network).address,
          P2WPKH: p2wpkh(compressed, network).address,
          P2WSH: p2wsh({ type: "pk", script: Uint8Array.of(33, ...compressed, 0xac) }, network).address,
          P2TR: p2tr(compressed.subarray(1), undefined, network).address,
        };
        for (const [script, address] of Object.entries(theirs))
          assert.equal(ours(`BITCOIN_${name}_${script}`), address);
      }
    }),
    { seed: 52, numRuns: samples.bitcoinAddresses },
  );
});

test("a client's spelling: hex in any case, bech32 in capitals, TON in three forms, else exact", () => {
  const key = new Uint8Array(32).fill(9);
  const swapCase = (text: string) =>
    text.replaceAll(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
  for (const format of addressFormatNames) {
    for (const curve of expectedCurves(format)) {
      const address = getAddressUse(format, curve).encode(publicKeyFor(curve, key));
      assert.ok(isSameAddress(format, address, address));
      const isHex = /^(0x)?[0-9a-f]+$/i.test(address);
      const isBech32 = /^(bc|tb|bcrt|cosmos|sei|spark|sparkrt)1/.test(address);
      const spellings: [text: string, isSame: boolean][] = [
        [address.toLowerCase(), isHex || isBech32],
        [isHex ? address.toUpperCase().replace("0X", "0x") : address.toUpperCase(), isHex || isBech32],
        [swapCase(address), isHex || isBech32],
        [` ${address}`, false],
        [`${address} `, false],
        [`${address.slice(0, -1)}${address.endsWith("7") ? "8" : "7"}`, false],
        [address.slice(1), false],
        [address.replace(/^0x/, ""), isHex && address.length !== 42],
        [address.replace(/^0x/, "").toUpperCase(), (isHex && address.length !== 42) || isBech32],
      ];
      if (isBech32) spellings.push([address.slice(0, 10) + address.slice(10).toUpperCase(), false]);
      for (const [text, isSame] of spellings) {
        if (text === address) continue;
        assert.equal(isSameAddress(format, text, address), isSame, `${format} ${text}`);
        assert.equal(addressKey(text) === addressKey(address), isSame, `${format} ${text}`);
      }
    }
  }
  const ton = "EQBT75PVOzaIQxHnXsn8W79LuNqmD2arTD20u4pk_bGiODPk";
  for (const text of [
    "UQBT75PVOzaIQxHnXsn8W79LuNqmD2arTD20u4pk_bGiOG4h",
    "UQBT75PVOzaIQxHnXsn8W79LuNqmD2arTD20u4pk/bGiOG4h",
    "0:53ef93d53b36884311e75ec9fc5bbf4bb8daa60f66ab4c3db4bb8a64fdb1a238",
    "0:53EF93D53B36884311E75EC9FC5BBF4BB8DAA60F66AB4C3DB4BB8A64FDB1A238",
  ]) {
    assert.ok(isSameAddress("ADDRESS_FORMAT_TON_V3R2", text, ton), text);
  }
  for (const text of [
    "EQBT75PVOzaIQxHnXsn8W79LuNqmD2arTD20u4pk_bGiODPl", // wrong checksum
    "EQBT75PVOzaIQxHnXsn8W79LuNqmD2arTD20u4pk_bGiOG4h", // the checksum of the other form
    "-1:53ef93d53b36884311e75ec9fc5bbf4bb8daa60f66ab4c3db4bb8a64fdb1a238", // another workchain
    "53ef93d53b36884311e75ec9fc5bbf4bb8daa60f66ab4c3db4bb8a64fdb1a238",
  ]) {
    assert.ok(!isSameAddress("ADDRESS_FORMAT_TON_V3R2", text, ton), text);
  }
});

test("the look-up form of an address is its own look-up form, and a format's spelling agrees with the general one", () => {
  fc.assert(
    fc.property(privateKey, fc.constantFrom(...addressFormatNames), (key, format) => {
      for (const curve of expectedCurves(format)) {
        const address = getAddressUse(format, curve).encode(publicKeyFor(curve, key));
        const general = addressKey(address);
        assert.equal(addressKey(general), general, format);
        assert.equal(getAddressFormat(format).spelling.toKey(address) ?? address, general, format);
      }
    }),
    { seed: 53, numRuns: 100 },
  );
});
