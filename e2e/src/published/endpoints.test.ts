/** The published clients' own idea of the wire, against the declarations: no server runs here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyClient } from "@turnkey/http";
import { TurnkeyApiClient } from "@turnkey/sdk-server";
import { activities, activityForms, queries } from "../generated/endpoints.ts";
import { createKey } from "../key_pairs.ts";
import { ownEndpoints, undocumentedEndpoints } from "../swagger/differences.ts";
import { apiKeyPair } from "./clients.ts";

const stamper = new ApiKeyStamper(apiKeyPair(createKey()));

const own = [
  ...Object.keys(activities).map((name) => `/public/v1/submit/${name}`),
  ...Object.keys(queries).map((name) => `/public/v1/query/${name}`),
]
  .filter((path) => !ownEndpoints.includes(path))
  .sort();

type Call = { path: string; type?: string; resultKey?: string };

/** What the server client would send, and where it would look for the result. */
async function callsOfServerClient(): Promise<Call[]> {
  const calls: Call[] = [];
  const client = new TurnkeyApiClient({ stamper, apiBaseUrl: "", organizationId: "" });
  const methods = methodNames(client).map((name) => client[name]);
  Object.assign(client, {
    request: (path: string) => calls.push({ path }),
    command: (path: string, { type }: { type: string }, resultKey: string) => calls.push({ path, type, resultKey }),
    activityDecision: (path: string, { type }: { type: string }) => calls.push({ path, type, resultKey: "" }),
  });
  for (const call of methods) await call({});
  return calls;
}

async function pathsOfHttpClient(): Promise<string[]> {
  const client: Record<string, unknown> = { ...new TurnkeyClient({ baseUrl: "http://keystead" }, stamper) };
  const stamps = methodNames(client).map(
    (name) => client[stampName(name)] as (body: object) => Promise<{ url: string }>,
  );
  return Promise.all(stamps.map(async (stamp) => new URL((await stamp({})).url).pathname));
}

/** Each call has a twin that stamps the request and does not send it. `stampLogin` is a call. */
function methodNames(client: object): string[] {
  return Object.keys(client).filter((name) => Object.hasOwn(client, stampName(name)));
}

function stampName(name: string): string {
  return `stamp${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** What the server client has left out. */
const current = own.filter((path) => !undocumentedEndpoints.includes(path));

test("every endpoint is one that both published clients call, or one that the HTTP client still has", async () => {
  const called = { server: (await callsOfServerClient()).map(({ path }) => path), http: await pathsOfHttpClient() };
  assert.ok(called.server.length > 100 && called.http.length > 100, "the clients' methods were found");
  const missing = { server: current, http: own };
  for (const name of ["server", "http"] as const) {
    assert.deepEqual(
      missing[name].filter((path) => !called[name].includes(path)),
      [],
    );
  }
  for (const path of undocumentedEndpoints) assert.ok(!called.server.includes(path), path);
});

test("of every activity here the server client sends a known type, and finds the result under its own key", async () => {
  const sent = (await callsOfServerClient()).filter(({ path, type }) => type !== undefined && own.includes(path));
  const submitted = current.filter((path) => path.startsWith("/public/v1/submit/"));
  assert.deepEqual(sent.map(({ path }) => path).sort(), submitted);
  for (const { path, type = "", resultKey } of sent) {
    const form = activityForms.get(type);
    assert.equal(`/public/v1/submit/${form?.path}`, path, type);
    assert.equal(form?.resultKey, resultKey, type);
  }
});
