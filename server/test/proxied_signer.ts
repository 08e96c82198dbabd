/** A signer whose first organization has its auth proxy on, and a gateway's part that sends bodies without a stamp. */
import assert from "node:assert/strict";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import type { OfferedState, Prepared, Reply } from "../src/frames/messages.ts";
import { findAuthProxy } from "../src/rules/auth_proxy.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import type { AuthProxy } from "../src/state/entities.ts";
import { decodePage } from "../src/state/pages.ts";
import {
  activityBody,
  createSignerRig,
  offer,
  releaseRows,
  type SignerRig,
  type StoredState,
  stateAfter,
} from "./signer_rig.ts";

export type ProxiedSigner = { rig: SignerRig; state: StoredState; proxy: AuthProxy; journals: Map<number, Uint8Array> };

export function createProxiedSigner(): ProxiedSigner {
  const rig = createSignerRig();
  const journals = new Map<number, Uint8Array>();
  const { state } = change({ rig, state: rig.born, journals }, "ACTIVITY_TYPE_ENABLE_AUTH_PROXY", {});
  return { rig, state, proxy: proxyOf(state), journals };
}

export function proxyOf(state: StoredState): AuthProxy {
  const page = state.pages.find(({ name }) => name === "authProxies");
  const proxy = page && findAuthProxy({ authProxies: decodePage("authProxies", page.content) });
  return proxy ?? assert.fail("no proxy");
}

/** Completes and releases an activity of the root user. */
export function change(
  before: Pick<ProxiedSigner, "rig" | "state" | "journals">,
  type: string,
  parameters: object,
  options: Parameters<typeof offer>[3] = {},
): { state: StoredState; result: Record<string, never> } {
  const { rig, state, journals } = before;
  const said = askStamped(before, activityBody(rig, type, parameters), options);
  if (said instanceof Fault) throw said;
  if (said.kind !== "prepared") return assert.fail(JSON.stringify(said.value));
  const [prepared = assert.fail()] = said.value;
  assert.equal(prepared.activity?.status, "ACTIVITY_STATUS_COMPLETED", prepared.activity?.failure ?? "");
  releaseRows(rig, said.value);
  const next = stateAfter(state, prepared);
  journals.set(next.version, Buffer.concat([journalOf(before), prepared.activity.fingerprint ?? new Uint8Array()]));
  return { state: next, result: JSON.parse(prepared.activity.result || "{}") };
}

/** All were executed within one minute. */
function journalOf({ state, journals }: Pick<ProxiedSigner, "state" | "journals">): Uint8Array {
  return journals.get(state.version) ?? new Uint8Array();
}

type Said = Reply<"prepare"> | Fault;

function attempt(ask: () => Reply<"prepare">): Said {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** What the signer says to a body; the journal of this minute is brought where it asks for it. */
export function askStamped(
  before: Pick<ProxiedSigner, "rig" | "state" | "journals">,
  body: Uint8Array,
  options: Parameters<typeof offer>[3] = {},
): Said {
  return attempt(() => {
    const first = offer(before.rig, before.state, body, options);
    const isJournal = first.kind === "again" && first.value.some(({ kind }) => kind === "journal");
    return isJournal ? offer(before.rig, before.state, body, { ...options, journal: journalOf(before) }) : first;
  });
}

/** What the signer says to an unstamped body: the refusal, or what it prepared. */
export function askUnstamped(
  proxied: ProxiedSigner,
  body: Uint8Array,
  { configId = proxied.proxy.configId, ...brought }: { configId?: string } & Parameters<typeof offer>[3] = {},
): Said {
  return askStamped(proxied, body, { ...brought, evidence: { kind: "authProxy", value: configId } });
}

/** The refusal of what was not decided; undefined where it was. A failed or rejected activity has changed nothing. */
export function refusalIn(said: Said): string | undefined {
  if (said instanceof Fault) return said.message;
  if (said.kind === "again") return `asked for ${said.value.map(({ kind }) => kind).join()}`;
  const [prepared] = said.value;
  if (prepared?.activity?.status === "ACTIVITY_STATUS_COMPLETED") return undefined;
  return `${prepared?.activity?.status}: ${prepared?.activity?.failure}`;
}

/** The rows of what was decided. */
export function preparedIn(said: Said): readonly Prepared[] {
  const refusal = refusalIn(said);
  if (refusal !== undefined) assert.fail(refusal);
  assert.ok(!(said instanceof Fault) && said.kind === "prepared");
  return said.value;
}

/** The organization whose state it is. */
export function organizationOf({ header }: StoredState): string {
  return uuidFromBytes(decodeHeader(Uint8Array.from(withoutMac(header))).organizationId);
}

/** The sub-organization that an unstamped sign-up makes, in its first state. */
export function signUp(
  proxied: ProxiedSigner,
  user: object,
  options: { statements?: readonly Uint8Array[] } = {},
): StoredState {
  const rootUsers = [{ userName: "ann", apiKeys: [], authenticators: [], oauthProviders: [], ...user }];
  const parameters = { subOrganizationName: "Home", rootUsers, rootQuorumThreshold: 1 };
  const body = activityBody(proxied.rig, "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", parameters);
  const rows = preparedIn(askUnstamped(proxied, body, options));
  releaseRows(proxied.rig, rows);
  return stateAfter(undefined, rows[1] ?? assert.fail("no sub-organization"));
}

/** A state as it is brought beside another. */
export function beside({ header, directory, pages }: StoredState): OfferedState {
  return { header, directory, pages, links: [] };
}
