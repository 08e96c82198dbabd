/**
 * Orders of the signer to exchange codes. A body's code is exchanged once in this process's life, however often a gateway asks: its answer
 * is given again while it can be used. A provider would refuse the code the second time, and some end all that the first one gave.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { Oauth2Error, Oauth2Reply, Oauth2Request } from "../../frames/courier_messages.ts";
import { openOrder, orderLifeMs, sealAnswer } from "../../outbox/oauth2_order.ts";
import { oauth2Providers } from "../../state/oauth2_providers.ts";
import { FetchFailure } from "../fetch/fetch_failure.ts";
import type { FetchJson } from "../fetch/fetch_json.ts";
import { ExchangeRefused, exchangeCode } from "./exchange_code.ts";
import type { ProviderTable } from "./providers.ts";

export type ExchangeDependencies = {
  courierKey: Uint8Array;
  fetchJson: FetchJson;
  providers: ProviderTable;
  now(): number;
  /** A failure, in words for the operator. */
  note(message: string): void;
};

export type Exchanges = { exchange(request: Oauth2Request): Promise<Oauth2Reply> };

/** Each is an answer of some kilobytes. */
const mostRemembered = 10_000;
const mostAtOnce = 32;

/** How far the clocks of signer and courier may be apart; on one host they are one. */
const clockSkewMs = 60_000;

type Known = { endsAtMs: number; reply: Promise<Oauth2Reply> };

export function createExchanges(dependencies: ExchangeDependencies): Exchanges {
  const { courierKey, fetchJson, providers, now, note } = dependencies;
  const known = new Map<string, Known>();
  let atOnce = 0;

  function forgetEnded(): void {
    for (const [key, { endsAtMs }] of known) if (endsAtMs <= now()) known.delete(key);
  }

  async function exchange(request: Oauth2Request): Promise<Oauth2Reply> {
    const place = { organizationId: request.organizationId, fingerprint: request.fingerprint };
    const order = openOrder(courierKey, place, request.order);
    if (order === undefined) return failed("invalid", "the order is not the signer's");
    const ageMs = now() - order.sealedAtMs;
    if (ageMs > orderLifeMs || ageMs < -clockSkewMs) return failed("invalid", "the order is over");
    const { published } = oauth2Providers[order.provider];
    const addresses = providers.get(order.provider);
    if (addresses === undefined)
      return failed("unconfigured", `${published} is not configured: name it in KEYSTEAD_OAUTH2_PROVIDERS`);
    if (atOnce >= mostAtOnce) return failed("busy", "too many codes are exchanged at once; try again");
    atOnce += 1;
    try {
      const answer = await exchangeCode(fetchJson, addresses, order, now);
      return { kind: "answer", value: { sealed: sealAnswer(courierKey, place, order, answer) } };
    } catch (error) {
      if (error instanceof ExchangeRefused) return failed("refused", `${published}: ${error.message}`);
      if (!(error instanceof FetchFailure)) throw error;
      note(`${published}: ${error.message}`);
      return failed(error.kind === "busy" ? "busy" : "unreachable", `${published}: ${error.message}`);
    } finally {
      atOnce -= 1;
    }
  }

  return {
    exchange(request) {
      const key = `${request.organizationId} ${toHex(request.fingerprint)}`;
      if (known.size >= mostRemembered) forgetEnded();
      const before = known.get(key);
      if (before !== undefined && before.endsAtMs > now()) return before.reply;
      if (known.size >= mostRemembered) {
        return Promise.resolve(failed("busy", "too many codes were exchanged lately; try again"));
      }
      const reply = exchange(request);
      known.set(key, { endsAtMs: now() + orderLifeMs, reply });
      const forget = () => known.delete(key);
      // Where the provider did not answer, it will say itself whether the code is still good.
      void reply.then(({ kind, value }) => kind === "failed" && value.error !== "refused" && forget(), forget);
      return reply;
    },
  };
}

function failed(error: Oauth2Error, reason: string): Oauth2Reply {
  return { kind: "failed", value: { error, reason } };
}
