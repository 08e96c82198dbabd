import type { Config } from "./config.ts";
import type { DataFolder } from "./data_folder.ts";
import type { ProcessRow } from "./processes.ts";
import { publicUrlOf } from "./public_url.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The environment of a process: the names in its row and no others. NODE_OPTIONS and its like widen permissions, a
 * NODE_COMPILE_CACHE that the gateway can write is code that the next gateway runs, and the rest of the operator's shell, other
 * processes' passwords included, does not concern it.
 */
export function environmentOf({ settings }: ProcessRow, env: Environment): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of settings) {
    const value = env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

/** The operator's settings, with those in their place that the launcher itself has read or chosen. */
export function withLauncherSettings(env: Environment, config: Config, data: DataFolder, port: number): Environment {
  return {
    ...env,
    PORT: String(port),
    KEYSTEAD_HOST: config.host,
    KEYSTEAD_DATABASE_FOLDER: data.database,
    KEYSTEAD_OUTBOX_FOLDER: data.outbox,
    KEYSTEAD_MODE: config.command,
    KEYSTEAD_PUBLIC_URL: publicUrlOf(config, port),
    NODE_EXTRA_CA_CERTS: config.extraCertificates,
    KEYSTEAD_CHANNELS: config.proxy.channels.join(","),
    KEYSTEAD_LINKING_ISSUERS: config.identities.linkingIssuers.join(","),
    KEYSTEAD_CAPTCHA_SITE_KEY: config.proxy.captchaSiteKey ?? "",
    KEYSTEAD_CHECKPOINT_FILE: config.checkpointFile,
  };
}
