/** A public key is public: whoever writes a stranger's into an organization of his own neither locks the owner out nor gets the owner's requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { testTimeoutMs } from "../../core/test/patience.ts";
import { seededRandom } from "../../core/test/seeded_random.ts";
import { startDeployment } from "./races/deployment.ts";
import { apiKeyOf, isDone, type Organization, type Person, Stage } from "./races/stage.ts";

for (const dialect of dialects) {
  test(`copied public keys on ${dialect}`, { timeout: testTimeoutMs }, async (t) => {
    const deployment = await startDeployment(t, dialect, { serversOnPostgres: 1 });
    if (deployment === undefined) return;
    const stage = new Stage(deployment, seededRandom(19));
    const found = (threshold = 1, users = 1) => stage.found({ users, threshold });
    const addKey = (organization: Organization, { key }: { key: KeyPair }) => {
      const [{ userId }] = organization.people;
      const apiKeys = [apiKeyOf(key)];
      return stage.done(organization, organization.people[0], "create_api_keys", { userId, apiKeys });
    };
    const withKey = ({ people: [{ userId }] }: Organization, key: KeyPair): Person => ({ userId, key });
    const act = (organization: Organization, person: Person, userTagName = "tag") =>
      stage.done(organization, person, "create_user_tag", { userTagName, userIds: [] });
    /** The organization that answers `whoami` with the parent's id. */
    const home = async ({ key }: { key: KeyPair }) => {
      const answer = await stage.query(stage.first, { key }, "whoami");
      if (answer.status === 200) return answer.json.organizationId;
      assert.equal(answer.status, 401, answer.text);
      return answer.json.errorCode;
    };
    const conflict = "CREDENTIAL_CONFLICT";

    await t.test("a key that came with its organization is found there, however many strangers copy it", async () => {
      const owner = await found();
      for (let copies = 0; copies < 3; copies++) {
        await addKey(await found(), owner.people[0]);
        assert.equal(await home(owner.people[0]), owner.organizationId);
      }
    });

    await t.test(
      "a key that was added is found where it has acted; before that, where it is the only one",
      async () => {
        const [owner, attacker, other] = [await found(), await found(), await found()];
        const person = withKey(owner, createKey());
        await addKey(owner, person);
        assert.equal(await home(person), owner.organizationId, "the only match");
        await addKey(attacker, person);
        assert.equal(await home(person), conflict, "nobody has proved anything");
        await act(owner, person);
        assert.equal(await home(person), owner.organizationId);
        await addKey(other, person);
        assert.equal(await home(person), owner.organizationId);
      },
    );

    await t.test("a key that its holder has used in two is ambiguous, until one of them is gone", async () => {
      const [one, two] = [await found(), await found()];
      const key = createKey();
      for (const organization of [one, two]) {
        await addKey(organization, { key });
        await act(organization, withKey(organization, key));
      }
      assert.equal(await home({ key }), conflict);
      const { users } = await stage.ask(two, two.people[0], "list_users");
      const own = users[0].apiKeys.find(
        ({ credential }: { credential: KeyPair }) => credential.publicKey === key.publicKey,
      );
      const parameters = { userId: two.people[0].userId, apiKeyIds: [own.apiKeyId] };
      await stage.done(two, two.people[0], "delete_api_keys", parameters);
      assert.equal(await home({ key }), one.organizationId);
      await addKey(two, { key });
      assert.equal(await home({ key }), one.organizationId, "added again, it has proved nothing there");
    });

    await t.test("a signature or a refusal proves nothing; a submission that waits and a vote do", async () => {
      const [owner, attacker] = [await stage.found({ users: 2, threshold: 2, wallet: true }), await found()];
      const [ann, bob] = owner.people;
      /** One's own keys need nobody else. */
      const addOwn = async ({ userId, key }: Person): Promise<Person> => {
        const added = createKey();
        await stage.done(owner, { userId, key }, "create_api_keys", { userId, apiKeys: [apiKeyOf(added)] });
        await addKey(attacker, { key: added });
        return { userId, key: added };
      };
      const policy = await stage.waits(owner, ann, "create_policy", {
        policyName: "bob signs",
        effect: "EFFECT_ALLOW",
        consensus: `approvers.any(user, user.id == '${bob.userId}')`,
        condition: "activity.action == 'SIGN'",
        notes: "",
      });
      assert.ok(isDone(await stage.send(stage.restamped(policy, bob))));
      const voter = await addOwn(bob);
      const payload = { payload: "00", encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };
      await stage.done(owner, voter, "sign_raw_payload", { signWith: owner.wallet.address, ...payload });
      assert.equal(await home(voter), conflict, "a signature changes no state");
      const twice = { userId: bob.userId, apiKeys: [apiKeyOf(voter.key)] };
      assert.equal((await stage.send(stage.stamped(owner, voter, "create_api_keys", twice))).status, 409);
      assert.equal(await home(voter), conflict, "nor does a refusal");
      const waiting = await stage.waits(owner, ann, "create_user_tag", { userTagName: "waits", userIds: [] });
      const rejection = stage.stamped(owner, voter, "reject_activity", { fingerprint: waiting.fingerprint });
      assert.equal((await stage.send(rejection)).status, 200);
      assert.equal(await home(voter), owner.organizationId);

      const proposer = await addOwn(ann);
      assert.equal(await home(proposer), conflict);
      await stage.waits(owner, proposer, "create_user_tag", { userTagName: "proposed", userIds: [] });
      assert.equal(await home(proposer), owner.organizationId);
    });

    await t.test("a key of the parent is the parent's, whoever copies it", async () => {
      const attacker = await found();
      await addKey(attacker, stage.first.root);
      assert.equal(await home(stage.first.root), stage.first.organizationId);
    });

    assert.doesNotMatch(deployment.servers.map(({ output }) => output()).join(), ownFault);
  });
}
