/**
 * The auth proxy: what people without a credential ask of an organization, by the id of its configuration. Each path stands for one
 * activity, which the gateway writes and the signer lets through without a stamp, or for a look-up.
 */
import { Fault } from "@keystead/core/fault.ts";
import { countedContact } from "@keystead/core/otp/otp_types.ts";
import type { HTTPMethods } from "fastify";
import { readBody } from "../../endpoints/envelope.ts";
import { checkSchema } from "../../endpoints/explain_schema.ts";
import {
  type AccountRequest,
  accountRequest,
  identityLoginRequest,
  loginRequest,
  loginV2Request,
  providerSignInRequest,
  type SignUpRequestBody,
  signUpRequest,
  signUpV2Request,
  startCodeRequest,
  verifyCodeRequest,
  verifyCodeV2Request,
} from "../../fields/auth_proxy_requests.ts";
import type { Static, TObject } from "../../fields/schema.ts";
import { passed } from "../../state/steps.ts";
import { toFailure } from "../../views/error_body.ts";
import { askedFrom } from "../evidence/read_identity.ts";
import { nothingAt } from "../http/request_check.ts";
import { jsonContent, type Route, type RouteRequest, type Send } from "../http/route.ts";
import { findAccount } from "../proxy/account.ts";
import { createHourlyBudget, type HourlyBudget, type ProxyBudgets } from "../proxy/address_budgets.ts";
import { type Captcha, checkCaptcha } from "../proxy/captcha.ts";
import { oauth2CredentialOf, signInByIdentity } from "../proxy/identity_sign_in.ts";
import type { LinkingDependencies } from "../proxy/linking.ts";
import { createLiveCodes } from "../proxy/live_codes.ts";
import { type ProxyConfig, readProxyConfig } from "../proxy/proxy_configs.ts";
import { ProxyFailure, submitAsProxy } from "../proxy/proxy_submit.ts";
import { readProxyToken, subOrganizationOfToken } from "../proxy/proxy_tokens.ts";
import type { ProxyTurns } from "../proxy/proxy_turns.ts";
import { signUp } from "../proxy/sign_up.ts";
import { walletKitConfig } from "../proxy/wallet_kit.ts";

export type ProxyDependencies = LinkingDependencies & {
  turns: ProxyTurns;
  budgets: ProxyBudgets;
  /** Channels that messages can be sent by. */
  channels: readonly string[];
  captcha: Captcha | undefined;
};

/** Passkeys with their attestations, twice, because the client signature repeats them. */
const maxBodyBytes = 64 * 1024;

type Asked = { config: ProxyConfig; request: RouteRequest };
/** What the configuration alone tells. */
type Tell = (config: ProxyConfig) => unknown;
type Act = {
  schema: TObject;
  /** Each request takes one, as soon as it is known to be one. */
  budget: HourlyBudget;
  answer(asked: Asked, value: never): Promise<unknown>;
};
type Endpoint = Tell | Act;

const endpoint = <S extends TObject>(
  schema: S,
  budget: HourlyBudget,
  answer: (asked: Asked, value: Static<S>) => Promise<unknown>,
): Act => ({ schema, budget, answer: answer as Act["answer"] });

export function authProxyRoutes(dependencies: ProxyDependencies): Route[] {
  const signIns = createHourlyBudget(dependencies.budgets.signIns);
  const endpoints: Readonly<Record<string, Endpoint>> = {
    ...kitEndpoints(dependencies),
    ...codeEndpoints(dependencies, signIns),
    ...signInEndpoints(dependencies, signIns),
    ...identityEndpoints(dependencies, signIns),
  };
  const paths = Object.entries(endpoints);
  return [...paths.map(([path, each]) => toRoute(dependencies, path, each)), otherMethods(Object.keys(endpoints))];
}

