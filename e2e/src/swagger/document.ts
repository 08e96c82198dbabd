/** The published description of this wire. It lies beside the repository, is never committed, and may be absent. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { vectorsAbsent } from "../../../core/test/vectors.ts";
import { repository } from "../keystead_server.ts";

/** As much of JSON Schema as the document uses; the checker refuses any other word. */
export type Schema = {
  type?: "object" | "array" | "string" | "integer" | "boolean" | "number";
  $ref?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  enum?: readonly string[];
  format?: "int32" | "int64" | "uint64" | "byte" | "double";
  additionalProperties?: Schema;
  "x-nullable"?: boolean;
};

type Operation = { parameters: readonly [{ schema: Schema }]; responses: { 200: { schema: Schema } } };

export type SwaggerDocument = {
  paths: Readonly<Record<string, { post: Operation }>>;
  definitions: Readonly<Record<string, Schema>>;
};

const folder = resolve(repository, "../shared/reference");

/** The API's and the auth proxy's. */
type DocumentName = "public_api.swagger.json" | "proxy_api.swagger.json";

export function readSwagger(name: DocumentName = "public_api.swagger.json"): SwaggerDocument | undefined {
  const file = resolve(folder, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

/** The document, or undefined after marking the test as skipped, in words that CI accepts. */
export function findSwagger(t: { skip(message?: string): void }, name?: DocumentName): SwaggerDocument | undefined {
  const document = readSwagger(name);
  if (document === undefined) t.skip(`${vectorsAbsent}: expected a description of the wire in ${folder}`);
  return document;
}
