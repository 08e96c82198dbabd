import { activityForms } from "../src/generated/activities.ts";

/** Whether a result, as JSON, is without its bearer value, which alone is sealed then. */
export function isShownResult(type: string, result: string): boolean {
  const field = activityForms.get(type)?.activity.bearer?.field;
  return field !== undefined && JSON.parse(result)[field] === "";
}
