/**
 * Wallets as browser extensions put them into a page: one for Ethereum that announces itself by EIP-6963 and speaks EIP-1193, and one for
 * Solana by the Wallet Standard. Their keys are the page's own, and outlive a reload.
 */
import { toBase58 } from "@keystead/core/encoding/base58.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { type Hex, isHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

/** A picture of one pixel: wallets must have one. */
const icon = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=";

export function announceWallets(): { ethereum: string; solana: string } {
  return { ethereum: announceEthereum(), solana: registerSolana() };
}

function lastingKey(name: string): Hex {
  const key = (localStorage.getItem(name) ?? generatePrivateKey()) as Hex;
  localStorage.setItem(name, key);
  return key;
}

function announceEthereum(): string {
  const account = privateKeyToAccount(lastingKey("ethereum wallet"));
  type Call = { method: string; params?: readonly unknown[] };
  const methods: Record<string, (...params: never[]) => unknown> = {
    eth_accounts: () => [account.address],
    eth_requestAccounts: () => [account.address],
    eth_chainId: () => "0x1",
    /** As wallets do it: hex is bytes, everything else is text. */
    personal_sign: (message: string) => account.signMessage({ message: isHex(message) ? { raw: message } : message }),
  };
  const provider = {
    async request({ method, params = [] }: Call) {
      const answer = methods[method];
      if (answer === undefined) throw Object.assign(new Error(`${method} is not supported`), { code: 4200 });
      return answer(...(params as never[]));
    },
    on() {},
    removeListener() {},
  };
  const info = { uuid: crypto.randomUUID(), name: "Test Wallet", rdns: "com.example.wallet", icon };
  const detail = Object.freeze({ info, provider });
  const announce = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  addEventListener("eip6963:requestProvider", announce);
  announce();
  return account.address;
}

function registerSolana(): string {
  const secret = Uint8Array.fromHex(lastingKey("solana wallet").slice(2));
  const publicKey = ed25519.getPublicKey(secret);
  const address = toBase58(publicKey);
  const chains = ["solana:mainnet"];
  const account = { address, publicKey, chains, features: ["solana:signMessage"] };
  type SignMessage = { message: Uint8Array };
  const wallet = {
    version: "1.0.0",
    name: "Test Solana Wallet",
    icon,
    chains,
    accounts: [account],
    features: {
      "standard:connect": { version: "1.0.0", connect: async () => ({ accounts: [account] }) },
      "standard:events": { version: "1.0.0", on: () => () => {} },
      "solana:signMessage": {
        version: "1.0.0",
        signMessage: async (...inputs: SignMessage[]) =>
          inputs.map(({ message }) => ({ signedMessage: message, signature: ed25519.sign(message, secret) })),
      },
    },
  };
  type Registry = { register(wallet: unknown): void };
  const register = ({ register }: Registry) => register(wallet);
  addEventListener("wallet-standard:app-ready", (event) => register((event as CustomEvent<Registry>).detail));
  dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
  return address;
}
