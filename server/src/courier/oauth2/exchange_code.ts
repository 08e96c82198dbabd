/**
 * One exchange at a provider: the code for a bearer token (RFC 6749, section 4.1.3, with the verifier of RFC 7636), and the token for the
 * id of the user who has signed in.
 */
import { isUserId, type Oauth2Answer, type Oauth2Order, oauth2Limits } from "../../outbox/oauth2_order.ts";
import type { Oauth2Provider } from "../../state/oauth2_providers.ts";
import type { FetchedJson, FetchJson } from "../fetch/fetch_json.ts";
import type { ProviderAddresses } from "./providers.ts";

/** The provider has answered, and its answer is no. */
export class ExchangeRefused extends Error {
  override readonly name = "ExchangeRefused";
}

/** What an answer about the user looks like. */
const userIdIn: Readonly<Record<Oauth2Provider, (answer: unknown) => unknown>> = {
  OAUTH2_PROVIDER_ALPHA: (answer) => memberOf(memberOf(answer, "data"), "id"),
  OAUTH2_PROVIDER_BETA: (answer) => memberOf(answer, "id"),
};

/** Statuses by which providers say that a code or a client is not right. */
const refusals: readonly number[] = [400, 401, 403];

export async function exchangeCode(
  fetchJson: FetchJson,
  { tokenUrl, userUrl }: ProviderAddresses,
  order: Oauth2Order,
  now: () => number,
): Promise<Oauth2Answer> {
  const granted = await fetchJson({
    url: tokenUrl,
    method: "POST",
    ...grantRequest(order),
    statuses: [200, ...refusals],
  });
  const bearerToken = memberOf(read(granted, "the authorization code"), "access_token");
  if (typeof bearerToken !== "string" || !isBearerToken(bearerToken)) {
    throw new ExchangeRefused("the provider gave no bearer token that can be used");
  }
  const headers = { authorization: `Bearer ${bearerToken}` };
  const user = await fetchJson({ url: userUrl, headers, statuses: [200, ...refusals] });
  const userId = userIdIn[order.provider](read(user, "its own bearer token"));
  if (typeof userId !== "string" || !isUserId(userId)) throw new ExchangeRefused("the provider names no user");
  return { userId, bearerToken, exchangedAtMs: now() };
}

/** The client is named in the header, as RFC 6749 prefers, and once more in the body, where some providers look for it. */
function grantRequest({ clientId, clientSecret, authCode, redirectUri, codeVerifier }: Oauth2Order) {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: authCode,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
    client_id: clientId,
  });
  const client = `${formEncode(clientId)}:${formEncode(Buffer.from(clientSecret).toString("utf8"))}`;
  return {
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${Buffer.from(client).toString("base64")}`,
    },
    body: body.toString(),
  };
}

/** As `application/x-www-form-urlencoded` has it: RFC 6749, section 2.3.1. */
function formEncode(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

/** What a provider answers when it refuses is not repeated: it may have parts of the request in it. */
function read({ status, value }: FetchedJson, what: string): unknown {
  if (status === 200) return value;
  throw new ExchangeRefused(`the provider refuses ${what} (${status})`);
}

/** Of RFC 6750: whatever else it is, it must not begin another header. */
function isBearerToken(text: string): boolean {
  return text.length <= oauth2Limits.bearerTokenLength && /^[A-Za-z0-9._~+/-]+=*$/.test(text);
}

/** Own members alone. */
function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Record<string, unknown>)[name] : undefined;
}
