import type { UserTag } from "../state/entities.ts";
import { timestamp } from "./dialect.ts";

export function userTagView({ tagId, tagName, createdAtMs, updatedAtMs }: UserTag) {
  return {
    tagId,
    tagName,
    tagType: "TAG_TYPE_USER" as const,
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}
