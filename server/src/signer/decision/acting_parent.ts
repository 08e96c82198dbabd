/**
 * A parent that acts in its sub-organization. Both states decide: the stamp is verified with the parent's users and the parent's quorum and
 * policies allow it, then the sub-organization is changed. The leaf names both; the commit requires both to be the newest; the release
 * requires both to be on their lines. See docs/decisions/0053.
 */
import { encodeHeader } from "@keystead/core/log/header.ts";
import type { Prepared } from "../../frames/messages.ts";
import { ownOrigins } from "../../rules/allowed_origins.ts";
import { describeCredential, keptCredentialsOf, withCredentials } from "../../state/credentials.ts";
import type { User } from "../../state/entities.ts";
import { emptyPages, type Pages } from "../../state/pages.ts";
import type { AuthenticatedCaller, CallerPlace } from "./authenticate.ts";
import type { OtherStates } from "./other_states.ts";

export type ActingParent = CallerPlace & {
  organizationId: string;
  isDeleted: boolean;
  /** What policies and quorum are asked on. Nothing that is open to parents is about keys, whose tags and interfaces stay unread. */
  pages: Pick<Pages, "members" | "policies" | "privateKeyTags" | "contractInterfaces">;
  /** The state that must be the parent's newest when the act is committed. */
  standing: Prepared["standing"][number];
  /** What shows a reader of its context that the pages are of that state: the header without its MAC, and the directory. */
  header: Uint8Array;
  directory: Uint8Array;
};

/** Throws `NeedsMore` where the gateway has not brought all of it. */
export function readActingParent(others: OtherStates, parentId: string): ActingParent {
  others.expect(parentId, ["members", "policies", "settings"]);
  const [members, policies, settings] = [
    others.page(parentId, "members"),
    others.page(parentId, "policies"),
    others.page(parentId, "settings"),
  ];
  const { privateKeyTags, contractInterfaces } = emptyPages;
  const { header, marked } = others.stateOf(parentId);
  return {
    organizationId: parentId,
    isDeleted: settings.deleted === true,
    members,
    allowedOrigins: () => ownOrigins(settings),
    pages: { members, policies, privateKeyTags, contractInterfaces },
    standing: { organizationId: parentId, header: marked },
    header: encodeHeader(header),
    directory: others.directoryOf(parentId),
  };
}

/** What the sub-organization's members see of a parent's user: the name and the credential that was used. */
export function shownUser({ user, credential }: AuthenticatedCaller): User {
  const { userId, userName, createdAtMs, updatedAtMs } = user;
  const used = keptCredentialsOf(user).filter(
    (kept) => describeCredential(kept).credentialId === credential.credentialId,
  );
  return withCredentials({ userId, userName, userTags: [], apiKeys: [], createdAtMs, updatedAtMs }, used);
}
