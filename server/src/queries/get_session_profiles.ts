import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { sessionProfile } from "../fields/session_profiles.ts";
import { listSessionProfiles, profileOwnerOf } from "../store/session_profiles.ts";
import { sessionProfileView } from "../views/session_profile_view.ts";

/** Lists all profiles, the oldest first. A sub-organization sees its parent's, which its sessions name. */
export const getSessionProfiles = defineQuery({
  path: "get_session_profiles",
  summary: "List all session profiles",
  request: Type.Object({ organizationId }),
  response: Type.Object({ sessionProfiles: Type.Array(sessionProfile) }),
  async run(store, _caller, { organizationId }) {
    const owner = await profileOwnerOf(store, organizationId);
    return { sessionProfiles: (await listSessionProfiles(store, owner)).map(sessionProfileView) };
  },
});
