/** Answers to one-time codes through several gateways on one database, each with a signer of its own. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { codeParams, sendType, startCode } from "../../../test/one_time_codes.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { openMemory } from "../../signer/memory/memory.ts";
import { createOperations } from "../../signer/operations.ts";
import type { Store } from "../../store/store.ts";
import { createReachedLimits } from "../bounds/reached_limits.ts";
import { createRepeats } from "../bounds/repeats.ts";
import { joinLog } from "../log/join_log.ts";
import { LogPlaces } from "../places/log_places.ts";
import { createCommitter } from "./committer.ts";
import { createOrganizations } from "./organization_states.ts";
import type { SubmitDependencies } from "./submit_dependencies.ts";

type Answer = { result: Record<string, unknown> } | { failure: string };

/** An answer as it was typed. */
async function send(rig: GatewayRig, host: SubmitDependencies, otpId: string, otpCode: string): Promise<Answer> {
  try {
    const { result } = await sendType(rig, "ACTIVITY_TYPE_VERIFY_OTP", { otpId, otpCode }, { host });
    return { result };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}

/** Another gateway on the same database, with a signer that has a memory and a log of its own. */
async function otherHost({ store, signer, dependencies }: GatewayRig): Promise<SubmitDependencies> {
  const memory = openMemory(mkdtempSync(join(tmpdir(), "keystead-signer-")), signer.rootKey);
  memory.codes.begin(signer.clock.nowMs);
  const operations = createOperations(
    { current: signer.rootKey },
    memory,
    { ...signer.orders, adoptUnknown: true },
    () => signer.clock.nowMs,
    () => undefined,
  );
  operations.hello({ protocol: protocolVersion, keyring: signer.keyring });
  const plain = inProcess({ operations });
  const places = new LogPlaces(plain);
  const link = places.watch(plain);
  const committer = createCommitter(store, link, { places });
  await joinLog({ store, link, committer, places, sign: assert.fail, note: assert.fail }, { serves: true });
  return {
    ...dependencies,
    organizations: createOrganizations(store, link, () => undefined),
    committer,
    repeats: createRepeats(),
    reachedLimits: createReachedLimits(),
  };
}

async function versionOf({ store }: GatewayRig): Promise<number> {
  const { version } = await store.db.selectFrom("organizations").select("version").executeTakeFirstOrThrow();
  return Number(version);
}

async function begin(t: TestContext, dialect: Store["dialect"]) {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  // SQLite has one gateway.
  const hosts = [rig.dependencies];
  while (dialect === "postgres" && hosts.length < 3) hosts.push(await otherHost(rig));
  const parameters = codeParams("user@example.com", { otpLength: 6, alphanumeric: false });
  const { otpId, code } = await startCode(rig, parameters, { type: "ACTIVITY_TYPE_INIT_OTP_V2" });
  const answer = (host: number, otpCode: string) =>
    send(rig, hosts[host % hosts.length] as SubmitDependencies, otpId, otpCode);
  return { rig, answer, code, version: await versionOf(rig) };
}

for (const dialect of dialects) {
  describe(`answers to codes on ${dialect}`, () => {
    test("of many guesses at once, through all gateways, three are compared", async (t) => {
      const begun = await begin(t, dialect);
      if (begun === undefined) return;
      const { answer, code } = begun;
      const wrong = code === "000000" ? "000001" : "000000";
      const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => answer(index, wrong)));
      const failures = answers.map((each) => ("failure" in each ? each.failure : "let in"));
      assert.equal(failures.filter((failure) => failure === "Invalid OTP code").length, 3, JSON.stringify(failures));
      assert.equal(failures.filter((failure) => /^Invalid OTP code: too many attempts/.test(failure)).length, 57);
      assert.match(JSON.stringify(await answer(0, code)), /too many attempts/, "the right one is too late");
    });

    test("of right answers in different bodies at once, one gets a token", async (t) => {
      const begun = await begin(t, dialect);
      if (begun === undefined) return;
      const { rig, answer, code, version } = begun;
      const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => answer(index, code)));
      const tokens = answers.filter((each) => "result" in each);
      assert.equal(tokens.length, 1, JSON.stringify(answers));
      assert.match(JSON.stringify(tokens), /"verificationToken":"eyJ/);
      for (const each of answers) {
        if ("failure" in each)
          assert.match(each.failure, /^Invalid OTP code: (code was used already|too many attempts)/);
      }
      assert.equal(await versionOf(rig), version, "no login moves the organization");
    });

    test("a body that names an unknown code, or one of another kind, is refused like a wrong code", async (t) => {
      const begun = await begin(t, dialect);
      if (begun === undefined) return;
      const { rig } = begun;
      for (const otpId of ["7ff189fb-df7d-452e-8540-57632e380b77", randomBytes(4).toString("hex")]) {
        const answered = await send(rig, rig.dependencies, otpId, "000000");
        assert.deepEqual(answered, { failure: "Invalid OTP code" });
      }
      assert.deepEqual(await rig.store.db.selectFrom("otp_attempts").selectAll().execute(), [], "nothing is claimed");
    });
  });
}
