/** Checks the addresses of OAuth 2.0 providers. Only the courier gets them, and it starts later: a mistake must show at the start. */
import { allowsLoopback, isFetchedAddress } from "./fetch_settings.ts";
import { printable } from "./process_messages.ts";
import { Refusal } from "./refusal.ts";

type Environment = Record<string, string | undefined>;

/** In the specification's spelling and in that of published clients. */
const providers = [
  "OAUTH2_PROVIDER_ALPHA",
  "OAUTH2_PROVIDER_BETA",
  "OAUTH2_PROVIDER_X",
  "OAUTH2_PROVIDER_DISCORD",
] as const;

const form = `KEYSTEAD_OAUTH2_PROVIDERS must be JSON like {"OAUTH2_PROVIDER_X":{"tokenUrl":"https://…","userUrl":"https://…"}}`;

export function checkOauth2Providers(env: Environment): void {
  const { KEYSTEAD_OAUTH2_PROVIDERS: text } = env;
  if (!text) return;
  const mayBeHttp = allowsLoopback(env);
  for (const [name, addresses] of Object.entries(readObject(readJson(text)))) {
    if (!providers.some((provider) => provider === name)) {
      const known = providers.join(", ");
      throw new Refusal(`KEYSTEAD_OAUTH2_PROVIDERS: there is no \`${printable(name, 100)}\`; there are: ${known}`, 2);
    }
    const { tokenUrl, userUrl, ...others } = readObject(addresses);
    if (![tokenUrl, userUrl].every((url) => isFetchedAddress(url, mayBeHttp)) || Object.keys(others).length > 0) {
      throw new Refusal(
        `KEYSTEAD_OAUTH2_PROVIDERS: ${name} needs tokenUrl and userUrl, which begin with https:// (http:// only for this machine, ` +
          "under KEYSTEAD_DEV_EGRESS=loopback)",
        2,
      );
    }
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(form, 2);
  }
}

function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Refusal(form, 2);
  return { ...value };
}
