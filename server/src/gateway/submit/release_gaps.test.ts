/** Results that are opened again long after, when every organization that their leaf names has gone on. */
import assert from "node:assert/strict";
import { loginParams, newHome } from "../../../test/code_login_rig.ts";
import { inProcess } from "../../../test/gateway_rig.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { heldToken } from "../../../test/verification_tokens.ts";
import { createRepeats } from "../bounds/repeats.ts";

onBothDatabases("a login is answered again when child and parent have both gone on", async (rig) => {
  const { organizationId, people } = await newHome(rig, { userEmail: "ann@example.com" });
  const body = rig.body("otp_login", loginParams(heldToken(rig.signer)), { organizationId });
  const first = await rig.send(rig.root, "otp_login", body);
  for (const userTagName of ["one", "two", "three"]) {
    await rig.submit(people[0], "create_user_tag", { userTagName, userIds: [] }, { organizationId });
    await rig.submit(rig.root, "create_user_tag", { userTagName, userIds: [] });
  }
  // A signer that was started anew has no header at hand, and its gateway no answer.
  for (const _ of ["once", "and once more"]) {
    rig.link.request = inProcess(rig.signer.restart()).request;
    rig.dependencies.repeats = createRepeats();
    assert.deepEqual((await rig.send(rig.root, "otp_login", body)).result, first.result);
  }
});
