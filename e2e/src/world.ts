/** The deployment that the black-box suites share: every kind of caller, on a real server, on either database. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { put, type User } from "@keystead/server/state/entities.ts";
import { closeStore, openStore, type Store } from "@keystead/server/store/store.ts";
import { testSource } from "../../server/test/open_test_store.ts";
import { createKey, type Furnisher, furnish, type KeyPair, keyFrom, userOf } from "./fixtures.ts";
import { type KeysteadServer, startKeystead } from "./keystead_server.ts";

export { dialects } from "../../server/test/open_test_store.ts";

export type Person = {
  organizationId: string;
  userId: string;
  userName: string;
  p256: KeyPair;
  secp256k1: KeyPair;
  ed25519: KeyPair;
};

/** An activity as the database holds it; the API cannot list them yet. */
export type StoredActivity = { fingerprint: string; status: string; failure: string | null };

export type World = {
  server: KeysteadServer;
  /** What is stored of an organization's activities. */
  stored(organizationId: string): Promise<StoredActivity[]>;
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
  /** A top-level organization one short of the limit of tags. */
  full: { organizationId: string; owner: Person };
};

type People = Omit<World, "server" | "stored">;

const tagLimit = 1_000;

type Deployment = { dataFolder: string; databaseUrl?: string; start(): Promise<KeysteadServer> };

/** Undefined, with the test skipped, when there is no PostgreSQL. */
async function newDeployment(t: TestContext, dialect: Store["dialect"]): Promise<Deployment | undefined> {
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
      const server = await startKeystead(place);
      servers.push(server);
      return server;
    },
  };
}

/** A server as the first start leaves it. */
export async function startServer(t: TestContext, dialect: Store["dialect"]): Promise<KeysteadServer | undefined> {
  const deployment = await newDeployment(t, dialect);
  return deployment?.start();
}

/** Starts a server, stops it, furnishes its deployment, and starts it again. */
export async function startWorld(t: TestContext, dialect: Store["dialect"]): Promise<World | undefined> {
  const deployment = await newDeployment(t, dialect);
  if (deployment === undefined) return undefined;
  const first = await deployment.start();
  await first.stop();
  let people: People | undefined;
  await furnish(deployment.dataFolder, deployment.databaseUrl, async (furnisher) => {
    people = await furnishWorld(furnisher, first.bootstrap);
  });
  if (people === undefined) throw new Error("the fixture made nobody");
  const server = await deployment.start();
  return { server, stored: await openReader(t, deployment), ...people };
}

const storedActivities = (parameter: string) =>
  `select fingerprint, status, failure from activities where organization_id = ${parameter} order by fingerprint`;

/** Reads beside the running server: SQLite from the file, which its gateway alone may write, PostgreSQL over a pool. */
async function openReader(t: TestContext, { dataFolder, databaseUrl }: Deployment): Promise<World["stored"]> {
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(dataFolder, "database", "keystead.db"), { readOnly: true });
    t.after(() => database.close());
    const statement = database.prepare(storedActivities("?"));
    return async (organizationId) => statement.all(organizationId) as StoredActivity[];
  }
  const store = await openStore({ kind: "postgres", url: databaseUrl });
  t.after(() => closeStore(store));
  if (store.dialect !== "postgres") throw new Error("not PostgreSQL");
  const { pool } = store;
  return async (organizationId) => (await pool.query<StoredActivity>(storedActivities("$1"), [organizationId])).rows;
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
function draft(userName: string, keys: Keys = freshKeys(), expiresAtMs?: number) {
  const { p256, secp256k1, ed25519 } = keys;
  const expiring = { ...p256, ...(expiresAtMs !== undefined && { expiresAtMs }) };
  const user: User = userOf({ userName, keys: [expiring, secp256k1, ed25519] });
  const person = (organizationId: string): Person => ({ organizationId, userId: user.userId, userName, ...keys });
  return { user, keys, person };
}

async function furnishWorld(furnisher: Furnisher, bootstrap: KeysteadServer["bootstrap"]): Promise<People> {
  const { organizationId, organizationName, userId } = bootstrap;
  const deputy = draft("Deputy");
  const member = draft("Member");
  const expired = draft("Expired", freshKeys(), Date.now() - 1_000);
  const bothInParent = draft("Both, in the parent");
  await furnisher.change(organizationId, [
    ...[deputy, member, expired, bothInParent].map(({ user }) => put("user", user)),
    put("rootQuorum", { threshold: 1, userIds: [userId, deputy.user.userId, expired.user.userId] }),
  ]);

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
  const collector = draft("Collector");
  const tagNames = Array.from({ length: tagLimit - 1 }, (_, index) => `tag ${index}`);
  const full = await furnisher.found({ organizationName: "Full", users: [collector.user], tagNames });

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
    full: { organizationId: full, owner: collector.person(full) },
  };
}
