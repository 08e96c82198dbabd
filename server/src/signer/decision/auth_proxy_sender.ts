/**
 * Who stands behind a body that nobody stamped: the user of the organization's auth proxy, or of its parent's. The gateway wrote it and
 * names a configuration; whether there is one, whether it is on and what it allows is read from the parent's state. Nothing else of the
 * frame is believed: who sends such bodies gets what anybody on the internet gets.
 */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { organizationMismatch } from "../../endpoints/known_faults.ts";
import { unknownAuthProxy } from "../../evidence/auth_proxy_evidence.ts";
import { parseEvidence } from "../../evidence/evidence.ts";
import { refuseDisabledProxy } from "../../rules/auth_proxy.ts";
import { checkProxyRequest } from "../../rules/auth_proxy_types.ts";
import type { Pages } from "../../state/pages.ts";
import { type ActingParent, readActingParent } from "./acting_parent.ts";
import type { Asked } from "./asked.ts";
import type { AuthenticatedCaller } from "./authenticate.ts";
import { changedRows } from "./line.ts";
import type { OpenState } from "./open_state.ts";
import type { OtherStates } from "./other_states.ts";
import type { Signer } from "./signer.ts";

export type ProxySent = SentEvidence & { kind: "authProxy" };

export function isProxySent(sent: SentEvidence): sent is ProxySent {
  return sent.kind === "authProxy";
}

/** How approvals keep what they were given with: policies see it as the type of the credential. */
const authProxyType = "CREDENTIAL_TYPE_AUTH_PROXY";

/** Throws unless the configuration is this organization's or its parent's, is on, and lets exactly this through. */
export function proxySender(
  { curves, linkingIssuers }: Pick<Signer, "curves" | "linkingIssuers">,
  { form, envelope }: Asked,
  state: OpenState,
  parentId: string | undefined,
  others: OtherStates,
  sent: ProxySent,
): { caller: AuthenticatedCaller; parent: ActingParent | undefined } {
  const evidence = parseEvidence(curves, sent);
  const parent = parentId === undefined ? undefined : readParent(form, state, parentId, others);
  const ownerId = parentId ?? state.organizationId;
  const { authProxies, settings, members } = parentId === undefined ? state.pages : pagesOf(others, parentId);
  const proxy = authProxies.get(evidence.value.configId);
  if (proxy === undefined || parent?.isDeleted === true) throw unknownAuthProxy();
  refuseDisabledProxy(settings);
  const { organizationName } = settings;
  const facts = { settings: proxy.settings, organizationName, linkingIssuers };
  const isInSubOrganization = parentId !== undefined;
  checkProxyRequest(form.type, envelope.parameters as Record<string, unknown>, { ...facts, isInSubOrganization });
  const user = members.users.get(proxy.userId);
  if (user === undefined) throw changedRows(ownerId, "the user of its auth proxy is missing");
  const { configId: credentialId } = proxy;
  const credential = {
    credentialId,
    type: authProxyType,
    publicKey: "",
    passkey: undefined,
    sessionProfileId: undefined,
    expiresAtMs: undefined,
    proven: false,
  };
  const ids = { userId: uuidToBytes(user.userId), credentialId: undefined };
  return { caller: { user, credential, evidence, ids }, parent };
}

/** In a sub-organization the proxy is its parent's, and does what is open to parents. */
function readParent({ activity }: Asked["form"], { organizationId }: OpenState, parentId: string, others: OtherStates) {
  if (activity.openToParent !== true) throw organizationMismatch(organizationId, parentId);
  others.expect(parentId, ["members", "policies", "settings", "authProxies"]);
  return readActingParent(others, parentId);
}

function pagesOf(others: OtherStates, parentId: string): Pick<Pages, "authProxies" | "settings" | "members"> {
  return {
    authProxies: others.page(parentId, "authProxies"),
    settings: others.page(parentId, "settings"),
    members: others.page(parentId, "members"),
  };
}
