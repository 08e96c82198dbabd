import type { Declarations } from "./declarations.ts";
import { parameterTexts } from "./sdk.ts";

/** docs/endpoints.md: what there is, on one page. */
export function docsTable({ activities, queries }: Declarations): string {
  return `<!-- Written by \`npm run generate\` from the endpoint declarations. Do not edit. -->
# Endpoints

Every request is a POST with a JSON body and a stamp over exactly its bytes. The full schemas are served as \`GET /openapi.json\`.

## Activities: \`/public/v1/submit/…\`

The body is \`{type, timestampMs, organizationId, parameters, generateAppProofs?}\`; the answer is \`{activity}\`.

| Path | Type | What it does | Parameters |
|---|---|---|---|
${activities.map(({ path, type, summary, params }) => row([code(path), code(type), summary, list(parameterTexts(params))])).join("\n")}

## Queries: \`/public/v1/query/…\`

The body is \`{organizationId}\` and the parameters below.

| Path | What it answers | Parameters |
|---|---|---|
${queries.map(({ path, summary, request }) => row([code(path), summary, list(parameterTexts(request, "organizationId"))])).join("\n")}
`;
}

function row(cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function list(texts: string[]): string {
  return texts.map(code).join("<br>");
}
