/** The auth proxy through gateway and signer: requests as its routes get them, and answers as they send them. */

import { Fault } from "@keystead/core/fault.ts";
import type { Answer, Route } from "../src/gateway/http/route.ts";
import { defaultBudgets } from "../src/gateway/proxy/address_budgets.ts";
import { createProxyTurns } from "../src/gateway/proxy/proxy_turns.ts";
import { authProxyRoutes, type ProxyDependencies } from "../src/gateway/routes/auth_proxy.ts";
import { errorBody, statusOf, toFailure } from "../src/views/error_body.ts";
import type { GatewayRig } from "./gateway_rig.ts";
import { newKey } from "./session_rig.ts";

export type ProxyAnswer = { status: number; body: Record<string, unknown>; headers: Record<string, string> };

export type ProxyCall = {
  headers?: Record<string, string>;
  address?: string;
};

export type ProxyRig = {
  configId: string;
  userId: string;
  /** Every path that is served, without `/v1/`. */
  paths: readonly string[];
  call(path: string, body: object | string, options?: ProxyCall): Promise<ProxyAnswer>;
  /** The body of a 200. */
  ok<T = Record<string, string>>(path: string, body: object | string, options?: ProxyCall): Promise<T>;
};

/** Turns the proxy of the rig's organization on. */
export async function enableProxy(rig: GatewayRig, changes: Partial<ProxyDependencies> = {}): Promise<ProxyRig> {
  const enabled = await rig.submit(rig.root, "enable_auth_proxy", {});
  const { userId } = enabled.result.enableAuthProxyResult as { userId: string };
  const updated = await rig.submit(rig.root, "update_auth_proxy_config", {});
  const { configId } = updated.result.updateAuthProxyConfigResult as { configId: string };
  return openProxy(rig, configId, userId, changes);
}

/** Another gateway of the same proxy. */
export function openProxy(
  rig: GatewayRig,
  configId: string,
  userId: string,
  changes: Partial<ProxyDependencies> = {},
): ProxyRig {
  const linkingIssuers = new Set(["https://accounts.google.com"]);
  const fixed = { budgets: defaultBudgets, channels: ["email", "sms"], captcha: undefined, linkingIssuers };
  const routes = authProxyRoutes({ ...rig.dependencies, turns: createProxyTurns(), ...fixed, ...changes });
  const call: ProxyRig["call"] = async (path, body, options = {}) => {
    const route = routes.find((each) => each.path === `/v1/${path}`);
    if (route === undefined) throw new Error(`there is no route ${path}`);
    const { headers = { "x-auth-proxy-config-id": configId }, address = "203.0.113.7" } = options;
    return callRoute(route, Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), headers, address);
  };
  return {
    configId,
    userId,
    paths: routes.flatMap(({ path }) => (path === "/v1/:path" ? [] : path.replace("/v1/", ""))),
    call,
    async ok(path, body, options) {
      const answer = await call(path, body, options);
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body as never;
    },
  };
}

async function callRoute(
  route: Route,
  body: Uint8Array,
  headers: Record<string, string>,
  callerAddress: string,
): Promise<ProxyAnswer> {
  const answered: Record<string, string> = { "access-control-allow-origin": "*" };
  let sent: Answer | undefined;
  const request = {
    method: "POST",
    url: route.path,
    params: {},
    headers,
    rawHeaders: [],
    clientVersion: undefined,
    callerAddress,
    body,
    setHeaders(given: Record<string, string | undefined>) {
      for (const [name, value] of Object.entries(given)) {
        if (value === undefined) delete answered[name];
        else answered[name] = value;
      }
    },
  };
  try {
    await route.handle(request as never, (answer) => {
      sent = answer;
    });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    sent = { kind: "failure", failure: toFailure(error) };
  }
  if (sent?.kind === "content") {
    return { status: sent.status, body: JSON.parse(Buffer.from(sent.content).toString("utf8")), headers: answered };
  }
  if (sent?.kind !== "failure") throw new Error("the route sent no answer");
  return { status: statusOf(sent.failure), body: errorBody(sent.failure), headers: answered };
}

/** A key as sign-ups bring it. */
export function signUpKey(key = newKey(), more: object = {}) {
  return { apiKeyName: "key", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256", ...more };
}

export const noCredentials = { apiKeys: [], authenticators: [], oauthProviders: [] };
