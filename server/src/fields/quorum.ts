import { ids } from "./ids.ts";
import { Type } from "./schema.ts";

/** The root quorum as answers show it. */
export const quorum = Type.Object({
  threshold: Type.Integer({ description: "How many of the users must approve." }),
  userIds: ids,
});
