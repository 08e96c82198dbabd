/** PSBTs of every script type on every network, built, finalized and checked by another library. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import {
  NETWORK,
  OutScript,
  p2pk,
  p2pkh,
  p2sh,
  p2tr,
  p2wpkh,
  p2wsh,
  TEST_NETWORK,
  Transaction,
} from "@scure/btc-signer";
import { createWalletAccountFromAddressFormat, type v1AddressFormat } from "@turnkey/sdk-server";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person, refusalOf } from "../published/clients.ts";

type Network = typeof NETWORK;

const networks: Record<string, Network> = {
  MAINNET: NETWORK,
  TESTNET: TEST_NETWORK,
  SIGNET: TEST_NETWORK,
  REGTEST: { ...TEST_NETWORK, bech32: "bcrt" },
};

type Payment = {
  script: Uint8Array;
  address?: string;
  redeemScript?: Uint8Array;
  witnessScript?: Uint8Array;
  tapInternalKey?: Uint8Array;
};

type ScriptType = {
  payment(publicKey: Uint8Array, network: Network): Payment;
  /** Only a whole previous transaction proves what such an input spends. */
  isLegacy?: boolean;
  /** What the signature of input 0 must be over. */
  digest(transaction: Transaction, payment: Payment, publicKey: Uint8Array, amount: bigint): Uint8Array;
};

const all = 1;
/** The library computes it for itself and does not declare it. */
function legacyDigest(transaction: Transaction, script: Uint8Array): Uint8Array {
  type Own = { preimageLegacy(index: number, script: Uint8Array, hashType: number): Uint8Array };
  return (transaction as unknown as Own).preimageLegacy(0, script, all);
}

const keyHashScript = (publicKey: Uint8Array) => p2pkh(publicKey).script;

const scriptTypes: Record<string, ScriptType> = {
  P2PKH: {
    payment: (publicKey, network) => p2pkh(publicKey, network),
    isLegacy: true,
    digest: (transaction, { script }) => legacyDigest(transaction, script),
  },
  P2SH: {
    payment: (publicKey, network) => p2sh(p2wpkh(publicKey, network), network),
    digest: (transaction, _, publicKey, amount) =>
      transaction.preimageWitnessV0(0, keyHashScript(publicKey), all, amount),
  },
  P2WPKH: {
    payment: (publicKey, network) => p2wpkh(publicKey, network),
    digest: (transaction, _, publicKey, amount) =>
      transaction.preimageWitnessV0(0, keyHashScript(publicKey), all, amount),
  },
  P2WSH: {
    payment: (publicKey, network) => p2wsh(p2pk(publicKey, network), network),
    digest: (transaction, { witnessScript = new Uint8Array() }, _, amount) =>
      transaction.preimageWitnessV0(0, witnessScript, all, amount),
  },
  P2TR: {
    payment: (publicKey, network) => p2tr(publicKey.slice(1), undefined, network),
    digest: (transaction, { script }, _, amount) => transaction.preimageWitnessV1(0, [script], 0, [amount]),
  },
};

const amount = 50_000n;

/** The output that is spent, in a transaction of its own. */
function funding(script: Uint8Array): Transaction {
  const transaction = new Transaction({ allowUnknownInputs: true, disableScriptCheck: true });
  transaction.addOutput({ script, amount });
  transaction.addInput({ txid: "11".repeat(32), index: 0, finalScriptSig: Uint8Array.of(0x51) });
  return transaction;
}

function spending({ isLegacy = false }: ScriptType, { script, address: _, ...scripts }: Payment): Transaction {
  const previous = funding(script);
  const utxo = isLegacy ? { nonWitnessUtxo: previous.toBytes(true, false) } : { witnessUtxo: { script, amount } };
  const transaction = new Transaction();
  transaction.addInput({ txid: previous.id, index: 0, ...utxo, ...scripts });
  const recipient = OutScript.encode({ type: "wpkh", hash: new Uint8Array(20).fill(3) });
  transaction.addOutput({ script: recipient, amount: amount - 1_000n });
  return transaction;
}

