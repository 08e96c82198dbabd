/** The published clients of this wire, unmodified from npm, with only the base URL changed, and people to use them. */
import assert from "node:assert/strict";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyRequestError as HttpRequestError, TurnkeyClient } from "@turnkey/http";
import { Turnkey, type TurnkeyApiClient, TurnkeyRequestError } from "@turnkey/sdk-server";
import { createKey, type KeyPair, keyFrom } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";

/** Somebody with a P-256 key, as the published stampers want it, and both clients in that key's hands. */
export type Person = {
  organizationId: string;
  userId: string;
  userName: string;
  key: KeyPair;
  sdk: TurnkeyApiClient;
  http: TurnkeyClient;
};

/** The server client polls once a second unless told. */
const quickPolls = { intervalMs: 20, numRetries: 3 };

/** The first user, whose key is in `bootstrap.json`. */
export function rootOf(server: KeysteadServer): Person {
  const { organizationId, userId, apiPrivateKey } = server.bootstrap;
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  return asPerson(server, { organizationId, userId, userName: "Root user", key });
}

export function apiKeyPair({ publicKey, privateKey }: KeyPair) {
  return { apiPublicKey: publicKey, apiPrivateKey: toHex(privateKey) };
}

export function asPerson(server: KeysteadServer, person: Omit<Person, "sdk" | "http">): Person {
  const { organizationId, key } = person;
  const sdk = new Turnkey({
    apiBaseUrl: server.url,
    defaultOrganizationId: organizationId,
    activityPoller: quickPolls,
    ...apiKeyPair(key),
  }).apiClient();
  return { ...person, sdk, http: new TurnkeyClient({ baseUrl: server.url }, new ApiKeyStamper(apiKeyPair(key))) };
}

/** As `apiKeys[]` wants it. */
export function apiKeyOf({ publicKey, curve }: KeyPair, apiKeyName = "Key") {
  return { apiKeyName, publicKey, curveType: curve };
}

/** A sub-organization whose root users have these names; one of them suffices unless told. */
export async function foundOrganization(
  server: KeysteadServer,
  parent: Person,
  userNames: readonly string[],
  threshold = 1,
): Promise<Person[]> {
  const keys = userNames.map(() => createKey());
  const { subOrganizationId: organizationId, rootUserIds = [] } = await parent.sdk.createSubOrganization({
    subOrganizationName: userNames.join(" and "),
    rootQuorumThreshold: threshold,
    rootUsers: userNames.map((userName, index) => ({
      userName,
      apiKeys: [apiKeyOf(at(keys, index))],
      authenticators: [],
      oauthProviders: [],
    })),
  });
  assert.equal(rootUserIds.length, userNames.length);
  return userNames.map((userName, index) =>
    asPerson(server, { organizationId, userId: at(rootUserIds, index), userName, key: at(keys, index) }),
  );
}

/** A user of `owner`'s organization who is not in the root quorum. */
export async function createMember(server: KeysteadServer, owner: Person, userName: string): Promise<Person> {
  const key = createKey();
  const { userIds } = await owner.sdk.createUsers({
    users: [{ userName, apiKeys: [apiKeyOf(key)], authenticators: [], oauthProviders: [], userTags: [] }],
  });
  return asPerson(server, { organizationId: owner.organizationId, userId: at(userIds, 0), userName, key });
}

export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) assert.fail(`there is no item ${index} of ${list.length}`);
  return item;
}

type Refusal = TurnkeyRequestError | HttpRequestError;

/** The refusal of a call, as either client's own error. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  const error = await call.then(
    () => assert.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof TurnkeyRequestError || error instanceof HttpRequestError) return error;
  throw error;
}

/** How both clients word an answer that is not 200. */
export function wording(code: number, message: string, details: readonly unknown[] = []): string {
  return `Turnkey error ${code}: ${message} (Details: ${JSON.stringify(details)})`;
}

/** The entry of `details` that names an error code. */
export function namedError(errorCode: string) {
  return { "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail", turnkeyErrorCode: errorCode };
}

const timestamps = { seconds: /^\d{10}$/, nanos: /^\d{1,9}$/ };

/** A time in the form that the clients' own types declare. */
export function assertTimestamp(value: { seconds: string; nanos: string } | undefined): void {
  assert.ok(value !== undefined);
  assert.deepEqual(Object.keys(value).sort(), ["nanos", "seconds"]);
  assert.match(value.seconds, timestamps.seconds);
  assert.match(value.nanos, timestamps.nanos);
}
