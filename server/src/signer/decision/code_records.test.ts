/** `init_otp` and `verify_otp` as they are decided: with the signer's own secrets and memory, before any endpoint. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { checkVerificationToken, tokenBodyMs } from "@keystead/core/otp/verification_token.ts";
import { encryptOtpCodeToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { nodeCurves } from "../../curves/node_curves.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import type { KeyAccess } from "../../endpoints/key_access.ts";
import { unkeptVerdicts } from "../../endpoints/verdict_access.ts";
import {
  answerCode,
  type InitOtpParams,
  type OtpAnswer,
  parseCodeRequest,
  startCode,
  targetBundleOf,
} from "../../rules/one_time_codes.ts";
import { objectId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";
import type { OtpCodeRecord } from "../../state/otp_code_record.ts";
import { openMemory } from "../memory/memory.ts";
import { createKeyring, openKeyring } from "../secrets/keyring.ts";
import { type CodeQuestion, openCodeAccess } from "./code_records.ts";
import type { Signer } from "./signer.ts";

const rootKey = new Uint8Array(randomBytes(32));
const sealedKeyring = createKeyring(rootKey, 1);
const keyring = openKeyring(rootKey, 1, sealedKeyring);
const nowMs = 1_800_000_000_000;
const organizationId = "f9a31c64-d604-42e4-9bef-a773096afad7";
const hpke = nodeHpke as unknown as KeyAccess["hpke"];
const verdicts = unkeptVerdicts;
const text = (code: Uint8Array) => Buffer.from(code).toString("latin1");
const params: InitOtpParams = { otpType: "OTP_TYPE_EMAIL", contact: "user@example.com" };

/** One signer: bodies are told by a word, of which their fingerprints are made. */
function openSigner({ hasSandboxCodes = false } = {}) {
  const memory = openMemory(mkdtempSync(join(tmpdir(), "keystead-memory-")), rootKey);
  memory.codes.begin(nowMs);
  /** The database lets everybody try. */
  const wishes = { includes: () => true } as unknown as string[];
  const accessFor = (body: string, atMs: number, where: Partial<CodeQuestion> = {}) =>
    openCodeAccess(
      { memory, keyring: openKeyring(rootKey, 1, sealedKeyring), hasSandboxCodes } as Signer,
      { records: [], wishes },
      { organizationId, parentId: undefined, fingerprint: sha256(body), bodyMs: atMs, nowMs: atMs, ...where },
      verdicts,
    );
  return {
    memory,
    accessFor,
    init(body: string, changed: Partial<InitOtpParams> = {}, atMs = nowMs, isEncrypted = false) {
      const otpId = objectId(new Uint8Array(16), sha256(body), 0);
      const access = accessFor(body, atMs);
      const request = parseCodeRequest({ ...params, ...changed });
      return { access, ...startCode(access, request, { organizationId, otpId, isEncrypted }) };
    },
    verify(body: string, record: OtpCodeRecord, answer: OtpAnswer, atMs = nowMs, allowsPlainAnswers = false) {
      const access = accessFor(body, atMs);
      return answerCode(
        { access, hpke, curves: nodeCurves, nowMs: atMs, allowsPlainAnswers, verdicts },
        record,
        answer,
      );
    },
  };
}

const plain = (otpCode: string, publicKey?: string): OtpAnswer => ({ kind: "plain", otpCode, publicKey });
const wrong = { code: "invalid_argument", message: "Invalid OTP code" };

function claimsOf(token: string, atMs = nowMs) {
  const otpKey = nodeCurves.compressPoint("p256", fromHex(keyring.publicKeys.otp));
  const judgement = { otpKey, nowMs: atMs, acceptedAtMs: 0, organizationIds: [organizationId] };
  return checkVerificationToken(nodeCurves, token, judgement);
}

test("the same body starts the same code on another host, at another time and after a restart", () => {
  const [one, other] = [openSigner(), openSigner()];
  const first = one.init("a");
  const again = one.init("a", {}, nowMs + 200_000);
  assert.deepEqual(again.record, first.record, "it is not renewed");
  assert.equal(text(again.code), text(first.code));
  assert.equal(text(other.init("a").code), text(first.code));
  assert.notEqual(text(one.init("b").code), text(first.code));
});