/** Kits load both with an empty body, and show nothing where one of them fails. */
function kitEndpoints({ channels, captcha }: ProxyDependencies): Record<string, Tell> {
  return {
    wallet_kit_config: (config) => walletKitConfig(config, channels),
    wallet_kit_client_params: ({ settings }) =>
      settings.captchaEnabled && captcha !== undefined ? { turnstileSiteKey: captcha.siteKey } : {},
  };
}

function codeEndpoints(dependencies: ProxyDependencies, signIns: HourlyBudget): Record<string, Endpoint> {
  const budget = createHourlyBudget(dependencies.budgets.codes);
  const liveCodes = createLiveCodes();
  const start = (type: string) =>
    endpoint(startCodeRequest, budget, async ({ config, request }, { otpType, contact }) => {
      await checkCaptcha(config, request, dependencies.captcha);
      const lifeMs = config.settings.otpExpirationSeconds * 1000;
      const holder = `${config.organizationId} ${countedContact(otpType === "OTP_TYPE_SMS" ? "phone" : "email", contact)}`;
      const place = liveCodes.hold(holder, request.callerAddress, lifeMs);
      try {
        const result = await submitAsProxy<{ otpId: string }>(dependencies, config, {
          type,
          chosen: { otpType, contact },
        });
        place.started(result.otpId);
        return result;
      } catch (error) {
        place.giveBack();
        throw error;
      }
    });
  const verify = <S extends typeof verifyCodeRequest | typeof verifyCodeV2Request>(type: string, schema: S) =>
    endpoint(schema, signIns, async ({ config }, chosen) => {
      const result = await submitAsProxy(dependencies, config, { type, chosen });
      liveCodes.answered(chosen.otpId);
      return result;
    });
  return {
    otp_init: start("ACTIVITY_TYPE_INIT_OTP_V2"),
    otp_init_v2: start("ACTIVITY_TYPE_INIT_OTP_V3"),
    otp_verify: verify("ACTIVITY_TYPE_VERIFY_OTP", verifyCodeRequest),
    otp_verify_v2: verify("ACTIVITY_TYPE_VERIFY_OTP_V2", verifyCodeV2Request),
  };
}

function signInEndpoints(dependencies: ProxyDependencies, signIns: HourlyBudget): Record<string, Endpoint> {
  const budget = createHourlyBudget(dependencies.budgets.signUps);
  const lookUps = createHourlyBudget(dependencies.budgets.lookUps);
  const login = <S extends typeof loginRequest | typeof loginV2Request>(type: string, schema: S) =>
    endpoint(schema, signIns, async ({ config }, { organizationId: named, ...chosen }) => {
      const organizationId = named || (await subOrganizationOfToken(dependencies, config, chosen.verificationToken));
      return submitAsProxy(dependencies, config, { type, organizationId, chosen });
    });
  const signUpAs = <S extends TObject>(type: string, schema: S) =>
    endpoint(schema, budget, async ({ config, request }, value) => {
      const wanted = value as unknown as SignUpRequestBody;
      // Kits send no captcha where a code was answered: then the token must be one that we have issued. The same bytes get the same
      // answer, so they may come again with the same captcha.
      if (!wanted.verificationToken) await checkCaptcha(config, request, dependencies.captcha, { mayRepeat: true });
      else if (config.settings.captchaEnabled) readProxyToken(dependencies, config, wanted.verificationToken);
      const asking = askedFrom(dependencies, request.callerAddress);
      return signUp(asking, config, { type, request: wanted, body: request.body });
    });
  return {
    account: endpoint(accountRequest, lookUps, async ({ config, request }, value: AccountRequest) =>
      findAccount(askedFrom(dependencies, request.callerAddress), config, value),
    ),
    otp_login: login("ACTIVITY_TYPE_OTP_LOGIN", loginRequest),
    otp_login_v2: login("ACTIVITY_TYPE_OTP_LOGIN_V2", loginV2Request),
    signup: signUpAs("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", signUpRequest),
    signup_v2: signUpAs("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", signUpV2Request),
  };
}

