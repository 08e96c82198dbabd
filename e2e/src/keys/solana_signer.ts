/** The published Solana signer on legacy and versioned transactions; other libraries check the signatures. */
import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import type { TestContext } from "node:test";
import {
  AddressLookupTableAccount,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { DEFAULT_SOLANA_ACCOUNTS } from "@turnkey/sdk-server";
import { TurnkeySigner } from "@turnkey/solana";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person, refusalOf } from "../published/clients.ts";

const recentBlockhash = new PublicKey(Buffer.alloc(32, 7)).toBase58();

function isSigned(key: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: "OKP", crv: "Ed25519", x: Buffer.from(key.toBytes()).toString("base64url") };
  return verify(null, message, createPublicKey({ key: jwk, format: "jwk" }), signature);
}

export async function solanaSigner(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;
  const { addresses } = await sdk.createWallet({ walletName: "Wallet", accounts: DEFAULT_SOLANA_ACCOUNTS });
  const address = at(addresses, 0);
  const payer = new PublicKey(address);
  const friend = Keypair.generate();
  const transfer = (fromPubkey = payer, lamports = 1_000) =>
    SystemProgram.transfer({ fromPubkey, toPubkey: Keypair.generate().publicKey, lamports });

  const legacy = () => new Transaction({ feePayer: payer, recentBlockhash }).add(transfer());
  const versioned = () => {
    const instructions = [transfer(), transfer(friend.publicKey)];
    const last = at(instructions, 0).keys[1]?.pubkey;
    assert.ok(last !== undefined);
    const table = new AddressLookupTableAccount({
      key: Keypair.generate().publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [last],
      },
    });
    const message = new TransactionMessage({ payerKey: payer, recentBlockhash, instructions });
    return new VersionedTransaction(message.compileToV0Message([table]));
  };
  const slotOf = (transaction: VersionedTransaction, key: PublicKey) =>
    at(
      transaction.signatures,
      transaction.message.staticAccountKeys.findIndex((own) => own.equals(key)),
    );

  // The signer was built for another release of these clients, whose types differ in what it does not use.
  const signers = {
    "the server client": new TurnkeySigner({ organizationId, client: sdk as never }),
    "the http client": new TurnkeySigner({ organizationId, client: http as never }),
  };

  for (const [name, signer] of Object.entries(signers)) {
    await t.test(`${name}: a message is signed as it is, of any length`, async () => {
      for (const length of [0, 1, 32, 1_000]) {
        const message = Buffer.alloc(length, 0x61);
        assert.ok(isSigned(payer, message, await signer.signMessage(message, address)), `${length} bytes`);
      }
    });

    await t.test(`${name}: a legacy transaction`, async () => {
      const added = legacy();
      await signer.addSignature(added, address);
      assert.ok(added.verifySignatures());
      const returned = await signer.signTransaction(legacy(), address);
      assert.ok(returned instanceof Transaction && returned.verifySignatures());
    });

    await t.test(`${name}: a versioned transaction, which another has signed before or signs afterwards`, async () => {
      const before = versioned();
      before.sign([friend]);
      const first = await signer.signTransaction(before, address);
      const second = await signer.signTransaction(versioned(), address);
      assert.ok(first instanceof VersionedTransaction && second instanceof VersionedTransaction);
      second.sign([friend]);
      for (const transaction of [first, second]) {
        const message = transaction.message.serialize();
        for (const key of [payer, friend.publicKey]) assert.ok(isSigned(key, message, slotOf(transaction, key)));
      }
      const added = versioned();
      await signer.addSignature(added, address);
      assert.ok(isSigned(payer, added.message.serialize(), slotOf(added, payer)));
    });

    await t.test(`${name}: many at once`, async () => {
      const [one, two] = await signer.signAllTransactions([legacy(), versioned()], address);
      assert.ok(one instanceof Transaction && one.verifySignatures());
      assert.ok(two instanceof VersionedTransaction);
      assert.ok(isSigned(payer, two.message.serialize(), slotOf(two, payer)));
    });
  }

  await t.test("a transaction that others sign is refused", async () => {
    const foreign = new Transaction({ feePayer: friend.publicKey, recentBlockhash }).add(transfer(friend.publicKey));
    const refusal = await refusalOf(signers["the server client"].signTransaction(foreign, address));
    assert.equal(refusal.code, 3);
    assert.match(refusal.message, /^Turnkey error 3: failed to parse transaction/);
  });
}
