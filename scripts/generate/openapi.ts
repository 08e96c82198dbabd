import { type AuthProxyEndpoint, authProxyEndpoints } from "../../server/src/fields/auth_proxy_endpoints.ts";
import type { Declarations } from "./declarations.ts";
import { type ObjectSchema, toJsonSchema } from "./json_schema.ts";
import { camelCase, pascalCase } from "./names.ts";
import { activityRequest, activityResponse, wireSchemas } from "./wire_schemas.ts";

/** Every schema that OpenAPI and the SDK name, in the order they are written. */
export function namedSchemas({ activities, queries }: Declarations): Record<string, ObjectSchema> {
  const schemas: Record<string, ObjectSchema> = { ...wireSchemas };
  const add = (name: string, schema: ObjectSchema) => {
    if (schemas[name] !== undefined) throw new Error(`the schema name \`${name}\` is taken twice`);
    schemas[name] = schema;
  };
  for (const activity of activities) {
    const name = pascalCase(activity.path);
    add(`${name}Params`, activity.params);
    // A vote has none of its own: it answers with the activity it was cast on.
    if (!activity.votes) add(`${name}Result`, activity.result);
    add(`${name}Request`, activityRequest(activity.type, `${name}Params`));
    add(`${name}Response`, activityResponse(activity, `${name}Params`, `${name}Result`));
  }
  for (const query of queries) {
    const name = pascalCase(query.path);
    add(`${name}Request`, query.request);
    add(`${name}Response`, query.response);
  }
  return schemas;
}

const proxyEndpoints: readonly (AuthProxyEndpoint & { name: string; path: string })[] = Object.entries(
  authProxyEndpoints,
).map(([path, endpoint]) => ({ name: `auth_proxy_${path}`, path, ...endpoint }));

/** Schemas of the auth proxy, which the SDK does not call. */
function proxySchemas(): Record<string, ObjectSchema> {
  return Object.fromEntries(
    proxyEndpoints.flatMap(({ name, request, response }) => [
      [`${pascalCase(name)}Request`, toJsonSchema(request, name)],
      [`${pascalCase(name)}Response`, toJsonSchema(response, name)],
    ]),
  );
}

function proxyOperation({ name, summary, request, mayNeedCaptcha }: (typeof proxyEndpoints)[number]) {
  const captcha = { name: "X-Captcha-Token", in: "header", schema: { type: "string" } };
  return {
    post: {
      operationId: camelCase(name),
      tags: ["proxy"],
      summary,
      security: [{ authProxyConfig: [] }],
      ...(mayNeedCaptcha && { parameters: [{ ...captcha, description: "Needed where captchas are on." }] }),
      // Kits send none where nothing is asked.
      requestBody: {
        required: Object.keys(request.properties).length > 0,
        content: contentOf(`${pascalCase(name)}Request`),
      },
      responses: responsesOf(`${pascalCase(name)}Response`),
    },
  };
}

function contentOf(schema: string) {
  return { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function responsesOf(schema: string) {
  return {
    200: { description: "Success.", content: contentOf(schema) },
    default: { $ref: "#/components/responses/Error" },
  };
}

type Described = { path: string; method: string; summary: string; description: string; takesAttested?: true };

function operation(tag: string, endpoint: Described) {
  const name = pascalCase(endpoint.path);
  return {
    post: {
      operationId: endpoint.method,
      tags: [tag],
      summary: endpoint.summary,
      ...(endpoint.description === "" ? {} : { description: endpoint.description }),
      ...securityOf(tag, endpoint),
      requestBody: { required: true, content: contentOf(`${name}Request`) },
      responses: responsesOf(`${name}Response`),
    },
  };
}

/** What opens this endpoint beside the stamps that open any. */
function securityOf(tag: string, { takesAttested }: Described) {
  const more = [
    ...(takesAttested === true ? [{ attestedStamp: [] }] : []),
    ...(tag === "query" ? [{ readOnlySession: [] }] : []),
  ];
  return more.length === 0 ? {} : { security: [...stamps, ...more] };
}

/** What speaks for any request. */
const stamps = [{ apiKeyStamp: [] }, { passkeyStamp: [] }];

export function openApi(declarations: Declarations, version: string): string {
  const document = {
    openapi: "3.1.0",
    info: {
      title: "Keystead",
      version,
      summary: "Wallet infrastructure that anyone can run themselves",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: stamps,
    tags: [
      { name: "submit", description: "Activities: every request that changes something." },
      { name: "query", description: "Queries: every request that only reads." },
      { name: "proxy", description: "The auth proxy: requests of people who have no credential yet." },
    ],
    paths: Object.fromEntries([
      ...declarations.queries.map((query) => [`/public/v1/query/${query.path}`, operation("query", query)]),
      ...declarations.activities.map((activity) => [
        `/public/v1/submit/${activity.path}`,
        operation("submit", activity),
      ]),
      ...proxyEndpoints.map((endpoint) => [`/v1/${endpoint.path}`, proxyOperation(endpoint)]),
    ]),
    components: {
      securitySchemes: {
        apiKeyStamp: stampHeader(
          "X-Stamp",
          "base64url of JSON {publicKey, scheme, signature}: an API key's signature over the body.",
        ),
        passkeyStamp: stampHeader(
          "X-Stamp-WebAuthn",
          "JSON: a passkey's assertion whose challenge is the hash of the body.",
        ),
        attestedStamp: stampHeader(
          "X-Stamp-Attested",
          "base64url of JSON {publicKeyAttestation, scheme, publicKey, signature}: a verification token, and the signature over the body of the key that it is bound to.",
        ),
        readOnlySession: stampHeader("X-Session", "The value of create_read_only_session. It is for queries alone."),
        authProxyConfig: stampHeader("X-Auth-Proxy-Config-ID", "The id of an organization's proxy. It is no secret."),
      },
      responses: {
        Error: {
          description: "The request was refused or failed.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorBody" } } },
        },
      },
      schemas: { ...namedSchemas(declarations), ...proxySchemas() },
    },
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function stampHeader(name: string, description: string) {
  return { type: "apiKey", in: "header", name, description };
}
