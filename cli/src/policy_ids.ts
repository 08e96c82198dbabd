/** Ids that policies name and the organization does not have. Such a policy is well formed and never about anything. */
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { checkExpression } from "@keystead/core/policy/language/check.ts";
import { expressionKinds } from "@keystead/core/policy/vocabulary/vocabulary.ts";
import type { Client, User } from "@keystead/sdk";
import { printable } from "./printable.ts";
import { textsBeside } from "./warnings/paths.ts";

type Noun = "user" | "user tag" | "credential" | "wallet" | "private key" | "private key tag";

/** What an id beside this name is the id of. */
const nouns: Readonly<Record<string, Noun>> = {
  "approvers[].id": "user",
  "credentials[].user_id": "user",
  "activity.params.user_id": "user",
  "activity.params.user_ids[]": "user",
  "approvers[].tags[]": "user tag",
  "credentials[].id": "credential",
  "wallet.id": "wallet",
  "wallets[].id": "wallet",
  "activity.params.wallet_id": "wallet",
  "private_key.id": "private key",
  "private_key.tags[]": "private key tag",
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Which ids there are; undefined where the caller may not know. */
type Known = ReadonlyMap<Noun, ReadonlySet<string> | undefined>;

/** A line for the terminal for each id that is nobody's here, with the policies that name it. */
export async function unknownIds(client: Client, policies: readonly WrittenPolicy[]): Promise<string[]> {
  const known = await findKnown(client);
  const namedBy = new Map<string, Set<string>>();
  for (const policy of policies) {
    for (const { noun, id } of idsIn(policy)) {
      if (known.get(noun)?.has(id) !== false) continue;
      const what = `${noun} \`${id}\``;
      namedBy.set(what, (namedBy.get(what) ?? new Set()).add(policy.policyName));
    }
  }
  return [...namedBy].map(
    ([what, names]) =>
      `warning: this organization has no ${what}, which ${listed([...names])} ${names.size === 1 ? "names" : "name"}`,
  );
}

function idsIn(policy: WrittenPolicy): { noun: Noun; id: string }[] {
  return expressionKinds.flatMap((kind) => {
    const source = policy[kind] ?? "";
    if (source === "") return [];
    return textsBeside(checkExpression(kind, source).root).flatMap(({ path, text }) => {
      const noun = nouns[path];
      return noun !== undefined && uuid.test(text) ? [{ noun, id: text }] : [];
    });
  });
}

function listed(names: readonly string[]): string {
  const [first = "", ...others] = names;
  return `"${printable(first)}"${others.length === 0 ? "" : ` and ${others.length} more`}`;
}

async function findKnown(client: Client): Promise<Known> {
  const users = await list(async () => (await client.listUsers()).users);
  const tags = await list(async () => (await client.listUserTags()).userTags);
  const wallets = await list(async () => (await client.listWallets()).wallets);
  const keys = await list(async () => (await client.listPrivateKeys()).privateKeys);
  const keyTags = await list(async () => (await client.listPrivateKeyTags()).privateKeyTags);
  return new Map<Noun, ReadonlySet<string> | undefined>([
    ["user", users && new Set(users.map(({ userId }) => userId))],
    ["credential", users && new Set(users.flatMap(credentialIdsOf))],
    ["user tag", tags && new Set(tags.map(({ tagId }) => tagId))],
    ["wallet", wallets && new Set(wallets.map(({ walletId }) => walletId))],
    ["private key", keys && new Set(keys.map(({ privateKeyId }) => privateKeyId))],
    ["private key tag", keyTags && new Set(keyTags.map(({ tagId }) => tagId))],
  ]);
}

/** A list that cannot be had says nothing about ids; the warning is a help and no condition. */
async function list<T>(load: () => Promise<readonly T[]>): Promise<readonly T[] | undefined> {
  try {
    return await load();
  } catch {
    return undefined;
  }
}

function credentialIdsOf({ apiKeys, authenticators }: User): string[] {
  return [...apiKeys.map(({ apiKeyId }) => apiKeyId), ...authenticators.map(({ authenticatorId }) => authenticatorId)];
}
