/**
 * An issuer that replaces its keys again and again, for hours of a clock that is moved, through the real parts in one process: courier,
 * gateway and signer. It is away at times, and courier and gateway lose their memories at times. A login by the key that the issuer signs with
 * is refused for no longer than the pause between two fetches; one by a key that the issuer does not publish any more is refused after an
 * hour at the latest. KEYSTEAD_SEED repeats a run.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import { maxStatementAgeMs, refetchPauseMs } from "@keystead/core/oidc/issuer_statement.ts";
import { FetchFailure } from "@keystead/server/courier/fetch/fetch_failure.ts";
import type { FetchJson } from "@keystead/server/courier/fetch/fetch_json.ts";
import { answerIssuer } from "@keystead/server/courier/issuers/answer_issuer.ts";
import { createIssuers } from "@keystead/server/courier/issuers/issuers.ts";
import type { IssuerRequest } from "@keystead/server/frames/courier_messages.ts";
import {
  createIssuerStatements,
  type IssuerStatementsDependencies,
} from "@keystead/server/gateway/issuers/issuer_statements.ts";
import { createHourlyBudget } from "@keystead/server/gateway/proxy/address_budgets.ts";
import { openKeyring } from "@keystead/server/signer/secrets/keyring.ts";
import { makeIssuerKey, publishedKeys, type TestIssuerKey } from "../../../core/test/oidc/test_issuer.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import { newHome } from "../../../server/test/code_login_rig.ts";
import { createGatewayRig, type GatewayRig, Refused } from "../../../server/test/gateway_rig.ts";
import { newKey } from "../../../server/test/session_rig.ts";
import { testIssuer, testToken } from "../../../server/test/test_issuers.ts";

const secondMs = 1_000;
const hourMs = 3_600_000;

/** What the issuer does, by the moved clock. */
class Issuer {
  readonly #clock: { nowMs: number };
  #made = 1;
  /** The first signs, all are published. */
  published: TestIssuerKey[] = [makeIssuerKey("ES256", "key-1")];
  rotatedAtMs = 0;
  isAway = false;
  backAtMs = 0;
  readonly retired: { key: TestIssuerKey; atMs: number }[] = [];

  constructor(clock: { nowMs: number }) {
    this.#clock = clock;
  }

