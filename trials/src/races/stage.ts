/** Where the trials of a race take place: sub-organizations of their own, as many as wanted, on servers that take turns. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { createKey, type KeyPair, keyFrom } from "@keystead/e2e/key_pairs.ts";
import { ethereum } from "@keystead/e2e/matrix/keys.ts";
import { authenticatorParams, type Passkey, passkeyStamp } from "@keystead/e2e/passkeys.ts";
import { type Answer, bytesOf, type Headers, send } from "@keystead/e2e/wire.ts";
import { activities } from "@keystead/sdk";
import type { Random } from "../../../core/test/seeded_random.ts";
import type { Deployment } from "./deployment.ts";
import { quickStamp } from "./quick_stamp.ts";

export type Person = { userId: string; key: KeyPair };

export type Organization = {
  organizationId: string;
  /** The root users, in the order of the plan; as many as it says, and at most four. */
  people: readonly [Person, Person, Person, Person];
  /** Of a plan that has one. */
  wallet: { walletId: string; address: string };
};

export type Plan = { users: number; threshold: number; wallet?: boolean };

export type ActivityPath = keyof typeof activities;

/** What stamps a request: a key, or a passkey. */
export type Stamper = { key: KeyPair } | { passkey: Passkey };

/** A header and its value. */
type Stamp = Headers[number];

/** A request that only waits to be sent: the same bytes and the same stamp, as often as one likes. */
export type Stamped = { path: ActivityPath; body: string; stamp: Stamp; headers?: Headers };

/** An activity that waits for consensus. */
export type Waiting = { activityId: string; fingerprint: string; body: string; path: ActivityPath };

// biome-ignore lint/suspicious/noExplicitAny: what the server answered, whatever it is.
type Json = any;

export class Stage {
  readonly #urls: readonly string[];
  /** The organization that all others are founded in, and who founds them. */
  readonly first: { organizationId: string; root: Person };
  readonly random: Random;
  /** Of every organization founded here. */
  readonly organizationIds: string[] = [];

