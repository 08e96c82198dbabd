import { urlOf } from "./bootstrap.ts";
import type { Config } from "./config.ts";

/** How this deployment is called as an issuer: as the operator says, or by where it listens. Undefined while nobody knows that. */
export function publicUrlOf({ publicUrl, host }: Pick<Config, "publicUrl" | "host">, port: number): string | undefined {
  return publicUrl ?? (port === 0 ? undefined : urlOf(host, port));
}