test("the right answer gets a token, bound to the key that came with it, for an hour", () => {
  const signer = openSigner();
  const { record, code } = signer.init("a");
  const { publicKey, publicKeyUncompressed } = generateP256KeyPair();
  const claims = claimsOf(signer.verify("v", record, plain(text(code).toLowerCase(), publicKeyUncompressed)));
  assert.deepEqual(
    { ...claims, tokenId: "" },
    {
      tokenId: "",
      expiresAtMs: nowMs + 3_600_000,
      organizationId,
      verificationType: "OTP_TYPE_EMAIL",
      contact: "user@example.com",
      publicKey,
    },
  );
  const again = claimsOf(signer.verify("v", record, plain(text(code), publicKey)));
  assert.deepEqual(again, claims, "the same body has the same token");
  assert.notEqual(claimsOf(signer.verify("w", record, plain(text(code)))).tokenId, claims.tokenId);
});

test("users of a sub-organization have few places of their own, and its parent is not counted there", () => {
  const { memory, accessFor } = openSigner();
  const parentId = "00000000-0000-4000-8000-000000000001";
  const start = (number: number, where: Partial<CodeQuestion>) => {
    const otpId = objectId(new Uint8Array(16), sha256(`${number}`), 0);
    const wanted = { otpId, otpType: "OTP_TYPE_EMAIL", lifeMs: 1_000, userIdentifier: undefined } as const;
    accessFor(`${number}`, nowMs, where).start({ ...wanted, contact: `user${number}@example.com` });
  };
  for (let each = 0; each < 1_000; each++) start(each, { parentId });
  assert.throws(() => start(1_000, { parentId }), { code: "resource_exhausted" });
  start(1_001, { parentId, isByParent: true });
  start(1_002, { parentId, organizationId: "00000000-0000-4000-8000-000000000002" });
  start(1_003, { organizationId: parentId });
  memory.close();
});

test("a token of a body that is dated ahead does not count after a restore either", () => {
  const signer = openSigner();
  const { record, code } = signer.init("a");
  const access = signer.accessFor("v", nowMs, { bodyMs: nowMs + 290_000 });
  const context = { access, hpke, curves: nodeCurves, nowMs, allowsPlainAnswers: false, verdicts };
  const { tokenId } = claimsOf(answerCode(context, record, plain(text(code))));
  signer.memory.rememberAcceptance(nowMs + 1_000);
  assert.ok(tokenBodyMs({ tokenId }) <= signer.accessFor("w", nowMs).tokenJudgement().acceptedAtMs);
});

test("three bodies are compared; the fourth is refused even with the right code", () => {
  const signer = openSigner();
  const { record, code } = signer.init("a");
  for (const body of ["1", "2", "3"]) {
    assert.throws(() => signer.verify(body, record, plain("wrong")), wrong);
  }
  assert.throws(() => signer.verify("4", record, plain(text(code))), {
    message: /^Invalid OTP code: too many attempts/,
  });
  assert.throws(() => signer.verify("1", record, plain("wrong")), wrong, "the same body, the same answer");
});

test("an answer after the code's end is refused, right or wrong", () => {
  const signer = openSigner();
  const { record, code } = signer.init("a", { expirationSeconds: "60" });
  assert.equal(record.endsAtMs, nowMs + 60_000);
  const over = { message: /^Invalid OTP code: code expired/ };
  assert.throws(() => signer.verify("1", record, plain(text(code)), nowMs + 60_000), over);
  claimsOf(signer.verify("1", record, plain(text(code)), nowMs + 59_999));
});

