/**
 * The courier process: descriptor 3 joins the gateway, descriptor 4 the launcher. It sends messages, asks issuers for their keys, exchanges
 * codes at OAuth 2.0 providers, has captchas checked, listens nowhere and reads no database.
 */
import { Socket } from "node:net";
import { lockDown } from "../lockdown/lockdown.ts";
import { createStatementMac } from "../outbox/statement_mac.ts";
import { createCaptchaCheck } from "./captcha/check_captcha.ts";
import { createCourier } from "./courier.ts";
import { readCourierSettings } from "./courier_settings.ts";
import { createSenders, describeSenders } from "./create_senders.ts";
import { checkWrittenAddress } from "./fetch/checked_addresses.ts";
import { createFetchJson, fetchLimits } from "./fetch/fetch_json.ts";
import { portsOf } from "./fetch/outgoing_url.ts";
import { answerIssuer } from "./issuers/answer_issuer.ts";
import { createIssuers } from "./issuers/issuers.ts";
import { limitNotes } from "./limit_notes.ts";
import { refuseListeners } from "./no_listeners.ts";
import { createExchanges } from "./oauth2/exchanges.ts";
import { readCourierKey } from "./read_courier_key.ts";
import { type CourierHandlers, serveGateway } from "./serve_gateway.ts";
import { keepMailboxTidy } from "./tidy_mailbox.ts";

// Everything it will ever run is loaded by now.
lockDown("courier");
refuseListeners();

const { courierKey, say } = await readCourierKey(4);
const note = (message: string) => say({ kind: "note", message });

// By itself Node would print the error, and a provider's answer in it may repeat an address.
process.on("uncaughtException", (error) => {
  const place = error.stack?.split("\n").find((line) => line.startsWith("    at "));
  note(`it ends because of an internal error (${error.name}${place === undefined ? "" : ` ${place.trim()}`})`);
  setImmediate(() => process.exit(1));
});

try {
  const settings = readCourierSettings(process.env);
  keepMailboxTidy(settings, { now: Date.now, note });
  const senders = createSenders(settings);
  const limitedNote = limitNotes(note, Date.now);
  const courier = createCourier({ courierKey, senders, now: Date.now, note: limitedNote });
  const { egress, issuers: allowed } = settings.fetching;
  const issuerRules = { egress, furtherPorts: portsOf(allowed ?? []) };
  const fetchJson = createFetchJson(issuerRules);
  const checkAddress = (url: string) => checkWrittenAddress(url, issuerRules);
  const mac = createStatementMac(courierKey);
  const issuers = createIssuers({ fetchJson, checkAddress, mac, allowed, now: Date.now, note: limitedNote });
  const { providers } = settings;
  const providerPorts = portsOf([...providers.values()].flatMap(({ tokenUrl, userUrl }) => [tokenUrl, userUrl]));
  const exchanges = createExchanges({
    courierKey,
    fetchJson: createFetchJson({ egress, furtherPorts: providerPorts }),
    providers,
    now: Date.now,
    note: limitedNote,
  });
  const { captcha } = settings;
  const checkCaptcha = createCaptchaCheck({
    // One host answers for all.
    fetchJson: createFetchJson({
      egress,
      furtherPorts: portsOf(captcha === undefined ? [] : [captcha.verifyUrl]),
      limits: { ...fetchLimits, perHost: fetchLimits.total },
    }),
    settings: captcha,
    note: limitedNote,
  });
  const handlers: CourierHandlers = {
    captcha: checkCaptcha,
    deliver: courier.deliver,
    issuer: (request) => answerIssuer(issuers, request),
    oauth2: exchanges.exchange,
  };
  const gateway = new Socket({ fd: 3, readable: true, writable: true });
  gateway.on("error", () => undefined);
  // The launcher starts a new courier for a new gateway.
  gateway.on("close", () => process.exit(0));
  serveGateway(gateway, handlers, (error) =>
    note(`closing the gateway's socket: ${error instanceof Error ? error.name : "error"}`),
  );
  note(describeSenders(settings));
  if (egress === "loopback") note("KEYSTEAD_DEV_EGRESS=loopback: issuers on this machine are asked, by http too");
} catch (error) {
  say({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
}
