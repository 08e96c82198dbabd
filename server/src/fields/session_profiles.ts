/** Session profiles as requests write them and as answers show them. */
import { component } from "./component.ts";
import { optional } from "./credentials.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

export const sessionProfileParams = Type.Object({
  sessionProfileName: name("Human-readable name of the session profile."),
  /** Longer than any that the language takes, as with policies. */
  scope: Type.String({
    minLength: 1,
    maxLength: 65_536,
    description: "What sessions with this profile may submit: an expression over the activity and its payload.",
  }),
  expirationSeconds: optional(
    Type.String({
      maxLength: 100,
      description: "The longest that a session may last, in seconds, as a decimal string; no bound when left out.",
    }),
  ),
  notes: optional(Type.String({ maxLength: 4_096, description: "Notes for people." })),
});

export type SessionProfileParams = Static<typeof sessionProfileParams>;

const text = (description: string) => Type.String({ description });

export const sessionProfileRecord = Type.Object(
  {
    sessionProfileId: text("Unique identifier of the session profile."),
    sessionProfileName: text("Human-readable name of the session profile."),
    scope: text("What sessions with this profile may submit, as it was written."),
    expirationSeconds: Type.Optional(text("The longest that a session may last, in seconds; absent when unbounded.")),
    notes: text("Notes for people."),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "What sessions may do, and how long they last. It is never changed." },
);

export const sessionProfile = component<Static<typeof sessionProfileRecord>>("SessionProfile");
