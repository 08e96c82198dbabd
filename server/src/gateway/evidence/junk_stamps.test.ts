/** What the gateway reads for stamps of strangers, and of those whose key was only written down: counted in queries, never in time. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { describe, test } from "node:test";
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { stampEvidence } from "../../../test/evidence.ts";
import { createGatewayRig, type GatewayRig, newUser, Refused } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { impostorPasskey, passkeyEvidence, registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import { watchQueries } from "../../../test/query_plans.ts";
import { newKey } from "../../../test/session_rig.ts";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import { activities } from "../../generated/activities.ts";
import { firstSignInMs, unprovenKeyMs } from "../../state/first_sign_in.ts";
import { dialectOf } from "../../views/dialect.ts";
import { submit } from "../submit/submit.ts";
import { authenticateQuery } from "./authenticate_query.ts";

type Stamps = (body: Uint8Array) => SentEvidence;

/** A key, as it is registered and as it stamps. */
function walletKey() {
  const privateKey = secp256k1.utils.randomSecretKey();
  const publicKey = toHex(secp256k1.getPublicKey(privateKey));
  return {
    registered: { apiKeyName: "wallet", publicKey, curveType: "API_KEY_CURVE_SECP256K1" },
    stamps: ((body) => stampEvidence(signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_SECP256K1", body))) as Stamps,
  };
}

function applicationKey() {
  const privateKey = p256.utils.randomSecretKey();
  const publicKey = toHex(p256.getPublicKey(privateKey));
  return {
    registered: { apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" },
    stamps: ((body) => stampEvidence(signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body))) as Stamps,
  };
}

const unsigned = { code: "unauthenticated", errorCode: "SIGNATURE_INVALID" };
const unknown = { code: "unauthenticated", errorCode: "PUBLIC_KEY_NOT_FOUND" };

async function createCase(t: TestContext, dialect: GatewayRig["store"]["dialect"], agoMs = 0) {
  const rig = await createGatewayRig(t, dialect, Date.now() - agoMs);
  if (rig === undefined) return undefined;
  const { store, onQuery } = watchQueries(rig.store);
  /** What happens for a request, in order: queries and verified signatures. */
  const steps: string[] = [];
  onQuery((text) => steps.push(text));
  const verifies = <A extends unknown[]>(verify: (...args: A) => boolean) => {
    return (...args: A) => {
      steps.push("verify");
      return verify(...args);
    };
  };
  const { curves } = rig.dependencies;
  const counting = {
    ...curves,
    verifyP256: verifies(curves.verifyP256),
    verifySecp256k1: verifies(curves.verifySecp256k1),
  };
  const dependencies = { ...rig.dependencies, store, curves: counting };
  /** The two ways by which a client names the parent alone. Both are refused, or end in the same place. */
  const ways = {
    async query(stamps: Stamps) {
      const body = Buffer.from(JSON.stringify({ organizationId: rig.organizationId }));
      const evidence = stamps(body);
      return (await authenticateQuery(dependencies, rig.organizationId, evidence, body, "sub-organization"))
        .organizationId;
    },
    async submit(stamps: Stamps) {
      const body = rig.body("stamp_login", { publicKey: newKey().publicKey }, { agoMs: -agoMs });
      const arrival = { body, evidence: stamps(body), idempotencyKey: undefined };
      const answer = await submit(dependencies, activities.stamp_login as AnyActivity, arrival, dialectOf(undefined));
      if ("failure" in answer) throw new Refused(answer.failure);
      return answer.activity.organizationId;
    },
  };
  return {
    rig,
    ways: Object.values(ways),
    ask: ways.query,
    /** The steps of one request. */
    async stepsOf(request: () => Promise<unknown>): Promise<readonly string[]> {
      steps.length = 0;
      await request().catch(() => undefined);
      return [...steps];
    },
    /** A sub-organization whose user has added this credential: it is proven nowhere. */
    async adds(key: { apiKeys: object[] } | { authenticators: object[] }): Promise<string> {
      rig.signer.clock.nowMs += 1;
      const { organizationId, people } = await rig.newSubOrganization(1, ["Lee"]);
      const [lee = assert.fail()] = people;
      const path = "apiKeys" in key ? "create_api_keys" : "create_authenticators";
      await rig.submit(lee, path, { userId: lee.userId, ...key }, { organizationId });
      return organizationId;
    },
  };
}

const isPage = (step: string) => /from "?pages"? where (?!pages\.)/i.test(step);
const readsBelow = (step: string) => /from "credentials" inner join "organizations"/i.test(step);

for (const dialect of dialects) {
  describe(`stamps that name the parent (${dialect})`, () => {
    for (const [name, makeKey] of Object.entries({ "a wallet's": walletKey, "an application's": applicationKey })) {
      test(`a junk stamp under ${name} key is refused before anything is read of sub-organizations`, async (t) => {
        const found = await createCase(t, dialect);
        if (found === undefined) return;
        const { ways, adds, stepsOf } = found;
        const key = makeKey();
        for (let n = 0; n < 8; n++) await adds({ apiKeys: [key.registered] });
        for (const way of ways) {
          const junk: Stamps = () => key.stamps(Buffer.from("another body"));
          const steps = await stepsOf(() => way(junk));
          assert.deepEqual(
            steps.filter((step) => readsBelow(step) || isPage(step)),
            [],
          );
          assert.equal(steps.at(-1), "verify");
          assert.ok(steps.length <= 2, "the organization that is named, and the signature");
          await assert.rejects(way(junk), unsigned);
          await assert.rejects(
            way(() => makeKey().stamps(Buffer.from("another body"))),
            unsigned,
            "nor is a key told from others",
          );
        }
      });

      test(`a good stamp under ${name} key that was only written down has no page read of sub-organizations`, async (t) => {
        const found = await createCase(t, dialect);
        if (found === undefined) return;
        const { ways, adds, stepsOf } = found;
        const key = makeKey();
        for (let n = 0; n < 8; n++) await adds({ apiKeys: [key.registered] });
        for (const way of ways) {
          const steps = await stepsOf(() => way(key.stamps));
          assert.ok(steps.some(readsBelow));
          assert.deepEqual(steps.filter(isPage), []);
        }
      });
    }

    test("a junk stamp under a passkey's id has its signature held against rows, and no page read", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { rig, ways, adds, stepsOf } = found;
      for (let n = 0; n < 8; n++) await adds({ authenticators: [registeredPasskey(impostorPasskey(0, `${n}`), "p")] });
      const boss = [registeredPasskey(testPasskey(0), "own")];
      await rig.submit(rig.root, "create_authenticators", { userId: rig.root.userId, authenticators: boss });
      for (const way of ways) {
        const junk: Stamps = (body) => passkeyEvidence(impostorPasskey(0, "impostor"), body);
        assert.deepEqual((await stepsOf(() => way(junk))).filter(isPage), []);
        await assert.rejects(way(junk), unsigned);
      }
    });

    test("a key that has stayed unproven for a day is found by its own organization's id alone", async (t) => {
      const found = await createCase(t, dialect, unprovenKeyMs);
      if (found === undefined) return;
      const { rig, ways, ask, adds } = found;
      const key = applicationKey();
      const own = await adds({ apiKeys: [key.registered] });
      for (const way of ways) await assert.rejects(way(key.stamps), unknown);
      const named = Buffer.from(JSON.stringify({ organizationId: own }));
      const { organizationId } = await authenticateQuery(rig.dependencies, own, key.stamps(named), named, "named");
      assert.equal(organizationId, own);
      // A key that acts there is found from then on.
      const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId: own });
      const arrival = { body, evidence: key.stamps(body), idempotencyKey: undefined };
      const tag = await submit(
        rig.dependencies,
        activities.create_user_tag as AnyActivity,
        arrival,
        dialectOf(undefined),
      );
      assert.ok("activity" in tag);
      assert.equal(await ask(key.stamps), own);
    });

    test("a key that has stayed unproven for a day leads to no younger copy of it either, until its holder acts", async (t) => {
      const found = await createCase(t, dialect, unprovenKeyMs);
      if (found === undefined) return;
      const { rig, ask, adds } = found;
      const key = applicationKey();
      const own = await adds({ apiKeys: [key.registered] });
      rig.signer.clock.nowMs += unprovenKeyMs;
      for (let n = 0; n < 8; n++) await adds({ apiKeys: [key.registered] });
      await assert.rejects(ask(key.stamps), unknown);
      const body = rig.body("create_user_tag", { userTagName: "t", userIds: [] }, { organizationId: own });
      const arrival = { body, evidence: key.stamps(body), idempotencyKey: undefined };
      await submit(rig.dependencies, activities.create_user_tag as AnyActivity, arrival, dialectOf(undefined));
      assert.equal(await ask(key.stamps), own);
    });

    test("a second passkey is found by the parent's id however late it is first used", async (t) => {
      const found = await createCase(t, dialect, 2 * unprovenKeyMs);
      if (found === undefined) return;
      const { ask, adds } = found;
      const spare = testPasskey(3);
      const own = await adds({ authenticators: [registeredPasskey(spare, "in the drawer")] });
      assert.equal(await ask((body) => passkeyEvidence(spare, body)), own);
    });

    test("a wallet signs in to the account that was made for it, however often others have registered its key before", async (t) => {
      const found = await createCase(t, dialect, firstSignInMs);
      if (found === undefined) return;
      const { rig, ask, adds } = found;
      const key = walletKey();
      let names = 0;
      const signUp = async (changes: object = {}, more: object[] = []) => {
        rig.signer.clock.nowMs += 1;
        const user = { ...newUser("Kim").user, apiKeys: [key.registered], ...changes };
        const subOrganizationName = `Sub ${names++}`;
        const parameters = { subOrganizationName, rootUsers: [user, ...more], rootQuorumThreshold: 1 };
        const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
        return (result.createSubOrganizationResultV8 as { subOrganizationId: string }).subOrganizationId;
      };
      // Unproven, as a sign-up through the auth proxy leaves it.
      const unproven = () => rig.store.db.updateTable("credentials").set({ proven: 0 }).execute();
      for (let n = 0; n < 8; n++) await signUp();
      await unproven();
      await assert.rejects(ask(key.stamps), unknown, "those of the minutes before are over");
      rig.signer.clock.nowMs += firstSignInMs;
      await adds({ apiKeys: [key.registered] });
      const shared: [object, object[]?][] = [
        [{ userEmail: "thief@example.com" }],
        [{ userPhoneNumber: "+15551234567" }],
        [{ authenticators: [registeredPasskey(testPasskey(7), "thief's")] }],
        [{ apiKeys: [key.registered, applicationKey().registered] }],
        [{}, [newUser("Thief").user]],
      ];
      for (const [changes, more] of shared) await signUp(changes, more);
      await unproven();
      await assert.rejects(ask(key.stamps), unknown, "each lets in somebody else, too");
      const own = await signUp();
      await unproven();
      assert.equal(await ask(key.stamps), own);
    });
  });
}
