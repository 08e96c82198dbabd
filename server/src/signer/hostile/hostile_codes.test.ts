/**
 * A gateway that wants to guess a one-time code. It has the parent's stamped bodies, as many as it likes, restarts the signer, offers records
 * as it likes and commits nothing.
 */
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { deriveCode } from "@keystead/core/otp/one_time_code.ts";
import { samples } from "../../../../core/test/samples.ts";
import { seededRandom } from "../../../../core/test/seeded_random.ts";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  offer,
  only,
  releaseRows,
  type SignerRig,
  stampOf,
  userWithKey,
} from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import type { Prepared, StoredRecord } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import type { OtpCodeRecord } from "../../state/otp_code_record.ts";
import { attemptKey } from "../../state/record_wish.ts";
import { decodeRecord } from "../../state/records.ts";
import { openMemory } from "../memory/memory.ts";
import { createOperations } from "../operations.ts";
import { openKeyring } from "../secrets/keyring.ts";

const initType = "ACTIVITY_TYPE_INIT_OTP_V2";
const verifyType = "ACTIVITY_TYPE_VERIFY_OTP";
const sixDigits = { otpLength: 6, alphanumeric: false };

const initParams = (contact: string) => ({ otpType: "OTP_TYPE_EMAIL", contact, appName: "Example", ...sixDigits });

type Started = { body: Uint8Array; record: StoredRecord; code: OtpCodeRecord; text: string };

/** It says that everybody has claimed an attempt. */
function send(rig: SignerRig, body: Uint8Array, records: readonly StoredRecord[] = []): Prepared {
  const { parameters } = JSON.parse(Buffer.from(body).toString()) as { parameters: { otpId?: string } };
  const reply = offer(rig, rig.born, body, { records, wishes: [attemptKey(parameters.otpId ?? "")] });
  if (reply.kind !== "prepared") throw new Error(`missing: ${JSON.stringify(reply.value)}`);
  return only(reply.value);
}

function startedBy(rig: SignerRig, body: Uint8Array): Started {
  const prepared = send(rig, body);
  const [made] = prepared.codes;
  assert.ok(made, prepared.activity?.failure ?? "no code was started");
  const record = { content: made.content, sealed: new Uint8Array() };
  const code = decodeRecord(withoutMac(made.content));
  assert.ok(code.kind === "otpCode");
  const { codes } = openKeyring(rig.rootKey, 1, rig.keyring);
  const text = Buffer.from(deriveCode(codes.code, uuidToBytes(code.otpId), code.form)).toString("latin1");
  return { body, record, code, text };
}

const start = (rig: SignerRig, contact = "user@example.com") =>
  startedBy(rig, activityBody(rig, initType, initParams(contact)));

const answerBody = (rig: SignerRig, { code }: Started, otpCode: string) =>
  activityBody(rig, verifyType, { otpId: code.otpId, otpCode });

const answer = (rig: SignerRig, started: Started, otpCode: string) =>
  send(rig, answerBody(rig, started, otpCode), [started.record]);

const failureOf = ({ activity }: Prepared) =>
  activity?.failure === undefined ? undefined : (JSON.parse(activity.failure) as { message: string }).message;

const wrongFor = ({ text }: Started) => (text === "000000" ? "000001" : "000000");

