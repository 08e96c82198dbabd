import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { sessionProfile } from "../fields/session_profiles.ts";
import { noSuchSessionProfile } from "../rules/session_profiles.ts";
import { findSessionProfile, profileOwnerOf } from "../store/session_profiles.ts";
import { sessionProfileView } from "../views/session_profile_view.ts";

/** Gets one profile. A sub-organization sees its parent's, which its sessions name. */
export const getSessionProfile = defineQuery({
  path: "get_session_profile",
  summary: "Get one session profile",
  request: Type.Object({ organizationId, sessionProfileId: id }),
  response: Type.Object({ sessionProfile }),
  async run(store, _caller, { organizationId, sessionProfileId }) {
    const owner = await profileOwnerOf(store, organizationId);
    const found = await findSessionProfile(store, owner, sessionProfileId);
    if (found === undefined) throw noSuchSessionProfile(sessionProfileId, organizationId);
    return { sessionProfile: sessionProfileView(found) };
  },
});
