/** The endpoints as a client sees them: what the suites that know the wire alone go through. */
import type { Declarations } from "./declarations.ts";
import { header } from "./header.ts";

export function wireRegistry({ activities, queries }: Declarations): string {
  const rows = activities.map(
    ({ path, type, intentKey, resultKey }) =>
      `  ${path}: ${JSON.stringify({ url: `/public/v1/submit/${path}`, type, intentKey, resultKey })},`,
  );
  const forms = activities.flatMap(({ path, votes, forms }) =>
    forms.map(
      ({ type, intentKey, resultKey }) =>
        `  [${JSON.stringify(type)}, ${JSON.stringify({ path, type, intentKey, resultKey, votes })}],`,
    ),
  );
  return `${header}

export const activities = {
${rows.join("\n")}
} as const;

export const queries = {
${queries.map(({ path }) => `  ${path}: ${JSON.stringify({ url: `/public/v1/query/${path}` })},`).join("\n")}
} as const;

export type ActivityPath = keyof typeof activities;
export type QueryPath = keyof typeof queries;

/** One type that a path accepts: its newest, or an older one. */
export type ActivityForm = { path: ActivityPath; type: string; intentKey: string; resultKey: string; votes: boolean };

/** By the \`type\` of the stamped body. */
export const activityForms: ReadonlyMap<string, ActivityForm> = new Map<string, ActivityForm>([
${forms.join("\n")}
]);
`;
}
