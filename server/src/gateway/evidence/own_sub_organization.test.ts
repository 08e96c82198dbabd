/** Strangers who register a passkey under somebody else's credential id, with a key of their own. */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { TestPasskey } from "../../../../core/test/webauthn/authenticator.ts";
import { createGatewayRig, type GatewayRig, newUser, Refused } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { impostorPasskey, passkeyEvidence, registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import { newKey } from "../../../test/session_rig.ts";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import { activities } from "../../generated/activities.ts";
import { maxCandidates } from "../../store/across.ts";
import { dialectOf } from "../../views/dialect.ts";
import { submit } from "../submit/submit.ts";
import { authenticateQuery } from "./authenticate_query.ts";
import { createRefusedCredentials } from "./refused_credentials.ts";

const unverified = {
  code: "unauthenticated",
  errorCode: "SIGNATURE_INVALID",
  message: "could not verify WebAuthN signature",
};
const conflict = {
  code: "unauthenticated",
  errorCode: "CREDENTIAL_CONFLICT",
  message: "more than one suborg associated with a credential ID",
};

async function createCase(t: TestContext, dialect: GatewayRig["store"]["dialect"]) {
  const rig = await createGatewayRig(t, dialect);
  if (rig === undefined) return undefined;
  const nextMoment = () => (rig.signer.clock.nowMs += 1);
  let names = 0;
  return {
    rig,
    /** A sub-organization that came with this passkey, which is proven there. */
    async signUp(passkey: TestPasskey): Promise<string> {
      nextMoment();
      const rootUsers = [{ userName: "Kim", authenticators: [registeredPasskey(passkey, "own")] }];
      const parameters = { subOrganizationName: `Sub ${names++}`, rootUsers, rootQuorumThreshold: 1 };
      const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
      return (result.createSubOrganizationResultV8 as { subOrganizationId: string }).subOrganizationId;
    },
    /** One whose root user added it later: nothing is proven there. */
    async adds(passkey: TestPasskey): Promise<string> {
      nextMoment();
      const { user, privateKey } = newUser("Lee");
      const parameters = { subOrganizationName: `Sub ${names++}`, rootUsers: [user], rootQuorumThreshold: 1 };
      const { result } = await rig.submit(rig.root, "create_sub_organization", parameters);
      const { subOrganizationId: organizationId, rootUserIds } = result.createSubOrganizationResultV8 as {
        subOrganizationId: string;
        rootUserIds: [string];
      };
      const [userId] = rootUserIds;
      const added = { userId, authenticators: [registeredPasskey(passkey, "added")] };
      await rig.submit({ userId, userName: "Lee", privateKey }, "create_authenticators", added, { organizationId });
      return organizationId;
    },
    /** Where `whoami` and `stamp_login` with the parent's id end up: always in the same place. */
    async home(passkey: TestPasskey, stampedBytes?: Uint8Array): Promise<string> {
      const query = Buffer.from(JSON.stringify({ organizationId: rig.organizationId }));
      const ask = passkeyEvidence(passkey, stampedBytes ?? query);
      const asked = authenticateQuery(rig.dependencies, rig.organizationId, ask, query, "sub-organization");
      const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
      const arrival = { body, evidence: passkeyEvidence(passkey, stampedBytes ?? body), idempotencyKey: undefined };
      const login = activities.stamp_login as AnyActivity;
      const [found, answer] = await Promise.allSettled([
        asked,
        submit(rig.dependencies, login, arrival, dialectOf(undefined)),
      ]);
      if (answer.status === "rejected") {
        assert.equal(found.status, "rejected");
        assert.deepEqual(refusalOf(found.reason), refusalOf(answer.reason));
        throw answer.reason;
      }
      if ("failure" in answer.value) throw new Refused(answer.value.failure);
      assert.equal(found.status, "fulfilled");
      assert.equal(answer.value.activity.organizationId, found.value.organizationId);
      return found.value.organizationId;
    },
  };
}

const refusalOf = ({ code, errorCode, message }: Record<string, unknown>) => ({ code, errorCode, message });

for (const dialect of dialects) {
  describe(`credential ids that strangers chose (${dialect})`, () => {
    test("of several with the same id, the one counts whose key made the stamp", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { signUp, home } = found;
      const [ann, eve] = [testPasskey(0), impostorPasskey(0, "eve")];
      const own = await signUp(ann);
      const theirs = await signUp(eve);
      assert.equal(await home(ann), own);
      assert.equal(await home(eve), theirs);
    });

    test("an owner whose passkey is not proven yet is found beside a stranger whose is", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { signUp, adds, home } = found;
      const [ann, eve] = [testPasskey(0), impostorPasskey(0, "eve")];
      const own = await adds(ann);
      const theirs = await signUp(eve);
      assert.equal(await home(ann), own);
      assert.equal(await home(eve), theirs);
    });

    test("a stamp that none of their keys made is refused, and nothing is stored of it", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { rig, signUp, adds, home } = found;
      await signUp(testPasskey(0));
      await signUp(impostorPasskey(0, "eve"));
      await adds(impostorPasskey(0, "mallory"));
      const count = async () => (await rig.store.db.selectFrom("activities").select("activity_id").execute()).length;
      const before = await count();
      await assert.rejects(home(impostorPasskey(0, "nobody")), unverified);
      // Its owner's, but of another body: the key is right, and the challenge is not.
      await assert.rejects(home(testPasskey(0), Buffer.from("other")), unverified);
      assert.equal(await count(), before);
    });

    test("the same key in two is a conflict, unless it is proven in one", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { signUp, adds, home } = found;
      const [ann, bob] = [testPasskey(0), testPasskey(1)];
      await adds(ann);
      await adds(ann);
      await signUp(impostorPasskey(0, "eve"));
      await assert.rejects(home(ann), conflict);
      const own = await signUp(bob);
      await adds(bob);
      assert.equal(await home(bob), own);
      await signUp(bob);
      await assert.rejects(home(bob), conflict);
    });

    test("a member of the parent with a child's credential id keeps nobody from being found below", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { rig, signUp, home } = found;
      const [ann, eve] = [testPasskey(0), impostorPasskey(0, "eve")];
      const own = await signUp(ann);
      const { userId } = rig.root;
      const authenticators = [registeredPasskey(eve, "chosen")];
      await rig.submit(rig.root, "create_authenticators", { userId, authenticators });
      assert.equal(await home(ann), own);
      assert.equal(await home(eve), rig.organizationId);
      await assert.rejects(home(impostorPasskey(0, "nobody")), unverified);
    });

    test("a child with a credential id of its parent's keeps nobody of the parent from reading it", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { rig, signUp } = found;
      const [boss, eve] = [testPasskey(0), impostorPasskey(0, "eve")];
      const { userId } = rig.root;
      const authenticators = [registeredPasskey(boss, "own")];
      await rig.submit(rig.root, "create_authenticators", { userId, authenticators });
      const child = await signUp(eve);
      const query = Buffer.from(JSON.stringify({ organizationId: child }));
      const readAs = async (passkey: TestPasskey) => {
        const evidence = passkeyEvidence(passkey, query);
        return (await authenticateQuery(rig.dependencies, child, evidence, query, "named")).organizationId;
      };
      assert.equal(await readAs(boss), rig.organizationId);
      assert.equal(await readAs(eve), child);
      await assert.rejects(readAs(impostorPasskey(0, "nobody")), unverified);
    });

    test("however often strangers register an id, its owner is found, and no more than a few keys are tried", async (t) => {
      const found = await createCase(t, dialect);
      if (found === undefined) return;
      const { rig, signUp, adds, home } = found;
      const [ann, bob] = [testPasskey(0), testPasskey(1)];
      const [annHome, bobHome] = [await signUp(ann), await adds(bob)];
      for (let n = 0; n <= maxCandidates; n++) {
        for (const owner of [0, 1]) {
          await signUp(impostorPasskey(owner, `signed up ${n}`));
          await adds(impostorPasskey(owner, `added ${n}`));
        }
      }
      assert.equal(await home(ann), annHome);
      assert.equal(await home(bob), bobHome);

      const { curves } = rig.dependencies;
      let verified = 0;
      const counting: typeof curves = {
        ...curves,
        verifyP256(...args) {
          verified += 1;
          return curves.verifyP256(...args);
        },
      };
      const query = Buffer.from(JSON.stringify({ organizationId: rig.organizationId }));
      const evidence = passkeyEvidence(impostorPasskey(0, "nobody"), query);
      const refusedCredentials = createRefusedCredentials({ places: 1, waiting: 10, keys: 10, keptMs: 60_000 });
      const dependencies = { ...rig.dependencies, curves: counting, refusedCredentials };
      const asked = authenticateQuery(dependencies, rig.organizationId, evidence, query, "sub-organization");
      await assert.rejects(asked, unverified);
      assert.equal(verified, 2 * maxCandidates);
      // From now on such stamps are verified a few at a time.
      assert.equal(refusedCredentials.areNone(), false);
    });
  });
}
