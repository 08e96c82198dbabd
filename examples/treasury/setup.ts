/**
 * Creates what this example needs in your organization: its users with keys, their tags, the wallet, the token's interface. Into a
 * folder that is not there yet (`mine` beside this file, or the one you name) go the policies and cases with the ids all of them got,
 * each user's private key, and payments to try.
 *
 *   npx node examples/treasury/setup.ts [--any-time] [FOLDER]
 *
 * With `--any-time` the bot's hours are left out of the policies, so that it pays whenever you try; the cases, which test the hours, are
 * left out too.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createApiKeyStamper, createClient, generateApiKey } from "@keystead/sdk";

const { values, positionals } = parseArgs({ options: { "any-time": { type: "boolean" } }, allowPositionals: true });
const folder = positionals[0] ?? join(import.meta.dirname, "mine");

type CaseFile = {
  users: { userId: string; userName: string; userTags?: string[] }[];
  keys: [{ walletId: string; address: string; path: string }];
  interfaces: { smartContractAddress: string; smartContractInterface: unknown }[];
  cases: { name: string; activity: { parameters: unknown } }[];
};

const read = (name: string) => readFileSync(join(import.meta.dirname, name), "utf8");
const { users, keys, interfaces, cases } = JSON.parse(read("cases.json")) as CaseFile;

/** The example knows tags by their ids alone. */
const tagNames: Record<string, string> = {
  "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa": "treasurers",
  "55555555-5555-4555-8555-555555555555": "security",
};

/** Files of payments, by the cases they are from. */
const payments: Record<string, string> = {
  "bot_pays_supplier.json": "the bot pays a supplier",
  "bot_pays_stranger.json": "the bot pays a stranger",
  "large_payment.json": "one treasurer begins a large payment",
};

const walletName = "Treasury";

function stop(reason: string): never {
  console.error(reason);
  process.exit(1);
}

const profile = join(process.env.KEYSTEAD_DATA || "data", "bootstrap.json");
if (!existsSync(profile)) stop(`there is no ${profile}; start the server first (\`npm start\`)`);
const { baseUrl, organizationId, ...own } = JSON.parse(readFileSync(profile, "utf8"));
if (own.apiPrivateKey === undefined)
  stop(`${profile} has no apiPrivateKey: try this example on a server that made its own first key`);
const root = createClient({ baseUrl, organizationId, stamper: createApiKeyStamper(own) });

/** What the example calls things, and the ids they have here. */
const ids = new Map<string, string>();

function withIds(text: string): string {
  return [...ids].reduce((partly, [made, real]) => partly.replaceAll(made, real), text);
}

/** For the owner alone: some of these are keys. */
function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text, { mode: 0o600, flag: "wx" });
}

/** Names of tags and wallets are unique. It is better to know before anything is created than in the middle. */
async function refuseSecondRun(): Promise<void> {
  const [{ userTags }, { wallets }] = await Promise.all([root.listUserTags(), root.listWallets()]);
  const taken = [...userTags.map(({ tagName }) => tagName), ...wallets.map((wallet) => wallet.walletName)];
  const names = new Set([...Object.values(tagNames), walletName].map((name) => name.toLowerCase()));
  const found = taken.find((name) => names.has(name.toLowerCase()));
  if (found !== undefined)
    stop(
      `\`${found}\` exists: the example's users and wallet are probably there from an earlier run; use the folder that it wrote, or start the server with a new data folder (KEYSTEAD_DATA)`,
    );
}

async function createUsers(): Promise<void> {
  const pairs = users.map(() => generateApiKey());
  const { userIds } = await root.createUsers({
    users: users.map(({ userName }, i) => ({
      userName,
      apiKeys: [{ apiKeyName: "key", publicKey: pairs[i]?.apiPublicKey ?? "", curveType: "API_KEY_CURVE_P256" }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    })),
  });
  for (const [i, { userId, userName }] of users.entries()) {
    ids.set(userId, userIds[i] ?? "");
    // "Payments bot" is bot.key.
    write(`${userName.split(" ").at(-1)?.toLowerCase()}.key`, `${pairs[i]?.apiPrivateKey}\n`);
  }
  for (const [tag, userTagName] of Object.entries(tagNames)) {
    const tagged = users
      .filter(({ userTags = [] }) => userTags.includes(tag))
      .map(({ userId }) => ids.get(userId) ?? "");
    ids.set(tag, (await root.createUserTag({ userTagName, userIds: tagged })).userTagId);
  }
}

async function createTreasury(): Promise<void> {
  const [{ walletId, address, path }] = keys;
  const wallet = await root.createWallet({
    walletName,
    accounts: [
      { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path, addressFormat: "ADDRESS_FORMAT_ETHEREUM" },
    ],
  });
  ids.set(walletId, wallet.walletId).set(address, wallet.addresses[0] ?? "");
  const { smartContractInterfaces } = await root.listSmartContractInterfaces();
  const known = new Set(smartContractInterfaces.map((each) => each.smartContractAddress.toLowerCase()));
  for (const { smartContractAddress, smartContractInterface } of interfaces) {
    // The guide creates it by hand before it comes here.
    if (known.has(smartContractAddress.toLowerCase())) continue;
    await root.createSmartContractInterface({
      smartContractAddress,
      smartContractInterface: JSON.stringify(smartContractInterface),
      type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
      label: "USDC",
    });
  }
}

function writeFiles(): void {
  const policies = JSON.parse(withIds(read("policies.json"))) as { time?: string }[];
  const applied = values["any-time"] ? policies.map(({ time: _, ...policy }) => policy) : policies;
  write("policies.json", `${JSON.stringify(applied, null, 2)}\n`);
  if (!values["any-time"]) write("cases.json", withIds(read("cases.json")));
  for (const [file, name] of Object.entries(payments)) {
    const { parameters } = cases.find((one) => one.name === name)?.activity ?? {};
    write(file, `${withIds(JSON.stringify(parameters))}\n`);
  }
}

if (existsSync(folder)) stop(`${folder} exists: name another folder, or delete it with the keys in it`);
try {
  await refuseSecondRun();
  mkdirSync(folder, { mode: 0o700, recursive: true });
  writeFileSync(join(folder, ".gitignore"), "*\n");
  await createUsers();
  await createTreasury();
  writeFiles();
  console.log(`wrote ${folder}: policies with your ids, a key for each user, payments to try`);
} catch (error) {
  // Nothing was created yet, so there is no key in it, and the next run can begin again.
  if (ids.size === 0) rmSync(folder, { recursive: true, force: true });
  stop(error instanceof Error ? error.message : String(error));
}
