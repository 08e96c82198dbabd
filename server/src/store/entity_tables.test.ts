import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestStore } from "../../test/open_test_store.ts";
import type { Entities, EntityKind } from "../state/entities.ts";
import { entityKinds } from "../state/entity_kinds.ts";
import { emptyPages } from "../state/pages.ts";
import { fromRow, rowsOfPages, toRows } from "./entity_rows.ts";
import { entityTables, type TabledKind, tabledKinds, tableOf } from "./entity_tables.ts";

const times = { createdAtMs: 1, updatedAtMs: 2 };
const timeColumns = { created_at_ms: 1, updated_at_ms: 2 };
const record = new Uint8Array([1, 2, 3]);
const tag = { tagId: "t", tagName: "ops", ...times };
const tagRow = { organization_id: "acme", tag_id: "t", tag_name: "ops", ...timeColumns };

const proxySettings = {
  allowedOrigins: ["*"],
  allowedAuthMethods: ["email"],
  enabledSocialProviders: [],
  oauthClientIds: {},
  otpExpirationSeconds: 300,
  verificationTokenExpirationSeconds: 3600,
  sessionExpirationSeconds: 900,
  otpAlphanumeric: true,
  otpLength: 9,
  verificationTokenRequiredForGetAccountPii: false,
  socialLinkingClientIds: [],
  captchaEnabled: false,
} as const;

/** One entity of each kind with every field that it may have, and what its table must show of it, written out. */
const shown: { [K in TabledKind]: { entity: Entities[K]; row: object; parts?: object[] } } = {
  user: {
    entity: {
      userId: "u",
      userName: "Ann",
      userEmail: "ann@example.com",
      emailVerified: true,
      userPhoneNumber: "+15551234567",
      userTags: ["t", "s"],
      apiKeys: [
        {
          apiKeyId: "k",
          apiKeyName: "laptop",
          curve: "API_KEY_CURVE_P256",
          publicKey: "02ab",
          type: "CREDENTIAL_TYPE_API_KEY_P256",
          expiresAtMs: 9,
          sessionProfileId: "s",
          proven: true,
          ...times,
        },
      ],
      authenticators: [
        {
          authenticatorId: "p",
          authenticatorName: "phone",
          credentialId: "aWQ",
          publicKey: "03cd",
          rpIdHash: "ef",
          aaguid: "g",
          attestationType: "none",
          transports: ["AUTHENTICATOR_TRANSPORT_USB"],
          counter: 4,
          ...times,
        },
      ],
      oauthProviders: [
        {
          providerId: "o",
          providerName: "Google",
          issuer: "https://i.example",
          audience: "a",
          subject: "s",
          proven: true,
          ...times,
        },
      ],
      ...times,
    },
    row: {
      organization_id: "acme",
      user_id: "u",
      user_name: "Ann",
      user_email: "ann@example.com",
      email_verified: 1,
      phone_verified: 0,
      user_phone_number: "+15551234567",
      user_tags: '["t","s"]',
      ...timeColumns,
    },
    parts: [
      {
        organization_id: "acme",
        credential_id: "k",
        user_id: "u",
        credential_name: "laptop",
        type: "CREDENTIAL_TYPE_API_KEY_P256",
        curve: "API_KEY_CURVE_P256",
        public_key: "02ab",
        passkey: null,
        identity: null,
        expires_at_ms: 9,
        session_profile_id: "s",
        proven: 1,
        ...timeColumns,
      },
      {
        organization_id: "acme",
        credential_id: "p",
        user_id: "u",
        credential_name: "phone",
        type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR",
        curve: "WEBAUTHN",
        public_key: "aWQ",
        passkey:
          '{"publicKey":"03cd","rpIdHash":"ef","aaguid":"g","attestationType":"none","transports":["AUTHENTICATOR_TRANSPORT_USB"],"counter":4}',
        identity: null,
        expires_at_ms: null,
        session_profile_id: null,
        proven: 0,
        ...timeColumns,
      },
      {
        organization_id: "acme",
        credential_id: "o",
        user_id: "u",
        credential_name: "Google",
        type: "CREDENTIAL_TYPE_OAUTH_PROVIDER",
        curve: "OIDC",
        public_key: "0bd10d2b5a4222b9e6dca383a9e9ad8a5127fabfb258b22416bd0be5a41463cc",
        passkey: null,
        identity: '{"issuer":"https://i.example","audience":"a","subject":"s"}',
        expires_at_ms: null,
        session_profile_id: null,
        proven: 1,
        ...timeColumns,
      },
    ],
  },
  userTag: { entity: tag, row: tagRow },
  privateKeyTag: { entity: tag, row: tagRow },
  policy: {
    entity: {
      policyId: "p",
      policyName: "all",
      effect: "EFFECT_DENY",
      consensus: "c",
      condition: "d",
      time: "e",
      notes: "f",
      ...times,
    },
    row: {
      organization_id: "acme",
      policy_id: "p",
      policy_name: "all",
      effect: "EFFECT_DENY",
      consensus: "c",
      condition: "d",
      time: "e",
      notes: "f",
      ...timeColumns,
    },
  },
  contractInterface: {
    entity: { interfaceId: "i", type: "SOLANA", address: "x", label: "l", notes: "n", length: 3, ...times },
    row: {
      organization_id: "acme",
      interface_id: "i",
      type: "SOLANA",
      address: "x",
      label: "l",
      notes: "n",
      record,
      ...timeColumns,
    },
  },
  sessionProfile: {
    entity: {
      sessionProfileId: "s",
      sessionProfileName: "Sign",
      scope: "true",
      expirationSeconds: 60,
      notes: "n",
      ...times,
    },
    row: {
      organization_id: "acme",
      session_profile_id: "s",
      session_profile_name: "Sign",
      scope: "true",
      expiration_seconds: 60,
      notes: "n",
      ...timeColumns,
    },
  },
  authProxy: {
    entity: { configId: "c", userId: "u", settings: proxySettings, ...times },
    row: {
      organization_id: "acme",
      config_id: "c",
      user_id: "u",
      settings: JSON.stringify(proxySettings),
      ...timeColumns,
    },
  },
};

