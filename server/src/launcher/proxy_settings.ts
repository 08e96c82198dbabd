/** Settings of the auth proxy, and of proxies in front of the server. Everything wrong shows at the start. */
import { isIP, isIPv6 } from "node:net";
import { allowsLoopback, isFetchedAddress } from "./fetch_settings.ts";
import { Refusal } from "./refusal.ts";

type Environment = Record<string, string | undefined>;

export type ProxySettings = {
  /** The port of the auth proxy, where it does not share the API's. */
  port: number | undefined;
  /** Of the captcha provider. The gateway gets it, because pages show it; the secret beside it goes to the courier alone. */
  captchaSiteKey: string | undefined;
  /** Channels that messages can be sent by. */
  channels: readonly string[];
};

export function parseProxySettings(env: Environment): ProxySettings {
  checkTrustedProxies(env.KEYSTEAD_TRUSTED_PROXIES);
  checkBudgets(env.KEYSTEAD_PROXY_BUDGETS);
  return {
    port: parsePort(env.KEYSTEAD_PROXY_PORT, env.PORT || "8080"),
    captchaSiteKey: parseCaptcha(env),
    channels: channelsOf(env),
  };
}

function parsePort(text: string | undefined, apiPort: string): number | undefined {
  if (!text) return undefined;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65535) {
    throw new Refusal(`KEYSTEAD_PROXY_PORT must be a whole number from 1 to 65535, not \`${text}\``, 2);
  }
  if (port === Number(apiPort)) {
    throw new Refusal("KEYSTEAD_PROXY_PORT must differ from PORT; leave it out to have both on one port", 2);
  }
  return port;
}

function checkTrustedProxies(text: string | undefined): void {
  for (const entry of (text ?? "").split(",").map((each) => each.trim())) {
    if (entry === "") continue;
    const [address = "", prefix] = entry.split("/");
    const bits = isIPv6(address) ? 128 : 32;
    const isBlock = prefix === undefined || (/^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bits);
    if (isIP(address) !== 0 && !address.includes("%") && isBlock) continue;
    throw new Refusal(
      `KEYSTEAD_TRUSTED_PROXIES must be IP addresses and CIDR blocks, separated by commas, not \`${entry}\``,
      2,
    );
  }
}

const budgetNames = ["signUps", "codes", "signIns", "lookUps"];

function checkBudgets(text: string | undefined): void {
  if (!text) return;
  const value = readObject(text);
  const isRight =
    value !== undefined &&
    Object.entries(value).every(
      ([name, budget]) => budgetNames.includes(name) && Number.isSafeInteger(budget) && Number(budget) >= 0,
    );
  if (isRight) return;
  throw new Refusal(
    'KEYSTEAD_PROXY_BUDGETS must be JSON like {"signUps": 100, "codes": 30, "signIns": 300, "lookUps": 600}: per hour and address',
    2,
  );
}

/** The value is not repeated: it holds a secret. */
function parseCaptcha(env: Environment): string | undefined {
  const { KEYSTEAD_CAPTCHA: text } = env;
  if (!text) return undefined;
  const { siteKey, secret, verifyUrl, ...others } = readObject(text) ?? {};
  const isWord = (word: unknown) => typeof word === "string" && /^[\x21-\x7e]{1,256}$/.test(word);
  const isRight =
    isWord(siteKey) &&
    isWord(secret) &&
    (verifyUrl === undefined || isFetchedAddress(verifyUrl, allowsLoopback(env))) &&
    Object.keys(others).length === 0;
  if (isRight) return siteKey as string;
  throw new Refusal(
    "KEYSTEAD_CAPTCHA must be JSON with both keys of the provider, as the guide to the auth proxy has it; its verifyUrl, if there " +
      "is one, begins with https:// (http:// only for this machine, under KEYSTEAD_DEV_EGRESS=loopback)",
    2,
  );
}

/** Without any provider both go to the mailbox folder. With one of them, the other channel fails. */
function channelsOf({ SMTP_URL: smtp, KEYSTEAD_SMS_URL: sms }: Environment): string[] {
  if (!smtp && !sms) return ["email", "sms"];
  return [...(smtp ? ["email"] : []), ...(sms ? ["sms"] : [])];
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
