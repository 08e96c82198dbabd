/** What the operator's settings change about codes, in a signer that was started with them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { deriveCode } from "@keystead/core/otp/one_time_code.ts";
import { activityBody, createSignerRig, offer, only, type SignerRig } from "../../test/signer_rig.ts";
import type { Prepared } from "../frames/messages.ts";
import { openMessage } from "../outbox/sealed_message.ts";
import type { Orders } from "../signer/operations.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import { attemptKey } from "../state/record_wish.ts";
import { initOtp } from "./init_otp.ts";

const sandbox = { otpType: "OTP_TYPE_EMAIL", contact: "user@example.com", otpLength: 6, alphanumeric: false };

function send(rig: SignerRig, type: string, parameters: object, row?: Prepared): Prepared {
  const { otpId = "" } = parameters as { otpId?: string };
  const records = (row?.codes ?? []).map(({ content }) => ({ content, sealed: new Uint8Array() }));
  const body = activityBody(rig, type, parameters);
  const reply = offer(rig, rig.born, body, { records, wishes: [attemptKey(otpId)] });
  if (reply.kind !== "prepared") throw new Error(`missing: ${JSON.stringify(reply.value)}`);
  return only(reply.value);
}

function started(orders: Partial<Orders>) {
  const rig = createSignerRig().restart({ orders });
  const row = send(rig, initOtp.type, { ...sandbox, appName: "Example" });
  const [code] = row.codes;
  const [{ messageId = "", sealed = new Uint8Array() } = {}] = row.outbox;
  const keyring = openKeyring(rig.rootKey, 1, rig.keyring);
  const place = { organizationId: row.organizationId, messageId };
  const message = openMessage(keyring.courierKey, place, sealed);
  assert.ok(code && message);
  const form = { length: 6, alphabet: "numeric" } as const;
  const derived = Buffer.from(deriveCode(keyring.codes.code, uuidToBytes(code.otpId), form)).toString("latin1");
  const answer = (otpCode: string) =>
    send(rig, "ACTIVITY_TYPE_VERIFY_OTP", { otpId: code.otpId, otpCode }, row).activity;
  return { sent: message.code, derived, answer };
}

test("the code that everybody knows is sent and taken only where the operator has set it", () => {
  const real = started({ allowsPlainAnswers: true });
  assert.equal(real.sent, real.derived);
  const development = started({ hasSandboxCodes: true, allowsPlainAnswers: true });
  assert.equal(development.sent, "000000");
  assert.equal(development.answer("000000")?.status, "ACTIVITY_STATUS_COMPLETED");
});

test("a code with a target bundle is answered in the plain only where the operator has allowed it", () => {
  const strict = started({});
  const refused = strict.answer(strict.sent);
  assert.equal(refused?.status, "ACTIVITY_STATUS_FAILED");
  assert.match(refused?.failure ?? "", /answer it with ACTIVITY_TYPE_VERIFY_OTP_V2.*KEYSTEAD_OTP_PLAINTEXT=allow/);
  const allowed = started({ allowsPlainAnswers: true });
  assert.equal(allowed.answer(allowed.sent)?.status, "ACTIVITY_STATUS_COMPLETED");
});

test("a body that comes again when its code is over is told so, and sends nothing", () => {
  const rig = createSignerRig();
  const timestampMs = String(rig.clock.nowMs);
  const body = activityBody(rig, initOtp.type, { ...sandbox, appName: "Example" }, { timestampMs });
  const prepare = () => {
    const reply = offer(rig, rig.born, body);
    if (reply.kind !== "prepared") throw new Error("something is missing");
    return only(reply.value);
  };
  assert.equal(prepare().outbox.length, 1);
  rig.clock.nowMs += 300_000;
  const late = prepare();
  assert.match(late.activity?.failure ?? "", /has expired; send a new request/);
  assert.deepEqual([late.outbox, late.codes], [[], []]);
});
