import { component } from "./component.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

export const tagRecord = Type.Object(
  {
    tagId: Type.String({ description: "Unique identifier of the tag." }),
    tagName: Type.String({ description: "Human-readable name of the tag." }),
    tagType: Type.Union([Type.Literal("TAG_TYPE_USER"), Type.Literal("TAG_TYPE_PRIVATE_KEY")]),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "A label of users or private keys." },
);

export const tag = component<Static<typeof tagRecord>>("Tag");
