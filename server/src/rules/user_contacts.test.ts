import assert from "node:assert/strict";
import { test } from "node:test";
import { organization, person } from "../../test/members.ts";
import { getUserByContact } from "./user_contacts.ts";

const userEmail = "Ann@example.com";
const ann = person("ann", { userEmail });
const eve = person("eve", { userEmail: userEmail.toLowerCase() });
const found = (...users: ReturnType<typeof person>[]) =>
  getUserByContact(organization({ users }).members, "acme", "email", "ann@EXAMPLE.com");

test("the one user who has a contact is found, in the spelling of that user", () => {
  assert.deepEqual(found(ann), { user: ann, contact: userEmail });
  assert.throws(() => found(person("bob")), { code: "not_found" });
  assert.throws(() => found(ann, eve), { code: "failed_precondition", errorCode: "CREDENTIAL_CONFLICT" });
});

test("nobody who writes down a verified contact of another gets between that user and its mail", () => {
  const holder = { ...ann, emailVerified: true as const };
  assert.deepEqual(found(eve, holder, person("bob", { userEmail })), { user: holder, contact: userEmail });
});
