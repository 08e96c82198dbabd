// Written by `npm run generate` from the endpoint declarations. Do not edit.
// The checks narrow by `typeof` and `in` on values of no known type, which strict TypeScript does not follow.
// @ts-nocheck
import { Guard } from "typebox/guard";

const whoami = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

/** Whether a value is a well-formed request, by path. It has no prototype, so no path finds anything inherited. */
export const queryValidators: Readonly<Record<string, (value: unknown) => boolean>> = {
  __proto__: null,
  whoami: whoami,
};
