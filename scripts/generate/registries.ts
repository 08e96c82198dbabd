/** The sorted registries: a new endpoint shows in the diff of one small file. */
import type { Activity, Query } from "./declarations.ts";
import { header } from "./header.ts";

/** Imported by the signer, so it imports nothing but declarations and a type. */
export function activityRegistry(activities: Activity[]): string {
  return `${header}
${activities.map(({ path, method }) => `import { ${method} } from "../activities/${path}.ts";`).join("\n")}
import { type ActivityForm, type AnyActivity, formsOf } from "../endpoints/define_activity.ts";

export const activities = {
${activities.map(({ path, method }) => `  ${path}: ${method},`).join("\n")}
} as const;

/** By the \`type\` of the stamped body, which is what decides; the path only routes. */
export const activityForms: ReadonlyMap<string, ActivityForm> = new Map(
  (Object.values(activities) as AnyActivity[]).flatMap(formsOf).map((form) => [form.type, form]),
);
`;
}

/** For the gateway alone: queries never meet the signer. */
export function queryRegistry(queries: Query[]): string {
  return `${header}
import type { AnyQuery } from "../endpoints/define_query.ts";
${queries.map(({ path, method }) => `import { ${method} } from "../queries/${path}.ts";`).join("\n")}

export const queries = {
${queries.map(({ path, method }) => `  ${path}: ${method},`).join("\n")}
} as const;

export const queryByPath: ReadonlyMap<string, AnyQuery> = new Map<string, AnyQuery>([
${queries.map(({ path, method }) => `  ["${path}", ${method}],`).join("\n")}
]);
`;
}
