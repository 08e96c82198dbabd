/**
 * What the session that stamped a request may do. The session's key has its profile's id in the members page; the profile is the parent's,
 * or the organization's own where it has no parent. It is never changed and never deleted, so one that was read once is kept by its id.
 */
import type { Fault } from "@keystead/core/fault.ts";
import type { Work } from "@keystead/core/work.ts";
import { findingRefusal, widerSession } from "../../rules/session_profiles.ts";
import type { SessionProfile } from "../../state/entities.ts";
import type { Act } from "./act.ts";
import { changedRows } from "./line.ts";
import { questionOf } from "./question.ts";

/** Why the caller's session may not do this, or vote on it; undefined where it may, and for callers without a profile. */
export function* findingScopeRefusal(act: Act): Work<Fault | undefined> {
  const { sessionProfileId } = act.caller.credential;
  if (sessionProfileId === undefined) return undefined;
  return yield* findingRefusal(profileOf(act, sessionProfileId), questionOf(act, []));
}

/** Why the caller's session may not make this one; undefined where it may, and where none is made. */
export function makesWiderSession({ asked, caller }: Act): Fault | undefined {
  const { sessionProfileId } = caller.credential;
  const made = asked.form.activity.makesSession?.(asked.params as never);
  if (sessionProfileId === undefined || made === undefined || made.sessionProfileId === sessionProfileId)
    return undefined;
  return widerSession(sessionProfileId);
}

/**
 * A key without its profile would be a session without bounds. The login that made the key has seen the profile, so a state that lacks it
 * is older than that, or is not what the signer wrote.
 */
function profileOf({ signer, state, sessionProfiles }: Act, sessionProfileId: string): SessionProfile {
  const { organizationId, parentId } = state.known.header;
  const key = `${(parentId ?? organizationId).toHex()} ${sessionProfileId}`;
  const known = signer.sessionProfiles.get(key);
  if (known !== undefined) return known;
  const profile = sessionProfiles().get(sessionProfileId);
  if (profile === undefined) {
    throw changedRows(state.organizationId, `session profile ${sessionProfileId}, which a session has, is missing`);
  }
  signer.sessionProfiles.set(key, profile, 1);
  return profile;
}