  rotate(dropsOld: boolean): void {
    const kept = dropsOld ? [] : this.published.slice(0, 1);
    for (const key of this.published.slice(kept.length)) this.retired.unshift({ key, atMs: this.#clock.nowMs });
    this.published = [makeIssuerKey("ES256", `key-${++this.#made}`), ...kept];
    this.rotatedAtMs = this.#clock.nowMs;
  }

  turnAway(isAway: boolean): void {
    this.isAway = isAway;
    this.backAtMs = this.#clock.nowMs;
  }

  readonly fetchJson: FetchJson = async ({ url }) => {
    if (this.isAway) throw new FetchFailure("unreachable", "issuer.example cannot be reached");
    const text = url.endsWith("/.well-known/openid-configuration")
      ? JSON.stringify({ issuer: testIssuer, jwks_uri: `${testIssuer}/keys` })
      : publishedKeys(this.published);
    return { status: 200, value: JSON.parse(text), bytes: new TextEncoder().encode(text) };
  };
}

/** Courier and gateway as they remember issuers, in the place of what the rig would say of them. */
function connect(rig: GatewayRig, issuer: Issuer) {
  const { clock, rootKey, keyring } = rig.signer;
  const { statementMac: mac } = openKeyring(rootKey, 1, keyring);
  const now = () => clock.nowMs;
  const newCourier = () =>
    createIssuers({
      fetchJson: issuer.fetchJson,
      checkAddress: () => undefined,
      mac,
      allowed: undefined,
      now,
      note: () => undefined,
    });
  let courier = newCourier();
  const newGateway = () =>
    createIssuerStatements({
      courier: {
        isJoined: () => true,
        whenJoined: async () => undefined,
        request: (_: string, request: IssuerRequest) => answerIssuer(courier, request),
      } as unknown as IssuerStatementsDependencies["courier"],
      needCourier: () => undefined,
      isRegisteredIssuer: () => true,
      budget: createHourlyBudget(0),
      now,
    });
  let gateway = newGateway();
  rig.issuers.statementOf = (name, newerThanMs) => gateway.statementOf(name, newerThanMs);
  return {
    restartCourier: () => {
      courier = newCourier();
    },
    restartGateway: () => {
      gateway = newGateway();
    },
  };
}

/** Whether a login by a token under this key is let in. A refusal must be about the token or its issuer. */
async function login(rig: GatewayRig, home: Awaited<ReturnType<typeof newHome>>, key: TestIssuerKey): Promise<boolean> {
  const { publicKey } = newKey();
  const oidcToken = testToken(rig.signer.clock.nowMs, {}, publicKey, key);
  const { organizationId, people } = home;
  try {
    const parameters = { oidcToken, publicKey, expirationSeconds: "60" };
    await rig.submit(people[0], "oauth_login", parameters, { organizationId });
    return true;
  } catch (error) {
    assert.ok(error instanceof Fault || error instanceof Refused, String(error));
    assert.match(error.message, /its key is not one|cannot be used/);
    return false;
  }
}

/** Something may happen before each login. */
function disturb(random: Random, issuer: Issuer, connected: ReturnType<typeof connect>): void {
  const dice = random.next();
  if (dice < 0.03) issuer.rotate(random.next() < 0.5);
  else if (dice < 0.045) issuer.turnAway(!issuer.isAway);
  else if (dice < 0.1 && issuer.isAway) issuer.turnAway(false);
  else if (dice < 0.115) connected.restartCourier();
  else if (dice < 0.13) {
    connected.restartGateway();
    connected.restartCourier();
  }
}

test("while an issuer replaces its keys, valid logins wait a minute at most, and retired keys end within the hour", {
  timeout: testTimeoutMs,
}, async (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const random = seededRandom(seed);
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { clock } = rig.signer;
  const issuer = new Issuer(clock);
  const connected = connect(rig, issuer);
  const home = await newHome(rig, {});
  const [ann] = home.people;
  const oauthProviders = [
    { providerName: "Issuer", oidcToken: testToken(clock.nowMs, {}, undefined, issuer.published[0]) },
  ];
  await rig.submit(ann, "create_oauth_providers", { userId: ann.userId, oauthProviders }, home);

  const seen = { logins: 0, accepted: 0, refused: 0, retiredAccepted: 0, longestMs: 0, latestMs: 0 };
  const startedMs = clock.nowMs;
  // While nobody comes with the new key, nobody makes the server ask for it: the longest that a retired one can last.
  let quietUntilMs = 0;
  while (clock.nowMs - startedMs < samples.rotationHours * hourMs) {
    clock.nowMs += random.next() < 0.7 ? random.below(20 * secondMs) + 1 : random.below(240 * secondMs) + 1;
    disturb(random, issuer, connected);
    if (issuer.rotatedAtMs === clock.nowMs && random.next() < 0.4)
      quietUntilMs = clock.nowMs + random.below(2 * hourMs);
    if (clock.nowMs >= quietUntilMs) await loginNow();
    const retired = issuer.retired[random.below(Math.min(issuer.retired.length, 3))];
    if (retired === undefined) continue;
    if (!(await login(rig, home, retired.key))) continue;
    const sinceMs = clock.nowMs - retired.atMs;
    seen.retiredAccepted += 1;
    seen.latestMs = Math.max(seen.latestMs, sinceMs);
    assert.ok(sinceMs <= maxStatementAgeMs, `${retired.key.kid} was accepted ${sinceMs} ms after it was retired`);
  }

  async function loginNow(): Promise<void> {
    seen.logins += 1;
    if (await login(rig as GatewayRig, home, issuer.published[0] as TestIssuerKey)) {
      seen.accepted += 1;
      return;
    }
    seen.refused += 1;
    // Whoever cannot be reached can vouch for nobody; from when it is back, it is asked within the minute.
    if (issuer.isAway) return;
    const waitedMs = clock.nowMs - Math.max(issuer.rotatedAtMs, issuer.backAtMs);
    seen.longestMs = Math.max(seen.longestMs, waitedMs);
    assert.ok(waitedMs <= refetchPauseMs, `refused ${waitedMs} ms after a rotation`);
  }

  const rotations = issuer.retired.length + issuer.published.length - 1;
  t.diagnostic(
    `${samples.rotationHours} hours, ${rotations} rotations, ${seen.logins} logins: ${seen.accepted} accepted; ${seen.refused} refused, for ` +
      `${Math.round(seen.longestMs / 1000)} s at the longest while the issuer was there; ${seen.retiredAccepted} accepted under retired keys, the ` +
      `latest ${Math.round(seen.latestMs / 60_000)} minutes after`,
  );
  assert.ok(rotations >= 3 && seen.accepted > seen.logins / 2, "it was a quiet time");
});
