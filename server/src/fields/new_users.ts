/** What `create_users` takes, in its newest form; older forms are translated to it. */
import { optionalEmail, optionalPhoneNumber } from "./contacts.ts";
import { apiKeys, authenticators, oauthProviders } from "./credentials.ts";
import { ids } from "./ids.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";

export const createUsersParams = Type.Object({
  users: Type.Array(
    Type.Object({
      userName: name("Human-readable name of the user."),
      userEmail: optionalEmail,
      userPhoneNumber: optionalPhoneNumber,
      apiKeys,
      authenticators,
      oauthProviders,
      userTags: ids,
    }),
    { minItems: 1, maxItems: 100 },
  ),
});

export type CreateUsersParams = Static<typeof createUsersParams>;
