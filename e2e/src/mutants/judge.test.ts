/** The judge on cases whose verdict is known: a judge that lets everything or nothing in would make the mutants worthless. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKey } from "../key_pairs.ts";
import { highS, paddedDer, uncompressed } from "../respelling.ts";
import { judgeBytes, memberKey, type Register } from "./judge.ts";
import { readStrictJson } from "./read_json.ts";
import { type Fields, signFields } from "./sign.ts";

const organizationId = "11111111-1111-4111-8111-111111111111";
const otherId = "22222222-2222-4222-8222-222222222222";
const p256 = createKey("API_KEY_CURVE_P256");
const secp256k1 = createKey("API_KEY_CURVE_SECP256K1");
const ed25519 = createKey("API_KEY_CURVE_ED25519");
const expired = createKey("API_KEY_CURVE_P256");
const member = { organizationId, userId: "user", isExpired: false };
const register: Register = {
  endpoints: new Set(["query/whoami", "submit/create_user_tag"]),
  organizations: new Map([
    [
      organizationId,
      {
        parentId: undefined,
        members: new Map([
          [memberKey("P-256", p256.publicKey), member],
          [memberKey("secp256k1", secp256k1.publicKey), member],
          [memberKey("Ed25519", ed25519.publicKey), member],
          [memberKey("P-256", expired.publicKey), { ...member, isExpired: true }],
        ]),
      },
    ],
    [otherId, { parentId: undefined, members: new Map() }],
  ]),
};

const body = Buffer.from(JSON.stringify({ organizationId }));
const fields = signFields(p256, "SIGNATURE_SCHEME_TK_API_P256", body);
const stampOf = (stamp: object) => Buffer.from(JSON.stringify(stamp)).toString("base64url");

type Parts = { line?: string; headers?: string[]; stamp?: Fields | string; sent?: Buffer };

function message({ line, headers = [], stamp = fields, sent = body }: Parts): Buffer {
  const lines = [
    line ?? "POST /public/v1/query/whoami HTTP/1.1",
    "Host: x",
    `X-Stamp: ${typeof stamp === "string" ? stamp : stampOf(stamp)}`,
    `Content-Length: ${sent.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), sent]);
}

/** `passes`, or why not. */
function verdicts(bytes: Buffer): string[] {
  const judged = judgeBytes(bytes, register);
  const said = judged.verdicts.map((verdict) => (verdict.passes ? "passes" : verdict.why));
  return judged.rest === "nothing" ? said : [...said, judged.rest];
}

test("every scheme passes over its own bytes, and over no others", () => {
  const changed = Buffer.concat([body, Buffer.from(" ")]);
  for (const [key, scheme] of [
    [p256, "SIGNATURE_SCHEME_TK_API_P256"],
    [secp256k1, "SIGNATURE_SCHEME_TK_API_SECP256K1"],
    [secp256k1, "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"],
    [ed25519, "SIGNATURE_SCHEME_TK_API_ED25519"],
  ] as const) {
    const stamp = signFields(key, scheme, body);
    assert.deepEqual(verdicts(message({ stamp })), ["passes"], scheme);
    assert.deepEqual(verdicts(message({ stamp, sent: changed })), ["the signature"], scheme);
  }
});

