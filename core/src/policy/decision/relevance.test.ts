import assert from "node:assert/strict";
import { test } from "node:test";
import { potentialVoice } from "../evaluation/scope.ts";
import { checkExpression } from "../language/check.ts";
import { compileConsensus } from "./relevance.ts";

test("a credential that a clause cannot be asked of does not hide what another one of the user says", () => {
  const { relevance } = compileConsensus(
    checkExpression("consensus", "credentials.any(c, c.credential_id[0..3] == 'abc')"),
  );
  const apiKey = { id: "1", type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "" };
  const passkey = { ...apiKey, id: "2", type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR", credentialId: "abcd" };
  const user = { userId: "u", userName: "Somebody", userTags: [] };
  assert.equal(relevance.isNamed(potentialVoice({ ...user, credentials: [apiKey, passkey] })), true);
  assert.equal(relevance.isNamed(potentialVoice({ ...user, credentials: [passkey, apiKey] })), true);
  assert.equal(relevance.isNamed(potentialVoice({ ...user, credentials: [apiKey] })), false);
});
