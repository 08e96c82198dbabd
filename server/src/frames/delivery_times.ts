/**
 * How long one attempt to send a message may take. The courier gives up first and closes its connection, so that whoever waits for its
 * answer knows, when none has come, that nothing is on its way any more.
 */

/** From the courier's sight of a message until its provider has taken it. */
export const sendDeadlineMs = 25_000;

/** From the gateway's question until the courier's answer. */
export const deliveryDeadlineMs = sendDeadlineMs + 5_000;
