/** The configuration that a request of the auth proxy names, and whether the page that sent it may. */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { unknownAuthProxy } from "../../evidence/auth_proxy_evidence.ts";
import { refuseDisabledProxy } from "../../rules/auth_proxy.ts";
import { type AuthProxyRow, findAuthProxyByConfig } from "../../store/across.ts";
import type { Store } from "../../store/store.ts";
import { readOrganizationPage } from "../../views/organization_page.ts";
import type { RouteRequest } from "../http/route.ts";

export type ProxyConfig = AuthProxyRow & { configId: string };

const configHeader = "x-auth-proxy-config-id";

/** Answers a page only if its origin is allowed. Throws with the reason otherwise, and then no page can read the answer. */
export async function readProxyConfig(store: Store, request: RouteRequest): Promise<ProxyConfig> {
  const configId = readConfigId(request.headers[configHeader]);
  const row = await findAuthProxyByConfig(store, configId);
  if (row === undefined) throw unknownAuthProxy();
  checkOrigin(row.settings.allowedOrigins, request);
  refuseDisabledProxy(await readOrganizationPage(store, row.organizationId, "settings"));
  return { ...row, configId };
}

function readConfigId(header: string | string[] | undefined): string {
  if (typeof header !== "string" || header.trim() === "") {
    throw new Fault("invalid_argument", "missing header: X-Auth-Proxy-Config-ID");
  }
  try {
    return uuidFromBytes(uuidToBytes(header.trim().toLowerCase()));
  } catch {
    throw unknownAuthProxy();
  }
}

/** What is no page, as a native application, sends no origin and asks for no permission to read the answer. */
function checkOrigin(allowed: readonly string[], { headers, setHeaders }: RouteRequest): void {
  const { origin } = headers;
  if (origin === undefined || allowed.includes("*")) return;
  setHeaders({ vary: "Origin" });
  if (allowed.includes(origin)) {
    setHeaders({ "access-control-allow-origin": origin });
    return;
  }
  setHeaders({ "access-control-allow-origin": undefined, "access-control-expose-headers": undefined });
  throw new Fault("permission_denied", "origin not allowed: add it to allowedOrigins with update_auth_proxy_config", {
    errorCode: "FORBIDDEN",
  });
}
