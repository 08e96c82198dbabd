/** The published viem account and our own: what they sign is their address's, and the chain mines what they send. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createApiKeyStamper, createClient, KeysteadError } from "@keystead/sdk";
import { createViemAccount } from "@keystead/sdk/viem";
import { DEFAULT_ETHEREUM_ACCOUNTS } from "@turnkey/sdk-server";
import { createAccount, isTurnkeyActivityError, TurnkeyActivityError } from "@turnkey/viem";
import {
  type Address,
  createWalletClient,
  custom,
  getAddress,
  type Hex,
  hashMessage,
  type LocalAccount,
  parseEther,
  parseTransaction,
  recoverMessageAddress,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerialized,
  verifyMessage,
} from "viem";
import { hardhat } from "viem/chains";
import { recoverAuthorizationAddress } from "viem/utils";
import type { KeysteadServer } from "../keystead_server.ts";
import { apiKeyPair, at, foundOrganization, type Person } from "../published/clients.ts";
import { type Chain, deployFortyTwo, fortyTwo } from "./chain.ts";

const someone: Address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const accessList = [{ address: someone, storageKeys: [`0x${"00".repeat(31)}01` as Hex] }];
const common = { chainId: hardhat.id, nonce: 7, gas: 60_000n, to: someone, value: 1n };

/** One of each kind that Ethereum has; blob_transactions.ts has those with blobs mined. */
const transactions: Record<string, TransactionSerializable> = {
  legacy: { type: "legacy", ...common, gasPrice: 3_000_000_000n, data: "0x00" },
  eip2930: { type: "eip2930", ...common, gasPrice: 3_000_000_000n, accessList },
  eip1559: { type: "eip1559", ...common, ...fees, accessList, value: 0n, nonce: 0 },
  eip4844: {
    type: "eip4844",
    ...common,
    ...fees,
    maxFeePerBlobGas: 1_000_000_000n,
    blobVersionedHashes: [`0x01${"ab".repeat(31)}`],
    sidecars: false,
  },
};

