/** The published ethers signer: messages, typed data, and a transaction that ethers fills in, sends and waits for. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { TurnkeyActivityError, TurnkeySigner } from "@turnkey/ethers";
import { DEFAULT_ETHEREUM_ACCOUNTS } from "@turnkey/sdk-server";
import { BrowserProvider, getAddress, parseEther, Transaction, verifyMessage, verifyTypedData } from "ethers";
import type { Address } from "viem";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person } from "../published/clients.ts";
import type { Chain } from "./chain.ts";

const to = getAddress(`0x${"e7".repeat(20)}`);

const domain = { name: "Order", version: "2", chainId: 31337, verifyingContract: to, salt: `0x${"05".repeat(32)}` };
const types = {
  Order: [
    { name: "maker", type: "address" },
    { name: "amounts", type: "uint256[]" },
    { name: "delta", type: "int128" },
    { name: "item", type: "Item" },
  ],
  Item: [
    { name: "label", type: "string" },
    { name: "tag", type: "bytes4" },
  ],
};
const order = {
  maker: to,
  amounts: [0n, 1n, 2n ** 255n],
  delta: -5n,
  item: { label: "ünïcode", tag: "0x01020304" },
};

export async function ethersSigner(t: TestContext, server: KeysteadServer, root: Person, chain: Chain): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;
  const { addresses } = await sdk.createWallet({ walletName: "Wallet", accounts: DEFAULT_ETHEREUM_ACCOUNTS });
  const signWith = at(addresses, 0);
  const { privateKeys } = await sdk.createPrivateKeys({
    privateKeys: [
      {
        privateKeyName: "Key",
        curve: "CURVE_SECP256K1",
        privateKeyTags: [],
        addressFormats: ["ADDRESS_FORMAT_ETHEREUM"],
      },
    ],
  });
  const { privateKeyId = "" } = at(privateKeys, 0);
  const provider = new BrowserProvider(chain.provider as never, undefined, { cacheTimeout: -1 });
  provider.pollingInterval = 20;
  t.after(() => provider.destroy());

  // Built for older releases of the clients and for the CommonJS form of ethers: the types differ in what it does not use.
  const signerWith = (client: unknown, key: string) =>
    new TurnkeySigner({ client: client as never, organizationId, signWith: key }, provider as never);
  const signers: Record<string, TurnkeySigner> = {
    "the server client": signerWith(sdk, signWith),
    "the http client": signerWith(http, signWith),
    "a private key's id": signerWith(sdk, privateKeyId),
  };

  for (const [name, signer] of Object.entries(signers)) {
    await t.test(`${name}: messages, typed data and mined transactions`, async () => {
      const address = await signer.getAddress();
      for (const message of ["hello", "", "0x1234", new Uint8Array([0, 255])]) {
        assert.equal(verifyMessage(message, await signer.signMessage(message)), address);
      }
      assert.equal(verifyTypedData(domain, types, order, await signer.signTypedData(domain, types, order)), address);

      await chain.fund(address as Address);
      for (const type of [0, 1, 2]) {
        const balance = await provider.getBalance(to);
        const sent = await signer.sendTransaction({ to, value: parseEther("0.01"), type });
        const receipt = await sent.wait();
        assert.equal(receipt?.status, 1);
        assert.deepEqual([receipt.from, receipt.to, receipt.type], [address, to, type]);
        assert.equal((await provider.getBalance(to)) - balance, parseEther("0.01"));
      }
      const raw = await signer.signTransaction({
        from: address,
        to,
        nonce: 9,
        gasLimit: 21_000,
        gasPrice: 1,
        chainId: 1,
      });
      assert.equal(Transaction.from(raw).from, address);
    });
  }

  await t.test("a refusal is the signer's own error, with the server's words in it", async () => {
    const stranger = signerWith(sdk, to);
    for (const call of [() => stranger.signMessage("hello"), () => stranger.signTypedData(domain, types, order)]) {
      await assert.rejects(call(), (error: unknown) => {
        assert.ok(error instanceof TurnkeyActivityError);
        assert.match(error.message, /^Failed to sign: Turnkey error 5: Could not find any resource to sign with\./);
        return true;
      });
    }
  });
}
