/**
 * IP allowlists: from which addresses the users of an organization without a parent may send requests. The organization has one list, and
 * each API key may have one, which counts in its place. The address is the gateway's word: see docs/threat-model.md.
 */
import { type Cidr, cidrContains, formatCidr, parseCidr, parseIpAddress } from "@keystead/core/encoding/ip_address.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import type { IpAllowlistParams } from "../fields/ip_allowlists.ts";
import { parseSearchedKey } from "../fields/public_key.ts";
import { type Change, type IpAllowlist, type IpAllowlistRule, put, remove } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import type { IpAllowlistsPage } from "../state/pages.ts";

/** What the organization's own list is kept by. */
const ownList = "";

/** Where a request came from, as the gateway knows it. */
export type RequestSource = { address: string | undefined };

/** The least number of bits that a rule fixes, and how many rules a list may have, by the length of an address. */
const families = {
  4: { name: "IPv4", minPrefix: 20, maxRules: 10 },
  16: { name: "IPv6", minPrefix: 48, maxRules: 10 },
} as const;

function familyOf({ bytes }: Cidr) {
  return families[bytes.length === 4 ? 4 : 16];
}

/** Sub-organizations have none: their users' devices come from anywhere. */
export function refuseInSubOrganization({ parentId }: Pick<ActivityContext, "parentId">): void {
  if (parentId === undefined) return;
  throw new Fault(
    "permission_denied",
    `IP allowlists cannot be set by sub-organizations: set one in organization ${parentId}`,
    { errorCode: "INVALID_ACTIVITY_CALLER" },
  );
}

/** What a list is kept by: the stored spelling of its key. */
export function listIdOf(publicKey: string | null | undefined): string {
  return publicKey === undefined || publicKey === null ? ownList : parseSearchedKey(publicKey);
}

/** The new list in the place of the one before, without the lists of keys that are gone: nobody would miss a place for them. */
export function setList(
  page: IpAllowlistsPage,
  members: Pick<MembersPage, "users">,
  params: IpAllowlistParams,
  context: ActivityContext,
): Change[] {
  refuseInSubOrganization(context);
  const publicKey = listIdOf(params.publicKey);
  const keys = keysOf(members);
  if (publicKey !== ownList && !keys.has(publicKey)) throw noSuchKey(publicKey, context.organizationId);
  const rules = rulesOf(params.rules ?? [], context.nowMs);
  const isEnabled = checkEnabled(publicKey, params.enabled, rules.length);
  const gone = [...page.keys()].filter((each) => each !== ownList && !keys.has(each));
  const isNew = page.has(publicKey) ? 0 : 1;
  checkLimit("ipAllowlists", page.size - gone.length + isNew, context);
  const list: IpAllowlist = {
    publicKey,
    ...(isEnabled && { enabled: true }),
    rules,
    onEvaluationError: params.onEvaluationError ?? "DENY",
    createdAtMs: page.get(publicKey)?.createdAtMs ?? context.nowMs,
    updatedAtMs: context.nowMs,
  };
  return [...gone.map((each) => remove("ipAllowlist", each)), put("ipAllowlist", list)];
}

function keysOf({ users }: Pick<MembersPage, "users">): Set<string> {
  return new Set([...users.values()].flatMap(({ apiKeys }) => apiKeys.map(({ publicKey }) => publicKey)));
}

function noSuchKey(publicKey: string, organizationId: string): Fault {
  return new Fault("not_found", `unable to find API key ${publicKey} in organization ${organizationId}`);
}

/** Whether the organization's list counts. One that nobody can pass must be meant. */
function checkEnabled(publicKey: string, enabled: boolean | null | undefined, rules: number): boolean {
  if (publicKey !== ownList) {
    if (enabled !== false) return false;
    throw new Fault("invalid_argument", "the list of an API key cannot be disabled: remove it, or leave out its rules");
  }
  if ((enabled === undefined || enabled === null) && rules === 0) {
    throw new Fault(
      "invalid_argument",
      "a list without rules blocks every request: set enabled to true if you mean it",
    );
  }
  return enabled !== false;
}

/** Normalised; of the same block the first label is kept. */
function rulesOf(asked: NonNullable<IpAllowlistParams["rules"]>, nowMs: number): IpAllowlistRule[] {
  const rules = new Map<string, IpAllowlistRule>();
  const counts = new Map<string, number>();
  for (const { cidr: text, label } of asked) {
    const cidr = readCidr(text);
    const normal = formatCidr(cidr);
    if (rules.has(normal)) continue;
    const { name, maxRules } = familyOf(cidr);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > maxRules)
      throw new Fault("invalid_argument", `an IP allowlist has at most ${maxRules} blocks of ${name}`);
    const hasLabel = label !== undefined && label !== null;
    rules.set(normal, { cidr: normal, ...(hasLabel && { label }), createdAtMs: nowMs });
  }
  return [...rules.values()];
}

function readCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    const single = parseIpAddress(text);
    const instead = single === undefined ? "`192.0.2.0/24` or `2001:db8::/48`" : `\`${text}/${single.length * 8}\``;
    throw new Fault("invalid_argument", `\`${text}\` is not a CIDR block: write it as ${instead}`);
  }
  const { name, minPrefix } = familyOf(cidr);
  if (cidr.prefix >= minPrefix) return cidr;
  throw new Fault("invalid_argument", `\`${text}\` is too wide: a block of ${name} has at least /${minPrefix}`);
}

/** The removal of one list. */
export function removeList(
  page: IpAllowlistsPage,
  publicKey: string | null | undefined,
  context: Pick<ActivityContext, "organizationId" | "parentId">,
): Change[] {
  refuseInSubOrganization(context);
  const listId = listIdOf(publicKey);
  if (page.has(listId)) return [remove("ipAllowlist", listId)];
  const whose = listId === ownList ? `organization ${context.organizationId}` : `API key ${listId}`;
  throw new Fault("not_found", `unable to find an IP allowlist of ${whose}`);
}

/**
 * Refuses a request with a credential of this organization from an address that its lists do not name. `publicKey` is that of the API key
 * which was used; other credentials have none. Key lists count only while the organization's list is enabled.
 */
export function refuseOtherAddresses(
  page: IpAllowlistsPage,
  publicKey: string | undefined,
  { address }: RequestSource,
): void {
  const own = page.get(ownList);
  if (own?.enabled !== true) return;
  const ofKey = publicKey === undefined ? undefined : page.get(publicKey);
  const { rules, onEvaluationError } = ofKey !== undefined && ofKey.rules.length > 0 ? ofKey : own;
  const bytes = address === undefined ? undefined : parseIpAddress(address);
  if (bytes === undefined ? onEvaluationError === "ALLOW" : rules.some((rule) => holds(rule, bytes))) return;
  throw new Fault("permission_denied", otherAddress, { errorCode: "REQUEST_NOT_AUTHORIZED" });
}

const otherAddress = "request not authorized: source IP not allowed";

export function isOtherAddress(error: unknown): boolean {
  return error instanceof Fault && error.code === "permission_denied" && error.message === otherAddress;
}

function holds({ cidr: text }: IpAllowlistRule, address: Uint8Array): boolean {
  const cidr = parseCidr(text);
  return cidr !== undefined && cidrContains(cidr, address);
}
