/** The API: one POST route for each activity and each query, and 405 for other methods on their paths. */
import { readFileSync } from "node:fs";
import { Fault } from "@keystead/core/fault.ts";
import type { HTTPMethods } from "fastify";
import type { AnyActivity } from "../../endpoints/define_activity.ts";
import type { AnyQuery } from "../../endpoints/define_query.ts";
import { activities } from "../../generated/activities.ts";
import { queries } from "../../generated/queries.ts";
import { toFailure } from "../../views/error_body.ts";
import type { RequestKind } from "../evidence/evidence_header.ts";
import { createRefusedCredentials } from "../evidence/refused_credentials.ts";
import { maxBodyBytes } from "../http/http_limits.ts";
import type { MetricKind } from "../http/metrics.ts";
import { nothingAt } from "../http/request_check.ts";
import type { Route } from "../http/route.ts";
import { answerQuery } from "./answer_query.ts";
import { answerSubmit } from "./answer_submit.ts";
import type { ApiDependencies } from "./api_dependencies.ts";
import { findLargeBodyOwner } from "./large_body_owner.ts";

/** Of stamps under keys whose last stamp was refused. */
const refusedCredentialLimits = { places: 2, waiting: 1_000, keys: 1_000, keptMs: 60_000 };

export function apiRoutes(given: ApiDependencies): Route[] {
  const dependencies = { ...given, refusedCredentials: createRefusedCredentials(refusedCredentialLimits) };
  const openapi = readFileSync(new URL("../../generated/openapi.json", import.meta.url));
  return [
    ...(Object.values(activities) as AnyActivity[]).map((activity) =>
      endpoint(dependencies, "submit", activity.path, (request, send) =>
        answerSubmit(dependencies, activity, request, send),
      ),
    ),
    ...(Object.values(queries) as AnyQuery[]).map((query) =>
      endpoint(dependencies, "query", query.path, (request, send) => answerQuery(dependencies, query, request, send)),
    ),
    otherMethods("submit", activities),
    otherMethods("query", queries),
    {
      method: "GET",
      path: "/openapi.json",
      limits: { bodyBytes: 0 },
      handle: (_request, send) =>
        send({ kind: "content", status: 200, contentType: "application/json", content: openapi }),
    },
  ];
}

function endpoint(dependencies: ApiDependencies, kind: RequestKind, path: string, handle: Route["handle"]): Route {
  return {
    method: "POST",
    path: `/public/v1/${kind}/${path}`,
    limits: { bodyBytes: maxBodyBytes },
    metric: { kind, path },
    findOwner: (request) => findLargeBodyOwner(dependencies, kind, request),
    handle,
  };
}

/** Those an API path answers only to refuse them. */
const refusedMethods: HTTPMethods[] = ["GET", "PUT", "PATCH", "DELETE"];

/** One route for all endpoints: the router takes its time with each, at every start. */
function otherMethods(kind: MetricKind, endpoints: Record<string, { path: string }>): Route {
  const paths = new Set(Object.values(endpoints).map(({ path }) => path));
  const failure = toFailure(new Fault("unimplemented", "only POST is accepted here"));
  return {
    method: refusedMethods,
    path: `/public/v1/${kind}/:path`,
    limits: { bodyBytes: 0 },
    handle(request, send) {
      if (!paths.has(request.params.path ?? "")) throw nothingAt(request);
      send({ kind: "failure", failure, status: 405, headers: { allow: "POST, OPTIONS" } });
    },
  };
}
