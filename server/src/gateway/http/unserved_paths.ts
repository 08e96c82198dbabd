/** The paths of the published API that no server of this version has, on whichever port. */
import { authProxyEndpoints } from "../../fields/auth_proxy_endpoints.ts";
import { activities } from "../../generated/activities.ts";
import { publishedPaths } from "../../generated/published_paths.ts";
import { queries } from "../../generated/queries.ts";

const served = new Set([
  ...Object.values(activities).map(({ path }) => `/public/v1/submit/${path}`),
  ...Object.values(queries).map(({ path }) => `/public/v1/query/${path}`),
  ...Object.keys(authProxyEndpoints).map((path) => `/v1/${path}`),
]);

export const unservedPaths: ReadonlySet<string> = new Set(publishedPaths.filter((path) => !served.has(path)));
