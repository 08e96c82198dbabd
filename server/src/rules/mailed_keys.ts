/** Keys whose bundle is mailed to the user and shown to nobody else: of `email_auth` and `init_user_email_recovery`. */
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { FeatureName } from "../fields/features.ts";
import type { MessageParams } from "../fields/messages.ts";
import { longestLifeMs, type MessagePurpose, type OutgoingMessage } from "../outbox/message.ts";
import type { Pages } from "../state/pages.ts";
import {
  type BundledKey,
  type BundledKeyKind,
  type BundledKeyParams,
  checkKeyParams,
  withBundledKey,
} from "./bundled_keys.ts";
import { checkSender, draftMessage } from "./code_messages.ts";
import { refuseUnlessOn } from "./features.ts";
import { getUserByEmail } from "./user_contacts.ts";

export type MailedKeyState = Pick<Pages, "members" | "settings" | "importTargets">;

export function mailedKeyState({ members, settings, importTargets }: Pages): MailedKeyState {
  return { members, settings, importTargets };
}

export type MailedKeyKind = BundledKeyKind & { feature: FeatureName; purpose: MessagePurpose };

export type MailedKeyParams = BundledKeyParams &
  Omit<MessageParams, "emailCustomization"> & {
    email: string;
    emailCustomization: { appName: string } & NonNullable<MessageParams["emailCustomization"]>;
  };

type OlderParams = { emailCustomization?: { appName?: string | null } | null };

/** Older versions need not name the application: the organization's name stands in its place then. */
export function withAppName<P extends OlderParams>({ emailCustomization, ...params }: P) {
  return { ...params, emailCustomization: { ...emailCustomization, appName: emailCustomization?.appName ?? "" } };
}

/** So long one of these mails counts among the contact's live codes. */
const countedMs = 300_000;

/**
 * The key and the mail that brings it. The signer's memory counts each as a code of the contact: nobody's mailbox is flooded, whoever may
 * ask for it.
 */
export function mailKey(
  state: MailedKeyState,
  kind: MailedKeyKind,
  params: MailedKeyParams,
  context: ActivityContext,
): BundledKey & { message: OutgoingMessage } {
  const { members, settings } = state;
  const { codes, nowMs, organizationId } = context;
  const { feature, purpose } = kind;
  refuseUnlessOn(settings, feature, organizationId);
  checkSender(context, params);
  const { user, contact } = getUserByEmail(members, organizationId, params.email);
  const checked = checkKeyParams(state, params, context);
  const { organizationName } = settings;
  const appName = params.emailCustomization.appName || organizationName;
  const draft = draftMessage({ channel: "email", to: contact, purpose, appName, organizationName }, params);
  const otpId = context.newId();
  codes.start({ otpId, otpType: "OTP_TYPE_EMAIL", contact, lifeMs: countedMs, userIdentifier: undefined });
  const made = withBundledKey(user, kind, params, checked, context);
  const expiresAtMs = Math.min(checked.expiresAtMs, nowMs + longestLifeMs);
  return { ...made, message: { ...draft, code: made.credentialBundle, expiresAtMs } };
}
