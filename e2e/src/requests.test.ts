/** What a request may look like, from outside: stamps and bodies, and whose they are, on a real server and both databases. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { StampScheme } from "@keystead/core/crypto/stamp.ts";
import { parseEcdsaDer, toEcdsaDer } from "@keystead/core/encoding/der.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { dialects } from "./databases.ts";
import { createKey } from "./key_pairs.ts";
import { ownFault } from "./keystead_server.ts";
import {
  expiredKey,
  malformed,
  noSuchOrganization,
  organizationMismatch,
  unknownKey,
  unreadable,
  unstamped,
  unverified,
} from "./refusals.ts";
import { testHttp } from "./requests_http.ts";
import { highS, paddedDer, uncompressed } from "./respelling.ts";
import {
  assertAccepted,
  assertIs,
  assertRefused,
  bytesOf,
  call,
  type Headers,
  send,
  sendRaw,
  stampFields,
  stampOf,
} from "./wire.ts";
import { startWorld } from "./world.ts";

const whoami = "/public/v1/query/whoami";
const createUserTag = "/public/v1/submit/create_user_tag";
const deleteUserTags = "/public/v1/submit/delete_user_tags";

function tagBody(organizationId: string, parameters: object = { userTagName: randomUUID(), userIds: [] }) {
  return {
    type: "ACTIVITY_TYPE_CREATE_USER_TAG",
    timestampMs: String(Date.now()),
    organizationId,
    parameters,
  };
}

for (const dialect of dialects) {
  test(`requests on ${dialect}`, async (t) => {
    const world = await startWorld(t, dialect);
    if (world === undefined) return;
    const { url } = world.server;
    const { organizationId, root, deputy } = world;
    const body = bytesOf({ organizationId });

    await t.test("each of the four schemes opens queries and submits", async () => {
      const schemes = [
        [deputy.p256, "SIGNATURE_SCHEME_TK_API_P256"],
        [deputy.secp256k1, "SIGNATURE_SCHEME_TK_API_SECP256K1"],
        [deputy.secp256k1, "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"],
        [deputy.ed25519, "SIGNATURE_SCHEME_TK_API_ED25519"],
      ] as const;
      for (const [key, scheme] of schemes) {
        assertIs(await call(url, whoami, key, body, { scheme }), deputy);
        const answer = await call(url, createUserTag, key, tagBody(organizationId), { scheme });
        assertAccepted(answer);
        assert.equal(answer.json.activity.votes[0].scheme, scheme);
        assert.equal(answer.json.activity.votes[0].userId, deputy.userId);
      }
    });

    await t.test("other spellings of a valid stamp are accepted", async () => {
      const p256 = stampFields(deputy.p256, body);
      const secp256k1 = stampFields(deputy.secp256k1, body);
      const ed25519 = stampFields(deputy.ed25519, body);
      const rs = parseEcdsaDer(fromHex(p256.signature));
      const spellings: Record<string, string> = {
        "high s on P-256": stampOf({ ...p256, signature: highS("p256", p256.signature) }),
        "high s on secp256k1": stampOf({ ...secp256k1, signature: highS("secp256k1", secp256k1.signature) }),
        "integers of 33 bytes": stampOf({ ...p256, signature: toHex(paddedDer(rs, 33)) }),
        "upper-case signature": stampOf({ ...p256, signature: p256.signature.toUpperCase() }),
        "upper-case key": stampOf({ ...p256, publicKey: p256.publicKey.toUpperCase() }),
        "upper-case Ed25519": stampOf({
          ...ed25519,
          publicKey: ed25519.publicKey.toUpperCase(),
          signature: ed25519.signature.toUpperCase(),
        }),
        "uncompressed P-256 key": stampOf({ ...p256, publicKey: uncompressed("p256", p256.publicKey) }),
        "uncompressed secp256k1 key": stampOf({
          ...secp256k1,
          publicKey: uncompressed("secp256k1", secp256k1.publicKey).toUpperCase(),
        }),
        "another key order": stampOf({ signature: p256.signature, scheme: p256.scheme, publicKey: p256.publicKey }),
        "a key we do not know": stampOf({ ...p256, hint: { nested: [1, "two"] } }),
        "white space in the JSON": Buffer.from(JSON.stringify(p256, null, 2)).toString("base64url"),
      };
      // Both alphabets differ in the last two characters only, and padding shows at two of three lengths.
      for (let length = 0; length < 3; length++) {
        const json = JSON.stringify({ ...p256, pad: `${"~?".repeat(20)}${"x".repeat(length)}` });
        const plain = Buffer.from(json).toString("base64");
        assert.match(plain, /[+/]/);
        spellings[`plain base64, padded, length ${length}`] = plain;
        spellings[`plain base64, length ${length}`] = plain.replace(/=+$/, "");
        spellings[`base64url, padded, length ${length}`] = plain.replaceAll("+", "-").replaceAll("/", "_");
      }
      for (const [name, stamp] of Object.entries(spellings)) {
        const answer = await call(url, whoami, deputy.p256, body, { stamp });
        assert.equal(answer.status, 200, `${name}: ${answer.text}`);
        assert.equal(answer.json.userId, deputy.userId, name);
        // The signer reads stamps too, so each spelling must also mean the same to it.
        const refused = await call(url, createUserTag, deputy.p256, tagBody(organizationId), { stamp });
        assertRefused(refused, unverified);
      }
    });

    await t.test("integers that a wallet client never shortens are accepted", async () => {
      for (;;) {
        const tried = bytesOf(tagBody(organizationId));
        const fields = stampFields(deputy.secp256k1, tried);
        const der = fromHex(fields.signature);
        const padded = paddedDer(parseEcdsaDer(der), 32);
        if (padded.length === der.length) continue; // About one signature in 128 has an integer with a leading zero byte.
        const stamp = stampOf({ ...fields, signature: toHex(padded) });
        assertAccepted(await call(url, createUserTag, deputy.secp256k1, tried, { stamp }));
        return;
      }
    });

    await t.test("a stamp that cannot be read, or does not verify, is refused with the published words", async () => {
      for (const path of [whoami, createUserTag]) {
        const sent = path === whoami ? body : bytesOf(tagBody(organizationId));
        const valid = stampFields(deputy.p256, sent);
        const ed25519 = stampFields(deputy.ed25519, sent);
        const { publicKey, signature } = valid;
        const other = stampFields(deputy.p256, bytesOf("other bytes"));
        const rs = parseEcdsaDer(fromHex(signature));
        const zero = new Uint8Array(32);
        const p256Scheme: StampScheme = "SIGNATURE_SCHEME_TK_API_P256";
        const cases: [name: string, stamp: string, refusal: Parameters<typeof assertRefused>[1]][] = [
          ["empty", "", unreadable],
          ["not base64", "%%%", unreadable],
          ["not JSON", Buffer.from("stamp").toString("base64url"), unreadable],
          ["not an object", Buffer.from("[]").toString("base64url"), unreadable],
          ["the JSON itself, not encoded", JSON.stringify(valid), unreadable],
          ["no key", stampOf({ ...valid, publicKey: undefined }), unreadable],
          ["no scheme", stampOf({ ...valid, scheme: undefined }), unreadable],
          ["no signature", stampOf({ ...valid, signature: undefined }), unreadable],
          ["a number for a key", stampOf({ ...valid, publicKey: 7 }), unreadable],
          [
            "a key twice",
            Buffer.from(JSON.stringify(valid).replace("{", `{"publicKey":"${publicKey}",`)).toString("base64url"),
            unreadable,
          ],
          ["two alphabets", `${stampOf(valid).slice(0, -4)}+-/_`, unreadable],
          ["unknown scheme", stampOf({ ...valid, scheme: "SIGNATURE_SCHEME_TK_API_P521" }), malformed],
          ["a scheme of Object", stampOf({ ...valid, scheme: "constructor" }), malformed],
          ["key not hex", stampOf({ ...valid, publicKey: `zz${publicKey.slice(2)}` }), unreadable],
          ["key with 0x", stampOf({ ...valid, publicKey: `0x${publicKey}` }), unreadable],
          ["hybrid key", stampOf({ ...valid, publicKey: `06${uncompressed("p256", publicKey).slice(2)}` }), unreadable],
          [
            "uncompressed key off the curve",
            stampOf({ ...valid, publicKey: flipLastBit(uncompressed("p256", publicKey)) }),
            unreadable,
          ],
          ["truncated signature", stampOf({ ...valid, signature: signature.slice(0, -2) }), unreadable],
          ["half a digit", stampOf({ ...valid, signature: signature.slice(0, -1) }), unreadable],
          ["bytes behind the signature", stampOf({ ...valid, signature: `${signature}00` }), unreadable],
          ["r‖s instead of DER", stampOf({ ...valid, signature: toHex(rs) }), unreadable],
          ["DER instead of raw Ed25519", stampOf({ ...ed25519, signature }), unreadable],
          ["short Ed25519", stampOf({ ...ed25519, signature: ed25519.signature.slice(2) }), unreadable],
          ["r = 0", stampOf({ ...valid, signature: toHex(toEcdsaDer(joined(zero, rs.subarray(32)))) }), unverified],
          ["s = 0", stampOf({ ...valid, signature: toHex(toEcdsaDer(joined(rs.subarray(0, 32), zero))) }), unverified],
          ["another body", stampOf(other), unverified],
          ["a bit of the signature", stampOf({ ...valid, signature: flipLastBit(signature) }), unverified],
          [
            "Ed25519 of another body",
            stampOf({ ...ed25519, signature: flipLastBit(ed25519.signature, 64) }),
            unverified,
          ],
          ["an Ed25519 key under P-256", stampOf({ ...ed25519, scheme: p256Scheme }), unreadable],
          [
            "a secp256k1 key under P-256",
            stampOf({ ...stampFields(deputy.secp256k1, sent), scheme: p256Scheme }),
            // Where sub-organizations are searched, a stamp is verified before.
            path === whoami ? unverified : unknownKey(deputy.secp256k1, organizationId),
          ],
          [
            "EIP-191 for plain secp256k1",
            stampOf({
              ...stampFields(deputy.secp256k1, sent),
              scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191",
            }),
            unverified,
          ],
        ];
        for (const [name, stamp, refusal] of cases) {
          const answer = await call(url, path, deputy.p256, sent, { stamp });
          assert.doesNotThrow(() => assertRefused(answer, refusal), `${path}, ${name}: ${answer.text}`);
        }
      }
    });

    await t.test("exactly one stamp: none, two kinds or one twice are refused", async () => {
      const stamp = stampOf(stampFields(deputy.p256, body));
      const submitted = bytesOf(tagBody(organizationId));
      assertRefused(await send(url, { path: whoami, body }), unstamped.query);
      assertRefused(await send(url, { path: createUserTag, body: submitted }), unstamped.submit);
      const doubled: Headers[] = [
        [
          ["X-Stamp", stamp],
          ["X-Stamp", stamp],
        ],
        [
          ["X-Stamp", stamp],
          ["x-stamp", ""],
        ],
        [
          ["X-Stamp", stamp],
          ["X-Stamp-Webauthn", "{}"],
        ],
        [
          ["X-Stamp-WebAuthn", "{}"],
          ["X-Stamp", stamp],
        ],
        [
          ["X-Stamp", stamp],
          ["X-Stamp-Attested", stamp],
        ],
        [
          ["X-Session", "session"],
          ["X-Stamp", stamp],
        ],
      ];
      for (const headers of doubled) {
        for (const path of [whoami, createUserTag]) {
          assertRefused(await send(url, { path, headers, body }), malformed);
        }
      }
      assertRefused(await send(url, { path: whoami, headers: [["X-Stamp", `${stamp}, ${stamp}`]], body }), unreadable);
      assertIs(await send(url, { path: whoami, headers: [["x-sTaMp", stamp]], body }), deputy);
    });

    await t.test("a stamp of 32 KiB is read, a longer one refused, and endless headers end in 431", async () => {
      const fields = stampFields(deputy.p256, body);
      const withHeader = (length: number) => {
        const pad = Math.floor((length * 3) / 4) - JSON.stringify({ ...fields, pad: "" }).length;
        return call(url, whoami, deputy.p256, body, { stamp: stampOf({ ...fields, pad: "x".repeat(pad) }) });
      };
      assertIs(await withHeader(32 * 1024), deputy);
      assertRefused(await withHeader(33 * 1024), unreadable);
      const answer = await sendRaw(url, `POST ${whoami} HTTP/1.1\r\nHost: x\r\nX-Stamp: ${"A".repeat(60_000)}\r\n\r\n`);
      assert.match(answer, /^HTTP\/1.1 431 .*\r\ncontent-type: application\/json\r\n/);
      assert.deepEqual(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))), {
        code: 3,
        message: "request headers are too large",
        details: [],
        errorCode: "",
      });
    });

    await t.test("an expired key and an unknown key are told apart in the words clients match", async () => {
      const { expired, subA } = world;
      const stranger = createKey();
      for (const path of [whoami, createUserTag]) {
        const at = (target: string) => (path === whoami ? { organizationId: target } : tagBody(target));
        assertRefused(await call(url, path, expired.p256, at(organizationId)), expiredKey(expired.p256));
        assertAccepted(await call(url, path, expired.ed25519, at(organizationId))); // Only the one key has expired.
        assertRefused(await call(url, path, stranger, at(organizationId)), unknownKey(stranger, organizationId));
        assertRefused(
          await call(url, path, stranger, at(subA.organizationId)),
          unknownKey(stranger, subA.organizationId, organizationId),
        );
        // A key of somebody else's organization is answered like one that nobody has.
        assertRefused(
          await call(url, path, world.other.owner.p256, at(organizationId)),
          unknownKey(world.other.owner.p256, organizationId),
        );
      }
    });

    await t.test("organization ids: either case, but a UUID and ours", async () => {
      const malformedId = {
        status: 400,
        code: 3,
        message: "malformed organization ID provided",
        errorCode: "INVALID_ORGANIZATION_ID",
      };
      for (const path of [whoami, createUserTag]) {
        const rest = path === whoami ? {} : tagBody(organizationId);
        const at = (target: unknown) => ({ ...rest, organizationId: target });
        for (const target of ["", "x", 7, null, [], `{${organizationId}}`, organizationId.replaceAll("-", "")]) {
          assertRefused(await call(url, path, deputy.p256, at(target)), malformedId);
        }
        assertRefused(await call(url, path, deputy.p256, at(undefined)), {
          status: 400,
          code: 3,
          message: "invalid request body: missing field `organizationId`",
        });
        assertRefused(await call(url, path, deputy.p256, at(randomUUID())), noSuchOrganization);
        const answer = await call(url, path, deputy.p256, at(organizationId.toUpperCase()));
        assertAccepted(answer);
        assert.equal((answer.json.activity ?? answer.json).organizationId, organizationId);
      }
    });

    await t.test(
      "whoami finds the caller: its own organization first, then the parent, then one sub-organization",
      async () => {
        const { subA, subB, bothInParent, other } = world;
        const ask = (target: string, person: { p256: Parameters<typeof call>[2] }) =>
          call(url, whoami, person.p256, { organizationId: target });
        assertIs(await ask(organizationId, root), root);
        assertIs(await ask(subA.organizationId, subA.owner), subA.owner);
        // A caller that knows only its parent is answered for its own organization.
        const found = await ask(organizationId, subA.owner);
        assertIs(found, subA.owner);
        assert.equal(found.json.organizationName, subA.organizationName);
        assertRefused(await ask(organizationId, subA.twin), {
          status: 401,
          code: 16,
          message: "more than one suborg associated with a public key",
          errorCode: "CREDENTIAL_CONFLICT",
        });
        assertIs(await ask(subA.organizationId, subA.twin), subA.twin);
        assertIs(await ask(subB.organizationId, subA.twin), subB.owner);
        // A member of the parent may read every sub-organization, as itself.
        assertIs(await ask(subA.organizationId, root), root);
        // A key of both is the sub-organization's there and the parent's here.
        assertIs(await ask(subA.organizationId, bothInParent), subA.bothInSub);
        assertIs(await ask(organizationId, bothInParent), bothInParent);
        // Siblings are strangers, and so are other organizations' sub-organizations.
        assertRefused(
          await ask(subB.organizationId, subA.owner),
          unknownKey(subA.owner.p256, subB.organizationId, organizationId),
        );
        assertRefused(await ask(other.organizationId, subA.owner), unknownKey(subA.owner.p256, other.organizationId));
        assertRefused(
          await ask(subA.organizationId, other.owner),
          unknownKey(other.owner.p256, subA.organizationId, organizationId),
        );
      },
    );

    await t.test(
      "a parent's key may not write in a sub-organization, nor a sub-organization's in its parent",
      async () => {
        const { subA } = world;
        const mismatch = organizationMismatch(subA.organizationId, organizationId);
        assertRefused(await call(url, createUserTag, root.p256, tagBody(subA.organizationId)), mismatch);
        const stamp = stampOf({ ...stampFields(root.p256, body) });
        assertRefused(await call(url, createUserTag, root.p256, tagBody(subA.organizationId), { stamp }), unverified);
        assertRefused(
          await call(url, createUserTag, subA.owner.p256, tagBody(organizationId)),
          unknownKey(subA.owner.p256, organizationId),
        );
        const sent = tagBody(subA.organizationId);
        const own = await call(url, createUserTag, subA.owner.p256, sent);
        assertAccepted(own);
        // Nor by repeating what a member did: it would look like the parent's doing.
        assertRefused(await call(url, createUserTag, root.p256, sent), mismatch);
        assert.equal(own.json.activity.organizationId, subA.organizationId);
        // As a member of the sub-organization, the key of both writes there.
        const both = await call(url, createUserTag, world.bothInParent.p256, tagBody(subA.organizationId));
        assertAccepted(both);
        assert.equal(both.json.activity.votes[0].userId, subA.bothInSub.userId);
      },
    );

    await t.test("a body is read only if it means the same to every reader", async () => {
      const fields = `"organizationId":"${organizationId}"`;
      const nested = (depth: number) => `{${fields},"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;
      const refused: [name: string, sent: string | Uint8Array, message: RegExp][] = [
        ["empty", "", /^bad request body: /],
        ["not JSON", "{", /^bad request body: not JSON$/],
        ["an array", `[{${fields}}]`, /^bad request body: not a JSON object$/],
        ["null", "null", /^bad request body: not a JSON object$/],
        ["trailing text", `{${fields}}x`, /^bad request body: not JSON$/],
        ["two documents", `{${fields}}{${fields}}`, /^bad request body: not JSON$/],
        ["a comment", `{${fields}/**/}`, /^bad request body: not JSON$/],
        ["a key twice", `{${fields},${fields}}`, /^bad request body: duplicate key$/],
        ["a key twice inside", `{${fields},"x":{"y":1,"y":1}}`, /^bad request body: duplicate key$/],
        ["a key twice, once escaped", `{${fields},"organization\\u0049d":"x"}`, /an escape inside an object key$/],
        ["__proto__", `{${fields},"__proto__":{}}`, /__proto__/],
        ["a byte order mark", `\ufeff{${fields}}`, /^bad request body: starts with a byte order mark$/],
        ["33 levels", nested(32), /^bad request body: nested deeper than 32$/],
        ["100,000 levels", nested(100_000), /^bad request body: nested deeper than 32$/],
        ["a NUL", `{${fields},"x":"\\u0000"}`, /^bad request body: a NUL character$/],
        ["a lone surrogate", `{${fields},"x":"\\ud800"}`, /^bad request body: a lone surrogate$/],
        ["a number beyond 2^53", `{${fields},"x":9007199254740993}`, /^bad request body: an integer beyond 2\^53$/],
        ["broken UTF-8", joined(bytesOf(`{${fields},"x":"`), Uint8Array.of(0xc3, 0x28), bytesOf('"}')), /not UTF-8$/],
        ["UTF-16", new Uint8Array(Buffer.from(`{${fields}}`, "utf16le")), /^bad request body: /],
      ];
      for (const [name, sent, message] of refused) {
        for (const path of [whoami, createUserTag]) {
          const answer = await call(url, path, deputy.p256, sent);
          assert.doesNotThrow(
            () => assertRefused(answer, { status: 400, code: 3, message }),
            `${path}, ${name}: ${answer.text}`,
          );
        }
      }
      const accepted = [
        nested(31),
        ` \t\r\n{${fields}}\n`,
        `{${fields},"unknown":{"a":[1,2.5,true,null,"ü𐍈\\u00fc"]}}`,
      ];
      for (const sent of accepted) assertIs(await call(url, whoami, deputy.p256, sent), deputy);
    });

    await t.test("an envelope may carry keys we do not know, and a number for its time", async () => {
      const plain = tagBody(organizationId);
      for (const sent of [
        { ...plain, generateAppProofs: false, unknown: 1 },
        { ...tagBody(organizationId), timestampMs: Date.now() },
        { ...plain, parameters: { userTagName: randomUUID(), userIds: [], generateAppProofs: true, unknown: {} } },
      ]) {
        assertAccepted(await call(url, createUserTag, deputy.p256, sent));
      }
    });

    await t.test("a body meant for one endpoint does nothing at another", async () => {
      const create = tagBody(organizationId);
      const remove = { ...create, type: "ACTIVITY_TYPE_DELETE_USER_TAGS", parameters: { userTagIds: [randomUUID()] } };
      const foreign = { status: 400, code: 3, message: /^Invalid activity type: / };
      assertRefused(await call(url, deleteUserTags, deputy.p256, create), foreign);
      assertRefused(await call(url, createUserTag, deputy.p256, remove), foreign);
      for (const path of [createUserTag, deleteUserTags]) {
        assertRefused(await call(url, path, deputy.p256, { organizationId }), foreign);
      }
      // The stamp of an activity can be read by every member, so it must not open a query.
      const activity = { status: 400, code: 3, message: "bad request body: the body of an activity is not a query" };
      assertRefused(await call(url, whoami, deputy.p256, create), activity);
    });

    await t.test("refusals and times follow the client's dialect", async () => {
      const vendor: Headers = [["X-Client-Version", "@turnkey/http@6.6.0"]];
      const ours: Headers = [["X-Client-Version", "@keystead/sdk@0.1.0"]];
      const stamp = stampOf({ ...stampFields(deputy.p256, body), scheme: "x" });
      const spoken = async (headers: Headers) => (await call(url, whoami, deputy.p256, body, { stamp, headers })).json;
      assert.deepEqual(await spoken(vendor), {
        code: 16,
        message: "malformed activity stamp",
        details: [
          {
            "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail",
            turnkeyErrorCode: "SIGNATURE_INVALID",
          },
        ],
        errorCode: "SIGNATURE_INVALID",
        turnkeyErrorCode: "SIGNATURE_INVALID",
      });
      for (const headers of [ours, []]) assert.equal("turnkeyErrorCode" in (await spoken(headers)), false);
      for (const [method, path] of [
        ["GET", whoami],
        ["POST", "/nothing"],
        ["POST", "/%zz"],
      ] as const) {
        const answer = await send(url, { method, path, headers: vendor });
        assert.equal(answer.json.turnkeyErrorCode, "", `${method} ${path}: ${answer.text}`);
      }

      const sent = tagBody(organizationId);
      const theirs = (await call(url, createUserTag, deputy.p256, sent, { headers: vendor })).json.activity;
      const own = (await call(url, createUserTag, deputy.p256, sent, { headers: ours })).json.activity;
      assert.match(own.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const ms = Date.parse(own.createdAt);
      const seconds = String(Math.floor(ms / 1000));
      const nanos = String((ms % 1000) * 1_000_000);
      assert.deepEqual(theirs.createdAt, { seconds, nanos });
      assert.deepEqual(theirs.updatedAt, { seconds, nanos });
      for (const { votes } of [own, theirs]) assert.deepEqual(votes[0].createdAt, { seconds, nanos });
    });

    await testHttp(t, world);

    await t.test("a server that stops answers what has reached it, in the usual form", async () => {
      const answered = new Set<string>();
      const askUntilGone = async (): Promise<void> => {
        try {
          for (;;) {
            const answer = await call(url, createUserTag, deputy.ed25519, tagBody(organizationId));
            answered.add(`${answer.status} ${answer.json?.code}`);
          }
        } catch (error) {
          assert.match(String((error as NodeJS.ErrnoException).code), /^ECONN(RESET|REFUSED)$/);
        }
      };
      const senders = Array.from({ length: 8 }, askUntilGone);
      while (answered.size === 0) await sleep(20);
      await world.server.stop();
      await Promise.all(senders);
      assert.deepEqual([...answered], ["200 undefined"]);
    });

    await t.test("none of this was an error inside", () => {
      assert.doesNotMatch(world.server.output(), ownFault);
    });
  });
}

function flipLastBit(hex: string, at = hex.length): string {
  const digit = Number.parseInt(hex.slice(at - 1, at), 16) ^ 1;
  return hex.slice(0, at - 1) + digit.toString(16) + hex.slice(at);
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
