/** What the sign-in activities share on the wire. */
import { optional } from "./credentials.ts";
import { id, organizationId } from "./ids.ts";
import { name } from "./names.ts";
import { Type } from "./schema.ts";

export const sessionSeconds = optional(
  Type.String({
    maxLength: 100,
    description:
      "How long the session lasts, in seconds, as a decimal string: 900 when left out, at most 2592000 unless the operator sets maxSessionSeconds.",
  }),
);

export const invalidateExisting = optional(
  Type.Boolean({ description: "Whether the user's other sessions of the same type end." }),
);

export const sessionProfileId = optional(
  Type.String({ maxLength: 128, description: "Session profile; the default session when left out." }),
);

export const sessionPublicKey = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "Public key of the client on P-256, which becomes the session's key.",
});

export const sessionKeyName = optional(name("Human-readable name of the session's key."));

/** Whose session it is, as the older activities answer it. */
export const sessionOwner = {
  organizationId,
  organizationName: name("Human-readable name of the organization."),
  userId: id,
  username: name("Human-readable name of the user."),
};