test("the published client's encrypted answer is taken; a plain one to such a code only where that is allowed", async () => {
  const signer = openSigner();
  const { record, code, access } = signer.init("a", { otpLength: 6, alphanumeric: false }, nowMs, true);
  assert.match(text(code), /^[0-9]{6}$/);
  const bundle = targetBundleOf(access, hpke, record);
  const { publicKey } = generateP256KeyPair();
  const encrypt = (typed: string) => encryptOtpCodeToBundle(typed, bundle, publicKey, keyring.publicKeys.otp);
  const encryptedOtpBundle = await encrypt(text(code));
  const claims = claimsOf(signer.verify("v", record, { kind: "encrypted", encryptedOtpBundle }));
  assert.equal(claims.publicKey, publicKey);
  assert.throws(() => signer.verify("p", record, plain(text(code))), { message: /VERIFY_OTP_V2/ });
  claimsOf(signer.verify("p", record, plain(text(code)), nowMs, true));
  const unreadable = { kind: "encrypted", encryptedOtpBundle: "{}" } as const;
  assert.throws(() => signer.verify("x", record, unreadable), wrong, "it has used up the third attempt");
  assert.throws(() => signer.verify("y", record, { kind: "encrypted", encryptedOtpBundle }), {
    message: /too many attempts/,
  });
  const { record: unencrypted } = signer.init("b");
  assert.throws(() => signer.verify("z", unencrypted, { kind: "encrypted", encryptedOtpBundle }), {
    message: /has no target bundle/,
  });
});

test("contacts are counted without case and each organization for itself", () => {
  const signer = openSigner();
  for (const [index, contact] of ["user@example.com", "User@Example.com", "USER@EXAMPLE.COM"].entries()) {
    signer.init(`a${index}`, { contact });
  }
  const tooMany = { code: "resource_exhausted", message: /^Max number of OTPs have been initiated/ };
  assert.throws(() => signer.init("b", { contact: "uSER@example.com" }), tooMany);
  signer.init("c", { contact: "other@example.com" });
  const sms = { otpType: "OTP_TYPE_SMS", contact: "+15551234567" };
  signer.init("d", { ...sms, userIdentifier: "10.0.0.1" });
  const { codes } = keyring;
  const hash = (organization: string, value = "x") =>
    Buffer.from(codes.countingHash(organization, "email", value)).toString("hex");
  assert.notEqual(hash("a"), hash("b"));
  assert.notEqual(hash("a", "x"), hash("a", "y"));
  assert.notEqual(hash("a"), Buffer.from(codes.countingHash("a", "userIdentifier", "x")).toString("hex"));
});

test("the code that everybody knows exists only for development, for its two contacts and one form", () => {
  const sandbox = { otpLength: 6, alphanumeric: false };
  const [real, development] = [openSigner(), openSigner({ hasSandboxCodes: true })];
  assert.notEqual(text(real.init("a", sandbox).code), "000000");
  assert.equal(text(development.init("a", sandbox).code), "000000");
  const phone = { ...sandbox, otpType: "OTP_TYPE_SMS", contact: "+19999999999" };
  assert.equal(text(development.init("b", phone).code), "000000");
  for (const [index, other] of [
    { ...sandbox, contact: "other@example.com" },
    { ...sandbox, otpLength: 7 },
    { otpLength: 6 },
  ].entries()) {
    assert.notEqual(text(development.init(`c${index}`, other).code), "000000");
  }
});

test("what asks for no code that there could be is refused, and says why", () => {
  const refused: readonly [Partial<InitOtpParams>, string, RegExp][] = [
    [{ otpType: "OTP_TYPE_WHATSAPP" }, "unimplemented", /is not offered/],
    [{ otpType: "constructor" }, "invalid_argument", /invalid otpType/],
    [{ contact: "" }, "invalid_argument", /missing parameter: contact/],
    [{ contact: "nobody" }, "invalid_argument", /invalid email address/],
    [{ otpType: "OTP_TYPE_SMS" }, "invalid_argument", /invalid phone number/],
    [{ otpLength: 5 }, "invalid_argument", /invalid otpLength/],
    [{ otpLength: 10 }, "invalid_argument", /invalid otpLength/],
    [{ otpLength: 6.5 }, "invalid_argument", /invalid otpLength/],
    [{ expirationSeconds: "601" }, "invalid_argument", /from 1 to 600/],
    [{ expirationSeconds: "0" }, "invalid_argument", /from 1 to 600/],
    [{ expirationSeconds: "1e2" }, "invalid_argument", /from 1 to 600/],
  ];
  for (const [change, code, message] of refused) {
    assert.throws(() => parseCodeRequest({ ...params, ...change }), { code, message });
  }
});