/** The sample of the standard, with every kind of member. */
const typedData = {
  domain: { name: "Ether Mail", version: "1", chainId: 1n, verifyingContract: someone },
  types: {
    Person: [
      { name: "name", type: "string" },
      { name: "wallet", type: "address" },
    ],
    Mail: [
      { name: "from", type: "Person" },
      { name: "to", type: "Person[]" },
      { name: "contents", type: "string" },
      { name: "attachment", type: "bytes" },
      { name: "stamp", type: "uint256" },
      { name: "isRead", type: "bool" },
    ],
  },
  primaryType: "Mail",
  message: {
    from: { name: "Cow", wallet: someone },
    to: [{ name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" }],
    contents: "Hello, Bob! ✉",
    attachment: "0xdeadbeef",
    stamp: 2n ** 200n,
    isRead: false,
  },
} as const;

const domainMembers = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
] as const;

export async function viemAccount(t: TestContext, server: KeysteadServer, root: Person, chain: Chain): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, http, organizationId } = owner;
  const { addresses } = await sdk.createWallet({ walletName: "Wallet", accounts: DEFAULT_ETHEREUM_ACCOUNTS });
  const address = getAddress(at(addresses, 0));
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

  const client = createClient({
    baseUrl: server.url,
    organizationId,
    stamper: createApiKeyStamper(apiKeyPair(owner.key)),
  });
  const own = createViemAccount({ client, address, serializeTransaction });
  // The account was built for another release of the http client, whose types differ in what it does not use.
  const accounts: Record<string, LocalAccount> = {
    "a wallet account, by the server client": await createAccount({ client: sdk, organizationId, signWith: address }),
    "a wallet account, by the http client": await createAccount({
      client: http as never,
      organizationId,
      signWith: address,
    }),
    "a private key, by its id": await createAccount({ client: sdk, organizationId, signWith: privateKeyId }),
    "our own account": own,
  };

  for (const [name, account] of Object.entries(accounts)) {
    await t.test(`${name}: messages and typed data recover to its address`, async () => {
      const { signTypedData, sign } = account;
      assert.ok(sign !== undefined);
      for (const message of ["hello", "", "✉".repeat(300), { raw: "0x00ff" as Hex }]) {
        const signature = await account.signMessage({ message });
        assert.ok(await verifyMessage({ address: account.address, message, signature }));
      }
      const message = "by its hash";
      const signature = await sign({ hash: hashMessage(message) });
      assert.equal(await recoverMessageAddress({ message, signature }), account.address);
      // The published account alone leaves the domain out unless its members are declared; a wallet client declares them.
      const declared = { ...typedData, types: { EIP712Domain: domainMembers, ...typedData.types } };
      const wallet = createWalletClient({ account, chain: hardhat, transport: custom(chain.provider) });
      const typed = await wallet.signTypedData(typedData);
      assert.equal(await signTypedData(declared), typed);
      assert.equal(await recoverTypedDataAddress({ ...typedData, signature: typed }), account.address);
    });

    await t.test(`${name}: a transaction of every kind recovers to its address`, async () => {
      for (const [type, transaction] of Object.entries(transactions)) {
        const serializedTransaction = await account.signTransaction(transaction);
        assert.equal(
          await recoverTransactionAddress({ serializedTransaction: serializedTransaction as TransactionSerialized }),
          account.address,
          type,
        );
        const { type: parsed, nonce = 0, to } = parseTransaction(serializedTransaction);
        assert.deepEqual([parsed, nonce, to && getAddress(to)], [type, transaction.nonce, someone]);
      }
      const authorization = await account.signAuthorization?.({ address: someone, chainId: 1, nonce: 5 });
      assert.ok(authorization !== undefined);
      assert.equal(await recoverAuthorizationAddress({ authorization }), account.address);
    });
  }

  await t.test(
    "our own account declares the domain's members by itself, and takes none that the standard lacks",
    async () => {
      const signature = await own.signTypedData(typedData);
      assert.equal(await recoverTypedDataAddress({ ...typedData, signature }), address);
      // Where the chain id is text, viem's own accounts leave it out and sign for every chain.
      const spelled = { ...typedData, domain: { ...typedData.domain, chainId: "1" } };
      assert.equal(await own.signTypedData(spelled as never), signature);
      const other = { ...typedData, domain: { ...typedData.domain, chain: 1 } };
      await assert.rejects(
        own.signTypedData(other as never),
        /`domain` has the field `chain`, so `types` must declare/,
      );
      const { domain: _, ...nowhere } = typedData;
      const bare = await own.signTypedData(nowhere as never);
      assert.equal(await recoverTypedDataAddress({ ...nowhere, signature: bare }), address);
    },
  );

  await t.test("what our own account is refused is the client's error", async () => {
    const stranger = createViemAccount({ client, address: someone, serializeTransaction });
    for (const call of [
      () => stranger.signMessage({ message: "hello" }),
      () => stranger.signTypedData(typedData),
      () => stranger.signTransaction(transactions.legacy as TransactionSerializable),
    ]) {
      await assert.rejects(call(), (error) => error instanceof KeysteadError && error.status === 404);
    }
  });

  await t.test("the chain mines legacy, 2930, 1559 and 7702 transactions of it", async () => {
    const account = at(Object.values(accounts), 0);
    const wallet = createWalletClient({ account, chain: hardhat, transport: custom(chain.provider) });
    await chain.fund(address);
    const mined = async (hash: Hex) => {
      const receipt = await chain.client.getTransactionReceipt({ hash });
      assert.equal(receipt.status, "success");
      assert.equal(getAddress(receipt.from), address);
      return receipt;
    };
    const to = getAddress(`0x${"5e".repeat(20)}`);
    const value = parseEther("0.001");
    const before = await chain.client.getBalance({ address: to });
    const legacy = await mined(await wallet.sendTransaction({ type: "legacy", to, value }));
    const eip2930 = await mined(await wallet.sendTransaction({ type: "eip2930", to, value, accessList }));
    const eip1559 = await mined(await wallet.sendTransaction({ type: "eip1559", to, value }));
    assert.deepEqual([legacy.type, eip2930.type, eip1559.type], ["legacy", "eip2930", "eip1559"]);
    assert.equal((await chain.client.getBalance({ address: to })) - before, 3n * value);

    const { contractAddress } = await mined(await wallet.sendTransaction({ data: deployFortyTwo }));
    assert.ok(contractAddress);
    assert.equal(await chain.client.getCode({ address: contractAddress }), fortyTwo);

    const authorization = await wallet.signAuthorization({ contractAddress, executor: "self" });
    const eip7702 = await mined(await wallet.sendTransaction({ authorizationList: [authorization], to: address }));
    assert.equal(eip7702.type, "eip7702");
    assert.equal(await chain.client.getCode({ address }), `0xef0100${contractAddress.slice(2).toLowerCase()}`);
    const { data } = await chain.client.call({ to: address });
    assert.equal(BigInt(data ?? 0), 42n);
    assert.equal(await chain.client.getTransactionCount({ address }), 6);
  });

  await t.test("a refusal is the account's own error, with the server's words in it", async () => {
    const stranger = await createAccount({ client: sdk, organizationId, signWith: someone });
    for (const call of [
      () => stranger.signMessage({ message: "hello" }),
      () => stranger.signTypedData(typedData),
      () => stranger.signTransaction(transactions.legacy as TransactionSerializable),
    ]) {
      const error = await call().then(
        () => assert.fail("it was accepted"),
        (thrown: unknown) => thrown,
      );
      assert.ok(error instanceof TurnkeyActivityError && isTurnkeyActivityError(error));
      assert.match(error.message, /^Failed to sign: Turnkey error 5: Could not find any resource to sign with\./);
    }
  });
}
