import type { Config } from "./config.ts";
import type { DataFolder } from "./data_folder.ts";

/**
 * The gateway's environment: an allow-list, because NODE_OPTIONS and its like widen permissions and because whatever else the operator's
 * shell holds is none of the gateway's business. The signer's is empty. No NODE_COMPILE_CACHE: the gateway could write code into it that
 * the next gateway runs.
 */
export function gatewayEnvironment(
  env: Record<string, string | undefined>,
  config: Config,
  data: DataFolder,
): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isPassed(name)) passed[name] = value;
  }
  return {
    ...passed,
    PORT: String(config.port),
    KEYSTEAD_HOST: config.host,
    KEYSTEAD_DATABASE_FOLDER: data.database,
    KEYSTEAD_MODE: config.command,
  };
}

function isPassed(name: string): boolean {
  return name === "DATABASE_URL" || (name.startsWith("KEYSTEAD_") && !name.startsWith("KEYSTEAD_PASSPHRASE"));
}
