/** The first line of every generated TypeScript file. */
export const header = "// Written by `npm run generate` from the endpoint declarations. Do not edit.";
