/** The published clients create, sign, export and import on a real server, one for each database; a local chain mines. */
import { test } from "node:test";
import { dialects } from "../databases.ts";
import { rootOf } from "../published/clients.ts";
import { startServer } from "../world.ts";
import { bitcoin } from "./bitcoin.ts";
import { blobTransactions } from "./blob_transactions.ts";
import { startChain } from "./chain.ts";
import { consensus } from "./consensus.ts";
import { ethersSigner } from "./ethers_signer.ts";
import { exportsAndImports } from "./exports_and_imports.ts";
import { privateKeys } from "./private_keys.ts";
import { rawPayloads } from "./raw_payloads.ts";
import { refusals } from "./refusals.ts";
import { solanaSigner } from "./solana_signer.ts";
import { tempoAccount } from "./tempo_account.ts";
import { tronTransactions } from "./tron_transactions.ts";
import { viemAccount } from "./viem_account.ts";
import { wallets } from "./wallets.ts";

const themes = {
  wallets,
  privateKeys,
  rawPayloads,
  exportsAndImports,
  viemAccount,
  blobTransactions,
  tempoAccount,
  ethersSigner,
  solanaSigner,
  tronTransactions,
  bitcoin,
  consensus,
  refusals,
};

for (const dialect of dialects) {
  test(`keys by the published clients on ${dialect}`, async (t) => {
    const [server, chain] = await Promise.all([startServer(t, dialect), startChain(t)]);
    if (server === undefined) return;
    for (const [name, theme] of Object.entries(themes)) {
      await t.test(name, (t) => theme(t, server, rootOf(server), chain));
    }
  });
}