test("other spellings of a stamp pass, near misses do not", () => {
  const { signature, publicKey } = fields;
  const rs = Buffer.from(signFields(ed25519, "SIGNATURE_SCHEME_TK_API_ED25519", body).signature, "hex");
  const cases: [stamp: Fields | string, expected: string][] = [
    [{ ...fields, signature: highS("p256", signature) }, "passes"],
    [{ ...fields, publicKey: uncompressed("p256", publicKey).toUpperCase() }, "passes"],
    [Buffer.from(JSON.stringify(fields, null, 1)).toString("base64"), "passes"],
    [{ ...fields, signature: `${signature}00` }, "no stamp"],
    [{ ...fields, signature: Buffer.from(paddedDer(rs, 33)).toString("hex") }, "the signature"],
    [{ ...fields, publicKey: `06${uncompressed("p256", publicKey).slice(2)}` }, "no stamp"],
    [{ ...fields, scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1" }, "nobody there"],
    [{ ...fields, scheme: "toString" }, "no stamp"],
    // One or two would be right, depending on the length of the signature.
    [`${stampOf(fields)}===`, "no stamp"],
    [Buffer.from(JSON.stringify(fields).replace("{", `{"scheme":"x",`)).toString("base64url"), "no stamp"],
    [signFields(createKey(), "SIGNATURE_SCHEME_TK_API_P256", body), "nobody there"],
    [signFields(expired, "SIGNATURE_SCHEME_TK_API_P256", body), "an expired key"],
  ];
  for (const [stamp, expected] of cases)
    assert.deepEqual(verdicts(message({ stamp })), [expected], JSON.stringify(stamp));
});

test("where it is asked, and in what organization, counts", () => {
  const elsewhere = Buffer.from(JSON.stringify({ organizationId: otherId }));
  const stamp = signFields(p256, "SIGNATURE_SCHEME_TK_API_P256", elsewhere);
  assert.deepEqual(verdicts(message({ sent: elsewhere, stamp })), ["nobody there"]);
  for (const [line, expected] of [
    ["POST //public/v1//query/%77hoami?x#y HTTP/1.1", "passes"],
    ["POST http://y/public/v1/query/whoami HTTP/1.1", "passes"],
    ["POST /public/v1/query/whoamis HTTP/1.1", "another path"],
    ["POST /public/v1/query/../query/whoami HTTP/1.1", "another path"],
    ["GET /public/v1/query/whoami HTTP/1.1", "another method"],
  ] as const) {
    assert.deepEqual(verdicts(message({ line })), [expected], line);
  }
});

test("what is framed in two ways is no request, and what follows a request is judged by itself", () => {
  const whole = message({});
  assert.deepEqual(verdicts(Buffer.concat([whole, whole])), ["passes", "passes"]);
  assert.deepEqual(verdicts(Buffer.concat([whole, Buffer.from("x\n\n")])), ["passes", "malformed"]);
  assert.deepEqual(verdicts(whole.subarray(0, -1)), ["unfinished"]);
  for (const headers of [
    ["Content-Length: 1"],
    ["Transfer-Encoding: chunked"],
    ["Host: y"],
    ["X-Note: a\r\n b"],
    ["X-Note : a"],
    ["no colon"],
    Array.from({ length: 100 }, (_, index) => `X-${index}:`),
  ]) {
    assert.deepEqual(verdicts(message({ headers })), ["malformed"], String(headers));
  }
  for (const lines of ["\r\n\r\n", "\n\n", "\r\r\n"]) {
    assert.deepEqual(verdicts(Buffer.concat([Buffer.from(lines), whole])), ["passes"]);
  }
  for (const headers of [["Expect: 100-continue", "Expect: 200-ok"], ["Expect: 100-continue, 200-ok"]]) {
    assert.deepEqual(verdicts(message({ headers })), ["an expectation"], String(headers));
  }
  assert.deepEqual(verdicts(message({ headers: ["Expect: 100-continue", "Expect: 100-Continue"] })), ["passes"]);
  const twiceNothing = Array.from({ length: 2 }, () => "Content-Encoding: identity");
  assert.deepEqual(verdicts(message({ headers: twiceNothing })), ["an encoded body"]);
  for (const headers of [["X-Stamp: x"], ["X-Session: x"], ["x-stamp-webauthn: {}"]]) {
    assert.deepEqual(verdicts(message({ headers })), ["not one stamp"], String(headers));
  }
  const chunks = `POST /public/v1/query/whoami HTTP/1.1\r\nHost: x\r\nX-Stamp: ${stampOf(fields)}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const size = body.length.toString(16);
  assert.deepEqual(verdicts(Buffer.from(`${chunks}${size};a=b\r\n${body}\r\n0\r\nX: y\r\n\r\n`)), ["passes"]);
  assert.deepEqual(verdicts(Buffer.from(`${chunks}${size}\r\n${body}\r\n`)), ["unfinished"]);
  assert.deepEqual(verdicts(Buffer.from(`${chunks}0x${size}\r\n${body}\r\n0\r\n\r\n`)), ["malformed"]);
});

test("JSON is read as it is meant, or not at all", () => {
  const text = ' {"a":[1,-2.5,1e3,true,false,null,"\\u00e9\\n\\"\\\\é😀"],"b":{"":{}}}\n';
  assert.deepEqual(readStrictJson(Buffer.from(text)), JSON.parse(text));
  const bad = [
    ...[
      "",
      "{",
      "[1,]",
      "{'a':1}",
      "01",
      "+1",
      ".5",
      "1.",
      "NaN",
      '"\t"',
      '{"a":1}}',
      "[1][2]",
      "tru",
      '"\\x"',
      '"\\u12"',
    ],
    ...['{"a":1,"a":1}', '{"\\u0061":1}', '{"__proto__":1}', '"\\u0000"', '"\\ud800"', "9007199254740993", "1e400"],
    ...["\ufeff{}", "[".repeat(33) + "]".repeat(33), '{"a" 1}', "{a:1}", "[1 2]", '{"a":}'],
  ];
  for (const wrong of bad) assert.equal(readStrictJson(Buffer.from(wrong)), undefined, wrong);
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
  ]) {
    assert.equal(readStrictJson(Buffer.from(bytes)), undefined);
  }
});
