/** Messages that an activity asks to be sent: sealed for the courier, to be committed with the activity. */
import { Fault } from "@keystead/core/fault.ts";
import type { Prepared } from "../../frames/messages.ts";
import { longestLifeMs, type OutgoingMessage } from "../../outbox/message.ts";
import { sealMessage } from "../../outbox/sealed_message.ts";
import { messageId } from "../../state/derived_id.ts";
import type { Act } from "./act.ts";

/** Their ids derive from the body: prepared again, it asks for the same messages, and a courier sends each once. */
export function sealMessages(
  { signer, state, asked, nowMs }: Act,
  messages: readonly OutgoingMessage[],
): Prepared["outbox"] {
  const { organizationId } = state;
  return messages.map((message, index) => {
    const { channel, expiresAtMs } = message;
    const isMail = channel === "email";
    const lifeMs = expiresAtMs - nowMs;
    if (lifeMs <= 0 || lifeMs > longestLifeMs) throw new Fault("internal", "a message lives for no time or too long");
    const id = messageId(state.known.header.organizationId, asked.fingerprint, index);
    const place = { organizationId, messageId: id };
    const sealed = sealMessage(signer.keyring.courierKey, place, { ...message, createdAtMs: nowMs });
    return {
      messageId: id,
      channel,
      expiresAtMs,
      sealed,
      toAddress: isMail ? message.to : undefined,
      fromAddress: isMail ? message.fromAddress : undefined,
    };
  });
}
