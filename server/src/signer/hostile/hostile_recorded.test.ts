/**
 * A hostile gateway with everything that a valid run has shown it: ten thousand hostile frames in full, against a signer in a process of
 * its own. Where an attack came to nothing else than an honest request, its frame does not count. The judge knows the honest run alone. Nothing may be decided on any but the newest states, nothing come to more than it
 * should, nothing be let out that was not; and the signer goes on. KEYSTEAD_SEED repeats the choices of a run.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { samples } from "../../../../core/test/samples.ts";
import { type AttackName, attackNames, attacks, createAim } from "../../../test/hostile_attacks.ts";
import { breakingAttacks, messageIn } from "../../../test/hostile_frames.ts";
import { createJudge, type Judge } from "../../../test/hostile_judge.ts";
import { editedPages, type Shot } from "../../../test/hostile_material.ts";
import { type Run, recordRun } from "../../../test/hostile_run.ts";
import { wishNames } from "../../../test/hostile_wants.ts";
import { seededRandom } from "../../../test/seeded_random.ts";
import { encodeFrame, protocolVersion } from "../../frames/frame.ts";
import { messages } from "../../frames/messages.ts";
import { checkDatabase } from "../../gateway/operator/check_database.ts";
import { checkLog } from "../../gateway/operator/check_log.ts";
import { activities } from "../../generated/activities.ts";
import { emptyPages } from "../../state/pages.ts";

const frames = samples.hostileFrames;
/** Each new process has none of the states, records and journals at hand. */
const framesPerProcess = samples.hostileFramesPerProcess;

/** One shot after the other; what the judge says about each reply. */
async function shoot({ signer }: Run, judge: Judge, shot: Shot): Promise<string[]> {
  if ("kind" in shot) {
    const reply = await signer.ask(shot.kind, shot.message);
    signer.received();
    return said(judge.objectionTo(shot.kind, shot.message, reply));
  }
  signer.write(shot.raw);
  if (shot.breaks === true) {
    assert.equal(await signer.frame(shot.id), undefined);
    return [];
  }
  // Replies come in order: behind this one there is none left.
  await signer.ask("pins", { page: 0 });
  const replies = signer.received().filter(({ id }) => id === shot.id);
  const request = shot.message ?? messageIn(shot);
  return replies.flatMap((reply) => said(judge.objectionTo(shot.as, request, reply)));
}

function said(objection: string | undefined): string[] {
  return objection === undefined ? [] : [objection];
}

async function joinAnew({ signer, keyring }: Run, orders?: Parameters<Run["signer"]["restart"]>[0]): Promise<void> {
  await signer.restart(orders);
  await signer.link.request("hello", { protocol: protocolVersion, keyring });
}

/** They need a code that was sent, an issuer, or the parent's own state. Hostile gateways try them in these suites. */
const attackedElsewhere = {
  create_oauth2_credential: "hostile_oauth2_orders.test.ts",
  create_oauth_providers: "hostile_linking.test.ts",
  create_session_profile: "hostile_session_profiles.test.ts",
  delete_oauth2_credential: "hostile_auth_proxy.test.ts",
  delete_oauth_providers: "hostile_auth_proxy.test.ts",
  disable_auth_proxy: "hostile_auth_proxy.test.ts",
  email_auth: "hostile_mailed_keys.test.ts",
  enable_auth_proxy: "hostile_auth_proxy.test.ts",
  update_auth_proxy_config: "hostile_auth_proxy.test.ts",
  init_otp: "hostile_codes.test.ts",
  init_otp_auth: "hostile_mailed_keys.test.ts",
  init_user_email_recovery: "hostile_mailed_keys.test.ts",
  oauth: "hostile_identity_logins.test.ts",
  oauth2_authenticate: "hostile_oauth2_orders.test.ts",
  oauth_login: "hostile_identity_logins.test.ts",
  otp_auth: "hostile_mailed_keys.test.ts",
  otp_login: "hostile_verification_tokens.test.ts",
  recover_user: "hostile_mailed_keys.test.ts",
  remove_ip_allowlist: "hostile_auth_proxy.test.ts",
  set_ip_allowlist: "hostile_auth_proxy.test.ts",
  update_oauth2_credential: "hostile_oauth2_orders.test.ts",
  verify_otp: "hostile_codes.test.ts",
} as const satisfies Partial<Record<keyof typeof activities, string>>;

/** Written by those activities alone; the last one by the operator, in the first organization. */
const pagesElsewhere = [
  "sessionProfiles",
  "usedTokens",
  "authProxies",
  "ipAllowlists",
  "oauth2Credentials",
  "logs",
] as const satisfies (keyof typeof emptyPages)[];

