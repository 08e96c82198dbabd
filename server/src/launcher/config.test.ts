import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { testAuthority } from "../../test/certificates.ts";
import { withLimits } from "../endpoints/limits.ts";
import { parseConfig } from "./config.ts";
import { limitNames } from "./limit_names.ts";
import { processes } from "./processes.ts";

const point = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";

test("without settings: port 8080 on loopback, ./data, a database file, no passphrase", () => {
  assert.deepEqual(parseConfig([], {}, "/srv/keystead"), {
    command: "serve",
    port: 8080,
    host: "127.0.0.1",
    dataFolder: "/srv/keystead/data",
    usesDatabaseServer: false,
    passphrase: undefined,
    rootPublicKey: undefined,
    organizationName: "Keystead",
    userIds: { gateway: 60801, signer: 60802, courier: 60803 },
    restartPauseMs: 5000,
    limits: {},
    codes: { hasSandboxCodes: false, allowsPlainAnswers: false },
    identities: { linkingIssuers: ["https://accounts.google.com"] },
    publicUrl: undefined,
    extraCertificates: undefined,
    proxy: { port: undefined, captchaSiteKey: undefined, channels: ["email", "sms"] },
    checkpointFile: undefined,
    oldKeySaved: false,
  });
});

test("settings and commands are read", () => {
  const env = {
    PORT: "0",
    KEYSTEAD_HOST: "::1",
    KEYSTEAD_DATA: "d",
    DATABASE_URL: "postgres://u:p@h/d",
    KEYSTEAD_PASSPHRASE: "ask",
    KEYSTEAD_LIMITS: '{"userTagsPerOrganization": 100}',
  };
  const config = parseConfig(["accept-database"], env, "/srv");
  assert.equal(config.command, "accept-database");
  assert.equal(config.port, 0);
  assert.equal(config.dataFolder, "/srv/d");
  assert.equal(config.usesDatabaseServer, true);
  assert.deepEqual(config.passphrase, { kind: "terminal" });
  assert.deepEqual(config.limits, { userTagsPerOrganization: 100 });
  assert.equal(parseConfig(["init", "--root-public-key", point.toUpperCase()], {}, "/").rootPublicKey, point);
  assert.equal(parseConfig(["init", `--root-public-key=${point}`], {}, "/").rootPublicKey, point);
  assert.equal(parseConfig(["rotate-keys", "--old-key-saved"], {}, "/").oldKeySaved, true);
  assert.equal(parseConfig(["rotate-keys"], {}, "/").oldKeySaved, false);
});

test("settings of messages in every form that is understood", () => {
  for (const env of [
    { SMTP_URL: "smtp://127.0.0.1:2525", KEYSTEAD_MAIL_FROM: "a@example.com" },
    { SMTP_URL: "smtps://u:p@mail.example", KEYSTEAD_MAIL_FROM: "Example Inc. <a@example.com>, b@example.com" },
    { KEYSTEAD_SMS_URL: "https://sms.example/send?from=1", KEYSTEAD_SMS_TOKEN: "t.o-k_e=n" },
    { KEYSTEAD_SMS_URL: "http://[::1]:9/send", KEYSTEAD_DEV_EGRESS: "loopback" },
    { KEYSTEAD_OIDC_ISSUERS: "https://accounts.google.com, https://tenant.example/,https://id.example:9443/realms/a" },
    { KEYSTEAD_OIDC_ISSUERS: "http://localhost:3000", KEYSTEAD_DEV_EGRESS: "loopback" },
  ]) {
    assert.equal(parseConfig([], env, "/").command, "serve");
  }
});

test("witnesses may be anywhere by http and https, and the checkpoint file is named by its full path", () => {
  assert.equal(parseConfig([], witnessesWith({}), "/srv").checkpointFile, undefined);
  assert.equal(parseConfig([], { KEYSTEAD_CHECKPOINT_FILE: "c/points" }, "/srv").checkpointFile, "/srv/c/points");
});

