import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const document = JSON.parse(
  readFileSync(new URL("../../server/src/generated/openapi.json", import.meta.url), "utf8"),
) as Document;

type Operation = {
  operationId: string;
  tags: string[];
  security?: Record<string, string[]>[];
  summary: string;
  requestBody: { required: boolean; content: Record<string, { schema: { $ref: string } }> };
  responses: Record<string, { $ref?: string; description?: string }>;
};

type Document = {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, Record<string, unknown>>>;
};

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Every object in the document, with the keys that lead to it. */
function* walk(value: unknown, at: string[] = []): Generator<{ at: string[]; object: Record<string, unknown> }> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield { at, object: value as Record<string, unknown> };
  for (const [key, child] of Object.entries(value)) yield* walk(child, [...at, key]);
}

function resolve(ref: string): unknown {
  assert.match(ref, /^#\//);
  return ref
    .slice(2)
    .split("/")
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

test("it is OpenAPI 3.1 with the project's version", () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  assert.match(document.openapi, /^3\.1\.\d+$/);
  assert.equal(document.info.version, version);
  assert.ok(document.info.title);
});

test("every reference leads somewhere", () => {
  let count = 0;
  for (const { at, object } of walk(document)) {
    if (typeof object.$ref !== "string") continue;
    count++;
    assert.ok(resolve(object.$ref), `${object.$ref} in ${at.join("/")}`);
  }
  assert.ok(count > 10);
});

test("every component is referred to, and has a name the rules allow", () => {
  const refs = new Set([...walk(document)].map(({ object }) => object.$ref));
  for (const kind of ["schemas", "responses"]) {
    for (const name of Object.keys(document.components[kind] ?? {})) {
      assert.match(name, /^[a-zA-Z0-9._-]+$/);
      assert.ok(refs.has(`#/components/${kind}/${name}`), `${name} is not used`);
    }
  }
});

test("operations are stamped POSTs with unique ids, a body, an answer and the error body", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length);
  const tags = document.tags.map(({ name }) => name);
  for (const { path, method, operation } of operations) {
    assert.match(path, /^(\/public\/v1\/(submit|query)|\/v1)\/[a-z0-9_]+$/);
    assert.equal(method, "post");
    assert.ok(operation.summary);
    assert.deepEqual(
      operation.tags.filter((tag) => !tags.includes(tag)),
      [],
    );
    // Wallet kits ask for what they show with an empty body.
    assert.equal(operation.requestBody.required, !path.startsWith("/v1/wallet_kit_"), path);
    assert.deepEqual(Object.keys(operation.requestBody.content), ["application/json"]);
    assert.deepEqual(Object.keys(operation.responses), ["200", "default"]);
  }
  const schemes = document.components.securitySchemes ?? {};
  assert.deepEqual(
    Object.values(schemes).map(({ type, in: place, name }) => [type, place, name]),
    ["X-Stamp", "X-Stamp-WebAuthn", "X-Stamp-Attested", "X-Session", "X-Auth-Proxy-Config-ID"].map((name) => [
      "apiKey",
      "header",
      name,
    ]),
  );
  // A read-only session speaks for queries alone, and an attested stamp for sign-ins, votes and what follows them.
  const attested = ["approve_activity", "get_activity", "reject_activity", "stamp_login", "whoami"];
  const all = Object.keys(schemes).map((name) => ({ [name]: [] }));
  const proxy = all.pop();
  assert.deepEqual(document.security, all.slice(0, 2));
  for (const { path, operation } of operations) {
    if (operation.tags.includes("proxy")) {
      assert.deepEqual(operation.security, [proxy], path);
      continue;
    }
    const takesAttested = attested.some((name) => path.endsWith(`/${name}`));
    const isQuery = operation.tags.includes("query");
    const opening = all.filter(
      (scheme) => (takesAttested || !("attestedStamp" in scheme)) && (isQuery || !("readOnlySession" in scheme)),
    );
    assert.deepEqual(operation.security, takesAttested || isQuery ? opening : undefined, path);
  }
});

test("required properties exist, wherever a schema names them", () => {
  for (const { at, object } of walk(document.components.schemas)) {
    if (!Array.isArray(object.required) || object.type !== "object") continue;
    for (const name of object.required) {
      assert.ok((object.properties as Record<string, unknown>)[name], `${name} of ${at.join("/")}`);
    }
  }
});

test("a submit takes the envelope and gives an activity; a query has its own fields", () => {
  const schemas = document.components.schemas ?? {};
  assert.deepEqual(Object.keys(schemas.CreateUserTagRequest?.properties ?? {}), [
    "type",
    "timestampMs",
    "organizationId",
    "parameters",
    "generateAppProofs",
  ]);
  assert.deepEqual(Object.keys(schemas.CreateUserTagResponse?.properties ?? {}), ["activity"]);
  assert.deepEqual(Object.keys(schemas.ErrorBody?.properties ?? {}), ["code", "message", "details", "errorCode"]);
  assert.deepEqual(Object.keys(schemas.WhoamiRequest?.properties ?? {}), ["organizationId"]);
});