  constructor({ urls, bootstrap }: Deployment, random: Random) {
    this.#urls = urls;
    const key = keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey));
    this.first = { organizationId: bootstrap.organizationId, root: { userId: bootstrap.userId, key } };
    this.random = random;
  }

  get servers(): number {
    return this.#urls.length;
  }

  anyUrl(): string {
    return this.random.pick(this.#urls);
  }

  /** A new sub-organization whose root users have one key each. */
  async found(plan: Plan): Promise<Organization> {
    const keys = Array.from({ length: plan.users }, () => createKey());
    const request = this.founding(plan, keys);
    const result = resultOf(await this.send(request), request);
    const organizationId: string = result.subOrganizationId;
    this.organizationIds.push(organizationId);
    const people = keys.map((key, index) => ({ key, userId: result.rootUserIds[index] as string }));
    return {
      organizationId,
      people: people as unknown as Organization["people"],
      wallet: { walletId: result.wallet?.walletId, address: result.wallet?.addresses[0] },
    };
  }

  /** The request that founds one. */
  founding({ threshold, wallet = false }: Omit<Plan, "users">, keys: readonly KeyPair[]): Stamped {
    return this.stamped(this.first.organizationId, this.first.root, "create_sub_organization", {
      subOrganizationName: "Stage",
      rootUsers: keys.map((key, index) => ({ userName: `Root ${index}`, apiKeys: [apiKeyOf(key)] })),
      rootQuorumThreshold: threshold,
      ...(wallet && { wallet: { walletName: "First", accounts: [ethereum] } }),
    });
  }

  /** A further user, who is in no quorum. */
  async member(organization: Organization, key = createKey(), passkey?: Passkey): Promise<Person> {
    const authenticators = passkey === undefined ? [] : [authenticatorParams(passkey)];
    const user = { userName: "Member", apiKeys: [apiKeyOf(key)], authenticators, oauthProviders: [], userTags: [] };
    const { userIds } = await this.done(organization, organization.people[0], "create_users", { users: [user] });
    return { userId: userIds[0], key };
  }

  /** A body of this very moment, in no two calls the same. */
  stamped(
    organization: Organization | string,
    stamper: Stamper,
    path: ActivityPath,
    parameters: object,
    headers?: Headers,
  ): Stamped {
    const organizationId = typeof organization === "string" ? organization : organization.organizationId;
    const timestampMs = String(nextMs());
    const body = JSON.stringify({ type: activities[path].type, timestampMs, organizationId, parameters });
    return { path, body, stamp: stampOf(stamper, bytesOf(body)), ...(headers && { headers }) };
  }

  /** The body of a waiting activity, stamped by one more user: an approval. */
  restamped({ body, path }: Waiting, person: Person): Stamped {
    return { path, body, stamp: stampOf(person, bytesOf(body)) };
  }

  send({ path, body, stamp, headers = [] }: Stamped, server = this.random.below(this.servers)): Promise<Answer> {
    return send(this.#urls[server] ?? "", {
      path: activities[path].url,
      headers: [["Content-Type", "application/json"], stamp, ...headers],
      body,
    });
  }

  /** All at once, in random order, over all servers in turn; at times a little apart, so that any of them may be first. */
  async sendAll(requests: readonly Stamped[]): Promise<Answer[]> {
    const apartMs = this.random.pick([0, 0, 2, 6]);
    const first = this.random.below(this.servers);
    const places = requests.map((_, index) => ({ index, at: this.random.next() })).sort((a, b) => a.at - b.at);
    const answers: Answer[] = [];
    await Promise.all(
      places.map(async ({ index, at }, place) => {
        if (apartMs > 0) await pause(at * apartMs);
        const request = requests[index];
        if (request !== undefined) answers[index] = await this.send(request, (first + place) % this.servers);
      }),
    );
    return answers;
  }

  /** Sends one and returns its result. */
  async done(organization: Organization, person: Person, path: ActivityPath, parameters: object): Promise<Json> {
    const request = this.stamped(organization, person, path, parameters);
    return resultOf(await this.send(request), request);
  }

  /** Sends one that must wait for others. */
  async waits(organization: Organization, person: Person, path: ActivityPath, parameters: object): Promise<Waiting> {
    const { body, ...request } = this.stamped(organization, person, path, parameters);
    const answer = await this.send({ body, ...request });
    assert.equal(outcomeOf(answer), "CONSENSUS_NEEDED", answer.text);
    return { activityId: answer.json.activity.id, fingerprint: answer.json.activity.fingerprint, body, path };
  }

  /** A policy that lets these users do one kind of thing, each alone or all together. */
  async allow(organization: Organization, type: string, consensus: string): Promise<string> {
    const parameters = {
      policyName: `Allow ${randomUUID()}`,
      effect: "EFFECT_ALLOW",
      consensus,
      condition: `activity.type == '${type}'`,
      notes: "",
    };
    return (await this.done(organization, organization.people[0], "create_policy", parameters)).policyId;
  }

  /** What a query answers, at whichever server. */
  async ask({ organizationId }: Organization, reader: Stamper, path: string, more: object = {}): Promise<Json> {
    const answer = await this.query({ organizationId }, reader, path, more);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  }

  /** By whoever stamps, or by a read-only session. */
  query(
    { organizationId }: Pick<Organization, "organizationId">,
    reader: Stamper | { session: string },
    path: string,
    more: object = {},
  ): Promise<Answer> {
    const body = bytesOf({ organizationId, ...more });
    const shown: Stamp = "session" in reader ? ["X-Session", reader.session] : stampOf(reader, body);
    return send(this.#urls[this.random.below(this.servers)] ?? "", {
      path: `/public/v1/query/${path}`,
      headers: [["Content-Type", "application/json"], shown],
      body,
    });
  }

  async activity(organization: Organization, person: Person, activityId: string): Promise<Json> {
    return (await this.ask(organization, person, "get_activity", { activityId })).activity;
  }

  async tagNames(organization: Organization, person: Person): Promise<string[]> {
    const { userTags } = await this.ask(organization, person, "list_user_tags");
    return userTags.map(({ tagName }: Json) => tagName).sort();
  }

  async quorum(organization: Organization, person: Person): Promise<{ threshold: number; userIds: string[] }> {
    return (await this.ask(organization, person, "get_organization_configs")).configs.quorum;
  }

  /** How many activities the organization keeps of these bodies. */
  async kept(organization: Organization, person: Person, requests: readonly Stamped[]): Promise<number> {
    const { activities } = await this.ask(organization, person, "list_activities");
    const wanted = new Set(requests.map(({ body }) => fingerprintOf(body)));
    return activities.filter(({ fingerprint }: Json) => wanted.has(fingerprint)).length;
  }
}

function stampOf(stamper: Stamper, body: Uint8Array): Stamp {
  if ("passkey" in stamper) return ["X-Stamp-Webauthn", passkeyStamp(stamper.passkey, body)];
  return ["X-Stamp", quickStamp(stamper.key, body)];
}

export function fingerprintOf(body: string): string {
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}

export function apiKeyOf({ publicKey, curve }: KeyPair, expirationSeconds?: string) {
  return {
    apiKeyName: `Key ${publicKey.slice(2, 10)}`,
    publicKey,
    curveType: curve,
    ...(expirationSeconds !== undefined && { expirationSeconds }),
  };
}

/** The status of the activity that came back, or the HTTP status of a refusal. */
export function outcomeOf({ status, json }: Answer): string {
  return status === 200 ? json.activity.status.replace("ACTIVITY_STATUS_", "") : String(status);
}

export function isDone(answer: Answer | undefined): boolean {
  return answer !== undefined && outcomeOf(answer) === "COMPLETED";
}

/** What a completed activity came to. */
export function resultOf(answer: Answer, { path }: Pick<Stamped, "path">): Json {
  assert.equal(outcomeOf(answer), "COMPLETED", `${path}: ${answer.text}`);
  return answer.json.activity.result[activities[path].resultKey];
}

export function assertRefusedAs(answer: Answer | undefined, status: number, message: RegExp): void {
  assert.ok(answer !== undefined && answer.status === status, `not ${status}: ${answer?.text}`);
  assert.match(answer.json.message, message);
}

let lastMs = 0;

function nextMs(): number {
  lastMs = Math.max(Date.now(), lastMs + 1);
  return lastMs;
}
