/**
 * `@turnkey/crypto` has the public keys of the hosted service built in, and `@turnkey/core` offers no way to pass others. These plugins
 * put your server's keys in their place when your application is bundled. `npx keystead keys show` prints them. And the dialogs of
 * `@turnkey/react-wallet-kit` in which a signed-in user proves an address or a number get a verification token for the session's key.
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
const kitFile = /@turnkey[\\/]react-wallet-kit[\\/]dist[\\/].*\.m?js(\?.*)?$/;

/** For esbuild. */
export function keysteadKeys(keys: KeysteadPublicKeys): Plugin {
  return {
    name,
    setup({ onLoad }) {
      onLoad({ filter: constantsFile }, async ({ path }) => ({
        contents: withKeys(await readFile(path, "utf8"), keys),
      }));
      onLoad({ filter: kitFile }, async ({ path }) => ({
        contents: withSessionKey(await readFile(path, "utf8"), path),
      }));
    },
  };
}

/** For Rollup and Vite. */
export function keysteadKeysRollup(keys: KeysteadPublicKeys) {
  return {
    name,
    enforce: "pre" as const,
    transform(code: string, id: string) {
      if (constantsFile.test(id)) return { code: withKeys(code, keys), map: null };
      return kitFile.test(id) ? { code: withSessionKey(code, id), map: null } : undefined;
    },
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

/** Where the kit's dialogs ask for a code to a contact, and how often. */
const dialogs: readonly [file: RegExp, count: number][] = [
  [/components[\\/]user[\\/]Update(Email|PhoneNumber)\.m?js/, 1],
  [/providers[\\/]client[\\/]Provider\.m?js/, 4],
];
const anyCall = /(?<![.\w])verifyOtp\(/g;
const dialogCall =
  /(?<![.\w])verifyOtp\(\{\s*otpId(: otpId)?,\s*otpCode(: otpCode)?,\s*otpEncryptionTargetBundle(: otpEncryptionTargetBundle)?\s*\}\)/g;
const boundCall = `getSession().then((session) =>
  verifyOtp({ otpId, otpCode, otpEncryptionTargetBundle, publicKey: session?.publicKey }))`;

/** The provider makes `getSession`; components take what they need of it from a hook. */
const ownGetSession = /\bgetSession = (react\.)?useCallback\(/;
const hookCall = /(?:var _useTurnkey|const \{[^{}]*\}) = ((?:Hook\.)?useTurnkey\(\))/;

/**
 * The kit has tokens bound to a key that it makes for each and never uses, and stamps the update of the contact with the session's key. The
 * server takes a token only from the key that it is bound to. Throws where a later kit is written differently.
 */
function withSessionKey(code: string, path: string): string {
  const count = dialogs.find(([file]) => file.test(path))?.[1] ?? 0;
  const hasGetSession = ownGetSession.test(code);
  const calls = [anyCall, dialogCall].map((call) => code.match(call)?.length ?? 0);
  if (calls.some((found) => found !== count) || (count > 0 && !hasGetSession && !hookCall.test(code))) {
    throw new Error(`${name}: this version of @turnkey/react-wallet-kit asks for codes differently, in ${path}`);
  }
  if (count === 0) return code;
  const scoped = hasGetSession ? code : code.replace(hookCall, "const { getSession } = $1; $&");
  return scoped.replace(dialogCall, boundCall);
}
