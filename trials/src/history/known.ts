/** What the clients believe of an organization, from the answers they got: enough to ask for things that are there, or were. */
import type { KeyPair } from "@keystead/e2e/key_pairs.ts";
import { type Passkey, passkeyStamp } from "@keystead/e2e/passkeys.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import { quickStamp } from "../races/quick_stamp.ts";
import type { Credential, Parameters } from "./model.ts";

/** A value that only reads, and until when it is used. */
export type Reader = { userId: string; session: string; untilMs: number };

export type Person = {
  userId: string;
  keys: KeyPair[];
  passkeys: Passkey[];
  /** Keys of sessions; some have been ended by newer ones. */
  sessions: KeyPair[];
  readers: Reader[];
};

export function newPerson(userId: string, keys: KeyPair[], passkeys: Passkey[] = []): Person {
  return { userId, keys, passkeys, sessions: [], readers: [] };
}

/** What a request is sent with. */
export type Bearer = KeyPair | Passkey | Reader;

/** The header that it makes over these bytes. */
export function headerOf(bearer: Bearer, body: Uint8Array): readonly [name: string, value: string] {
  if ("session" in bearer) return ["X-Session", bearer.session];
  if ("passkey" in bearer) return ["X-Stamp-Webauthn", passkeyStamp(bearer, body)];
  return ["X-Stamp", quickStamp(bearer, body)];
}

/** How the model calls it. */
export function credentialOf(bearer: Bearer): Credential {
  if ("session" in bearer) return { kind: "readOnly", id: bearer.userId };
  if ("passkey" in bearer) return { kind: "passkey", id: bearer.credentialId };
  return { kind: "key", id: bearer.publicKey };
}

export type Waiting = { fingerprint: string; path: string; body: string };

export type Picture = {
  organizationId: string;
  /** The first users: they are never without a key, and stay in the quorum or can return to it. */
  roots: readonly Person[];
  /** Users that were made since, the newest last. */
  members: Person[];
  /** Of keys that were added to somebody. */
  apiKeys: { userId: string; apiKeyId: string }[];
  authenticators: { userId: string; authenticatorId: string }[];
  /** Identities at the clients' issuer. */
  providers: { userId: string; providerId: string; subject: string }[];
  tags: string[];
  policies: string[];
  wallets: { walletId: string; address: string }[];
  privateKeys: string[];
  waiting: Waiting[];
  activities: string[];
  /** Bodies that were answered, for whoever repeats one. */
  bodies: { path: string; body: string; by: Bearer }[];
};

export function newPicture(organizationId: string, roots: readonly Person[]): Picture {
  return {
    organizationId,
    roots,
    members: [],
    apiKeys: [],
    authenticators: [],
    providers: [],
    tags: [],
    policies: [],
    wallets: [],
    privateKeys: [],
    waiting: [],
    activities: [],
    bodies: [],
  };
}

/** How many of a kind are remembered: those that are forgotten stay, and nobody asks for them by their ids. */
const kept = 12;

export function remember<T>(list: T[], thing: T): void {
  list.push(thing);
  if (list.length > kept) list.shift();
}

export const anyPerson = ({ roots, members }: Picture, random: Random) => random.pick([...roots, ...members]);
export const anyUser = (picture: Picture, random: Random) => anyPerson(picture, random).userId;

export function some<T>(list: readonly T[], random: Random): T | undefined {
  return list.length === 0 ? undefined : random.pick(list);
}

export type Choice = {
  path: string;
  parameters: Parameters;
  by: Bearer;
  body?: string;
  after?: (result: Parameters) => void;
};

/** `caller`: who will send it. */
export type Choose = (picture: Picture, random: Random, caller: Person) => Omit<Choice, "by" | "path"> | undefined;

/** How often an activity is submitted, and with which parameters. */
export type Write = { weight: number; choose: Choose };
