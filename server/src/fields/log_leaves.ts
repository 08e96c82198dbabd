import { optional } from "./credentials.ts";
import { Type } from "./schema.ts";

export const logId = Type.String({ pattern: "^[0-9a-f]{32}$", description: "Of a log: 32 hex digits." });

export const logPath = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "`checkpoint`, or a tile such as `tile/0/000` or `tile/entries/000.p/7`.",
});

export const logLeaf = Type.Object({
  logId,
  position: Type.Integer({ description: "Where it stands in the log, from 0." }),
  ordinal: optional(
    Type.Integer({
      description: "Which of the organization's leaves in this log it is, from 1. Acts of the operator have none.",
    }),
  ),
  leaf: Type.String({
    description: "Base64. Empty while whoever has it could pass for its sender, and once it is erased.",
  }),
  bodies: Type.Array(Type.String(), {
    description:
      "Base64 of what the leaf names by SHA-256, as far as it may be shown: bodies, results and other texts.",
  }),
});
