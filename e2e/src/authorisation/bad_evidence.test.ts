/** Stamps by passkeys and read-only sessions that are not in order: queries and submits refuse them in the same words, and keep nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AssertionParts,
  attestedData,
  base64url,
  flags,
  rs256Passkey,
  rsaKeyPair,
  sha256,
} from "../../../core/test/webauthn/authenticator.ts";
import { activities, queries } from "../generated/endpoints.ts";
import { ownFault } from "../keystead_server.ts";
import { createFixture, envelope, type Fixture, type Json } from "../matrix/fixture.ts";
import { assertOnlyKept } from "../matrix/look.ts";
import { createStages } from "../matrix/stage.ts";
import { createPasskey, type Passkey, passkeyStampFields, type StampFields } from "../passkeys.ts";
import { createTraffic } from "../swagger/traffic.ts";
import { assertAccepted, assertRefused, bytesOf, type Headers, type Refusal, send } from "../wire.ts";
import { startFurnished } from "../world.ts";
import { makeCredentials } from "./credentials.ts";

/** What is wrong, and the fields over a body that are. */
type BadStamp = readonly [name: string, make: (passkey: Passkey, body: Uint8Array) => StampFields | string];

const invalidSignature = { status: 401, code: 16, errorCode: "SIGNATURE_INVALID" } as const;
const unverified: Refusal = { ...invalidSignature, message: "could not verify WebAuthN signature" };
const unreadable: Refusal = { ...invalidSignature, message: "could not extract webauthn stamp" };
const unknown: Refusal = {
  status: 404,
  code: 5,
  errorCode: "CREDENTIAL_NOT_FOUND",
  message: "webauthn authenticator not found in organization or parent organization",
};

const origin = "https://app.example.com";

/** Signed as it is: only what it says is wrong. */
const signed =
  (change: (parts: AssertionParts, body: Uint8Array) => Partial<AssertionParts>): BadStamp[1] =>
  (passkey, body) =>
    passkeyStampFields(passkey, body, (parts) => ({ ...parts, ...change(parts, body) }));

const withData = (change: (data: AssertionParts["authenticator"]) => Partial<AssertionParts["authenticator"]>) =>
  signed(({ authenticator }) => ({ authenticator: { ...authenticator, ...change(authenticator) } }));

const withClientData = (change: (said: Json, body: Uint8Array) => Json) =>
  signed(({ clientDataJson: bytes }, body) => {
    const said = JSON.parse(Buffer.from(bytes).toString("utf8"));
    return { clientDataJson: bytesOf(change(said, body)) };
  });

/** Changed after it was signed. */
const bent =
  (change: (fields: StampFields) => object): BadStamp[1] =>
  (passkey, body) => {
    const fields = passkeyStampFields(passkey, body);
    return { ...fields, ...change(fields) };
  };

const bytesIn = (text: string) => Buffer.from(text, "base64url");

