/** How a message may be made one's own: what the activities that send mail and text messages share on the wire. */
import { optional } from "./credentials.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";

/** Bounded text; whether it can stand in a message is checked with its own error. Empty means none. */
function messageText(maxLength: number, description: string) {
  return optional(Type.String({ maxLength, description }));
}

export const appName = name("Human-readable name of the application that the reader signs in to.");

const mailFields = {
  logoUrl: messageText(2_048, "https address of a picture for the mail's head."),
  magicLinkTemplate: messageText(2_048, "A link in which `%s` becomes the code or bundle."),
  templateVariables: messageText(
    10_000,
    "JSON object, as text. Read and not used: there are no templates of one's own.",
  ),
  templateId: messageText(256, "Not used: there are no templates of one's own."),
};

export const emailCustomization = optional(Type.Object(mailFields, { description: "What the mail looks like." }));

/** Before applications had to have a name. */
export const emailCustomizationV1 = optional(
  Type.Object({ appName: optional(appName), ...mailFields }, { description: "What the mail looks like." }),
);

/** Where the name of the application is required, and nowhere else. */
export const emailAuthCustomization = Type.Object(
  { appName, ...mailFields },
  { description: "What the mail looks like." },
);

export const smsCustomization = optional(
  Type.Object(
    { template: messageText(1_024, "The text message, in which `{{.OtpCode}}` becomes the code.") },
    { description: "What the text message says." },
  ),
);

export const mailSender = {
  sendFromEmailAddress: messageText(320, "Sender of the mail: one of the operator's KEYSTEAD_MAIL_FROM."),
  sendFromEmailSenderName: messageText(256, "Name beside that address; `Notifications` when left out."),
  replyToEmailAddress: messageText(320, "Where replies go."),
};

/** The newest form of all of it. Activities that lack some leave it out. */
const messageParams = Type.Object({ emailCustomization, smsCustomization, ...mailSender });
export type MessageParams = Static<typeof messageParams>;
