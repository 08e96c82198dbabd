/**
 * Tempo's own transactions (type 0x76) by the published viem account, which asks for TRANSACTION_TYPE_TEMPO by their first
 * byte. There is no local node of this chain: its published library says what was to be signed, and recovers who signed.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { defaultEthereumAccountAtIndex } from "@turnkey/sdk-server";
import { createAccount } from "@turnkey/viem";
import { Secp256k1, Signature } from "ox";
import { TxEnvelopeTempo } from "ox/tempo";
import {
  type Address,
  createWalletClient,
  custom,
  encodeFunctionData,
  erc20Abi,
  getAddress,
  type LocalAccount,
  toHex,
} from "viem";
import { tempoModerato } from "viem/chains";
import { Transaction } from "viem/tempo";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person } from "../published/clients.ts";

const someone: Address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const token: Address = "0x20c0000000000000000000000000000000000001";
const feeToken: Address = "0x20c0000000000000000000000000000000000002";
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [someone, 1_000_000n] });

/** Every member that a sender decides on: two calls at once, a nonce of its own sequence, a time in which it is valid. */
const request = {
  calls: [
    { to: token, data: transfer },
    { to: someone, value: 1n, data: "0x" },
  ],
  accessList: [{ address: token, storageKeys: [toHex(1, { size: 32 })] }],
  gas: 200_000n,
  maxFeePerGas: 20_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  nonceKey: 2n ** 200n,
  nonce: 3,
  validAfter: 1_800_000_000,
  validBefore: 1_900_000_000,
} as const;

/** The same in the words of the chain's library. */
const envelope = { ...request, type: "tempo", chainId: tempoModerato.id, nonce: BigInt(request.nonce) } as const;

/** Who signed a transaction, and who its fee, each over what the library says they had to. */
function signersOf(serialized: string) {
  const { signature, ...transaction } = TxEnvelopeTempo.deserialize(serialized as TxEnvelopeTempo.Serialized);
  assert.ok(signature?.type === "secp256k1");
  const payload = TxEnvelopeTempo.getSignPayload(transaction);
  const sender = Secp256k1.recoverAddress({ payload, signature: signature.signature });
  const { feePayerSignature } = transaction;
  if (!feePayerSignature) return { transaction, sender: getAddress(sender), feePayer: feePayerSignature };
  const feePayload = TxEnvelopeTempo.getFeePayerSignPayload(transaction, { sender });
  const feePayer = Secp256k1.recoverAddress({ payload: feePayload, signature: feePayerSignature });
  return { transaction, sender: getAddress(sender), feePayer: getAddress(feePayer) };
}

export async function tempoAccount(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;
  const { addresses } = await sdk.createWallet({
    walletName: "Wallet",
    accounts: [0, 1].map(defaultEthereumAccountAtIndex),
  });
  const [address, sponsor] = [getAddress(at(addresses, 0)), getAddress(at(addresses, 1))];
  // The account was built for another release of the http client, whose types differ in what it does not use.
  const accounts: Record<string, LocalAccount> = {
    "the server client": await createAccount({ client: sdk, organizationId, signWith: address }),
    "the http client": await createAccount({ client: http as never, organizationId, signWith: address }),
  };
  const feePayer = await createAccount({ client: sdk, organizationId, signWith: sponsor });

  /** All that viem asks of a node before it lets an account sign. */
  const transport = custom({
    async request({ method }: { method: string }) {
      assert.equal(method, "eth_chainId");
      return toHex(tempoModerato.id);
    },
  });

  for (const [name, account] of Object.entries(accounts)) {
    const wallet = createWalletClient({ account, chain: tempoModerato, transport });

    await t.test(`${name}: a transaction whose sender pays the fee`, async () => {
      const signed = await wallet.signTransaction({ ...request, feeToken });
      const { transaction, ...signers } = signersOf(signed);
      assert.deepEqual(signers, { sender: address, feePayer: undefined });
      // Not a byte of what was asked for is missing or another.
      const asked = TxEnvelopeTempo.from({ ...envelope, feeToken });
      assert.equal(TxEnvelopeTempo.serialize(transaction), TxEnvelopeTempo.serialize(asked));
      // The sender chose the token, so with another one it is not their signature.
      const other = TxEnvelopeTempo.serialize({ ...TxEnvelopeTempo.deserialize(signed as never), feeToken: token });
      assert.notEqual(signersOf(other).sender, address);
    });

    await t.test(`${name}: one whose fee another pays, who signs afterwards and chooses the token`, async () => {
      const signed = await wallet.signTransaction({ ...request, feeToken, feePayer: true });
      const { transaction, ...signers } = signersOf(signed);
      assert.deepEqual(signers, { sender: address, feePayer: null });
      assert.equal(transaction.feeToken, undefined);
      const asked = TxEnvelopeTempo.from({ ...envelope, feePayerSignature: null });
      assert.equal(TxEnvelopeTempo.serialize(transaction), TxEnvelopeTempo.serialize(asked));

      const received = Transaction.deserialize(signed as Transaction.TransactionSerializedTempo);
      const paid = await Transaction.serialize({ ...received, feeToken, feePayer });
      const { transaction: whole, ...both } = signersOf(paid);
      assert.deepEqual(both, { sender: address, feePayer: sponsor });
      assert.equal(whole.feeToken, feeToken);
    });
  }

  await t.test("one whose fee payer has signed before keeps that signature and its token", async () => {
    const unpaid = TxEnvelopeTempo.from({ ...envelope, feeToken });
    const hash = TxEnvelopeTempo.getFeePayerSignPayload(unpaid, { sender: address });
    const feePayerSignature = Signature.from((await feePayer.sign?.({ hash })) ?? assert.fail());
    const unsigned = TxEnvelopeTempo.serialize(unpaid, { feePayerSignature });
    const { signedTransaction } = await sdk.signTransaction({
      signWith: address,
      type: "TRANSACTION_TYPE_TEMPO",
      unsignedTransaction: unsigned,
    });
    const { transaction, ...signers } = signersOf(`0x${signedTransaction}`);
    assert.deepEqual(signers, { sender: address, feePayer: sponsor });
    assert.equal(TxEnvelopeTempo.serialize(transaction), unsigned);
  });
}
