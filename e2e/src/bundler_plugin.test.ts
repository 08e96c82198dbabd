/** The plugins of examples/bundler_plugin, on the published packages. That clients then work is shown by e2e/src/browser. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build, transformSync } from "esbuild";
import { keysteadKeys, keysteadKeysRollup } from "../../examples/bundler_plugin/keystead_keys.ts";
import { repository } from "./keystead_server.ts";

const key = (digit: string) => `04${digit.repeat(128)}`;
const keys = { signer: key("1"), notarizer: key("2"), otp: key("3"), clientSecretEncryption: key("4"), log: "5" };
const hosted = /046b4f88421f76b6/;

test("esbuild puts our keys in the place of the hosted service's, and changes nothing else", async () => {
  const contents = `export * from "@turnkey/crypto";`;
  const stdin = { contents, resolveDir: join(repository, "e2e") };
  const bundle = async (plugins: ReturnType<typeof keysteadKeys>[]) => {
    const { outputFiles } = await build({
      stdin,
      bundle: true,
      format: "esm",
      platform: "node",
      write: false,
      plugins,
    });
    return outputFiles[0]?.text ?? "";
  };
  const [plain, ours] = await Promise.all([bundle([]), bundle([keysteadKeys(keys)])]);
  assert.match(plain, hosted);
  assert.doesNotMatch(ours, hosted);
  const withoutKeys = (text: string) => text.replaceAll(/"04[0-9a-f]{128}"/g, '""');
  assert.equal(withoutKeys(ours), withoutKeys(plain));
  assert.match(ours, new RegExp(`PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY = "${keys.otp}"`));
});

test("Rollup and Vite get the same, in either module format, and other files as they are", () => {
  const { transform } = keysteadKeysRollup(keys);
  for (const file of ["constants.mjs", "constants.js"]) {
    const id = join(repository, "node_modules/@turnkey/crypto/dist", file);
    const code = readFileSync(id, "utf8");
    const changed = transform(code, `${id}?v=1`)?.code ?? "";
    assert.match(code, hosted);
    assert.doesNotMatch(changed, hosted);
    for (const name of ["signer", "notarizer", "otp", "clientSecretEncryption"] as const) {
      assert.ok(changed.includes(`"${keys[name]}"`), name);
    }
    assert.equal(transform(code, join(repository, "src/constants.js")), undefined);
  }
});

test("a build fails rather than keep a key of the hosted service, or take what is no key", () => {
  const id = "node_modules/@turnkey/crypto/dist/constants.mjs";
  const code = readFileSync(join(repository, id), "utf8");
  const renamed = code.replaceAll("PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY", "OTHER");
  assert.throws(() => keysteadKeysRollup(keys).transform(renamed, id), /has no PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY/);
  const bad = { ...keys, otp: `02${"3".repeat(64)}` };
  assert.throws(() => keysteadKeysRollup(bad).transform(code, id), /`otp` is not a key/);
});

/** The files of the kit with dialogs that ask for a code to a contact of a user who is signed in, and how many of them. */
const dialogs = {
  "components/user/UpdateEmail": 1,
  "components/user/UpdatePhoneNumber": 1,
  "providers/client/Provider": 4,
};
const kitFile = (name: string) => join(repository, "node_modules/@turnkey/react-wallet-kit/dist", name);
const withSessionKey = /getSession\(\)\.then\(.*\s.*verifyOtp\(\{[^}]*\bpublicKey: session\?\.publicKey/g;

test("the React kit's dialogs for contacts bind their tokens to the session's key, in either module format", () => {
  const { transform } = keysteadKeysRollup(keys);
  for (const [name, calls] of Object.entries(dialogs)) {
    for (const format of ["mjs", "js"]) {
      const id = kitFile(`${name}.${format}`);
      const changed = transform(readFileSync(id, "utf8"), id)?.code ?? "";
      assert.equal(changed.match(withSessionKey)?.length, calls, id);
      assert.match(changed, /getSession = react|getSession = useCallback|const \{ getSession \} = /);
      assert.doesNotThrow(() => transformSync(changed, { format: format === "mjs" ? "esm" : "cjs" }));
    }
  }
  const other = kitFile("components/auth/OTP.mjs");
  const code = readFileSync(other, "utf8");
  assert.equal(transform(code, other)?.code ?? code, code);
});

test("a build fails if the kit asks for codes differently, or in another file", () => {
  const { transform } = keysteadKeysRollup(keys);
  const id = kitFile("components/user/UpdateEmail.mjs");
  const code = readFileSync(id, "utf8");
  const differently = /this version of @turnkey\/react-wallet-kit asks for codes differently, in .*UpdateEmail\.mjs/;
  assert.throws(() => transform(code.replace("otpCode: otpCode", "otpCode: code"), id), differently);
  assert.throws(() => transform(code.replace("verifyOtp({", "client.verifyOtp({"), id), differently);
  assert.throws(() => transform(code.replace("= useTurnkey()", "= useClient()"), id), differently);
  assert.throws(() => transform(code, kitFile("index.mjs")), /asks for codes differently, in .*index\.mjs/);
});