const unverifiable: readonly BadStamp[] = [
  ["another body", (passkey) => passkeyStampFields(passkey, "other")],
  [
    "the digest's bytes for a challenge",
    withClientData((said, body) => ({ ...said, challenge: base64url(sha256(body)) })),
  ],
  ["no challenge", withClientData((said) => ({ ...said, challenge: "" }))],
  ["a registration", withClientData((said) => ({ ...said, type: "webauthn.create" }))],
  ["another page", withClientData((said) => ({ ...said, origin: "https://evil.example" }))],
  ["a page without encryption", withClientData((said) => ({ ...said, origin: "http://app.example.com" }))],
  ["no page", withClientData(({ origin: _, ...said }) => said)],
  [
    "a key twice in the client data",
    signed(({ clientDataJson: bytes }) => ({
      clientDataJson: bytesOf(Buffer.from(bytes).toString("utf8").replace("{", `{"origin":"${origin}",`)),
    })),
  ],
  ["client data that is no JSON", signed(() => ({ clientDataJson: bytesOf("{") }))],
  ["another domain", withData(() => ({ rpIdHash: sha256("evil.example") }))],
  ["a user who was not present", withData(() => ({ flags: flags.uv }))],
  ["a backup of what cannot be backed up", withData((data) => ({ flags: data.flags | flags.bs }))],
  [
    "a new credential",
    (passkey, body) =>
      withData((data) => ({ flags: data.flags | flags.at, attested: attestedData(passkey.passkey) }))(passkey, body),
  ],
  ["a flag for extensions that are not there", withData((data) => ({ flags: data.flags | flags.ed }))],
  ["extensions that are cut", withData((data) => ({ flags: data.flags | flags.ed, extensions: Uint8Array.of(0xa1) }))],
  [
    "bytes behind the extensions",
    withData((data) => ({ flags: data.flags | flags.ed, extensions: Uint8Array.of(0xa0, 0) })),
  ],
  ["bytes behind the authenticator data", withData(() => ({ extensions: Uint8Array.of(0) }))],
  ["authenticator data that is cut", bent(({ authenticatorData: data }) => ({ authenticatorData: cut(data) }))],
  ["a signature that is cut", bent(({ signature }) => ({ signature: cut(signature) }))],
  [
    "bytes behind the signature",
    bent(({ signature }) => ({ signature: base64url(Buffer.concat([bytesIn(signature), Uint8Array.of(0)])) })),
  ],
  ["no signature", bent(() => ({ signature: "" }))],
  ["another algorithm's signature", byRsa],
  [
    "another passkey's signature",
    ({ credentialId }, body) => ({ ...passkeyStampFields(createPasskey(), body), credentialId }),
  ],
];

function cut(text: string): string {
  return base64url(bytesIn(text).subarray(0, -1));
}

const rsaKey = rsaKeyPair();

function byRsa({ passkey, credentialId }: Passkey, body: Uint8Array): StampFields {
  const { rpId, credentialId: rawId } = passkey;
  return passkeyStampFields({ passkey: rs256Passkey(rsaKey, rpId, rawId), credentialId }, body);
}

const illegible: readonly BadStamp[] = [
  ["nothing", () => ""],
  ["no JSON", () => "x"],
  ["an array", () => "[]"],
  ["an empty object", () => "{}"],
  ...(["authenticatorData", "clientDataJson", "credentialId", "signature"] as const).flatMap((name): BadStamp[] => [
    [`no ${name}`, (passkey, body) => JSON.stringify({ ...passkeyStampFields(passkey, body), [name]: undefined })],
    [`a number for ${name}`, (passkey, body) => JSON.stringify({ ...passkeyStampFields(passkey, body), [name]: 7 })],
    [`no base64 for ${name}`, bent(() => ({ [name]: "?" }))],
  ]),
  ["an empty credential id", bent(() => ({ credentialId: "" }))],
  [
    "a field twice",
    (passkey, body) => JSON.stringify(passkeyStampFields(passkey, body)).replace("{", '{"signature":"AA",'),
  ],
  [
    "a header without end",
    (passkey, body) => JSON.stringify({ ...passkeyStampFields(passkey, body), more: "x".repeat(12_500) }),
  ],
];