function checkSignature({ digest }: ScriptType, signed: Transaction, payment: Payment, publicKey: Uint8Array): void {
  const expected = digest(signed, payment, publicKey, amount);
  const { partialSig, tapKeySig } = signed.getInput(0);
  if (payment.tapInternalKey !== undefined) {
    assert.ok(tapKeySig !== undefined && partialSig === undefined);
    // The key in the output is the tweaked one.
    assert.ok(schnorr.verify(tapKeySig, expected, payment.script.slice(2)));
    return;
  }
  const [signature, ...others] = partialSig ?? [];
  assert.ok(signature !== undefined && others.length === 0);
  assert.deepEqual(signature[0], publicKey);
  assert.equal(signature[1].at(-1), all);
  const options = { prehash: false, lowS: true, format: "der" } as const;
  assert.ok(secp256k1.verify(signature[1].slice(0, -1), expected, publicKey, options));
}

export async function bitcoin(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk } = owner;
  const sign = async (signWith: string, transaction: Transaction) => {
    const { signedTransaction } = await sdk.signTransaction({
      signWith,
      unsignedTransaction: toHex(transaction.toPSBT()),
      type: "TRANSACTION_TYPE_BITCOIN",
    });
    return Transaction.fromPSBT(fromHex(signedTransaction));
  };
  const formats = Object.keys(networks).flatMap((network) =>
    Object.keys(scriptTypes).map((script) => ({ network, script })),
  );
  const accounts = formats.map(({ network, script }) =>
    createWalletAccountFromAddressFormat(`ADDRESS_FORMAT_BITCOIN_${network}_${script}` as v1AddressFormat),
  );
  const { walletId, addresses } = await sdk.createWallet({ walletName: "Wallet", accounts });
  const rows = (await sdk.getWalletAccounts({ walletId })).accounts;
  const places = formats.map(({ network, script }, index) => {
    const type = scriptTypes[script];
    const chain = networks[network];
    assert.ok(type !== undefined && chain !== undefined);
    const publicKey = fromHex(at(rows, index).publicKey ?? "");
    return {
      name: `${network} ${script}`,
      type,
      publicKey,
      address: at(addresses, index),
      payment: type.payment(publicKey, chain),
    };
  });

  await t.test("each address is the one that the other library makes of the public key", () => {
    assert.equal(places.length, 20);
    for (const { name, payment, address } of places) assert.equal(payment.address, address, name);
  });

  await t.test("an input of each script type is signed and can be finalized", async () => {
    for (const { name, type, publicKey, address, payment } of places) {
      const signed = await sign(address, spending(type, payment));
      assert.ok(!signed.isFinal, `${name} is left to finalize`);
      checkSignature(type, signed, payment, publicKey);
      signed.finalize();
      assert.ok(signed.isFinal && signed.extract().length > 100, name);
    }
  });

  await t.test("of several inputs only the address's own are signed, and all of those", async () => {
    const [mine, other] = [
      places.find(({ name }) => name === "MAINNET P2WPKH"),
      places.find(({ name }) => name === "TESTNET P2WPKH"),
    ];
    assert.ok(mine !== undefined && other !== undefined);
    const transaction = new Transaction();
    for (const { payment } of [mine, other, mine]) {
      const { script } = payment;
      const index = transaction.inputsLength;
      transaction.addInput({ txid: `2${index}`.repeat(32), index, witnessUtxo: { script, amount } });
    }
    transaction.addOutput({ script: mine.payment.script, amount });
    const once = await sign(mine.address, transaction);
    const counts = (signed: Transaction) => [0, 1, 2].map((index) => signed.getInput(index).partialSig?.length ?? 0);
    assert.deepEqual(counts(once), [1, 0, 1]);
    const twice = await sign(other.address, once);
    assert.deepEqual(counts(twice), [1, 1, 1]);
    twice.finalize();
    assert.ok(twice.isFinal);
  });

  await t.test("a PSBT without an input of the address is refused", async () => {
    const [first, second] = [at(places, 0), at(places, 2)];
    const refusal = await refusalOf(sign(first.address, spending(second.type, second.payment)));
    assert.equal(refusal.code, 3);
    assert.match(refusal.message, /^Turnkey error 3: failed to parse transaction/);
  });
}