test("a file of further certificates is named by its full path, which the courier has from another folder", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "keystead-config-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "own.pem"), `# ours\n${testAuthority}\n${testAuthority}\n`);
  assert.equal(parseConfig([], { NODE_EXTRA_CA_CERTS: "own.pem" }, folder).extraCertificates, join(folder, "own.pem"));
  assert.equal(parseConfig([], {}, folder).extraCertificates, undefined);
  const refusal = { exitCode: 2, message: /^NODE_EXTRA_CA_CERTS must name a file of PEM certificates; / };
  for (const text of ["", "text", testAuthority.replace("MII", "AII")]) {
    writeFileSync(join(folder, "bad.pem"), text);
    assert.throws(() => parseConfig([], { NODE_EXTRA_CA_CERTS: "bad.pem" }, folder), refusal);
  }
  assert.throws(() => parseConfig([], { NODE_EXTRA_CA_CERTS: "missing.pem" }, folder), refusal);
});

test("settings of one-time codes are for the signer, and the code that everybody knows for development alone", () => {
  const env = { KEYSTEAD_DEV_OTP: "fixed", KEYSTEAD_OTP_PLAINTEXT: "allow" };
  assert.deepEqual(parseConfig([], env, "/").codes, { hasSandboxCodes: true, allowsPlainAnswers: true });
  for (const { settings } of Object.values(processes)) {
    for (const name of Object.keys(env)) assert.ok(!settings.includes(name), `${name} reaches no environment`);
  }
});

test("issuers whose e-mail addresses link accounts are read by the launcher alone, Google by default", () => {
  const linkingOf = (KEYSTEAD_OIDC_LINKING?: string) =>
    parseConfig([], KEYSTEAD_OIDC_LINKING === undefined ? {} : { KEYSTEAD_OIDC_LINKING }, "/").identities
      .linkingIssuers;
  assert.deepEqual(linkingOf(), ["https://accounts.google.com"]);
  assert.deepEqual(linkingOf("none"), []);
  assert.deepEqual(linkingOf("https://a.example, https://b.example/x"), ["https://a.example", "https://b.example/x"]);
  for (const { settings } of Object.values(processes)) assert.ok(!settings.includes("KEYSTEAD_OIDC_LINKING"));
});

test("the limits that can be set are those that the signer knows", () => {
  assert.deepEqual(limitNames, Object.keys(withLimits({})));
});

const wholeNumber = /^KEYSTEAD_LIMITS: `userTagsPerOrganization` must be a whole number of 0 or more$/;

const captchaAt = (verifyUrl: string) => ({
  KEYSTEAD_CAPTCHA: JSON.stringify({ siteKey: "a", secret: "b", verifyUrl }),
});

test("of a captcha provider the gateway gets the site key, and the courier the secret", () => {
  const loopback = { ...captchaAt("http://127.0.0.1:9/verify"), KEYSTEAD_DEV_EGRESS: "loopback" };
  for (const env of [loopback, captchaAt("https://captcha.example/verify")]) {
    assert.equal(parseConfig([], env, "/").proxy.captchaSiteKey, "a");
  }
  const having = Object.entries(processes).filter(([, { settings }]) => settings.includes("KEYSTEAD_CAPTCHA"));
  assert.deepEqual(
    having.map(([name]) => name),
    ["courier"],
  );
});

/** A good witness, and one that is changed. */
function witnessesWith(change: object): { KEYSTEAD_WITNESSES: string } {
  const good = { name: "w1", vkey: `w+${"0".repeat(8)}+${"A".repeat(44)}`, url: "https://w.example/a" };
  const second = { name: "w2", vkey: `w+${"1".repeat(8)}+${"B".repeat(44)}`, url: "http://10.0.0.7:8090", ...change };
  return { KEYSTEAD_WITNESSES: JSON.stringify([good, second]) };
}