test("no answer that is prepared is seen before it is released, and its token is then another's only by its own body", () => {
  const rig = createSignerRig();
  const started = start(rig);
  const body = answerBody(rig, started, started.text);
  const right = send(rig, body, [started.record]);
  assert.equal(right.activity?.status, "ACTIVITY_STATUS_COMPLETED");
  assert.match(right.activity?.result ?? "", /^\{"verificationToken":"",/);
  assert.deepEqual(right.spentCode, { otpId: started.code.otpId });
  const [released] = releaseRows(rig, [right]);
  assert.ok(released?.kind === "released");
  assert.match(released.value.result ?? "", /^\{"verificationToken":"eyJ/);
  const again = rig.restart();
  const opened = { kind: "released", value: { result: released.value.result, place: undefined } };
  assert.deepEqual(releaseRows(again, [right]), [opened], "the same row again, after a restart");
  again.clock.nowMs += 50 * 60_000;
  assert.deepEqual(releaseRows(again, [right]), [opened], "and when the notes of the code are gone");
});

test("of several right answers that were prepared, one is released", () => {
  let rig = createSignerRig();
  const started = start(rig);
  const rows = [1, 2, 3].map(() => answer(rig, started, started.text));
  assert.deepEqual(
    rows.map(({ activity }) => activity?.status),
    Array.from({ length: 3 }, () => "ACTIVITY_STATUS_COMPLETED"),
  );
  const [first, ...others] = releaseRows(rig, rows);
  assert.equal(first?.kind, "released");
  for (const other of others) {
    assert.ok(other?.kind === "refused");
    assert.match(other.value.message, /^Invalid OTP code: code was used already/);
  }
  rig = rig.restart();
  for (const afterMs of [0, 6 * 60_000, 60 * 60_000]) {
    rig.clock.nowMs += afterMs;
    const kinds = releaseRows(rig, rows).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["released", "refused", "refused"], `${afterMs} ms later`);
  }
});

test("a token that nobody released in time is never released, and a gateway that waits gains nothing", () => {
  const rig = createSignerRig();
  const started = start(rig);
  const [held, late] = [answer(rig, started, started.text), answer(rig, started, started.text)];
  rig.clock.nowMs = started.code.endsAtMs + 4 * 60_000;
  assert.equal(releaseRows(rig.restart(), [held])[0]?.kind, "released", "a crash costs some minutes");
  const other = start(rig, "other@example.com");
  const lost = answer(rig, other, other.text);
  rig.clock.nowMs = other.code.endsAtMs + 6 * 60_000;
  assert.deepEqual(
    releaseRows(rig, [lost, late]).map(({ kind }) => kind),
    ["refused", "refused"],
  );
});

const restartsWhileGuessing = 20;

test("guesses by a gateway that restarts, renews, restores, forges records and commits nothing: three are evaluated", (t) => {
  const random = seededRandom(51);
  let rig = createSignerRig();
  const started = start(rig);
  const foreign = start(rig, "other@example.com");
  const begunMs = rig.clock.nowMs;
  const guesses = samples.otpGuesses;
  const evaluated = new Set<string>();
  const sent: Uint8Array[] = [];
  const rows: Prepared[] = [];
  let [restarts, forged, repeated, restored] = [0, 0, 0, 0];
  for (let frame = 0; frame < guesses; frame++) {
    rig.clock.nowMs = begunMs + Math.floor((frame / guesses) * 299_000);
    if (frame > 0 && frame % Math.ceil(guesses / (restartsWhileGuessing + 1)) === 0) {
      rig = rig.restart();
      restarts++;
    }
    if (random.next() < 0.05) {
      assert.deepEqual(startedBy(rig, started.body).code, started.code, "the same body renews nothing");
    }
    const isAgain = sent.length > 0 && random.next() < 0.2;
    const body = isAgain ? random.pick(sent) : answerBody(rig, started, String(frame).padStart(6, "0"));
    if (!isAgain) sent.push(body);
    const name = Buffer.from(body).toString("latin1");
    if (random.next() < 0.2) {
      forged++;
      const bent = Uint8Array.from(started.record.content);
      const at = random.below(bent.length);
      bent[at] = (bent[at] ?? 0) ^ (1 << random.below(8));
      const records = random.pick([[], [foreign.record], [{ ...started.record, content: bent }]]);
      try {
        assert.equal(failureOf(send(rig, body, records)), "Invalid OTP code", "not found is not compared");
      } catch (error) {
        assert.ok(error instanceof Fault && error.code !== "internal", String(error));
      }
      continue;
    }
    const row = send(rig, body, [started.record]);
    const failure = failureOf(row);
    if (failure === undefined || failure === "Invalid OTP code") {
      if (evaluated.has(name)) repeated++;
      evaluated.add(name);
    } else assert.match(failure, /^Invalid OTP code: too many attempts/);
    // Most of what is prepared is never committed. Sometimes it is released, as far as it can be, and sometimes rows from before are.
    rows.push(row);
    if (random.next() < 0.01) releaseRows(rig, [row]);
    if (random.next() < 0.01) {
      releaseRows(rig, [random.pick(rows)]);
      restored++;
    }
  }
  assert.equal(evaluated.size, 3);
  t.diagnostic(
    `${guesses} frames at one code with ${restarts} restarts, ${forged} false records and ${restored} restored rows: 3 evaluated, ` +
      `${repeated} times again`,
  );
});

const newFolder = () => mkdtempSync(join(tmpdir(), "keystead-signer-"));

test("two signers that a lying database keeps apart evaluate three each, and one that lost its memory none", () => {
  let rig = createSignerRig();
  const started = start(rig);
  const evaluated = () => {
    const failures = Array.from({ length: 10 }, () => failureOf(answer(rig, started, wrongFor(started))));
    return failures.filter((failure) => failure === "Invalid OTP code").length;
  };
  assert.equal(evaluated(), 3);
  rig = rig.restart();
  assert.equal(evaluated(), 0, "the same memory");
  const orders = { adoptUnknown: true };
  rig = rig.restart({ folder: newFolder(), orders });
  assert.equal(evaluated(), 3, "another host's, which is as old as the code");
  rig.clock.nowMs += 1;
  rig = rig.restart({ folder: newFolder(), orders });
  assert.equal(evaluated(), 0, "a memory that is younger than the code");
});

test("two signers that run at once on a database that shows each its own rows evaluate six", (t) => {
  const guesses = samples.otpGuesses;
  const first = createSignerRig();
  const started = start(first);
  const second = otherSigner(first);
  // By signer and body: the same body again is the same attempt.
  const evaluated = new Set<string>();
  for (let frame = 0; frame < guesses; frame++) {
    const body = answerBody(first, started, String(frame).padStart(6, "0"));
    const row = send(frame % 2 === 0 ? first : second, body, [started.record]);
    const failure = failureOf(row);
    if (failure === undefined || failure === "Invalid OTP code") evaluated.add(`${frame % 2} ${Buffer.from(body)}`);
    else assert.match(failure, /^Invalid OTP code: too many attempts/);
  }
  t.diagnostic(`${guesses} frames at one code, to two signers in turn: ${evaluated.size} evaluated`);
  assert.equal(evaluated.size, 6);
});

test("a body that a second signer sees first an hour later brings neither attempts nor a spent code back", () => {
  const first = createSignerRig();
  const body = activityBody(first, initType, initParams("user@example.com"));
  const early = startedBy(first, body);
  const second = otherSigner(first);
  const evaluatedBy = (rig: SignerRig, started: Started) => {
    const failures = Array.from({ length: 5 }, () => failureOf(answer(rig, started, wrongFor(started))));
    return failures.filter((failure) => failure === "Invalid OTP code").length;
  };
  assert.equal(evaluatedBy(first, early), 3);
  first.clock.nowMs += 50 * 60_000;
  const late = startedBy(second, body);
  assert.equal(late.text, early.text, "the same body has the same code everywhere");
  assert.deepEqual([evaluatedBy(first, late), evaluatedBy(second, late)], [0, 3]);
  assert.match(String(failureOf(answer(first, late, late.text))), /too many attempts/);
});

/** Another host's signer, which is as old as the first one's codes and runs beside it. */
function otherSigner(rig: SignerRig): SignerRig {
  const memory = openMemory(newFolder(), rig.rootKey);
  memory.codes.begin(rig.clock.nowMs);
  const orders = { ...rig.orders, adoptUnknown: true };
  const now = () => rig.clock.nowMs;
  const operations = createOperations({ current: rig.rootKey }, memory, orders, now, () => undefined);
  operations.hello({ protocol: protocolVersion, keyring: rig.keyring });
  return { ...rig, operations, memory, orders };
}

test("an attempt is asked of the database only for whoever may answer the code", () => {
  const rig = createSignerRig();
  const started = start(rig);
  const body = answerBody(rig, started, started.text);
  const records = [started.record];
  const wish = { kind: "attempt", value: { otpId: started.code.otpId } };
  assert.deepEqual(offer(rig, rig.born, body, { records }), { kind: "again", value: [wish] });
  const stranger = { ...rig, apiPrivateKey: new Uint8Array(32).fill(3) };
  assert.throws(() => offer(rig, rig.born, body, { records, stamp: stampOf(stranger, body) }), {
    code: "unauthenticated",
  });
  assert.equal(failureOf(send(rig, body)), "Invalid OTP code", "nor for a code that is not there");
});

test("no spelling of a mailbox or a number has live codes of its own", () => {
  const rig = createSignerRig();
  const spellings = (text: string) =>
    Array.from({ length: 16 }, (_, bits) => {
      let letter = 0;
      return text.replace(/[ks]/g, (plain) => ((bits >> letter++) & 1 ? (plain === "k" ? "\u212a" : "\u017f") : plain));
    });
  const [inDomain, inName] = [spellings("ann@kiosks.example"), spellings("kiosks@acme.example")];
  assert.equal(new Set([...inDomain, ...inName]).size, 32);
  const countStarted = (type: string, contacts: readonly string[], refusal: RegExp) =>
    contacts.filter((contact) => {
      const prepared = send(rig, activityBody(rig, initType, { ...initParams(contact), otpType: type }));
      if (prepared.codes.length === 0) assert.match(failureOf(prepared) ?? "", refusal, contact);
      return prepared.codes.length > 0;
    });
  const [own, ...others] = inDomain;
  const [email, tooMany] = ["OTP_TYPE_EMAIL", /^Max number of OTPs have been initiated/];
  assert.deepEqual(countStarted(email, others, /must be a domain/), []);
  assert.deepEqual(countStarted(email, [own ?? ""], tooMany), [own]);
  // Some servers bring all of these to one mailbox, and some do not: they are different contacts with one budget.
  assert.equal(countStarted(email, inName, tooMany).length, 3);
  const numbers = ["+447700900123", "+4407700900123", "+44007700900123", "+440007700900123", "+447700900123"];
  assert.equal(countStarted("OTP_TYPE_SMS", numbers, tooMany).length, 3);
});

test("a code is answered only in its own organization", () => {
  const rig = createSignerRig();
  const started = start(rig);
  const otherId = "7ff189fb-df7d-452e-8540-57632e380b77";
  const user = userWithKey("Root", rig.apiPrivateKey, rig.clock.nowMs);
  const other = anotherOrganization(rig, otherId, [user]);
  const parameters = { otpId: started.code.otpId, otpCode: started.text };
  const body = activityBody(rig, verifyType, parameters, { organizationId: otherId });
  const options = { stamp: stampOf(rig, body), links: [other.header], records: [started.record] };
  assert.throws(() => offer(rig, other, body, options), { message: /belongs to another organization/ });
});

test("what needs the approval of others is refused at once: a code cannot wait for them", () => {
  const rig = createSignerRig();
  const otherId = "7ff189fb-df7d-452e-8540-57632e380b77";
  const users = ["Root", "Second"].map((name, index) =>
    userWithKey(name, index === 0 ? rig.apiPrivateKey : new Uint8Array(32).fill(9), rig.clock.nowMs),
  );
  const rootQuorum = { threshold: 2, userIds: users.map(({ userId }) => userId) };
  const other = anotherOrganization(rig, otherId, users, { rootQuorum });
  const parameters = initParams("user@example.com");
  const body = activityBody(rig, initType, parameters, { organizationId: otherId });
  const reply = offer(rig, other, body, { stamp: stampOf(rig, body), links: [other.header] });
  assert.ok(reply.kind === "prepared");
  const row = only(reply.value);
  assert.equal(row.activity?.status, "ACTIVITY_STATUS_REJECTED");
  assert.match(failureOf(row) ?? "", /cannot wait for them/);
  assert.deepEqual([row.next, row.codes, row.outbox], [undefined, [], []]);
});

test("when the memory cannot be written nothing is started or compared, and no failure is kept", () => {
  const rig = createSignerRig();
  const started = start(rig);
  const unwritable = () => {
    throw new Fault("unavailable", "the signer's memory cannot be written");
  };
  Object.assign(rig.memory.codes, { attempt: unwritable, start: unwritable });
  assert.throws(() => answer(rig, started, started.text), { code: "unavailable" });
  assert.throws(() => start(rig, "other@example.com"), { code: "unavailable" });
});
