import assert from "node:assert/strict";
import { test } from "node:test";
import { costliestProxyBodies } from "@keystead/e2e/attackers/auth_proxy.ts";
import {
  type ActivityPath,
  costliestParameters,
  costliestQuestions,
  type QueryPath,
} from "@keystead/e2e/attackers/costliest.ts";
import { costOf, maxRequestCost } from "@keystead/server/endpoints/cost.ts";
import type { AnyActivity } from "@keystead/server/endpoints/define_activity.ts";
import { authProxyRoutes, type ProxyDependencies } from "@keystead/server/gateway/routes/auth_proxy.ts";
import { activities } from "@keystead/server/generated/activities.ts";
import { activityValidators } from "@keystead/server/generated/activity_validators.ts";
import { queries } from "@keystead/server/generated/queries.ts";
import { queryValidators } from "@keystead/server/generated/query_validators.ts";

const id = "11111111-1111-4111-8111-111111111111";
const publicKey = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const ground = {
  ...{ organizationId: id, userId: id, walletId: id, address: "0x0", publicKey, p256KeyId: id, privateKeyId: id },
  ...{ policyId: id, tagId: id, keyTagId: id, interfaceId: id, activityId: id },
};

test("every endpoint has a costliest body that it takes, beneath the lane of large bodies", () => {
  assert.deepEqual(Object.keys(costliestParameters).sort(), Object.keys(activities).sort());
  assert.deepEqual(Object.keys(costliestQuestions).sort(), Object.keys(queries).sort());
  for (const path of Object.keys(activities) as ActivityPath[]) {
    const parameters = costliestParameters[path](ground, 1);
    assert.ok(activityValidators[activities[path].type]?.(parameters), path);
    assert.ok(JSON.stringify(parameters).length < 64 * 1024 - 500, `${path}: ${JSON.stringify(parameters).length}`);
  }
  for (const path of Object.keys(queries) as QueryPath[]) {
    const question = { organizationId: id, ...costliestQuestions[path](ground, 1) };
    assert.ok(queryValidators[path]?.(question), path);
    assert.ok(JSON.stringify(question).length < 64 * 1024 - 500, path);
  }
});

test("every path of the auth proxy has a costliest body of a stranger", () => {
  const dependencies = { budgets: { signUps: 1, codes: 1 }, channels: [] } as unknown as ProxyDependencies;
  const routes = authProxyRoutes(dependencies).filter(({ method }) => method === "POST");
  const paths = routes.map(({ path }) => path.slice("/v1/".length));
  assert.deepEqual(Object.keys(costliestProxyBodies).sort(), paths.sort());
  for (const { path, limits } of routes) {
    const body = costliestProxyBodies[path.slice("/v1/".length)]?.(1) ?? {};
    assert.ok(JSON.stringify(body).length <= limits.bodyBytes, path);
  }
});

test("no costliest body costs more than a request may", () => {
  for (const [path, activity] of Object.entries(activities) as [ActivityPath, AnyActivity][]) {
    const form = { activity, translate: (same: unknown) => same };
    const parameters = costliestParameters[path](ground, 1);
    const cost = costOf(form, { parameters, generateAppProofs: true }, JSON.stringify(parameters).length);
    assert.ok(cost >= 500 && cost <= maxRequestCost, `${path}: ${cost}`);
  }
});
