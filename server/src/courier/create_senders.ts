import type { Channel } from "../outbox/message.ts";
import type { CourierSettings } from "./courier_settings.ts";
import { DeliveryFailure } from "./delivery_failure.ts";
import { createMailbox } from "./mailbox.ts";
import { createMailSender } from "./send_mail.ts";
import { createSmsSender } from "./send_sms.ts";
import type { Sender } from "./sender.ts";

/**
 * How each channel is served. With settings for neither, all messages are written to the mailbox folder. With settings for one, the
 * other fails: who sends mail for real does not expect codes on the disk.
 */
export function createSenders({ mail, sms, outboxFolder }: CourierSettings): Record<Channel, Sender> {
  if (mail === undefined && sms === undefined) {
    const mailbox = createMailbox(outboxFolder);
    return { email: mailbox, sms: mailbox };
  }
  return {
    email: mail === undefined ? unconfigured("mail is not sent without SMTP_URL") : createMailSender(mail),
    sms: sms === undefined ? unconfigured("text messages are not sent without KEYSTEAD_SMS_URL") : createSmsSender(sms),
  };
}

function unconfigured(why: string): Sender {
  return async () => {
    throw new DeliveryFailure("unconfigured", true, why);
  };
}

/** How messages leave, for the operator. */
export function describeSenders({ mail, sms, outboxFolder }: CourierSettings): string {
  if (mail === undefined && sms === undefined) {
    return `messages are written to ${outboxFolder}; set SMTP_URL and KEYSTEAD_SMS_URL to send them`;
  }
  const byMail = mail === undefined ? "mail is not sent (no SMTP_URL)" : `mail goes to ${mail.host}:${mail.port}`;
  const bySms =
    sms === undefined ? "text messages are not sent (no KEYSTEAD_SMS_URL)" : `text messages to ${sms.url.host}`;
  return `${byMail}, ${bySms}`;
}