const refused: [name: string, args: string[], env: Record<string, string>, message: RegExp][] = [
  ["port beyond the range", [], { PORT: "65536" }, /^PORT must be/],
  ["port that is no number", [], { PORT: "80a" }, /^PORT must be/],
  ["negative port", [], { PORT: "-1" }, /^PORT must be/],
  ["host with a space", [], { KEYSTEAD_HOST: "a b" }, /^KEYSTEAD_HOST/],
  ["folder with an asterisk", [], { KEYSTEAD_DATA: "a*" }, /^KEYSTEAD_DATA/],
  ["another database", [], { DATABASE_URL: "mysql://secret@h" }, /^DATABASE_URL must begin with postgres/],
  ["passphrase in the environment", [], { KEYSTEAD_PASSPHRASE: "secret" }, /takes only the word ask/],
  ["two sources", [], { KEYSTEAD_PASSPHRASE: "ask", KEYSTEAD_PASSPHRASE_FILE: "f" }, /not both/],
  ["root as a user id", [], { KEYSTEAD_SIGNER_UID: "0" }, /^KEYSTEAD_SIGNER_UID/],
  ["one id for two", [], { KEYSTEAD_SIGNER_UID: "60801" }, /must differ/],
  ["unknown command", ["destroy"], {}, /`destroy` is not understood; usage/],
  ["flag without value", ["init", "--root-public-key"], {}, /not understood/],
  ["public key with another command", ["--root-public-key", point], {}, /belongs to the command init/],
  ["point off the curve", ["init", "--root-public-key", `02${"f".repeat(64)}`], {}, /must be a P-256 point/],
  [
    "limits that are no JSON",
    [],
    { KEYSTEAD_LIMITS: "userTagsPerOrganization=secret" },
    /^KEYSTEAD_LIMITS must be JSON/,
  ],
  ["limits that are no object", [], { KEYSTEAD_LIMITS: "[1]" }, /^KEYSTEAD_LIMITS/],
  ["limits that are null", [], { KEYSTEAD_LIMITS: "null" }, /^KEYSTEAD_LIMITS/],
  ["a negative limit", [], { KEYSTEAD_LIMITS: '{"userTagsPerOrganization": -1}' }, wholeNumber],
  ["a limit that is no whole number", [], { KEYSTEAD_LIMITS: '{"userTagsPerOrganization": 1.5}' }, wholeNumber],
  ["a limit in quotes", [], { KEYSTEAD_LIMITS: '{"userTagsPerOrganization": "100"}' }, wholeNumber],
  ["a limit beyond what a number holds", [], { KEYSTEAD_LIMITS: '{"userTagsPerOrganization": 1e300}' }, wholeNumber],
  ["a limit that does not exist", [], { KEYSTEAD_LIMITS: '{"wallets": 1}' }, /no limit `wallets`; there are: userTags/],
  ["a limit with an inherited name", [], { KEYSTEAD_LIMITS: '{"constructor": 1}' }, /no limit `constructor`/],
  ["a saved key without a rotation", ["--old-key-saved"], {}, /belongs to the command rotate-keys/],
  ["mail to no server", [], { SMTP_URL: "secret@mail" }, /^SMTP_URL must be like/],
  ["mail by another protocol", [], { SMTP_URL: "https://u:secret@mail" }, /^SMTP_URL must be like/],
  ["mail from nobody", [], { SMTP_URL: "smtp://u:secret@mail" }, /^SMTP_URL needs KEYSTEAD_MAIL_FROM/],
  ["a sender that is no address", [], { KEYSTEAD_MAIL_FROM: "a@b.c, secret" }, /^KEYSTEAD_MAIL_FROM must be/],
  ["a sender with a line end", [], { KEYSTEAD_MAIL_FROM: "A\r\nBcc: x <a@b.c>" }, /^KEYSTEAD_MAIL_FROM must be/],
  ["text messages without TLS", [], { KEYSTEAD_SMS_URL: "http://sms/?k=secret" }, /^KEYSTEAD_SMS_URL must begin/],
  [
    "text messages without TLS to another machine",
    [],
    { KEYSTEAD_SMS_URL: "http://10.0.0.1/secret", KEYSTEAD_DEV_EGRESS: "loopback" },
    /^KEYSTEAD_SMS_URL must begin/,
  ],
  ["a password in the address", [], { KEYSTEAD_SMS_URL: "https://u:secret@sms" }, /^KEYSTEAD_SMS_URL must begin/],
  ["a token of two lines", [], { KEYSTEAD_SMS_TOKEN: "secret\nX: y" }, /^KEYSTEAD_SMS_TOKEN must be/],
  ["another egress", [], { KEYSTEAD_DEV_EGRESS: "all" }, /^KEYSTEAD_DEV_EGRESS takes only/],
  [
    "a public address with a query",
    [],
    { KEYSTEAD_PUBLIC_URL: "https://a.example/?b" },
    /^KEYSTEAD_PUBLIC_URL must be/,
  ],
  [
    "providers that are no JSON",
    [],
    { KEYSTEAD_OAUTH2_PROVIDERS: "x" },
    /^KEYSTEAD_OAUTH2_PROVIDERS must be JSON like/,
  ],
  ["an unknown provider", [], { KEYSTEAD_OAUTH2_PROVIDERS: '{"A":{}}' }, /^KEYSTEAD_OAUTH2_PROVIDERS: there is no `A`/],
  [
    "a provider without TLS",
    [],
    {
      KEYSTEAD_OAUTH2_PROVIDERS:
        '{"OAUTH2_PROVIDER_X":{"tokenUrl":"http://127.0.0.1/","userUrl":"https://a.example/"}}',
    },
    /needs tokenUrl and userUrl/,
  ],
  ["half a log", [], { KEYSTEAD_LOG: "off" }, /^KEYSTEAD_LOG must be public or private/],
  ["half an allowlist", [], { KEYSTEAD_IP_ALLOWLISTS: "off" }, /^KEYSTEAD_IP_ALLOWLISTS must be enforce or ignore/],
  [
    "an issuer without TLS",
    [],
    { KEYSTEAD_OIDC_ISSUERS: "http://a.example" },
    /^KEYSTEAD_OIDC_ISSUERS must be issuers/,
  ],
  [
    "an issuer without TLS on another machine",
    [],
    { KEYSTEAD_OIDC_ISSUERS: "http://10.0.0.1", KEYSTEAD_DEV_EGRESS: "loopback" },
    /`http:\/\/10.0.0.1` is none$/,
  ],
  [
    "an issuer in another spelling",
    [],
    { KEYSTEAD_OIDC_ISSUERS: "https://a.example,https://B.example" },
    /`https:\/\/B/,
  ],
  ["an issuer with a query", [], { KEYSTEAD_OIDC_ISSUERS: "https://a.example/?b" }, /^KEYSTEAD_OIDC_ISSUERS must be/],
  ["an issuer with a user name", [], { KEYSTEAD_OIDC_ISSUERS: "https://u@a.example" }, /^KEYSTEAD_OIDC_ISSUERS must/],
  ["an issuer that is none", [], { KEYSTEAD_OIDC_ISSUERS: "https://a.example," }, /^KEYSTEAD_OIDC_ISSUERS must be/],
  ["a proxy on the same port", [], { KEYSTEAD_PROXY_PORT: "8080" }, /^KEYSTEAD_PROXY_PORT must differ from PORT/],
  ["a proxy on no port", [], { KEYSTEAD_PROXY_PORT: "0" }, /^KEYSTEAD_PROXY_PORT must be a whole number/],
  ["a proxy by name", [], { KEYSTEAD_TRUSTED_PROXIES: "10.0.0.1, lb" }, /^KEYSTEAD_TRUSTED_PROXIES must be .* `lb`/],
  ["a block of 33 bits", [], { KEYSTEAD_TRUSTED_PROXIES: "10.0.0.0/33" }, /^KEYSTEAD_TRUSTED_PROXIES must be/],
  ["a budget of nothing", [], { KEYSTEAD_PROXY_BUDGETS: '{"logins":1}' }, /^KEYSTEAD_PROXY_BUDGETS must be JSON/],
  ["a negative budget", [], { KEYSTEAD_PROXY_BUDGETS: '{"lookUps":-1}' }, /^KEYSTEAD_PROXY_BUDGETS must be JSON/],
  ["a captcha by http", [], captchaAt("http://127.0.0.1:9"), /^KEYSTEAD_CAPTCHA must be JSON/],
  [
    "a captcha by http elsewhere",
    [],
    { ...captchaAt("http://captcha.example"), KEYSTEAD_DEV_EGRESS: "loopback" },
    /^KEYSTEAD_CAPTCHA must be JSON/,
  ],
  [
    "an unknown word of a captcha",
    [],
    { KEYSTEAD_CAPTCHA: '{"siteKey":"a","secret":"b","url":"c"}' },
    /^KEYSTEAD_CAPTCHA must be JSON/,
  ],
  ["a captcha without secret", [], { KEYSTEAD_CAPTCHA: '{"siteKey":"a"}' }, /^KEYSTEAD_CAPTCHA must be JSON/],
  [
    "witnesses that are no list",
    [],
    { KEYSTEAD_WITNESSES: "{}" },
    /^KEYSTEAD_WITNESSES must be a JSON list like \[\{"name"/,
  ],
  ["witnesses that are no JSON", [], { KEYSTEAD_WITNESSES: "w1" }, /^KEYSTEAD_WITNESSES must be a JSON list like/],
  ["a witness without a name", [], witnessesWith({ name: "" }), /^KEYSTEAD_WITNESSES: entry 2 needs a name/],
  ["a witness without a key", [], witnessesWith({ vkey: "w+1+2" }), /^KEYSTEAD_WITNESSES: entry 2 needs the vkey/],
  ["a witness by ftp", [], witnessesWith({ url: "ftp://w.example" }), /^KEYSTEAD_WITNESSES: entry 2 needs a url/],
  [
    "a witness with a password",
    [],
    witnessesWith({ url: "https://u:secret@w" }),
    /^KEYSTEAD_WITNESSES: entry 2 needs a/,
  ],
  [
    "an unknown word of a witness",
    [],
    witnessesWith({ key: 1 }),
    /^KEYSTEAD_WITNESSES: entry 2 has the unknown field `key`$/,
  ],
  [
    "two witnesses of one name",
    [],
    witnessesWith({ name: "w1" }),
    /^KEYSTEAD_WITNESSES: two entries have the name `w1`$/,
  ],
  [
    "two witnesses of one key",
    [],
    witnessesWith({ vkey: `w+${"0".repeat(8)}+${"A".repeat(44)}` }),
    /: two entries have the vkey/,
  ],
  [
    "a checkpoint file of all names",
    [],
    { KEYSTEAD_CHECKPOINT_FILE: "a*" },
    /^KEYSTEAD_CHECKPOINT_FILE must not contain/,
  ],
  ["contacts for no day", [], { KEYSTEAD_CONTACT_DAYS: "0" }, /^KEYSTEAD_CONTACT_DAYS must be/],
  [
    "linking by what is no issuer",
    [],
    { KEYSTEAD_OIDC_LINKING: "google" },
    /^KEYSTEAD_OIDC_LINKING must be issuers like/,
  ],
  ["another fixed code", [], { KEYSTEAD_DEV_OTP: "secret" }, /^KEYSTEAD_DEV_OTP takes only the word fixed$/],
  [
    "the fixed code beside real mail",
    [],
    { KEYSTEAD_DEV_OTP: "fixed", SMTP_URL: "smtp://u:secret@mail", KEYSTEAD_MAIL_FROM: "a@b.c" },
    /^KEYSTEAD_DEV_OTP=fixed is for development and cannot be set beside SMTP_URL$/,
  ],
  [
    "the fixed code beside real text messages",
    [],
    { KEYSTEAD_DEV_OTP: "fixed", KEYSTEAD_SMS_URL: "https://sms/secret" },
    /cannot be set beside KEYSTEAD_SMS_URL$/,
  ],
  ["plain answers in another word", [], { KEYSTEAD_OTP_PLAINTEXT: "yes" }, /^KEYSTEAD_OTP_PLAINTEXT takes only/],
  ["control characters in the name", [], { KEYSTEAD_ORGANIZATION_NAME: "a\nb" }, /^KEYSTEAD_ORGANIZATION_NAME/],
];
for (const [name, args, env, message] of refused) {
  test(`refused with exit code 2 and no secret: ${name}`, () => {
    assert.throws(
      () => parseConfig(args, env, "/"),
      (error: Error & { exitCode?: number }) => {
        assert.match(error.message, message);
        assert.equal(error.exitCode, 2);
        assert.doesNotMatch(error.message, /secret|\n/);
        return true;
      },
    );
  });
}
