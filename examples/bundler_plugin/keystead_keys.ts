/**
 * `@turnkey/crypto` has the public keys of the hosted service built in, and `@turnkey/core` offers no way to pass others. These plugins
 * put your server's keys in their place when your application is bundled. `npx keystead keys show` prints them.
 */
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** The constants of `@turnkey/crypto`, and the name that each key has with us. */
const constants = {
  PRODUCTION_SIGNER_SIGN_PUBLIC_KEY: "signer",
  PRODUCTION_NOTARIZER_SIGN_PUBLIC_KEY: "notarizer",
  PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY: "otp",
  PRODUCTION_TLS_FETCHER_ENCRYPT_PUBLIC_KEY: "clientSecretEncryption",
} as const;

export type KeysteadPublicKeys = Readonly<Record<(typeof constants)[keyof typeof constants], string>>;

const name = "keystead-keys";
const constantsFile = /@turnkey[\\/]crypto[\\/]dist[\\/]constants\.m?js(\?.*)?$/;

/** For esbuild. */
export function keysteadKeys(keys: KeysteadPublicKeys): Plugin {
  return {
    name,
    setup({ onLoad }) {
      onLoad({ filter: constantsFile }, async ({ path }) => ({
        contents: withKeys(await readFile(path, "utf8"), keys),
      }));
    },
  };
}

/** For Rollup and Vite. */
export function keysteadKeysRollup(keys: KeysteadPublicKeys) {
  return {
    name,
    enforce: "pre" as const,
    transform: (code: string, id: string) =>
      constantsFile.test(id) ? { code: withKeys(code, keys), map: null } : undefined,
  };
}

/** Throws rather than leave a key of the hosted service in place: a later `@turnkey/crypto` may be written differently. */
function withKeys(code: string, keys: KeysteadPublicKeys): string {
  let changed = code;
  for (const [constant, keyName] of Object.entries(constants)) {
    const key = keys[keyName];
    if (!/^04[0-9a-f]{128}$/.test(key)) throw new Error(`${name}: \`${keyName}\` is not a key: ${key}`);
    const pinned = new RegExp(`(?<=\\b${constant}\\s*=\\s*)"04[0-9a-f]{128}"`);
    if (!pinned.test(changed)) throw new Error(`${name}: this version of @turnkey/crypto has no ${constant}`);
    changed = changed.replace(pinned, JSON.stringify(key));
  }
  return changed;
}
