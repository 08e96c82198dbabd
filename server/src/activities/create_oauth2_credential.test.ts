import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { after, organization, person } from "../../test/members.ts";
import { unkeptVerdicts } from "../endpoints/verdict_access.ts";
import { openClientSecretOf } from "../rules/oauth2_credentials.ts";
import type { Pages } from "../state/pages.ts";
import { createOauth2Credential } from "./create_oauth2_credential.ts";
import { deleteOauth2Credential } from "./delete_oauth2_credential.ts";
import { updateOauth2Credential } from "./update_oauth2_credential.ts";

const acme = organization({ users: [person("ann")] });
const keys = testKeyAccess();

function envelope(secret: string | Uint8Array): string {
  const { hpke, clientSecretKey } = keys;
  return toHex(sealClientSecret(hpke, hpke.publicKey(clientSecretKey), randomBytes(12), Buffer.from(secret)));
}

type Params = Parameters<typeof createOauth2Credential.run>[1];
const params = (more: Partial<Params> = {}): Params => ({
  provider: "OAUTH2_PROVIDER_ALPHA",
  clientId: "client",
  encryptedClientSecret: envelope("secret"),
  ...more,
});

function create(asked: Params, pages: Pages = acme, context = {}): Pages {
  const outcome = runActivity(createOauth2Credential, pages, asked, { keys, ...context });
  return after(pages, outcome);
}

test("a credential keeps its envelope as it came, and its provider under one name", () => {
  const asked = params({ provider: "OAUTH2_PROVIDER_DISCORD" });
  const [credential] = [...create(asked).oauth2Credentials.values()];
  const { encryptedClientSecret, clientId } = asked;
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
  const provider = "OAUTH2_PROVIDER_BETA";
  assert.deepEqual(credential, { oauth2CredentialId: "new 0", provider, clientId, encryptedClientSecret, ...times });
  assert.equal(Buffer.from(openClientSecretOf(asked, { keys, verdicts: unkeptVerdicts })).toString("utf8"), "secret");
});

test("an envelope that does not open is refused at once, and nothing of it is told", () => {
  const good = envelope("secret");
  const foreign = [
    good.slice(0, -2),
    `${good.slice(0, -2)}00`,
    "secret",
    "",
    envelope(""),
    envelope(Uint8Array.of(0xff, 0xfe)),
  ];
  for (const encryptedClientSecret of foreign) {
    assert.throws(() => create(params({ encryptedClientSecret })), {
      code: "invalid_argument",
      message: /^encryptedClientSecret does not open: encrypt the secret to the key `clientSecretEncryption`/,
    });
  }
});

test("no two have the same provider and client, and a client id must be set", () => {
  const pages = create(params());
  assert.throws(() => create(params({ provider: "OAUTH2_PROVIDER_X" }), pages), { code: "already_exists" });
  const newId = () => "new 1";
  assert.equal(create(params({ clientId: "another" }), pages, { newId }).oauth2Credentials.size, 2);
  assert.throws(() => create(params({ clientId: "" })), { code: "invalid_argument", message: "client_id must be set" });
});

test("an update replaces all fields of one credential, and leaves its id and place", () => {
  const pages = create(params());
  const asked = { oauth2CredentialId: "new 0", ...params({ clientId: "other", provider: "OAUTH2_PROVIDER_BETA" }) };
  const context = { keys, nowMs: nowMs + 5 };
  const updated = after(pages, runActivity(updateOauth2Credential, pages, asked, context));
  assert.deepEqual([...updated.oauth2Credentials.values()], [{ ...asked, createdAtMs: nowMs, updatedAtMs: nowMs + 5 }]);
  // The same fields again are no conflict with itself.
  runActivity(updateOauth2Credential, updated, asked, context);
  const unknown = { ...asked, oauth2CredentialId: "none" };
  const notFound = { code: "not_found", errorCode: "OAUTH2_CREDENTIAL_NOT_FOUND" };
  assert.throws(() => runActivity(updateOauth2Credential, pages, unknown, context), notFound);
  assert.throws(() => runActivity(deleteOauth2Credential, pages, { oauth2CredentialId: "none" }), notFound);
  const empty = after(pages, runActivity(deleteOauth2Credential, pages, { oauth2CredentialId: "new 0" }));
  assert.equal(empty.oauth2Credentials.size, 0);
});

test("an organization has a limited number of them", () => {
  const pages = create(params());
  const limits = { oauth2CredentialsPerOrganization: 1 };
  assert.throws(() => create(params({ clientId: "b" }), pages, { limits }), { code: "resource_exhausted" });
});