test("bad stamps and sessions are refused alike by gateway and signer, and leave nothing", async (t) => {
  const started = await startFurnished(t, "sqlite", (furnisher) => createStages(furnisher)());
  assert.ok(started);
  const { server, furniture: stage } = started;
  const fixture = createFixture(server.url, createTraffic(), stage, stage.parent);
  const { good, deletedPasskey } = await makeCredentials(fixture);
  const { passkey } = good;
  const { organizationId } = fixture.place;
  const post = (path: string, body: Json, headers: Headers) =>
    send(server.url, { path, headers: [["Content-Type", "application/json"], ...headers], body: bytesOf(body) });
  // The gateway verifies the first, the signer the second.
  const bodies = () => [
    [queries.list_users.url, { organizationId }] as const,
    [activities.create_user_tag.url, tagBody(organizationId)] as const,
  ];

  /** After a refusal the gateway verifies a credential's stamps before the signer does, until one is good: each attempt is the first. */
  const sendGoodOne = async () => {
    const body = { organizationId };
    const value = JSON.stringify(passkeyStampFields(passkey, bytesOf(body)));
    assertAccepted(await post(queries.list_users.url, body, [["X-Stamp-Webauthn", value]]));
  };
  const refuse = async (stamps: readonly BadStamp[], refusal: Refusal, by: Passkey = passkey) => {
    for (const [name, make] of stamps) {
      for (const [path, body] of bodies()) {
        const made = make(by, bytesOf(body));
        const value = typeof made === "string" ? made : JSON.stringify(made);
        await sendGoodOne();
        const answer = await post(path, body, [["X-Stamp-Webauthn", value]]);
        assert.doesNotThrow(() => assertRefused(answer, refusal), `${name} at ${path}: ${answer.text}`);
      }
    }
  };
  const quietly = (attempt: () => Promise<void>) => assertOnlyKept(fixture, attempt);

  await t.test("the good one is good", async () => {
    for (const [path, body] of bodies()) {
      const value = JSON.stringify(passkeyStampFields(passkey, bytesOf(body)));
      const { status, text } = await post(path, body, [["X-Stamp-Webauthn", value]]);
      // The user may not make tags; it is known, and told so.
      assert.equal(status, path === queries.list_users.url ? 200 : 403, text);
    }
  });
  await t.test("stamps that do not verify", () => quietly(() => refuse(unverifiable, unverified)));
  await t.test("stamps that cannot be read", () => quietly(() => refuse(illegible, unreadable)));
  await t.test("passkeys that are unknown, and one that was deleted", () =>
    quietly(async () => {
      const inOrder: BadStamp = ["in order", (by, body) => passkeyStampFields(by, body)];
      for (const by of [createPasskey(), deletedPasskey]) await refuse([inOrder], unknown, by);
    }),
  );
  await t.test("values that are no read-only session", () =>
    quietly(() => refuseSessions(fixture, good.readOnly, post)),
  );
  await t.test("none of this was an error inside", () => {
    assert.doesNotMatch(server.output(), ownFault);
  });
});

function tagBody(organizationId: string): Json {
  return envelope(activities.create_user_tag.type, organizationId, { userTagName: "tag", userIds: [] });
}

type Post = (path: string, body: Json, headers: Headers) => ReturnType<typeof send>;

async function refuseSessions({ place: { organizationId } }: Fixture, session: string, post: Post): Promise<void> {
  const body = { organizationId };
  const ask = (value: string) => post(queries.whoami.url, body, [["X-Session", value]]);
  assertAccepted(await ask(session));
  const bytes = bytesIn(session);
  const first = (byte: number) => base64url(Buffer.concat([Uint8Array.of(byte), bytes.subarray(1)]));
  const malformed: Refusal = { ...invalidSignature, message: "malformed activity stamp: not a read-only session" };
  for (const value of [
    "",
    "x",
    "?",
    session.slice(1),
    cut(session),
    `${session}AA`,
    `${session} x`,
    first(0),
    first(2),
  ]) {
    assertRefused(await ask(value), malformed);
  }
  // Each byte that the signer has signed, its signature, and the user and the end that it names.
  const forged: Refusal = { ...invalidSignature, message: "could not verify read-only session" };
  for (const at of [39, 40, 41, bytes.length - 1]) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    assertRefused(await ask(base64url(changed)), forged);
  }
  const submitted = tagBody(organizationId);
  for (const value of ["", "x", session]) {
    assertRefused(await post(activities.create_user_tag.url, submitted, [["X-Session", value]]), {
      status: 403,
      code: 7,
      errorCode: "REQUEST_NOT_AUTHORIZED",
      message: "request not authorized: a read-only session cannot submit activities",
    });
  }
}