/** Each may have the courier ask an issuer or a provider. */
function identityEndpoints(dependencies: ProxyDependencies, signIns: HourlyBudget): Record<string, Endpoint> {
  return {
    oauth_login: endpoint(identityLoginRequest, signIns, async ({ config, request }, value) =>
      signInByIdentity(askedFrom(dependencies, request.callerAddress), config, value),
    ),
    oauth2_authenticate: endpoint(providerSignInRequest, signIns, async ({ config }, value) => {
      const { provider, clientId, ...exchanged } = value;
      const oauth2CredentialId = await oauth2CredentialOf(dependencies, config, { provider, clientId });
      const chosen = { oauth2CredentialId, ...exchanged };
      return submitAsProxy(dependencies, config, { type: "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", chosen });
    }),
  };
}

function toRoute(dependencies: ProxyDependencies, path: string, endpoint: Endpoint): Route {
  return {
    method: "POST",
    path: `/v1/${path}`,
    limits: { bodyBytes: maxBodyBytes, mayBeEmpty: true },
    metric: { kind: "proxy", path },
    handle: typeof endpoint === "function" ? telling(dependencies, endpoint) : acting(dependencies, endpoint),
  };
}

/** Nothing else is done for these, so they are also answered within their turn. */
function telling({ store, turns }: ProxyDependencies, tell: Tell): Route["handle"] {
  return (request, send) =>
    turns.take(request.callerAddress, request.body.length, () =>
      answering(send, async () => tell(await readConfig(store, request))),
    );
}

function acting({ store, turns }: ProxyDependencies, { schema, budget, answer }: Act): Route["handle"] {
  return async (request, send) => {
    const { callerAddress, body } = request;
    // Whoever goes on asking has nothing read, from the body or from the database. Nor is it known yet which pages may see an answer, so
    // any page can see this one: it tells that its visitor's address has spent a budget, and nothing of a configuration.
    budget.check(callerAddress);
    const asked = await turns.take(callerAddress, body.length, async () => {
      const config = await readConfig(store, request);
      return { config, value: readValue(schema, body) };
    });
    await answering(send, () => {
      budget.take(callerAddress);
      return answer({ config: asked.config, request }, asked.value as never);
    });
  };
}

async function readConfig(store: ProxyDependencies["store"], request: RouteRequest): Promise<ProxyConfig> {
  const config = await readProxyConfig(store, request);
  passed("arrived");
  return config;
}

/** What a failed activity says is an HTTP error here: there is no activity around the answer that could say it. */
async function answering(send: Send, answer: () => Promise<unknown>): Promise<void> {
  try {
    const value = await answer();
    passed("answering");
    send(jsonContent(200, value));
    passed("answered");
  } catch (error) {
    if (!(error instanceof ProxyFailure)) throw error;
    send({ kind: "failure", failure: error.failure });
  }
}

/** Optional texts that are empty or null were left open. */
function readValue(schema: TObject, body: Uint8Array): unknown {
  if (body.length === 0) throw new Fault("invalid_argument", "bad request body: empty");
  const required: readonly string[] = (schema as { required?: string[] }).required ?? [];
  const given = Object.entries(readBody(body)).filter(
    ([name, value]) => required.includes(name) || (value !== null && value !== ""),
  );
  const value = Object.fromEntries(given.filter(([name]) => Object.hasOwn(schema.properties, name)));
  checkSchema(schema, value);
  return value;
}

const refusedMethods: HTTPMethods[] = ["GET", "PUT", "PATCH", "DELETE"];

function otherMethods(paths: readonly string[]): Route {
  const failure = toFailure(new Fault("unimplemented", "only POST is accepted here"));
  return {
    method: refusedMethods,
    path: "/v1/:path",
    limits: { bodyBytes: 0 },
    handle(request, send) {
      if (!paths.includes(request.params.path ?? "")) throw nothingAt(request);
      send({ kind: "failure", failure, status: 405, headers: { allow: "POST, OPTIONS" } });
    },
  };
}
