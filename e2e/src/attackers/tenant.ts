/** The organization that floods: its users, and what it needs before it begins. */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { activities, type queries } from "../generated/endpoints.ts";
import { createKey, keyFrom } from "../key_pairs.ts";
import { assertAccepted, bytesOf, call } from "../wire.ts";
import type { Target } from "./attack.ts";
import type { Answer, Json, Request } from "./lanes.ts";

export type ActivityPath = keyof typeof activities;
export type QueryPath = keyof typeof queries;

/** A user, by the id and the key. */
export type TenantUser = { userId: string; by: Target };

export type Tenant = {
  url: string;
  organizationId: string;
  /** The root quorum, of which one is enough: as many as there are connections, because some limits are each user's own. */
  roots: readonly TenantUser[];
  /** The organization above it, or itself. */
  parent: Tenant;
  /** Does it, and says the activity's id and result. */
  act(path: ActivityPath, parameters: object, more?: ActOptions): Promise<{ id: string; result: Json }>;
  ask(path: QueryPath, more?: object): Promise<Json>;
};

type ActOptions = { by?: TenantUser; appProofs?: boolean };

/** One connection of the flood, as one root user. */
export type Lane = {
  index: number;
  user: TenantUser;
  /** Everything is proven, which costs a signature at least. */
  submit(path: ActivityPath, parameters: object, by?: TenantUser): Request;
  ask(path: QueryPath, more?: object): Request;
};

export const tenantLanes = 32;

/** A sub-organization of the target. */
export async function newTenant(target: Target): Promise<Tenant> {
  const parent = await parentTenant(target);
  const keys = Array.from({ length: tenantLanes }, () => createKey());
  const rootUsers = keys.map(({ publicKey }, index) => ({
    userName: `Root ${index}`,
    apiKeys: [{ apiKeyName: "Own", publicKey, curveType: "API_KEY_CURVE_P256" }],
    authenticators: [],
    oauthProviders: [],
  }));
  // Floods of codes are the sub-organization's own.
  await parent.act("set_organization_feature", { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" });
  const asked = { subOrganizationName: "Flood", rootUsers, rootQuorumThreshold: 1 };
  const { subOrganizationId, rootUserIds } = (await parent.act("create_sub_organization", asked)).result;
  const { url } = target;
  const roots = keys.map(({ publicKey, privateKey }, index) => ({
    userId: rootUserIds[index],
    by: { url, organizationId: subOrganizationId, apiPublicKey: publicKey, apiPrivateKey: toHex(privateKey) },
  }));
  return tenantOf(url, subOrganizationId, roots, parent);
}

/** The target's own organization: the only one that has what a sub-organization cannot have. */
export async function parentTenant(target: Target): Promise<Tenant> {
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(target.apiPrivateKey));
  const { organizationId, url } = target;
  const { json } = await call(url, "/public/v1/query/whoami", key, { organizationId });
  return tenantOf(url, organizationId, [{ userId: json.userId, by: target }]);
}

function tenantOf(url: string, organizationId: string, roots: readonly TenantUser[], above?: Tenant): Tenant {
  const [first] = roots as [TenantUser];
  const send = async (path: string, { by }: TenantUser, body: object) => {
    const answer = await call(url, path, keyFrom("API_KEY_CURVE_P256", fromHex(by.apiPrivateKey)), body);
    assertAccepted(answer);
    return answer.json;
  };
  const tenant: Tenant = {
    ...{ url, organizationId, roots },
    get parent() {
      return above ?? tenant;
    },
    async act(path, parameters, { by = first, appProofs = false } = {}) {
      const body = envelope(organizationId, path, parameters, appProofs);
      const { activity } = await send(`/public/v1/submit/${path}`, by, body);
      return { id: activity.id, result: Object.values(activity.result ?? {})[0] };
    },
    ask: (path, more = {}) => send(`/public/v1/query/${path}`, first, { organizationId, ...more }),
  };
  return tenant;
}

export function laneOf({ organizationId, roots }: Tenant, index: number): Lane {
  const user = roots[index % roots.length] as TenantUser;
  return {
    index,
    user,
    submit: (path, parameters, { by } = user) => ({
      path: `/public/v1/submit/${path}`,
      // A user of another organization asks in that one.
      body: bytesOf(envelope(by.organizationId, path, parameters, true)),
      by,
    }),
    ask: (path, more = {}) => ({
      path: `/public/v1/query/${path}`,
      body: bytesOf({ organizationId, ...more }),
      by: user.by,
    }),
  };
}

/** What an activity came to. */
export function resultOf(answer: Answer): Json {
  return Object.values(answer.json().activity.result)[0];
}

let lastMs = 0;

/** Bodies that differ in nothing else differ in their time. */
function envelope(organizationId: string, path: ActivityPath, parameters: object, generateAppProofs: boolean): object {
  lastMs = Math.max(lastMs + 1, Date.now());
  const { type } = activities[path];
  return { type, timestampMs: String(lastMs), organizationId, parameters, generateAppProofs };
}
