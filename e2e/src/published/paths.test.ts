/** The published descriptions against a running server: which paths it has, what it says of the others, and what `/openapi.json` lists. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startKeystead } from "../keystead_server.ts";
import { ownEndpoints, undocumentedEndpoints } from "../swagger/differences.ts";
import { findSwagger, type Schema } from "../swagger/document.ts";

type OpenApi = {
  paths: Record<string, { post: { operationId: string } }>;
  components: { schemas: Record<string, Schema> };
};

test("a published path is served and listed, or 501 by its name; any other is 404", async (t) => {
  const document = findSwagger(t);
  const proxy = findSwagger(t, "proxy_api.swagger.json");
  if (document === undefined || proxy === undefined) return;
  const server = await startKeystead();
  t.after(() => server.stop());
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  const ask = async (path: string, method = "POST") => {
    const answer = await fetch(server.url + path, { method, ...(method === "POST" && { body: "{}" }) });
    const { code, message } = (await answer.json()) as { code: number; message: string };
    return { status: answer.status, code, message };
  };
  const published = [...Object.keys(document.paths), ...Object.keys(proxy.paths)];
  assert.deepEqual(
    Object.keys(paths)
      .filter((path) => !published.includes(path))
      .sort(),
    [...ownEndpoints, ...undocumentedEndpoints].sort(),
  );
  const unserved = published.filter((path) => paths[path] === undefined);
  assert.ok(unserved.length > 50 && unserved.length < published.length - 100, String(unserved.length));
  for (const path of published) {
    const { status, code, message } = await ask(path);
    if (unserved.includes(path)) {
      assert.deepEqual([status, code], [501, 12], path);
      assert.ok(message.includes(`\`${path}\``), message);
      assert.deepEqual(await ask(path, "GET"), { status, code, message });
    } else assert.ok(status === 400 || status === 401 || status === 200, `${path}: ${status} ${message}`);
  }
  for (const path of [
    "/public/v1/query/get_nonce",
    "/public/v1/submit/get_nonces",
    "/v1/nothing",
    "/v1",
    "/nonsense",
  ]) {
    assert.deepEqual(await ask(path), { status: 404, code: 5, message: `there is nothing at POST \`${path}\`` });
  }
  assert.equal((await ask("//public/v1//query/get_nonces?x=1")).status, 501);
});

test("requests and answers of the auth proxy, and events of mail, are listed with all published fields", async (t) => {
  const document = findSwagger(t);
  const proxy = findSwagger(t, "proxy_api.swagger.json");
  if (document === undefined || proxy === undefined) return;
  const server = await startKeystead();
  t.after(() => server.stop());
  const { paths, components } = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  const nameOf = ({ $ref = "" }: Schema) => $ref.split("/").at(-1) ?? "";
  const fieldsOf = (schema: Schema | undefined) => Object.keys(schema?.properties ?? {}).sort();
  for (const [path, { post }] of Object.entries(proxy.paths)) {
    const { operationId } = paths[path]?.post ?? { operationId: "" };
    const name = operationId.charAt(0).toUpperCase() + operationId.slice(1);
    const published = { Request: post.parameters[0].schema, Response: post.responses[200].schema };
    for (const [kind, schema] of Object.entries(published)) {
      const expected = fieldsOf(proxy.definitions[nameOf(schema)]);
      const missing = expected.filter((field) => !fieldsOf(components.schemas[name + kind]).includes(field));
      assert.deepEqual(missing, [], `${path} ${kind}`);
    }
  }
  const event = components.schemas.ListEmailEventsResponse?.properties?.emailEvents?.items;
  assert.deepEqual(fieldsOf(event), fieldsOf(document.definitions.EmailEvent));
  assert.deepEqual(fieldsOf(event?.properties?.details), fieldsOf(document.definitions.EmailEventDetails));
});
