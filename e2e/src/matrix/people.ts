/** Parameters of people and keys, and how the matrix makes those that an endpoint then works on. */
import { randomUUID } from "node:crypto";
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import { createKey } from "../key_pairs.ts";
import type { Fixture, Json } from "./fixture.ts";

export type KeyParams = { apiKeyName: string; publicKey: string; curveType: ApiKeyCurve; expirationSeconds?: string };

export function keyParams(curveType: ApiKeyCurve = "API_KEY_CURVE_P256"): KeyParams {
  return { apiKeyName: `Key ${randomUUID()}`, publicKey: createKey(curveType).publicKey, curveType };
}

export function expiringKey(expirationSeconds = "3600"): KeyParams {
  return { ...keyParams(), expirationSeconds };
}

export type UserParams = {
  userName: string;
  userEmail?: string;
  userPhoneNumber?: string;
  apiKeys: object[];
  authenticators: object[];
  oauthProviders: object[];
  userTags: string[];
};

export function userParams(more: Partial<UserParams> = {}): UserParams {
  return {
    userName: `User ${randomUUID()}`,
    apiKeys: [keyParams()],
    authenticators: [],
    oauthProviders: [],
    userTags: [],
    ...more,
  };
}

/** A new user of the place, by its id. */
export async function newUser(fixture: Fixture, more: Partial<UserParams> = {}): Promise<string> {
  const { userIds } = await fixture.done("create_users", { users: [userParams(more)] });
  return userIds[0];
}

export async function newTag(fixture: Fixture, userIds: string[] = []): Promise<string> {
  return (await fixture.done("create_user_tag", { userTagName: `Tag ${randomUUID()}`, userIds })).userTagId;
}

/** A user without keys, who signs in by e-mail, which is switched on for that. */
export async function newMailUser(fixture: Fixture): Promise<string> {
  await fixture.done("set_organization_feature", { name: "FEATURE_NAME_EMAIL_AUTH", value: "" });
  return newUser(fixture, { apiKeys: [], userEmail: "mail@example.com" });
}

/** One of those in a look or an answer, by the id that it has under `key`. */
export function byId(list: readonly Json[], key: string, id: string): Json {
  return list.find((each) => each[key] === id);
}

export const authenticator = {
  authenticatorName: "Passkey",
  challenge: "AA",
  attestation: {
    credentialId: "AA",
    clientDataJson: "AA",
    attestationObject: "AA",
    transports: ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
  },
};

export const oauthProvider = { providerName: "Provider", oidcToken: "e30.e30.AA" };
