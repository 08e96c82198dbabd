import { costOfToken } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { email } from "../fields/contacts.ts";
import { clientSignature, verificationToken } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { changedUser } from "../rules/users.ts";
import { verifiedUpdate } from "../rules/verification_tokens.ts";

/** Sets a user's e-mail address; an empty text removes it. */
export const updateUserEmail = defineActivity({
  path: "update_user_email",
  type: "ACTIVITY_TYPE_UPDATE_USER_EMAIL",
  intentKey: "updateUserEmailIntent",
  resultKey: "updateUserEmailResult",
  summary: "Update or remove a user's e-mail address",
  params: Type.Object({ userId: id, userEmail: email, verificationToken, clientSignature }),
  bearerParams: { verificationToken: "verificationToken" },
  result: Type.Object({ userId: id }),
  cost: costOfToken,
  state: ({ members, settings }) => ({ members, settings }),
  isTriedBeforeWaiting: true,
  run(state, params, context) {
    const { userId, userEmail } = params;
    const verified = verifiedUpdate({ ...params, kind: "email", contact: userEmail }, context);
    return { changes: [changedUser(state, context, userId, { userEmail, verified })], result: { userId } };
  },
});
