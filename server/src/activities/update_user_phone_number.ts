import { costOfToken } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { phoneNumber } from "../fields/contacts.ts";
import { clientSignature, verificationToken } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { changedUser } from "../rules/users.ts";
import { verifiedUpdate } from "../rules/verification_tokens.ts";

/** Sets a user's phone number; an empty text removes it. */
export const updateUserPhoneNumber = defineActivity({
  path: "update_user_phone_number",
  type: "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER",
  intentKey: "updateUserPhoneNumberIntent",
  resultKey: "updateUserPhoneNumberResult",
  summary: "Update or remove a user's phone number",
  params: Type.Object({ userId: id, userPhoneNumber: phoneNumber, verificationToken, clientSignature }),
  bearerParams: { verificationToken: "verificationToken" },
  result: Type.Object({ userId: id }),
  cost: costOfToken,
  state: ({ members, settings }) => ({ members, settings }),
  isTriedBeforeWaiting: true,
  run(state, params, context) {
    const { userId, userPhoneNumber } = params;
    const verified = verifiedUpdate({ ...params, kind: "phone", contact: userPhoneNumber }, context);
    return { changes: [changedUser(state, context, userId, { userPhoneNumber, verified })], result: { userId } };
  },
});
