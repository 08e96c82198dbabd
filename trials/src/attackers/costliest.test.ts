import assert from "node:assert/strict";
import { test } from "node:test";
import { costliestProxyBodies } from "@keystead/e2e/attackers/auth_proxy.ts";
import type { Flood } from "@keystead/e2e/attackers/costliest/flood.ts";
import { activityFloods, costliestFloods, queryFloods } from "@keystead/e2e/attackers/costliest.ts";
import type { Answer, Course, Request } from "@keystead/e2e/attackers/lanes.ts";
import { memberStamp } from "@keystead/e2e/attackers/prepared.ts";
import { publicNames } from "@keystead/e2e/attackers/public_files.ts";
import { type ActivityPath, laneOf, newTenant, parentTenant } from "@keystead/e2e/attackers/tenant.ts";
import { send } from "@keystead/e2e/wire.ts";
import { startServer } from "@keystead/e2e/world.ts";
import { costOf, maxRequestCost } from "@keystead/server/endpoints/cost.ts";
import type { AnyActivity } from "@keystead/server/endpoints/define_activity.ts";
import { apiRoutes } from "@keystead/server/gateway/routes/api.ts";
import type { ApiDependencies } from "@keystead/server/gateway/routes/api_dependencies.ts";
import { authProxyRoutes, type ProxyDependencies } from "@keystead/server/gateway/routes/auth_proxy.ts";
import { type OperatorDependencies, operatorRoutes } from "@keystead/server/gateway/routes/operator.ts";
import { type PublicLogDependencies, publicLogRoutes } from "@keystead/server/gateway/routes/public_log.ts";
import { activities } from "@keystead/server/generated/activities.ts";
import { queries } from "@keystead/server/generated/queries.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull } from "../../../core/test/samples.ts";

test("every endpoint has a flood of its costliest requests", () => {
  assert.deepEqual(Object.keys(activityFloods).sort(), Object.keys(activities).sort());
  assert.deepEqual(Object.keys(queryFloods).sort(), Object.keys(queries).sort());
});

/** From here on a body waits in the lane of large ones. */
const largeBytes = 64 * 1024;
/** Enough for the longest cycle, which makes eight wallets and takes them away. */
const steps = 10;

/** A sample tries some of them: each first makes an organization for itself. */
const tried = Object.entries(costliestFloods).filter((_, index) => isFull || index % 12 === 0);

test("what a flood asks is done, in bodies of the size it says", { timeout: testTimeoutMs }, async (t) => {
  const server = await startServer(t, "sqlite");
  if (server === undefined) return;
  const target = { ...server.bootstrap, url: server.url };
  for (const [name, flood] of tried) {
    await t.test(name, async () => {
      const tenant = await (flood.atParent ? parentTenant(target) : newTenant(target));
      const course = (await flood.begin(tenant))(laneOf(tenant, 0));
      const sizes = await follow(server.url, course, flood, name);
      assert.equal(Math.max(...sizes) >= largeBytes, flood.isLarge === true, `${name}: ${sizes}`);
    });
  }
});

/** The lengths of the bodies. */
async function follow(url: string, course: Course, { refused }: Flood, name: string): Promise<number[]> {
  const sizes: number[] = [];
  let answer: Answer | undefined;
  for (let step = 0; step < steps; step++) {
    const { value } = await (answer === undefined ? course.next() : course.next(answer));
    assert.ok(value !== undefined, `${name} has an end`);
    checkCost(value);
    const { path, body, by } = value;
    const { status, json, text } = await send(url, { path, headers: [["X-Stamp", memberStamp(by, body)]], body });
    sizes.push(body.length);
    if (refused === undefined) assert.equal(status, 200, `${path}: ${text.slice(0, 500)}`);
    else if (status !== 200) break;
    answer = { status, json: () => json };
  }
  return sizes;
}

function checkCost({ path, body }: Request): void {
  const activity: AnyActivity | undefined = activities[path.replace("/public/v1/submit/", "") as ActivityPath];
  if (activity === undefined) return;
  const { parameters } = JSON.parse(Buffer.from(body).toString("utf8"));
  const form = { activity, translate: (same: unknown) => same };
  const cost = costOf(form, { parameters, generateAppProofs: true }, body.length);
  assert.ok(cost >= 500 && cost <= maxRequestCost, `${path}: ${cost}`);
}

test("everything that a stranger may read has a flood", () => {
  const routes = [
    ...apiRoutes({} as ApiDependencies),
    ...operatorRoutes({} as OperatorDependencies),
    ...publicLogRoutes({} as PublicLogDependencies),
  ];
  const read = new Set(routes.filter(({ method }) => method === "GET").map(({ path }) => path.replace(/\/:.*/, "")));
  // One is a constant, and the other has the attack that is called readiness.
  const flooded = new Set(["/healthz", "/readyz", ...publicNames.map((name) => name.split(" ")[0])]);
  assert.deepEqual([...flooded].sort(), [...read].sort());
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
