import { component } from "./component.ts";
import { type Static, Type } from "./schema.ts";

export const timestampRecord = Type.Object(
  {
    seconds: Type.String({ description: "Whole seconds since the epoch." }),
    nanos: Type.String({ description: "Nanoseconds within the second." }),
  },
  { description: "A point in time." },
);

export const timestamp = component<Static<typeof timestampRecord>>("Timestamp");
