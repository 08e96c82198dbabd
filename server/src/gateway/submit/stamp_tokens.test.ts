/** Tokens that stamps came with: nobody sees one before it has ended, and whoever checks the log does then. */
import assert from "node:assert/strict";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { pickBodies } from "@keystead/core/log/export/named_bodies.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { checkLeaf } from "@keystead/core/log/verify/check_leaf.ts";
import { attestedLogin, newHome } from "../../../test/code_login_rig.ts";
import { type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { freshKey, linkTo, signerWith } from "../../../test/rotation_rig.ts";
import { heldToken } from "../../../test/verification_tokens.ts";
import { nodeVerifierCurves } from "../../curves/node_verifier_curves.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { openEndedTokens } from "../jobs/open_bodies.ts";
import { rotateKeys } from "../operator/rotate_keys.ts";

const hourMs = 3_600_000;

async function signIn(rig: GatewayRig) {
  const { organizationId } = await newHome(rig, { userEmail: "ann@example.com" });
  const held = heldToken(rig.signer);
  const { activity, body } = await attestedLogin(rig, organizationId, held);
  await attestedLogin(rig, organizationId, held);
  await rig.dependencies.committer.settle();
  return { organizationId, held, activity, body };
}

const rowsIn = ({ store }: GatewayRig, table: "disclosures" | "sealed_disclosures", organizationId: string) =>
  store.db.selectFrom(table).selectAll().where("organization_id", "=", organizationId).execute();

onBothDatabases("a token is sealed until it has ended; then it is disclosed, and its stamp is checked", async (rig) => {
  const { organizationId, held, activity, body } = await signIn(rig);
  const digest = toHex(sha256(held.token));
  const [box, ...others] = await rowsIn(rig, "sealed_disclosures", organizationId);
  assert.deepEqual([box?.digest, others], [digest, []], "once, however many stamps it came with");
  assert.ok(box && !Buffer.from(box.sealed).includes(held.token));
  // The signer's clock decides, whatever the gateway's says.
  await openEndedTokens(rig.store, rig.link, Number.MAX_SAFE_INTEGER);
  assert.equal((await rowsIn(rig, "sealed_disclosures", organizationId)).length, 1);
  rig.signer.clock.nowMs += 24 * hourMs;
  await openEndedTokens(rig.store, rig.link, rig.signer.clock.nowMs);
  assert.deepEqual(await rowsIn(rig, "sealed_disclosures", organizationId), []);
  const disclosed = (await rowsIn(rig, "disclosures", organizationId)).find((row) => row.digest === digest);
  assert.equal(Buffer.from(disclosed?.content ?? []).toString(), held.token);

  const { leaf: marked } = await rig.store.db
    .selectFrom("leaves")
    .select("leaf")
    .where("activity_id", "=", activity.id)
    .executeTakeFirstOrThrow();
  const { result } = await rig.store.db
    .selectFrom("activities")
    .select("result")
    .where("activity_id", "=", activity.id)
    .executeTakeFirstOrThrow();
  const leaf = Uint8Array.from(withoutMac(marked));
  const shown = [body, Buffer.from(result ?? "")];
  const check = (bytes: readonly Uint8Array[]) =>
    checkLeaf(nodeVerifierCurves, leaf, pickBodies(decodeLeaf(leaf), bytes));
  const whole = check([...shown, Buffer.from(held.token)]);
  assert.deepEqual([whole.bad, whole.unchecked.includes("undisclosed: token"), whole.stamps], [undefined, false, 1]);
  assert.ok(check(shown).unchecked.includes("undisclosed: token"));
});

onBothDatabases("a sealed token opens under the next root key, and a bent box is named", async (rig) => {
  const { organizationId, held } = await signIn(rig);
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  const link = inProcess({ operations: await signerWith(rig, { current: keys.current }, false) });
  const [box] = await rowsIn(rig, "sealed_disclosures", organizationId);
  const bent = Uint8Array.from(box?.sealed ?? []);
  bent[bent.length - 1] = (bent.at(-1) ?? 0) ^ 1;
  const set = (sealed: Uint8Array) => rig.store.db.updateTable("sealed_disclosures").set({ sealed }).execute();
  await set(bent);
  rig.signer.clock.nowMs += 24 * hourMs;
  await assert.rejects(openEndedTokens(rig.store, link, rig.signer.clock.nowMs), {
    message: "1 sealed tokens do not open; `npx keystead check-database` names them",
  });
  await set(box?.sealed ?? bent);
  await openEndedTokens(rig.store, link, rig.signer.clock.nowMs);
  const opened = (await rowsIn(rig, "disclosures", organizationId)).map(({ content }) =>
    Buffer.from(content).toString(),
  );
  assert.ok(opened.includes(held.token));
});
