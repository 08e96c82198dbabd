import { withLimits } from "../endpoints/limits.ts";
import type { StoreSource } from "../store/store.ts";
import { parseTrustedProxies, type TrustedProxies } from "./http/caller_address.ts";
import { defaultBudgets, type ProxyBudgets } from "./proxy/address_budgets.ts";
import { parseWitnesses, type WitnessSetting } from "./witness/witness_settings.ts";

export type GatewaySettings = {
  host: string;
  port: number;
  source: StoreSource;
  /** `serve`, or the name of an operator's order. */
  mode: string;
  refusedBytesPerUserPerDay: number;
  /** For how many days rows are kept that tell of contacts. */
  contactDays: number;
  /** IP allowlists are not asked: for an operator who has shut everybody out. */
  ignoresIpAllowlists: boolean;
  /** What our own identity tokens have in `iss`; undefined where there are none. */
  publicUrl: string | undefined;
  trustedProxies: TrustedProxies;
  /** Of the auth proxy. */
  proxyPort: number | undefined;
  proxyBudgets: ProxyBudgets;
  /** Channels that messages can be sent by. */
  channels: readonly string[];
  captchaSiteKey: string | undefined;
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  linkingIssuers: ReadonlySet<string>;
  /** Nobody is served the public log. */
  hasPrivateLog: boolean;
  /** They cosign the checkpoints of the log. */
  witnesses: readonly WitnessSetting[];
  /** The file that every checkpoint of the log is appended to. */
  checkpointFile: string | undefined;
};

/** The launcher has read them and found them right, but for the keys of witnesses. */
export function readSettings(env: NodeJS.ProcessEnv): GatewaySettings {
  const { DATABASE_URL: url = "", KEYSTEAD_DATABASE_FOLDER: folder = "./data/database" } = env;
  const { refusedBytesPerUserPerDay } = withLimits(JSON.parse(env.KEYSTEAD_LIMITS || "{}"));
  return {
    host: env.KEYSTEAD_HOST ?? "127.0.0.1",
    port: Number(env.PORT ?? 8080),
    source: url === "" ? { kind: "sqlite", folder } : { kind: "postgres", url },
    mode: env.KEYSTEAD_MODE ?? "serve",
    refusedBytesPerUserPerDay,
    contactDays: Number(env.KEYSTEAD_CONTACT_DAYS || 30),
    ignoresIpAllowlists: env.KEYSTEAD_IP_ALLOWLISTS === "ignore",
    publicUrl: env.KEYSTEAD_PUBLIC_URL || undefined,
    trustedProxies: parseTrustedProxies(env.KEYSTEAD_TRUSTED_PROXIES ?? ""),
    proxyPort: env.KEYSTEAD_PROXY_PORT ? Number(env.KEYSTEAD_PROXY_PORT) : undefined,
    proxyBudgets: { ...defaultBudgets, ...JSON.parse(env.KEYSTEAD_PROXY_BUDGETS || "{}") },
    channels: listIn(env.KEYSTEAD_CHANNELS),
    linkingIssuers: new Set(listIn(env.KEYSTEAD_LINKING_ISSUERS)),
    captchaSiteKey: env.KEYSTEAD_CAPTCHA_SITE_KEY || undefined,
    hasPrivateLog: env.KEYSTEAD_LOG === "private",
    witnesses: parseWitnesses(env.KEYSTEAD_WITNESSES),
    checkpointFile: env.KEYSTEAD_CHECKPOINT_FILE || undefined,
  };
}

function listIn(text = ""): string[] {
  return text.split(",").filter((entry) => entry !== "");
}
