/** The checker on sign-in: who is signed in, by what, and until when. All histories are written by hand. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertNamed, check, commit, keyOf, operation, refusal, view } from "./hand_written.ts";
import type { Credential, Parameters } from "./model.ts";
import type { Answer } from "./record.ts";

describe("sign-in", () => {
  const token = (publicKey: string) => {
    const claims = { public_key: publicKey, user_id: "ann" };
    return `.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;
  };
  const done = (name: string, result: Parameters): Answer => ({
    kind: "activity",
    activity: { activityId: `act ${name}`, status: "COMPLETED", votes: ["ann APPROVED"], result },
  });
  const login = (name: string, span: [number, number], publicKey: string, more: object = {}) =>
    operation(
      name,
      "ann",
      [span],
      { path: "stamp_login", parameters: { publicKey, ...more } },
      done(name, { session: token(publicKey) }),
    );
  const loggedIn = (name: string, version: number, publicKey: string) =>
    commit(name, version, { result: { session: token(publicKey) } });
  const asked = (name: string, span: [number, number], credential: Credential, answer: Answer) =>
    operation(name, "ann", [span], { kind: "query", path: "whoami", credential }, answer);
  const me = view(["Acme", "ann", "ann"]);
  const noKey = refusal(401, 16, "could not find public key in organization");
  const session: Credential = { kind: "key", id: "s" };

  test("a session speaks for its user until another login ends it", () => {
    const operations = (last: Answer) => [
      login("one", [0, 1], "s"),
      asked("early", [2, 3], session, me),
      login("two", [4, 5], "t", { invalidateExisting: true }),
      asked("late", [6, 7], session, last),
    ];
    const commits = [loggedIn("one", 2, "s"), loggedIn("two", 3, "t")];
    assert.deepEqual(check(operations(noKey), commits), []);
    assertNamed(check(operations(me), commits), /^stale: late/);
  });

  test("an eleventh session takes the place of the one that was renewed longest ago", () => {
    const names = ["a", "b", ...Array.from({ length: 8 }, (_, index) => `c${index}`), "a", "d"];
    const operations = names.map((publicKey, at) => login(`login ${at}`, [at, at + 0.5], publicKey));
    const commits = names.map((publicKey, at) => loggedIn(`login ${at}`, at + 2, publicKey));
    const ask = (publicKey: string, answer: Answer) =>
      asked(`by ${publicKey}`, [50, 51], { kind: "key", id: publicKey }, answer);
    assert.deepEqual(check([...operations, ask("a", me), ask("b", noKey), ask("d", me)], commits), []);
    assertNamed(check([...operations, ask("b", me)], commits), /^stale: by b/);
    assertNamed(check([...operations, ask("a", noKey)], commits), /by a/);
  });

  test("a login does not take a lasting key", () => {
    const taken = login("one", [0, 1], keyOf("bob"));
    assertNamed(check([taken], [loggedIn("one", 2, keyOf("bob"))]), /^another outcome/);
  });

  test("a passkey is refused where a list does not name its origin, and a read-only session ends with its user", () => {
    const origins = { path: "update_allowed_origins", parameters: { allowedOrigins: ["https://other.example.com"] } };
    const removed = { path: "delete_users", parameters: { userIds: ["cal"] } };
    const passkey: Credential = { kind: "passkey", id: "passkey of ann" };
    const reading: Credential = { kind: "readOnly", id: "cal" };
    const refused = refusal(401, 16, "could not verify WebAuthN signature");
    const gone = refusal(401, 16, "could not find the user of this read-only session in organization");
    const cal = {
      users: [{ userName: "cal", apiKeys: [{ publicKey: keyOf("cal") }], authenticators: [], userTags: [] }],
    };
    const operations = (byPasskey: Answer, byReader: Answer) => [
      operation("cal", "ann", [[0, 1]], { path: "create_users", parameters: cal }, done("cal", { userIds: ["cal"] })),
      asked("early passkey", [2, 3], passkey, me),
      asked("early reader", [2, 3], reading, view(["Acme", "cal", "cal"])),
      operation("list", "ann", [[4, 5]], origins, done("list", {})),
      operation("end", "ann", [[6, 7]], removed, done("end", { userIds: ["cal"] })),
      asked("late passkey", [8, 9], passkey, byPasskey),
      asked("late reader", [8, 9], reading, byReader),
    ];
    const commits = [
      commit("cal", 2, { result: { userIds: ["cal"] } }),
      commit("list", 3, { result: {} }),
      commit("end", 4, { result: { userIds: ["cal"] } }),
    ];
    assert.deepEqual(check(operations(refused, gone), commits), []);
    assertNamed(check(operations(refused, view(["Acme", "cal", "cal"])), commits), /^stale: late reader/);
    assertNamed(check(operations(me, gone), commits), /^stale: late passkey/);
    const tags = (name: string, at: number, answer: Answer) =>
      operation(name, "ann", [[at, at + 1]], { kind: "query", path: "list_user_tags", credential: passkey }, answer);
    assert.deepEqual(check([...operations(refused, gone), tags("early tags", 2, view([]))], commits), []);
    assertNamed(check([...operations(refused, gone), tags("late tags", 10, view([]))], commits), /^stale: late tags/);
  });

  test("an identity signs in the user who has registered it, and nobody once it is gone", () => {
    const tokenOf = (sub: string) => `e30.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.AA`;
    const register = {
      path: "create_oauth_providers",
      parameters: { userId: "ann", oauthProviders: [{ providerName: "Issuer", oidcToken: tokenOf("s") }] },
    };
    const login = { path: "oauth_login", parameters: { oidcToken: tokenOf("s"), publicKey: "session key" } };
    const remove = { path: "delete_oauth_providers", parameters: { userId: "ann", providerIds: ["p"] } };
    const bySession: Credential = { kind: "key", id: "session key" };
    const operations = (session: string, late: Answer) => [
      operation("register", "ann", [[0, 1]], register, done("register", { providerIds: ["p"] })),
      operation("login", "ann", [[2, 3]], login, done("login", { session: "jwt" })),
      operation("login", "ann", [[4, 5]], { ...login, name: "again" }, done("login", { session })),
      asked("who", [4, 5], bySession, me),
      operation("remove", "ann", [[6, 7]], remove, done("remove", { providerIds: ["p"] })),
      operation("late", "ann", [[8, 9]], login, late),
    ];
    const unknown = "could not find a user with the identity of this OIDC token in organization";
    const commits = [
      commit("register", 2, { result: { providerIds: ["p"] } }),
      commit("login", 3, { result: { session: "", sessionEndsAtMs: 9 } }),
      commit("remove", 4, { result: { providerIds: ["p"] } }),
      commit("late", 4, { before: 4, event: "FAILED", failure: { code: 16, message: unknown } }),
    ];
    assert.deepEqual(check(operations("jwt", refusal(401, 16, unknown)), commits), []);
    assertNamed(check(operations("other", refusal(401, 16, unknown)), commits), /^another session: again/);
    const accepted = commit("late", 5, { result: { session: "", sessionEndsAtMs: 9 } });
    const stale = [...commits.slice(0, 3), accepted];
    assertNamed(
      check(operations("jwt", done("late", { session: "jwt" })), stale),
      /^another outcome: COMPLETED of act late/,
    );
  });

  test("one activity has one read-only session", () => {
    const asking = (name: string, at: number, session: string) => {
      const result = { session, sessionExpiry: "9" };
      return operation("r", "ann", [[at, at + 1]], { path: "create_read_only_session", name }, done("r", result));
    };
    const commits = [commit("r", 1, { before: 1, result: { session: "", sessionExpiry: "9", leaf: {} } })];
    assert.deepEqual(check([asking("first", 0, "v"), asking("again", 2, "v")], commits), []);
    assertNamed(check([asking("first", 0, "v"), asking("again", 2, "w")], commits), /^another session: again/);
    assertNamed(check([asking("first", 0, "")], commits), /^another session: first/);
  });
});
