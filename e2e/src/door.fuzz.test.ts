/**
 * Requests bent at random, from valid ones. Whatever is accepted must carry one stamp that verifies over exactly the
 * bytes that were sent, by the judgement of OpenSSL and not of our own code; and nothing is our mistake.
 */
import assert from "node:assert/strict";
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { test } from "node:test";
import { parseEcdsaDer } from "@keystead/core/encoding/der.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { trickleHeaders } from "./door_http.ts";
import type { KeyPair } from "./fixtures.ts";
import { highS, paddedDer, uncompressed } from "./respelling.ts";
import { type Random, seededRandom } from "./seeded_random.ts";
import { assertAccepted, bytesOf, call, type Headers, type StampFields, send, stampFields } from "./wire.ts";
import { dialects, type Person, startWorld } from "./world.ts";

const inputs = process.env.KEYSTEAD_FIGURES === "1" ? 20_000 : 1_500;
const whoami = "/public/v1/query/whoami";
const createUserTag = "/public/v1/submit/create_user_tag";

/** A request in the making; the stamp is encoded last. `harmless` while it must still be accepted. */
type Draft = {
  path: string;
  key: KeyPair;
  body: Uint8Array;
  stamp: StampFields & Record<string, unknown>;
  encode(stampJson: string): string;
  stampJson(stamp: object): string;
  headers: [string, string][];
  harmless: boolean;
};

type Bend = (draft: Draft, random: Random) => void;

const curveOf = {
  API_KEY_CURVE_P256: "p256",
  API_KEY_CURVE_SECP256K1: "secp256k1",
  API_KEY_CURVE_ED25519: undefined,
} as const;

function restamp(draft: Draft): void {
  draft.stamp = { ...stampFields(draft.key, draft.body) };
}

function text(draft: Draft): string {
  return Buffer.from(draft.body).toString("utf8");
}

/** Changes that leave a request as valid as it was. */
const harmless: readonly [Bend, ...Bend[]] = [
  (draft) => {
    const curve = curveOf[draft.key.curve];
    if (curve !== undefined) draft.stamp.signature = highS(curve, draft.stamp.signature);
  },
  (draft, { pick }) => {
    if (curveOf[draft.key.curve] === undefined) return;
    const rs = parseEcdsaDer(fromHex(draft.stamp.signature));
    draft.stamp.signature = toHex(paddedDer(rs, pick([32, 33])));
  },
  (draft) => {
    const curve = curveOf[draft.key.curve];
    if (curve !== undefined) draft.stamp.publicKey = uncompressed(curve, draft.key.publicKey);
  },
  (draft) => {
    draft.stamp.publicKey = draft.stamp.publicKey.toUpperCase();
  },
  (draft, { pick }) => {
    const encoding = pick(["base64", "base64url"] as const);
    draft.encode = (json) => Buffer.from(json).toString(encoding);
  },
  (draft) => {
    draft.stampJson = (stamp) => JSON.stringify(Object.fromEntries(Object.entries(stamp).reverse()), null, 1);
  },
  (draft, { below }) => {
    draft.stamp[`x${below(100)}`] = { y: [below(1000)] };
  },
  (draft) => {
    draft.path = draft.path.replaceAll("/", "//");
  },
  (draft, { pick }) => {
    draft.headers.push(["Content-Type", pick(["text/plain", "", "x/y;;", "application/json"])]);
  },
];

