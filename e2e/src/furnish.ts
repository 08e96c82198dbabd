/**
 * Deployments with more in them than the API can make yet: further users, keys of every curve, several organizations. A program that
 * knows the inside writes them while the server is stopped; this only tells it what there shall be.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import { repository } from "./keystead_server.ts";

export type UserPlan = {
  userId: string;
  userName: string;
  apiKeys: readonly { apiKeyId: string; curve: ApiKeyCurve; publicKey: string; expiresAtMs?: number }[];
};

export type NewOrganization = {
  organizationName: string;
  parentId?: string;
  users: readonly UserPlan[];
  /** All users unless told. */
  rootUserIds?: readonly string[];
  tagNames?: readonly string[];
};

/** A verification token that the deployment's signer would issue for a code. Without a key it is bound to none. */
export type TokenPlan = { organizationId: string; contact: string; publicKey?: string };

export type Furnisher = {
  /** Answers with the token. */
  issueToken(plan: TokenPlan): Promise<string>;
  /** Adds users to an organization that exists, and says who is in its root quorum from then on. */
  addUsers(organizationId: string, users: readonly UserPlan[], rootUserIds: readonly string[]): Promise<void>;
  /** Founds an organization and returns its id. */
  found(organization: NewOrganization): Promise<string>;
};

export type ToFurnisher =
  | { kind: "addUsers"; organizationId: string; users: readonly UserPlan[]; rootUserIds: readonly string[] }
  | { kind: "found"; organization: NewOrganization }
  | { kind: "issueToken"; plan: TokenPlan };
/** Undefined for what has no answer. */
export type FromFurnisher = { organizationId?: string; token?: string };

const program = join(repository, "trials/src/furnish/main.ts");

/** Opens the deployment of a stopped server, hands it to `work`, and leaves everything committed and released. */
export async function furnish(
  dataFolder: string,
  databaseUrl: string | undefined,
  work: (furnisher: Furnisher) => Promise<void>,
): Promise<void> {
  const child = fork(program, [dataFolder, ...(databaseUrl === undefined ? [] : [databaseUrl])]);
  const ended = once(child, "exit") as Promise<[number | null]>;
  const ask = async (message: ToFurnisher): Promise<FromFurnisher> => {
    const early = ended.then(([code]) => {
      throw new Error(`the furnisher ended with ${code}`);
    });
    child.send(message);
    const [answer] = (await Promise.race([once(child, "message"), early])) as [FromFurnisher];
    return answer;
  };
  try {
    await work({
      async issueToken(plan) {
        const { token } = await ask({ kind: "issueToken", plan });
        if (token === undefined) throw new Error("the furnisher issued nothing");
        return token;
      },
      async addUsers(organizationId, users, rootUserIds) {
        await ask({ kind: "addUsers", organizationId, users, rootUserIds });
      },
      async found(organization) {
        const { organizationId } = await ask({ kind: "found", organization });
        if (organizationId === undefined) throw new Error("the furnisher founded nothing");
        return organizationId;
      },
    });
  } finally {
    if (child.connected) child.disconnect();
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the furnisher ended with ${code}`);
}
