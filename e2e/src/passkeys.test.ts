/** Passkeys on a real server: signing in, acting, voting, two stamps at once, and what the operator's checks say afterwards. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "@keystead/core/webauthn/transports.ts";
import { createApiKeyStamper, createClient, type KeysteadError, type Stamper } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { dialects, testSource } from "./databases.ts";
import { startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";
import { authenticatorParams, createPasskey, type Passkey, passkeyStamp } from "./passkeys.ts";
import { send } from "./wire.ts";

function stamperOf(passkey: Passkey): Stamper {
  return { stamp: (body) => ({ name: "X-Stamp-Webauthn", value: passkeyStamp(passkey, body) }) };
}

function registered(passkey: Passkey) {
  const { attestation, ...params } = authenticatorParams(passkey);
  return { ...params, attestation: { ...attestation, transports: attestation.transports as Transport[] } };
}

const refusal = (status: number, message: string | RegExp) => (error: KeysteadError) => {
  assert.equal(error.status, status);
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
  return true;
};

for (const dialect of dialects) {
  test(`passkeys on ${dialect}`, async (t) => {
    const source = await testSource(t, dialect);
    if (source === undefined) return;
    const dataFolder = freshDataFolder(t);
    const databaseUrl = source.kind === "postgres" ? source.url : undefined;
    const server = await startKeystead({ dataFolder, ...(databaseUrl !== undefined && { databaseUrl }) });
    t.after(() => server.stop());
    const { baseUrl, organizationId: parentId, apiPublicKey, apiPrivateKey } = server.bootstrap;
    const parent = createClient({
      baseUrl,
      organizationId: parentId,
      stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
    });
    const [ann, bob, nobody] = [createPasskey(), createPasskey(), createPasskey()];
    const { subOrganizationId } = await parent.createSubOrganization({
      subOrganizationName: "Sub",
      rootQuorumThreshold: 2,
      rootUsers: [
        { userName: "Ann", authenticators: [registered(ann)] },
        { userName: "Bob", authenticators: [registered(bob)] },
      ],
    });
    const as = (passkey: Passkey, organizationId = subOrganizationId) =>
      createClient({ baseUrl, organizationId, stamper: stamperOf(passkey) });

    await t.test(
      "a passkey is found by the parent's id, and unknown ones are told apart by what was named",
      async () => {
        assert.equal((await as(ann, parentId).whoami()).organizationId, subOrganizationId);
        assert.equal((await as(bob).whoami()).username, "Bob");
        await assert.rejects(
          as(nobody, parentId).whoami(),
          refusal(401, "credential ID could not be found in organization or its parent organization"),
        );
        const unknown = "webauthn authenticator not found in organization or parent organization";
        await assert.rejects(as(nobody).whoami(), refusal(404, unknown));
        await assert.rejects(as(nobody).createUserTag({ userTagName: "no", userIds: [] }), refusal(404, unknown));
        const { organizationIds } = await parent.listSuborgs({
          filterType: "CREDENTIAL_ID",
          filterValue: ann.credentialId,
        });
        assert.deepEqual(organizationIds, [subOrganizationId]);
      },
    );

    await t.test(
      "one passkey proposes, another approves by its fingerprint, and both votes show their stamps",
      async () => {
        const waiting: KeysteadError = await as(ann)
          .createUserTag({ userTagName: "both", userIds: [] })
          .then(
            () => assert.fail("it did not wait"),
            (error) => error,
          );
        const fingerprint = waiting.activity?.fingerprint ?? "";
        const { activity } = await as(bob).approveActivity({ fingerprint });
        assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
        const votes = activity.votes as { scheme: string; signature: string }[];
        assert.deepEqual(
          votes.map(({ scheme, signature }) => [scheme, JSON.parse(signature).credentialId]),
          [ann, bob].map(({ credentialId }) => ["SIGNATURE_SCHEME_WEBAUTHN", credentialId]),
        );
      },
    );

    await t.test("a stamp for other bytes, a malformed one, and one beside another are refused", async () => {
      const body = JSON.stringify({ organizationId: subOrganizationId });
      const ask = (...headers: [string, string][]) =>
        send(server.url, { path: "/public/v1/query/whoami", headers, body });
      const good = passkeyStamp(ann, body);
      const said = async (...headers: [string, string][]) => {
        const { status, json } = await ask(...headers);
        return [status, json.message];
      };
      assert.equal((await ask(["X-Stamp-WebAuthn", good])).status, 200);
      assert.deepEqual(await said(["X-Stamp-Webauthn", passkeyStamp(ann, `${body} `)]), [
        401,
        "could not verify WebAuthN signature",
      ]);
      assert.deepEqual(await said(["X-Stamp-Webauthn", "{}"]), [401, "could not extract webauthn stamp"]);
      const twice: [string, string] = ["X-Stamp-Webauthn", good];
      assert.deepEqual(await said(twice, twice), [401, "malformed activity stamp"]);
      assert.deepEqual(await said(twice, ["X-Stamp", "e30"]), [401, "malformed activity stamp"]);
    });

    await t.test("a parent's list closes the door to its children, and opens it again", async () => {
      await parent.updateAllowedOrigins({ allowedOrigins: ["https://other.example"] });
      const unverified = refusal(401, "could not verify WebAuthN signature");
      await assert.rejects(as(ann).whoami(), unverified);
      await assert.rejects(as(ann).createUserTag({ userTagName: "closed", userIds: [] }), unverified);
      await parent.updateAllowedOrigins({ allowedOrigins: ["https://app.example.com"] });
      assert.equal((await as(ann).whoami()).username, "Ann");
    });

    await t.test("the operator's checks find nothing wrong with what passkeys have stamped", async () => {
      await server.stop();
      for (const check of ["check-database", "check-log"]) {
        const { code, stdout, stderr } = await runOperator("cli", [check], { dataFolder, databaseUrl });
        assert.equal(code, 0, `${check}: ${stdout}${stderr}`);
      }
    });
  });
}