/** Changes after stamping, or to the stamp itself. */
const harmful: readonly [Bend, ...Bend[]] = [
  (draft, { below }) => {
    draft.body = Uint8Array.from(draft.body);
    const at = below(draft.body.length);
    draft.body[at] = (draft.body[at] ?? 0) ^ (1 << below(8));
  },
  (draft, { below }) => {
    draft.body = draft.body.subarray(0, below(draft.body.length));
  },
  (draft, { below, pick }) => {
    const body = text(draft);
    const at = pick([0, body.length, 1 + below(body.length - 1)]);
    draft.body = bytesOf(body.slice(0, at) + pick([" ", "\n", "\t", "\u00a0"]) + body.slice(at));
  },
  (draft) => {
    draft.body = bytesOf(Object.fromEntries(Object.entries(JSON.parse(text(draft))).reverse()));
  },
  (draft) => {
    draft.body = bytesOf(JSON.stringify(JSON.parse(text(draft)), null, 1));
  },
  (draft, { below }) => {
    const signature = fromHex(draft.stamp.signature);
    const at = below(signature.length);
    signature[at] = (signature[at] ?? 0) ^ (1 << below(8));
    draft.stamp.signature = toHex(signature);
  },
  (draft, { below }) => {
    draft.stamp.signature = draft.stamp.signature.slice(0, below(draft.stamp.signature.length));
  },
  (draft, { below }) => {
    const key = fromHex(draft.stamp.publicKey);
    const at = below(key.length);
    key[at] = (key[at] ?? 0) ^ (1 << below(8));
    draft.stamp.publicKey = toHex(key);
  },
  (draft, { pick }) => {
    draft.stamp.scheme = pick([
      "SIGNATURE_SCHEME_TK_API_P256",
      "SIGNATURE_SCHEME_TK_API_SECP256K1",
      "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191",
      "SIGNATURE_SCHEME_TK_API_ED25519",
      "",
      "toString",
    ]);
  },
  (draft, { pick }) => {
    draft.headers.push([pick(["X-Stamp", "X-Stamp-Webauthn", "x-session", "X-Stamp-Attested"]), "x"]);
  },
  (draft, { below }) => {
    const { encode } = draft;
    draft.encode = (json) => {
      const header = encode(json);
      const at = below(header.length);
      return header.slice(0, at) + String.fromCharCode(33 + below(94)) + header.slice(at + 1);
    };
  },
  (draft, { below }) => {
    const { encode } = draft;
    draft.encode = (json) => encode(json).slice(0, below(400));
  },
  (draft) => {
    const { stampJson } = draft;
    draft.stampJson = (stamp) => stampJson(stamp).replace("{", `{"scheme":"x",`);
  },
  (draft, { pick }) => {
    const field = pick(["publicKey", "scheme", "signature"] as const);
    draft.stamp = { ...draft.stamp, [field]: pick<unknown>([null, 1, [], {}, "", "00"]) } as Draft["stamp"];
  },
  (draft, { pick }) => {
    draft.headers.push(["Content-Encoding", pick(["gzip", "br", "x", ""])]);
  },
];

/** Changes to the body that are stamped afterwards: the stamp is right, the JSON may not be. */
const stamped: readonly [Bend, ...Bend[]] = [
  (draft) => {
    draft.body = bytesOf(text(draft).replace("{", `{"organizationId":"x",`));
    restamp(draft);
  },
  (draft, { below }) => {
    const body = Buffer.from(draft.body);
    const at = below(body.length);
    draft.body = new Uint8Array(Buffer.concat([body.subarray(0, at), Buffer.from([below(256)]), body.subarray(at)]));
    restamp(draft);
  },
  (draft, { below }) => {
    draft.body = Uint8Array.from(draft.body);
    for (let i = 0; i < 4; i++) draft.body[below(draft.body.length)] = below(256);
    restamp(draft);
  },
  (draft, { pick }) => {
    const value = pick<unknown>([null, 7, -1, 1e300, true, "", "ä", [], {}, [[[]]], "x".repeat(1000)]);
    const body = JSON.parse(text(draft));
    const target = pick([body, body.parameters ?? body]);
    const names = Object.keys(target);
    target[names[pick([0, 1, 2]) % names.length] ?? "x"] = value;
    draft.body = bytesOf(body);
    restamp(draft);
  },
  (draft) => {
    draft.body = bytesOf(`\ufeff${text(draft)}`);
    restamp(draft);
  },
  (draft) => {
    draft.body = new Uint8Array(Buffer.from(text(draft), "utf16le"));
    restamp(draft);
  },
];

function newDraft(random: Random, person: Person, serial: number): Draft {
  const key = random.pick([person.p256, person.secp256k1, person.ed25519]);
  const path = random.pick([whoami, createUserTag]);
  const { organizationId } = person;
  const body = bytesOf(
    path === whoami
      ? { organizationId, serial }
      : {
          type: "ACTIVITY_TYPE_CREATE_USER_TAG",
          timestampMs: String(Date.now()),
          organizationId,
          // An unknown user, so that what is accepted fails later and never fills the organization with tags.
          parameters: { userTagName: `fuzz ${serial}`, userIds: ["nobody"] },
        },
  );
  const draft: Draft = {
    path,
    key,
    body,
    stamp: { ...stampFields(key, body) },
    encode: (json) => Buffer.from(json).toString("base64url"),
    stampJson: (stamp) => JSON.stringify(stamp),
    headers: [],
    harmless: true,
  };
  for (let bends = 1 + random.below(3); bends > 0; bends--) {
    const kind = random.below(5);
    if (kind >= 2) draft.harmless = false;
    // A bend may find that the one before it left nothing to bend: then it is left out.
    try {
      random.pick(kind < 2 ? harmless : kind === 2 ? stamped : harmful)(draft, random);
    } catch {
      draft.harmless = false;
    }
  }
  return draft;
}

