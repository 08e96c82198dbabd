import type { Declarations } from "./declarations.ts";
import { parameterTexts } from "./sdk.ts";

/** docs/endpoints.md: what there is, on one page. */
export function docsTable({ activities, queries }: Declarations): string {
  return `<!-- Written by \`npm run generate\` from the endpoint declarations. Do not edit. -->
# Endpoints

Every request is a POST with a JSON body and a stamp over exactly its bytes. \`GET /openapi.json\` serves the
full schemas.

## Activities: \`/public/v1/submit/…\`

The body is \`{type, timestampMs, organizationId, parameters, generateAppProofs?}\`. The answer is \`{activity}\`. The
parameters below are those of the first type. Older types are accepted with their own parameters, as published, and
answered in their own form.

| Path | Type | What it does | Parameters |
|---|---|---|---|
${activities.map(({ path, forms, summary, params }) => row([code(path), list(forms.map(({ type }) => type)), summary, list(parameterTexts(params).map(shortened))])).join("\n")}

## Queries: \`/public/v1/query/…\`

The body is \`{organizationId}\` and the parameters below.

| Path | What it answers | Parameters |
|---|---|---|
${queries.map(({ path, summary, request }) => row([code(path), summary, list(parameterTexts(request, "organizationId").map(shortened))])).join("\n")}
`;
}

/** A choice of many values would bury everything beside it; OpenAPI has them all. */
function shortened(text: string): string {
  return text.replace(/("[A-Z0-9_]+")(?: \| "[A-Z0-9_]+"){6,}/g, "$1 | …");
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