test("each kind becomes exactly the rows that readers expect", () => {
  for (const kind of tabledKinds) {
    const { entity, row, parts = [] } = shown[kind];
    assert.deepEqual(toRows(kind, "acme", entity, record), { row, parts }, kind);
  }
});

test("fields that are absent become null, and marks that are not set become zero", () => {
  const apiKey = { apiKeyId: "k", apiKeyName: "n", curve: "API_KEY_CURVE_P256", publicKey: "02", type: "t", ...times };
  const user = { userId: "u", userName: "Ann", userTags: [], apiKeys: [apiKey], ...times } as const;
  const { row, parts } = toRows("user", "acme", user as Entities["user"]);
  assert.deepEqual([row.user_email, row.user_phone_number, row.user_tags], [null, null, "[]"]);
  assert.deepEqual([parts[0]?.expires_at_ms, parts[0]?.proven], [null, 0]);
});

test("a row is read as the entity that it shows", () => {
  for (const kind of ["userTag", "privateKeyTag", "policy", "sessionProfile", "authProxy"] as const) {
    assert.deepEqual(fromRow(kind, shown[kind].row), shown[kind].entity, kind);
  }
});

test("a text with NUL is written to no table", () => {
  assert.throws(() => toRows("userTag", "acme", { ...tag, tagName: "a\0b" }), {
    code: "internal",
    message: "text for the database contains NUL",
  });
});

test("an interface becomes no row without its text", () => {
  assert.throws(() => toRows("contractInterface", "acme", shown.contractInterface.entity), { code: "internal" });
});

test("a kind with a table is listed by a page, by the field that its id column shows", () => {
  for (const kind of tabledKinds) {
    const { id, columns } = tableOf(kind);
    const column = columns[id];
    assert.ok(column !== undefined && "field" in column, kind);
    assert.equal(column.field, entityKinds[kind].id, kind);
  }
  assert.deepEqual(Object.keys(entityTables).sort(), (Object.keys(entityKinds) as EntityKind[]).sort());
});

test("the rows of empty pages are none, in every table that follows from pages alone", () => {
  const rows = rowsOfPages("acme", emptyPages);
  const tables = [
    "users",
    "credentials",
    "user_tags",
    "private_key_tags",
    "policies",
    "session_profiles",
    "auth_proxies",
  ];
  assert.deepEqual([...rows.keys()], tables);
  assert.deepEqual([...rows.values()].flat(), []);
});

test("columns of indexes, and those that say which rows are in one, are known as such", async (t) => {
  const store = await openTestStore(t, "sqlite");
  assert(store?.dialect === "sqlite");
  const { database } = store.sqlite;
  for (const kind of tabledKinds) {
    const { table, id, indexed = [], columns, parts } = tableOf(kind);
    // Only rows that keep their parts are written by them.
    if (parts === undefined) continue;
    const texts = database
      .prepare("select sql from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null")
      .all(table)
      .map(({ sql }) => String(sql));
    assert.ok(texts.length > 0);
    const named = Object.keys(columns).filter((name) => texts.some((text) => new RegExp(`\\b${name}\\b`).test(text)));
    assert.deepEqual(named.filter((name) => name !== id).sort(), [...indexed].sort());
  }
});