function headersOf(draft: Draft): Headers {
  return [["X-Stamp", draft.encode(draft.stampJson(draft.stamp))], ...draft.headers];
}

/** Whether one stamp of these headers is by one of these keys over exactly these bytes. */
function isSigned(headers: Headers, body: Uint8Array, keys: ReadonlyMap<string, KeyObject>): boolean {
  const stamps = headers.filter(([name]) => /^x-(stamp|session)/i.test(name));
  if (stamps.length !== 1) return false;
  const { publicKey, signature } = JSON.parse(Buffer.from(stamps[0]?.[1] ?? "", "base64").toString("utf8"));
  // Every spelling of a point ends the compressed one's x with, or is, the same 32 bytes behind the first.
  const key = keys.get(
    String(publicKey)
      .toLowerCase()
      .replace(/^0[234](.{64}).*$/, "$1"),
  );
  if (key === undefined) return false;
  if (key.asymmetricKeyType === "ed25519") return verify(null, body, key, Buffer.from(signature, "hex"));
  const rs = parseEcdsaDer(fromHex(signature));
  return verify("sha256", body, { key, dsaEncoding: "ieee-p1363" }, rs);
}

function opensslKeys({ p256, secp256k1, ed25519 }: Person): Map<string, KeyObject> {
  const point = (curve: "p256" | "secp256k1", crv: string, { publicKey }: KeyPair) => {
    const bytes = Buffer.from(uncompressed(curve, publicKey), "hex");
    const x = bytes.subarray(1, 33).toString("base64url");
    const y = bytes.subarray(33).toString("base64url");
    return [publicKey.slice(2), createPublicKey({ key: { kty: "EC", crv, x, y }, format: "jwk" })] as const;
  };
  const x = Buffer.from(ed25519.publicKey, "hex").toString("base64url");
  return new Map([
    point("p256", "P-256", p256),
    point("secp256k1", "secp256k1", secp256k1),
    [ed25519.publicKey, createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })],
  ]);
}

for (const dialect of dialects) {
  test(`bent requests are accepted only if their bytes verify, and never break anything, on ${dialect}`, async (t) => {
    const world = await startWorld(t, dialect);
    if (world === undefined) return;
    const { url } = world.server;
    const { owner } = world.other;
    const keys = opensslKeys(owner);
    // It waits for 15 s without work: meanwhile the rest runs.
    const trickle = dialect === "sqlite" ? trickleHeaders(url) : undefined;

    const seed = Number(process.env.KEYSTEAD_SEED ?? 20260101);
    const random = seededRandom(seed);
    const counts = { sent: 0, accepted: 0, refused: 0 };
    const sendOne = async (serial: number): Promise<void> => {
      const draft = newDraft(random, owner, serial);
      const headers = headersOf(draft);
      const answer = await send(url, { path: draft.path, headers, body: draft.body });
      const sent = JSON.stringify({ path: draft.path, headers, body: Buffer.from(draft.body).toString("latin1") });
      const said = `seed ${seed}, request ${serial}: ${answer.status} ${answer.text} to ${sent}`;
      counts.sent += 1;
      assert.ok(answer.status < 500 || answer.status === 501, said);
      assert.equal(answer.headers["content-type"], "application/json", said);
      // Past the door: answered as somebody, or failed because there is no such user.
      const accepted = answer.status === 200 || /^unable to find user nobody /.test(answer.json.message);
      counts[accepted ? "accepted" : "refused"] += 1;
      if (accepted) assert.ok(isSigned(headers, draft.body, keys), said);
      if (draft.harmless) assert.ok(accepted, said);
    };
    for (let serial = 0; serial < inputs; ) {
      const batch = Array.from({ length: Math.min(16, inputs - serial) }, () => sendOne(serial++));
      await Promise.all(batch);
    }
    t.diagnostic(`${counts.sent} requests from seed ${seed}: ${counts.accepted} accepted, ${counts.refused} refused`);
    assert.ok(counts.accepted > inputs / 10 && counts.refused > inputs / 2, JSON.stringify(counts));

    assertAccepted(await call(url, whoami, owner.p256, { organizationId: owner.organizationId }));
    assert.equal((await send(url, { method: "GET", path: "/readyz" })).status, 200);
    assert.doesNotMatch(world.server.output(), /internal/);

    if (trickle === undefined) return;
    await t.test("a sender that trickles its headers is cut off", async () => {
      const { answer, ms } = await trickle;
      assert.match(answer, /^HTTP\/1.1 408 Request Timeout\r\ncontent-type: application\/json\r\n/);
      assert.ok(ms < 18_000, `after ${ms} ms`); // The limit of 10 s is looked at every 5 s.
    });
  });
}
