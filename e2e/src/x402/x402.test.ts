/** Payments with a token of EIP-3009 by the published x402 client: what signs for them, what cannot, and what a policy allows. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createApiKeyStamper, createClient, KeysteadError } from "@keystead/sdk";
import { createViemAccount } from "@keystead/sdk/viem";
import { DEFAULT_ETHEREUM_ACCOUNTS } from "@turnkey/sdk-server";
import { createAccount } from "@turnkey/viem";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { type Address, createWalletClient, custom, getAddress, serializeTransaction } from "viem";
import { hardhat } from "viem/chains";
import { startChain } from "../keys/chain.ts";
import { type KeysteadServer, repository } from "../keystead_server.ts";
import { apiKeyPair, at, createMember, foundOrganization, type Person, rootOf } from "../published/clients.ts";
import { startServer } from "../world.ts";
import { type Requirements, type Settled, startFacilitator, type Verified } from "./facilitator.ts";
import { balanceOf, deployToken } from "./token.ts";

const each = 10_000_000n;
const price = 250_000n;
const seller = getAddress(`0x${"5e".repeat(20)}`);

type Signer = ConstructorParameters<typeof ExactEvmScheme>[0];

/** An organization with an Ethereum account that holds tokens, and a facilitator of payments with them. */
async function openShop(t: TestContext, server: KeysteadServer) {
  const chain = await startChain(t);
  const [owner] = await foundOrganization(server, rootOf(server), ["Owner"]);
  assert.ok(owner !== undefined);
  const { addresses } = await owner.sdk.createWallet({ walletName: "Payer", accounts: DEFAULT_ETHEREUM_ACCOUNTS });
  const payer = getAddress(at(addresses, 0));
  const token = await deployToken(chain, [payer], each);
  const facilitator = await startFacilitator(t, chain);
  const requirements: Requirements = {
    scheme: "exact",
    network: `eip155:${hardhat.id}`,
    asset: token,
    amount: String(price),
    payTo: seller,
    maxTimeoutSeconds: 600,
    extra: { name: "Test Dollar", version: "2" },
  };

  async function ask<T>(path: string, paymentPayload: object, paymentRequirements: Requirements): Promise<T> {
    const answer = await fetch(facilitator + path, {
      method: "POST",
      body: JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements }),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as T;
  }

  /** As a client of x402 pays: it signs, the seller has it verified, and then settled. */
  async function pay(signer: Signer, change: Partial<Requirements> = {}): Promise<Settled> {
    const wanted = { ...requirements, ...change };
    const { payload } = await new ExactEvmScheme(signer).createPaymentPayload(2, wanted);
    const payment = { x402Version: 2, accepted: wanted, payload };
    assert.deepEqual(await ask<Verified>("/verify", payment, wanted), { isValid: true, payer });
    return ask<Settled>("/settle", payment, wanted);
  }

  return { chain, owner, payer, token, pay, received: () => balanceOf(chain, token, seller) };
}

/** Our own account, in this person's hands. */
function ownAccount({ url }: KeysteadServer, { organizationId, key }: Person, address: Address) {
  const client = createClient({ baseUrl: url, organizationId, stamper: createApiKeyStamper(apiKeyPair(key)) });
  return createViemAccount({ client, address, serializeTransaction });
}

/** The rule that the guide shows, with these values instead of its own. */
function guideRule(values: Readonly<Record<string, string>>) {
  const guide = readFileSync(join(repository, "docs/guides/policies.md"), "utf8");
  const printed = [...guide.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  const rule = printed.find((text) => text.includes("eth.eip_712.domain"));
  assert.ok(rule !== undefined, "the guide shows no rule that pins a domain");
  const filled = Object.entries(values).reduce((text, [printed, value]) => {
    assert.ok(text.includes(printed), `the guide's rule has no ${printed}`);
    return text.replaceAll(printed, value);
  }, rule);
  return JSON.parse(filled) as { policyName: string; effect: "EFFECT_ALLOW"; consensus: string; condition: string };
}

test("x402 payments are signed for the token's own domain, or not at all", async (t) => {
  const server = await startServer(t, "sqlite");
  assert.ok(server !== undefined);
  const { chain, owner, payer, token, pay, received } = await openShop(t, server);
  const { sdk, organizationId } = owner;
  const published = await createAccount({ client: sdk, organizationId, signWith: payer });
  const wallet = createWalletClient({ account: published, chain: hardhat, transport: custom(chain.provider) });
  // A wallet client's types follow the typed data of each call, and x402's know only of records.
  const signTypedData: Signer["signTypedData"] = (typedData) => wallet.signTypedData(typedData as never);
  const signers: Record<string, Signer> = {
    "our own account": ownAccount(server, owner, payer),
    "a viem wallet client with the published account": { address: payer, signTypedData },
  };
  for (const [name, signer] of Object.entries(signers)) {
    await t.test(`${name} pays`, async () => {
      const before = await received();
      const { success, network, transaction } = await pay(signer);
      assert.deepEqual([success, network], [true, `eip155:${hardhat.id}`]);
      assert.match(transaction, /^0x[0-9a-f]{64}$/);
      assert.equal((await received()) - before, price);
    });
  }

  await t.test("the published account alone loses the domain: it is told, and nothing is signed", async () => {
    const why =
      "`domain` is {} and `types` has no EIP712Domain, so the signature would hold for no contract; add EIP712Domain to `types`";
    const before = await received();
    await assert.rejects(pay(published), (error: Error) => error.message.includes(`Turnkey error 3: ${why} (`));
    assert.equal(await received(), before);
  });

  await t.test("the guide's rule allows payments with this token on this chain, and no others", async () => {
    const agent = await createMember(server, owner, "Agent");
    const rule = guideRule({
      "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa": agent.userId,
      "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266": payer,
      "USD Coin": "Test Dollar",
      "8453": String(hardhat.id),
      "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913": token,
    });
    await sdk.createPolicy({ ...rule, notes: "" });
    const signer = ownAccount(server, agent, payer);
    const before = await received();
    assert.equal((await pay(signer)).success, true);
    assert.equal((await received()) - before, price);

    const others: Partial<Requirements>[] = [
      { asset: await deployToken(chain, [payer], each) },
      { network: "eip155:8453" },
      { extra: { name: "Other Dollar", version: "2" } },
      { extra: { name: "Test Dollar", version: "1" } },
      { amount: "1000001" },
    ];
    for (const change of others) {
      await assert.rejects(
        pay(signer, change),
        (error) => error instanceof KeysteadError && error.status === 403 && error.code === 7,
        JSON.stringify(change),
      );
    }
    const permit = { extra: { ...{ name: "Test Dollar", version: "2" }, assetTransferMethod: "permit2" } };
    await assert.rejects(pay(signer, permit), (error) => error instanceof KeysteadError && error.code === 7);
    assert.equal((await received()) - before, price);
  });
});
