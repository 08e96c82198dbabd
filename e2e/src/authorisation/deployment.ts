/** One server with one parent, one sub-organization and one stranger, every endpoint's body, and credentials of every state. */
import type { TestContext } from "node:test";
import type { Dialect } from "../databases.ts";
import { createFixture } from "../matrix/fixture.ts";
import { createStages, type Stage } from "../matrix/stage.ts";
import { createTraffic } from "../swagger/traffic.ts";
import { type Answer, bytesOf, type Headers, send } from "../wire.ts";
import { startFurnished } from "../world.ts";
import { type Credentials, makeCredentials } from "./credentials.ts";
import { type Endpoint, type Fixtures, prepareEndpoints } from "./endpoints.ts";

export type Deployment = {
  stage: Stage;
  fixtures: Fixtures;
  credentials: Record<keyof Stage, Credentials>;
  endpoints: Endpoint[];
  /** Exactly these headers beside the content type. */
  post(url: string, body: unknown, headers: Headers): Promise<Answer>;
  /** All that the server has printed. */
  output(): string;
};

/** Undefined, with the test skipped, when there is no PostgreSQL. */
export async function startDeployment(t: TestContext, dialect: Dialect): Promise<Deployment | undefined> {
  const started = await startFurnished(t, dialect, (furnisher) => createStages(furnisher)());
  if (started === undefined) return undefined;
  const { server, furniture: stage } = started;
  const traffic = createTraffic();
  const at = (name: keyof Stage) => createFixture(server.url, traffic, stage, stage[name]);
  const fixtures = { parent: at("parent"), sub: at("sub") };
  const credentials = {
    parent: await makeCredentials(fixtures.parent),
    sub: await makeCredentials(fixtures.sub),
    other: await makeCredentials(at("other")),
  };
  return {
    stage,
    fixtures,
    credentials,
    endpoints: await prepareEndpoints(fixtures),
    post: (path, body, headers) =>
      send(server.url, { path, headers: [["Content-Type", "application/json"], ...headers], body: bytesOf(body) }),
    output: () => server.output(),
  };
}
