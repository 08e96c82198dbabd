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

  test("one activity has one read-only session", () => {
    const asking = (name: string, at: number, session: string) => {
      const result = { session, sessionExpiry: "9" };
      return operation("r", "ann", [[at, at + 1]], { path: "create_read_only_session", name }, done("r", result));
    };
    const commits = [commit("r", 1, { before: 1, result: { session: "", sessionExpiry: "9", leaf: {} } })];
    assert.deepEqual(check([asking("first", 0, "v"), asking("again", 2, "v")], commits), []);
    assertNamed(
      check([asking("first", 0, "v"), asking("again", 2, "w")], commits),
      /^another read-only session: again/,
    );
    assertNamed(check([asking("first", 0, "")], commits), /^another read-only session: first/);
  });
});
