import type { TokenClaims } from "@keystead/core/otp/verification_token.ts";
import { costOfToken, unitCosts } from "../endpoints/cost.ts";
import { type ActivityContext, defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { clientSignature, clientSignatureParams, requiredVerificationToken } from "../fields/credentials.ts";
import { knownFields } from "../fields/known_fields.ts";
import { type Static, Type } from "../fields/schema.ts";
import { invalidateExisting, sessionProfileId, sessionPublicKey, sessionSeconds } from "../fields/sessions.ts";
import { refuseUnlessCodesSignIn } from "../rules/features.ts";
import { namedProfileId } from "../rules/session_profiles.ts";
import { sessionToken, withLogin } from "../rules/sessions.ts";
import {
  checkTokenUse,
  contactOfToken,
  isStampedByTokenKey,
  readVerificationToken,
  usedUpToken,
  userOfToken,
} from "../rules/verification_tokens.ts";
import { isMarkedNow, withVerifiedContact } from "../state/contacts.ts";
import { put } from "../state/entities.ts";

const session = { expirationSeconds: sessionSeconds, invalidateExisting, sessionProfileId };

/** Before tokens were always bound to a key, nobody could sign what one was used for. */
const paramsV1 = Type.Object({
  verificationToken: requiredVerificationToken,
  publicKey: sessionPublicKey,
  clientSignature,
  ...session,
});

const params = Type.Object({
  verificationToken: requiredVerificationToken,
  publicKey: sessionPublicKey,
  clientSignature: clientSignatureParams,
  ...session,
});

type OtpLoginParams = Omit<Static<typeof params>, "clientSignature"> & Pick<Static<typeof paramsV1>, "clientSignature">;

const v1 = defineVersion({
  type: "ACTIVITY_TYPE_OTP_LOGIN",
  intentKey: "otpLoginIntent",
  resultKey: "otpLoginResult",
  params: paramsV1,
  translate: (sent): OtpLoginParams => knownFields(paramsV1, sent),
  answer: ({ session }) => ({ session }),
});

/** Signs in the user whose contact a verification token names. Usually the parent's server asks for it, for a user of a sub-organization. */
export const otpLogin = defineActivity({
  path: "otp_login",
  type: "ACTIVITY_TYPE_OTP_LOGIN_V2",
  intentKey: "otpLoginIntentV2",
  resultKey: "otpLoginResult",
  summary: "Sign a user in with a verification token and get a session",
  params,
  result: Type.Object({
    session: Type.String({ description: "Signed token that says whose session it is and until when." }),
  }),
  versions: [v1],
  openToParent: true,
  makesSession: ({ sessionProfileId }) => ({ sessionProfileId: namedProfileId(sessionProfileId) }),
  cost: (params) => costOfToken(params) + unitCosts.publicKey + unitCosts.sign.CURVE_P256,
  sealed: true,
  bearer: { field: "session", endsAtMs: ({ sessionEndsAtMs }) => Number(sessionEndsAtMs), onlyForSameBytes: true },
  bearerParams: { verificationToken: "verificationToken" },
  answer: ({ session }) => ({ session }),
  // A token that waited for approvals would lie about for its whole life, and its user with it.
  neverWaits: true,
  state: ({ members, settings, usedTokens }) => ({ members, settings, usedTokens }),
  run({ members, settings, usedTokens }, params: OtpLoginParams, context) {
    const token = readVerificationToken(params.verificationToken, context);
    checkTokenUse(context, token, params.clientSignature, { kind: "login", publicKey: params.publicKey });
    const contact = contactOfToken(token);
    refuseUnlessCodesSignIn(settings, contact.kind, context.organizationId);
    const owner = userOfToken(members, token, context);
    const used = usedUpToken(usedTokens, token, context.nowMs);
    const { user, ...login } = withLogin(members, owner, params, context);
    const isOwn = verifies(token, context) || isMarkedNow(user, contact);
    const isProved = token.publicKey !== undefined && isOwn;
    const signedIn = isProved ? withVerifiedContact(user, { ...contact, mark: { by: "code" } }) : user;
    return {
      changes: [...used, put("user", signedIn)],
      result: {
        session: sessionToken(context, { userId: owner.userId, ...login }),
        sessionEndsAtMs: login.expiresAtMs,
      },
    };
  },
});

/**
 * A login verifies its contact where somebody else than the sub-organization's own users has named it: the client signature does not, so
 * one who has seen a token and its signature could sign in their owner in an organization of their own.
 */
function verifies(token: TokenClaims, context: ActivityContext): boolean {
  return context.parentId === undefined || context.isByParent || isStampedByTokenKey(token, context);
}
