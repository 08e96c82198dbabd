/** Sessions as the rules have them; the whole way is in `activities/stamp_login.gateway.test.ts`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { samples } from "../../../core/test/samples.ts";
import { activityContext, nowMs, runActivity } from "../../test/activity_context.ts";
import { after, apiKey, organization, person, publicKey } from "../../test/members.ts";
import { stampLogin } from "../activities/stamp_login.ts";
import { encodePage, type Pages } from "../state/pages.ts";
import { namedProfileId } from "./session_profiles.ts";
import { sessionExpiryMs } from "./sessions.ts";

const ann = () => organization({ users: [person("ann", { apiKeys: [apiKey(0)] })] });
const keysOf = ({ members }: Pages) => members.users.get("ann")?.apiKeys ?? [];

test("a session lasts a quarter of an hour unless told, and never longer than the operator allows", () => {
  const lasts = (expirationSeconds: string | null | undefined, maxSessionSeconds?: number) => {
    const limits = maxSessionSeconds === undefined ? {} : { maxSessionSeconds };
    const params = expirationSeconds === undefined ? {} : { expirationSeconds };
    return (sessionExpiryMs(params, activityContext({ limits })) - nowMs) / 1000;
  };
  assert.deepEqual([lasts(undefined), lasts(null), lasts("1"), lasts("2592000")], [900, 900, 1, 2_592_000]);
  assert.equal(lasts(undefined, 60), 60);
  for (const bad of ["", "0", "-5", "1e3", "60 ", "0x10", "99999999999999999999"]) {
    assert.throws(() => lasts(bad), { code: "invalid_argument", message: /^invalid api key expiration/ }, bad);
  }
  assert.throws(() => lasts("61", 60), { code: "invalid_argument", message: /at most 60 seconds/ });
});

test("a profile bounds what is asked for, and alone says how long a session lasts", () => {
  const lasts = (asked: string | undefined, most: number | undefined, maxSessionSeconds = 10_000) => {
    const profile = most === undefined ? {} : { expirationSeconds: most };
    const params = asked === undefined ? {} : { expirationSeconds: asked };
    return (sessionExpiryMs(params, activityContext({ limits: { maxSessionSeconds } }), profile) - nowMs) / 1000;
  };
  assert.deepEqual([lasts("60", 600), lasts("6000", 600), lasts(undefined, 600)], [60, 600, 600]);
  assert.deepEqual([lasts("60", undefined), lasts(undefined, undefined)], [60, 900]);
  assert.equal(lasts(undefined, 600, 300), 300, "an operator's bound that came later holds too");
  assert.throws(() => lasts("0", 600), { code: "invalid_argument" });
});

test("the default session has no profile, or zeros for one", () => {
  for (const none of [undefined, null, "", "00000000-0000-0000-0000-000000000000"]) {
    assert.equal(namedProfileId(none), undefined);
  }
  for (const other of ["0", "11111111-1111-4111-8111-111111111111"]) {
    assert.equal(namedProfileId(other), other);
    const login = () => runActivity(stampLogin, ann(), { publicKey: publicKey(1), sessionProfileId: other });
    assert.throws(login, {
      code: "not_found",
      message: `unable to find session profile ${other} in organization acme`,
    });
  }
});

test("one key has one place, however it is spelt", () => {
  const compressed = publicKey(5);
  const uncompressed = toHex(p256.Point.fromHex(compressed).toBytes(false)).toUpperCase();
  const first = after(ann(), runActivity(stampLogin, ann(), { publicKey: uncompressed }));
  const later = { nowMs: nowMs + 1_000 };
  const again = after(first, runActivity(stampLogin, first, { publicKey: compressed }, later));
  assert.deepEqual(
    keysOf(again).map(({ publicKey: each, expiresAtMs }) => [each, expiresAtMs]),
    [
      [publicKey(0), undefined],
      [compressed, nowMs + 901_000],
    ],
  );
});

test(`${samples.logins} logins leave the members page as long as ten do`, (t) => {
  let pages = ann();
  let lengthOfTen = 0;
  for (let login = 1; login <= samples.logins; login++) {
    const context = { nowMs: nowMs + login * 1_000, newId: () => String(login).padStart(36, "0") };
    pages = after(pages, runActivity(stampLogin, pages, { publicKey: publicKey(login) }, context));
    const { length } = encodePage("members", pages.members);
    if (login === 10) lengthOfTen = length;
    if (login >= 10) assert.equal(length, lengthOfTen, `after ${login}`);
  }
  assert.equal(keysOf(pages).length, 11);
  t.diagnostic(
    `${samples.logins} logins of one user: the members page has ${lengthOfTen} bytes after the tenth and after each since`,
  );
});

test("a login with a malformed key is refused with the name of its field", () => {
  for (const [key, why] of [
    ["xyz", "not hex"],
    ["02", "not a point encoding"],
  ] as const) {
    const login = () => runActivity(stampLogin, ann(), { publicKey: key });
    assert.throws(login, { code: "invalid_argument", message: `malformed publicKey: ${why}` });
  }
});
