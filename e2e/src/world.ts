/** The deployment that the black-box suites share: every kind of caller, on a real server, on either database. */
import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { type Dialect, testSource } from "./databases.ts";
import { type Furnisher, furnish, type UserPlan } from "./furnish.ts";
import { createKey, type KeyPair, keyFrom } from "./key_pairs.ts";
import { type KeysteadServer, startKeystead } from "./keystead_server.ts";
import { oauth2Settings } from "./oauth2_provider.ts";

export type Person = {
  organizationId: string;
  userId: string;
  userName: string;
  p256: KeyPair;
  secp256k1: KeyPair;
  ed25519: KeyPair;
  /** In the order of the keys. */
  apiKeyIds: readonly string[];
};

export type World = {
  server: KeysteadServer;
  organizationId: string;
  organizationName: string;
  /** The first user, whose key is in `bootstrap.json`. */
  root: { organizationId: string; userId: string; userName: string; p256: KeyPair };
  /** A second member of the root quorum, with a key of every curve. */
  deputy: Person;
  /** A member whom no policy allows anything. */
  member: Person;
  /** In the root quorum, but the P-256 key has expired. */
  expired: Person;
  /** Member of the first organization with the same keys as `bothInSub`. */
  bothInParent: Person;
  subA: { organizationId: string; organizationName: string; owner: Person; twin: Person; bothInSub: Person };
  /** Its owner has the same keys as the twin of `subA`. */
  subB: { organizationId: string; organizationName: string; owner: Person };
  /** Another top-level organization, with one tag. */
  other: { organizationId: string; organizationName: string; owner: Person };
};

type People = Omit<World, "server">;

/** The suites that share a world make many tags; what happens at a limit is the matrix's question. */
const limits = { userTagsPerOrganization: 10_000, userTagsPerSubOrganization: 10_000 };

type Deployment = { dataFolder: string; databaseUrl?: string; start(): Promise<KeysteadServer> };

/** Undefined, with the test skipped, when there is no PostgreSQL. */
async function newDeployment(
  t: TestContext,
  dialect: Dialect,
  env: Record<string, string> = {},
): Promise<Deployment | undefined> {
  const source = dialect === "postgres" ? await testSource(t, dialect) : undefined;
  if (dialect === "postgres" && source?.kind !== "postgres") return undefined;
  const folder = await mkdtemp(join(tmpdir(), "keystead-"));
  // Passable, so that gateway and signer run under user ids of their own when the tests run as root.
  await chmod(folder, 0o711);
  const servers: KeysteadServer[] = [];
  // One hook, because a server must be gone before its folder.
  t.after(async () => {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const place = {
    dataFolder: join(folder, "data"),
    ...(source?.kind === "postgres" && { databaseUrl: source.url }),
  };
  return {
    ...place,
    async start() {
      const server = await startKeystead({ ...place, env });
      servers.push(server);
      return server;
    },
  };
}

/** A server as the first start leaves it. */
export async function startServer(t: TestContext, dialect: Dialect): Promise<KeysteadServer | undefined> {
  const deployment = await newDeployment(t, dialect);
  return deployment?.start();
}

export type Furnished<T> = { server: KeysteadServer; furniture: T };

/** Starts a server, stops it, furnishes its deployment, and starts it again. */
export async function startFurnished<T>(
  t: TestContext,
  dialect: Dialect,
  work: (furnisher: Furnisher, bootstrap: KeysteadServer["bootstrap"]) => Promise<T>,
  env: Record<string, string> = {},
): Promise<Furnished<T> | undefined> {
  const deployment = await newDeployment(t, dialect, { ...oauth2Settings, ...env });
  if (deployment === undefined) return undefined;
  const first = await deployment.start();
  await first.stop();
  const made: T[] = [];
  await furnish(deployment.dataFolder, deployment.databaseUrl, async (furnisher) => {
    made.push(await work(furnisher, first.bootstrap));
  });
  const [furniture] = made as [T];
  const server = await deployment.start();
  return { server, furniture };
}

export async function startWorld(t: TestContext, dialect: Dialect): Promise<World | undefined> {
  const started = await startFurnished(t, dialect, furnishWorld, { KEYSTEAD_LIMITS: JSON.stringify(limits) });
  return started && { server: started.server, ...started.furniture };
}

type Keys = Pick<Person, "p256" | "secp256k1" | "ed25519">;

function freshKeys(): Keys {
  return {
    p256: createKey("API_KEY_CURVE_P256"),
    secp256k1: createKey("API_KEY_CURVE_SECP256K1"),
    ed25519: createKey("API_KEY_CURVE_ED25519"),
  };
}

/** A user and, once the organization has an id, the person behind it. */
export function draft(userName: string, keys: Keys = freshKeys(), expiresAtMs?: number) {
  const { p256, secp256k1, ed25519 } = keys;
  const expiring = { ...p256, ...(expiresAtMs !== undefined && { expiresAtMs }) };
  const apiKeys = [expiring, secp256k1, ed25519].map(({ privateKey: _, ...key }) => ({
    apiKeyId: randomUUID(),
    ...key,
  }));
  const user: UserPlan = { userId: randomUUID(), userName, apiKeys };
  const apiKeyIds = user.apiKeys.map(({ apiKeyId }) => apiKeyId);
  const person = (organizationId: string): Person => {
    return { organizationId, userId: user.userId, userName, apiKeyIds, ...keys };
  };
  return { user, keys, person };
}

async function furnishWorld(furnisher: Furnisher, bootstrap: KeysteadServer["bootstrap"]): Promise<People> {
  const { organizationId, organizationName, userId } = bootstrap;
  const deputy = draft("Deputy");
  const member = draft("Member");
  const expired = draft("Expired", freshKeys(), Date.now() - 1_000);
  const bothInParent = draft("Both, in the parent");
  await furnisher.addUsers(
    organizationId,
    [deputy, member, expired, bothInParent].map(({ user }) => user),
    [userId, deputy.user.userId, expired.user.userId],
  );

  const ownerA = draft("Owner A");
  const twin = draft("Twin");
  const bothInSub = draft("Both, in the sub-organization", bothInParent.keys);
  const nameA = "Sub A";
  const subA = await furnisher.found({
    organizationName: nameA,
    parentId: organizationId,
    users: [ownerA.user, twin.user, bothInSub.user],
  });
  const ownerB = draft("Owner B", twin.keys);
  const nameB = "Sub B";
  const subB = await furnisher.found({ organizationName: nameB, parentId: organizationId, users: [ownerB.user] });

  const stranger = draft("Stranger");
  const otherName = "Other";
  const other = await furnisher.found({ organizationName: otherName, users: [stranger.user], tagNames: ["theirs"] });

  return {
    organizationId,
    organizationName,
    root: {
      organizationId,
      userId,
      userName: "Root user",
      p256: keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey)),
    },
    deputy: deputy.person(organizationId),
    member: member.person(organizationId),
    expired: expired.person(organizationId),
    bothInParent: bothInParent.person(organizationId),
    subA: {
      organizationId: subA,
      organizationName: nameA,
      owner: ownerA.person(subA),
      twin: twin.person(subA),
      bothInSub: bothInSub.person(subA),
    },
    subB: { organizationId: subB, organizationName: nameB, owner: ownerB.person(subB) },
    other: { organizationId: other, organizationName: otherName, owner: stranger.person(other) },
  };
}