test(`${frames} hostile frames of a hostile gateway: nothing is approved that was not, and the signer goes on`, async (t) => {
  const run = await recordRun(t);
  const { signer, paths, seen, targetOrganization } = run;
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const random = seededRandom(seed);
  const judge = createJudge(run);
  const aim = createAim(run, random, judge.expect);

  // The run has everything in it that there is to attack.
  assert.deepEqual(new Set(Object.keys(activities)), new Set([...paths, ...Object.keys(attackedElsewhere)]));
  assert.deepEqual(new Set(editedPages), new Set(Object.keys(emptyPages)));
  const listed = new Set(
    seen
      .get(targetOrganization.organizationId)
      ?.states.at(-1)
      ?.pages.map(({ name }) => name.split("/")[0]),
  );
  assert.deepEqual(new Set([...listed, ...pagesElsewhere]), new Set(Object.keys(emptyPages)));
  const attacked = new Set<string>();

  // Each want is honest material: with an honest state it comes to exactly what it may.
  for (const name of wishNames) {
    const want = aim.want(name);
    const message = run.frame(want.body, want.stamp, want.target ? { target: want.target } : {});
    const before = judge.counts.honest;
    assert.deepEqual(await shoot(run, judge, { kind: "prepare", message }), [], name);
    assert.equal(
      judge.counts.honest - before,
      want.verdict === "NOTHING" ? 0 : 1,
      `${name}: an honest frame came to another end`,
    );
  }

  const wrong: string[] = [];
  const sent = new Map<AttackName, number>(attackNames.map((name) => [name, 0]));
  let count = 0;
  let processes = 1;
  const honestBefore = judge.counts.honest;
  const hostile = () => count - (judge.counts.honest - honestBefore);
  for (let turn = 0; hostile() < frames; turn++) {
    const name = attackNames[turn % attackNames.length] as AttackName;
    for (const shot of attacks[name](aim)) {
      attacked.add("kind" in shot ? shot.kind : shot.as);
      for (const objection of await shoot(run, judge, shot)) wrong.push(`${name}: ${objection}`);
      assert.ok(signer.isUp(), `${name}: the signer is gone: ${signer.notes.slice(-3).join("; ")}`);
      sent.set(name, (sent.get(name) ?? 0) + 1);
      count += 1;
    }
    if (count >= processes * framesPerProcess) {
      await joinAnew(run);
      processes += 1;
    }
  }
  for (const [name, attack] of Object.entries(breakingAttacks)) {
    for (const shot of attack(aim)) await shoot(run, judge, shot);
    assert.equal(signer.isUp(), false, `${name}: the stream goes on`);
    await joinAnew(run);
    count += 1;
  }
  // Byte by byte, with the patience of somebody who wants to hold others up.
  await dribble(run);

  t.diagnostic(
    `seed ${seed}: ${hostile()} hostile frames of ${sent.size} attacks, ${count - hostile()} that were honest after all, ` +
      `${processes} processes; ${JSON.stringify(judge.counts)}`,
  );
  t.diagnostic(`${wrong.length} wrong; ${signer.notes.length} notes to the operator`);
  assert.deepEqual(wrong.slice(0, 20), []);
  assert.ok(hostile() >= frames);
  for (const [name, times] of sent) assert.ok(times > 0, `${name} was never tried`);
  assert.deepEqual(new Set(Object.keys(messages)), attacked);
  await assertUnharmed(run);
});

async function dribble({ signer }: Run): Promise<void> {
  const id = 0xffff_fff0;
  const frame = encodeFrame("statement", id, messages.statement.request, { page: 0 });
  for (const byte of frame) {
    signer.write(Uint8Array.of(byte));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal((await signer.frame(id))?.kind, "statement");
}

/** An honest gateway on the same database finds everything as it was, and goes on. */
async function assertUnharmed(run: Run): Promise<void> {
  const { dependencies, store, signer, publicKeys, teller, targetOrganization } = run;
  dependencies.organizations.forgetAll();
  const { dave, organizationId, address } = targetOrganization;
  const signed = await teller.act(
    dave,
    "sign_raw_payload",
    {
      signWith: address,
      payload: "dd",
      encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
      hashFunction: "HASH_FUNCTION_SHA256",
    },
    organizationId,
  );
  assert.equal(signed.status, "ACTIVITY_STATUS_COMPLETED");
  await dependencies.committer.settle();
  await joinAnew(run, { vouch: true });
  const log = await checkLog(store, signer.link, publicKeys.log ?? "");
  assert.equal(log.ok, true, log.lines.join("\n"));
  const database = await checkDatabase(store, signer.link, publicKeys.log ?? "", { rebuilds: false });
  assert.equal(database.ok, true, database.lines.join("\n"));
}
