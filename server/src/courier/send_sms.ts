/** Text messages: one POST of `{id, to, text}` to the operator's gateway. */
import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { SmsSettings } from "./courier_settings.ts";
import { DeliveryFailure } from "./delivery_failure.ts";
import { codeOf, isTlsError } from "./fetch/connection_error.ts";
import { renderMessage } from "./render.ts";
import type { Sender } from "./sender.ts";

const timeoutMs = 20_000;

export function createSmsSender(settings: SmsSettings): Sender {
  return async (messageId, message) => {
    const body = JSON.stringify({ id: messageId, to: message.to, text: renderMessage(message).text });
    const status = await post(settings, body);
    if (status >= 200 && status < 300) return;
    throw toFailure(status, settings.url.host);
  };
}

/** The status of the answer. Redirects are not followed: the setting says where messages go. */
function post({ url, token }: SmsSettings, body: string): Promise<number> {
  const begin = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(toConnectionFailure(error, url.host));
    const request: ClientRequest = begin(url, {
      method: "POST",
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    request.on("error", fail);
    request.on("response", (response) => {
      // What it says besides may repeat the number and the text.
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.end(body);
  });
}

function toFailure(status: number, host: string): DeliveryFailure {
  const said = `the text message gateway ${host} answers ${status}`;
  if (status === 401 || status === 403) return new DeliveryFailure("authentication", false, said);
  const isForLater = status >= 500 || [408, 425, 429].includes(status);
  return isForLater ? new DeliveryFailure("deferred", false, said) : new DeliveryFailure("rejected", true, said);
}

function toConnectionFailure(error: Error, host: string): DeliveryFailure {
  const kind = isTlsError(error) ? "tls" : "unreachable";
  return new DeliveryFailure(kind, false, `the text message gateway ${host} cannot be reached (${codeOf(error)})`);
}
