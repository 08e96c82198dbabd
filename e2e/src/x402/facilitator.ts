/**
 * A facilitator of x402 payments: over HTTP it verifies what a payer has signed against what a seller asks for, and settles
 * it on the chain. It knows EIP-3009 alone, and asks the token itself for its domain.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { authorizationTypes } from "@x402/evm";
import type { ExactEvmScheme } from "@x402/evm/exact/client";
import { type Address, getAddress, type Hex, parseSignature, recoverTypedDataAddress } from "viem";
import { hardhat } from "viem/chains";
import type { Chain } from "../keys/chain.ts";
import { richWallet, tokenAbi } from "./token.ts";

/** What a seller asks for, as the published client wants it. */
export type Requirements = Parameters<ExactEvmScheme["createPaymentPayload"]>[1];

type Authorization = {
  from: Address;
  to: Address;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
};
type Payment = { payload: { signature: Hex; authorization: Authorization } };
type Asked = { paymentPayload: Payment; paymentRequirements: Requirements };

export type Verified = { isValid: boolean; invalidReason?: string; payer: Address };
export type Settled = { success: boolean; errorReason?: string; transaction: string; network: string; payer: Address };

/** Undefined for what the token would take. */
async function objectionTo({ client }: Chain, { paymentPayload, paymentRequirements }: Asked) {
  const { network, amount, payTo } = paymentRequirements;
  const { signature, authorization } = paymentPayload.payload;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  if (network !== `eip155:${hardhat.id}`) return "invalid_network";
  if (getAddress(to) !== getAddress(payTo)) return "invalid_exact_evm_payload_recipient_mismatch";
  if (value !== amount) return "invalid_exact_evm_payload_authorization_value";
  const token = { address: getAddress(paymentRequirements.asset), abi: tokenAbi } as const;
  const [name, version, balance] = await Promise.all([
    client.readContract({ ...token, functionName: "name" }),
    client.readContract({ ...token, functionName: "version" }),
    client.readContract({ ...token, functionName: "balanceOf", args: [from] }),
  ]);
  const signer = await recoverTypedDataAddress({
    domain: { name, version, chainId: hardhat.id, verifyingContract: token.address },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: {
      from,
      to,
      nonce,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
    signature,
  });
  if (signer !== getAddress(from)) return "invalid_exact_evm_payload_signature";
  return balance < BigInt(value) ? "insufficient_funds" : undefined;
}

async function verify(chain: Chain, asked: Asked): Promise<Verified> {
  const payer = asked.paymentPayload.payload.authorization.from;
  const invalidReason = await objectionTo(chain, asked);
  return invalidReason === undefined ? { isValid: true, payer } : { isValid: false, invalidReason, payer };
}

async function settle(chain: Chain, asked: Asked): Promise<Settled> {
  const { network, asset } = asked.paymentRequirements;
  const { isValid, invalidReason: errorReason = "", payer } = await verify(chain, asked);
  if (!isValid) return { success: false, errorReason, transaction: "", network, payer };
  const { signature, authorization } = asked.paymentPayload.payload;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { r, s, yParity } = parseSignature(signature);
  const rich = await richWallet(chain);
  const transaction = await rich.writeContract({
    address: getAddress(asset),
    abi: tokenAbi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, 27 + yParity, r, s],
  });
  const { status } = await chain.client.waitForTransactionReceipt({ hash: transaction });
  return { success: status === "success", transaction, network, payer };
}

const paths: Readonly<Record<string, (chain: Chain, asked: Asked) => Promise<unknown>>> = {
  "/verify": verify,
  "/settle": settle,
};

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Its address. It ends with the test. */
export async function startFacilitator(t: TestContext, chain: Chain): Promise<string> {
  const server = createServer(async (request, response) => {
    const answer = paths[request.url ?? ""];
    const [status, value] =
      answer === undefined
        ? [404, {}]
        : await readJson(request)
            .then((asked) => answer(chain, asked as Asked))
            .then(
              (value) => [200, value] as const,
              (error: unknown) => [500, { error: String(error) }] as const,
            );
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
