/** How a server finds whose contact it is, on both databases. */
import assert from "node:assert/strict";
import { newHome } from "../../test/code_login_rig.ts";
import { newUser } from "../../test/gateway_rig.ts";
import { done, onBothDatabases } from "../../test/policy_rig.ts";
import { query } from "../../test/session_rig.ts";
import { heldToken, signUpSignature } from "../../test/verification_tokens.ts";

onBothDatabases(
  "a stranger who writes down somebody's address is found by list_suborgs, and not as its owner",
  async (rig) => {
    const { organizationId, root } = rig;
    const find = async (path: "list_suborgs" | "list_verified_suborgs", filterValue: string, filterType = "EMAIL") => {
      const asked = { organizationId, filterType, filterValue };
      return (await query<{ organizationIds: string[] }>(rig, path, asked, root)).organizationIds;
    };
    const contacts = { userEmail: "ann@example.com", userPhoneNumber: "+15551234567" };
    const eve = await newHome(rig, contacts);
    assert.deepEqual(await find("list_suborgs", contacts.userEmail), [eve.organizationId], "before Ann has signed up");
    assert.deepEqual(await find("list_verified_suborgs", contacts.userEmail), []);
    // Ann's sub-organization is made with the token for the code that she has answered.
    const held = heldToken(rig.signer, { contact: contacts.userEmail });
    const { userEmail } = contacts;
    const user = { ...newUser("ann").user, userEmail };
    const { apiKeys, authenticators, oauthProviders } = user;
    const ann = await done<{ subOrganizationId: string }>(rig, root, "create_sub_organization", {
      ...{ subOrganizationName: "Ann", rootUsers: [user], rootQuorumThreshold: 1 },
      verificationToken: held.token,
      clientSignature: signUpSignature(held, "signupV2", { apiKeys, authenticators, oauthProviders, email: userEmail }),
    });
    const both = [ann.subOrganizationId, eve.organizationId].sort();
    assert.deepEqual(await find("list_suborgs", contacts.userEmail), both);
    assert.deepEqual(await find("list_verified_suborgs", "ANN@example.com"), [ann.subOrganizationId]);
    assert.deepEqual(await find("list_suborgs", contacts.userPhoneNumber, "PHONE_NUMBER"), [eve.organizationId]);
    assert.deepEqual(await find("list_verified_suborgs", contacts.userPhoneNumber, "PHONE_NUMBER"), []);
  },
);
