import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { parseStamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { testCurves } from "../../core/test/test_curves.ts";
import { type Run, runKeystead } from "../test/run_keystead.ts";

const folder = mkdtempSync(join(tmpdir(), "keystead-cli-"));
const privateKey = Buffer.alloc(32, 7);
const { publicKey } = parseStamp(testCurves, signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", Buffer.from("")));

type Received = { url: string; body: string; key: string };
const received: Received[] = [];

/** Answers every request with what it received; refuses a bad stamp, and whatever asks to be refused. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const bytes = Buffer.concat(chunks);
    const stamp = parseStamp(testCurves, String(request.headers["x-stamp"]));
    received.push({ url: request.url ?? "", body: bytes.toString(), key: stamp.publicKey });
    const refused = !verifyStamp(testCurves, stamp, bytes) || bytes.includes("refuse me");
    const late = bytes.includes('"late"');
    const misfit = bytes.includes('"misfit"');
    response.writeHead(refused ? 401 : late || misfit ? 400 : 200, { "content-type": "application/json" });
    const refusal = { code: 16, message: "could not\nverify", details: [], errorCode: "SIGNATURE_INVALID" };
    const answer = {
      received: JSON.parse(bytes.toString()),
      ...(bytes.includes('"rejected"') && { activity: { status: "ACTIVITY_STATUS_REJECTED" } }),
      ...(bytes.includes('"waits"') && {
        activity: { id: "a-1", status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", fingerprint: "sha256:00" },
      }),
      ...(request.url?.endsWith("get_policy_evaluations") && {
        policyEvaluations: [{ policyEvaluations: [{ policyId: "p-1", outcome: "OUTCOME_REQUIRES_CONSENSUS" }] }],
      }),
      ...(request.url?.endsWith("list_policies") && { policies: [{ policyId: "p-1", policyName: "Two treasurers" }] }),
      ...(request.url?.endsWith("get_policy") && {
        policy: { policyName: "old", effect: "EFFECT_ALLOW", condition: "1 == 2", consensus: "", time: "" },
      }),
    };
    const tooLate = { ...refusal, code: 3, message: "request timestamp is outside the allowed window" };
    const missing = { ...refusal, code: 3, message: "invalid request body: missing field `userIds`" };
    response.end(JSON.stringify(refused ? refusal : late ? tooLate : misfit ? missing : answer));
  });
});

let profile: Record<string, string>;

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  profile = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    organizationId: "org-1",
    apiPublicKey: publicKey,
    apiPrivateKey: privateKey.toString("hex"),
  };
});

beforeEach(() => {
  received.length = 0;
  writeFileSync(join(folder, "bootstrap.json"), JSON.stringify(profile));
});

after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function keystead(
  args: string[],
  { stdin = "", env = {} }: { stdin?: string; env?: Record<string, string> } = {},
): Promise<Run> {
  return runKeystead(args, { stdin, cwd: folder, env: { KEYSTEAD_DATA: folder, ...env } });
}

/** A failure is one line on stderr, nothing on stdout. */
function assertRefused(run: Run, code: number, message: RegExp): void {
  assert.equal(run.code, code, run.stderr);
  assert.equal(run.stdout, "");
  assert.match(run.stderr, message);
  assert.match(run.stderr, /^keystead: [^\n]+\n$/);
}

describe("the command line", { concurrency: 2 }, () => {
  test("help and list need no server and no profile", async () => {
    const env = { KEYSTEAD_DATA: join(folder, "nowhere") };
    for (const args of [[], ["help"], ["--help"]]) {
      const { code, stdout } = await keystead(args, { env });
      assert.equal(code, 0);
      assert.match(stdout, /request NAME \[JSON \| -\]/);
      assert.match(stdout, /policy test FILE…/);
    }
    const { code, stdout } = await keystead(["list"], { env });
    assert.equal(code, 0);
    // Names and purposes, one line each.
    assert.match(stdout, /\ncreate_user_tag +Create a user tag[^\n]*\ncreate_users /);
    assert.ok(!stdout.includes("userTagName"));
  });

  test("every command and every endpoint has help of its own", async () => {
    const helps: [string[], RegExp][] = [
      [["request", "--help"], /^usage: npx keystead request NAME \[JSON \| -\]\n(.*\n)+ {2}--idempotency-key K /],
      [["help", "policy", "apply"], /^usage: npx keystead policy apply FILE…(.*\n)+ {2}--check /],
      [
        ["policy", "check", "--help"],
        /^usage: npx keystead policy check FILE… \[--strict\]\n.*\n\nFlags:\n {2}--strict .*\n$/,
      ],
      [["keys", "--help"], /^usage: npx keystead keys show\n(.*\n)+usage: npx keystead keys rotate --old-key-saved\n/],
      [["policy", "--help"], /^usage: npx keystead policy check (.*\n)+usage: npx keystead policy apply /],
      [["version", "--help"], /^usage: npx keystead version\n.*\n$/],
    ];
    for (const [args, text] of helps) {
      const { code, stdout } = await keystead(args);
      assert.equal(code, 0);
      assert.match(stdout, text);
    }
    const [asked, listed] = await Promise.all([
      keystead(["request", "create_wallet", "--help"]),
      keystead(["list", "create_wallet"]),
    ]);
    assert.deepEqual(asked, listed);
    assert.match(asked.stdout, /\n {4}addressFormat +ADDRESS_FORMAT_…: How .*\n {4}name\? +text: Human-readable .*\n/);
    assert.match(asked.stdout, /\nADDRESS_FORMAT_…:\n {2}UNCOMPRESSED COMPRESSED ETHEREUM /);
    const [, body = ""] = /\nnpx keystead request create_wallet - <<'JSON'\n(.*)\nJSON\n$/.exec(asked.stdout) ?? [];
    assert.deepEqual(Object.keys(JSON.parse(body)), ["walletName", "accounts"]);
  });

  test("the version is the package's", async () => {
    for (const args of [["version"], ["--version"]]) {
      const { code, stdout } = await keystead(args);
      assert.equal(code, 0);
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    }
  });

  test("misuse is exit code 2", async () => {
    const misuses: [string[], RegExp][] = [
      [["frobnicate"], /no command `frobnicate`/],
      [["lst"], /no command `lst`; did you mean `list`\? see `npx keystead help`$/m],
      [["help", "lst"], /no command `lst`; did you mean `list`\?/],
      [
        ["request", "create_walet"],
        /no endpoint `create_walet`; did you mean `create_wallet`\? `npx keystead list` names/,
      ],
      [["list", "create_walet"], /did you mean `create_wallet`/],
      [["generate-key"], /needs the name of a file/],
      [["policy", "apply", "x.json", "--check", "--yes"], /one of them/],
      [["whoami", "--frobnicate"], /: unknown option `--frobnicate`; see `npx keystead help`$/m],
      [["whoami", "--url"], /argument missing; see `npx keystead help`$/m],
      [["whoami", "now"], /`now` is one argument too many/],
      [["request"], /needs the name/],
      [["request", "frobnicate"], /: there is no endpoint `frobnicate`; `npx keystead list` names them all$/m],
      [["request", "constructor"], /no endpoint `constructor`/],
      [["request", "whoami", "{"], /not JSON: .*; npx keystead request whoami --help shows what it takes$/m],
      [["request", "whoami", "[]"], /not a JSON object/],
      [["init"], /needs --root-public-key/],
      [["keys"], /show, rotate/],
      [["keys", "hide"], /show, rotate/],
      [["keys", "rotate", "now"], /`now` is one argument too many/],
      [["whoami", "--url", "ftp://x"], /not an http address/],
      [["policy"], /policy can do one of these: check, test, explain, apply/],
      [["policy", "guess"], /policy can do one of these/],
      [["policy", "check"], /needs a file of policies/],
      [["policy", "test"], /needs a file of test cases/],
      [["policy", "explain"], /needs the id of an activity/],
      [["policy", "apply"], /needs a file of policies/],
    ];
    for (const [args, message] of misuses) assertRefused(await keystead(args), 2, message);
  });
});

test("whoami asks with the profile's key for the profile's organization", async () => {
  const { code, stdout, stderr } = await keystead(["whoami"]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  assert.equal(stdout, `${JSON.stringify({ received: { organizationId: "org-1" } }, null, 2)}\n`);
  assert.deepEqual(
    received.map(({ url, key }) => [url, key]),
    [["/public/v1/query/whoami", publicKey]],
  );
});

test("an activity is wrapped in its envelope, its parameters from the argument or from stdin", async () => {
  const parameters = { userTagName: "ops", userIds: [] };
  const runs = [
    await keystead(["request", "create_user_tag", JSON.stringify(parameters)]),
    await keystead(["request", "create_user_tag", "-", "--organization", "org-2"], {
      stdin: JSON.stringify(parameters),
    }),
  ];
  for (const [i, { code, stdout }] of runs.entries()) {
    assert.equal(code, 0);
    const { timestampMs, ...body } = JSON.parse(stdout).received;
    assert.match(timestampMs, /^[0-9]{13}$/);
    const organizationId = i === 0 ? "org-1" : "org-2";
    assert.deepEqual(body, { type: "ACTIVITY_TYPE_CREATE_USER_TAG", organizationId, parameters });
    assert.equal(received[i]?.url, "/public/v1/submit/create_user_tag");
  }
});

test("a query gets the organization filled in unless its body names one", async () => {
  assert.equal((await keystead(["request", "whoami"])).code, 0);
  assert.equal((await keystead(["request", "whoami", '{"organizationId":"org-9"}'])).code, 0);
  assert.deepEqual(
    received.map(({ body }) => body),
    ['{"organizationId":"org-1"}', '{"organizationId":"org-9"}'],
  );
});

test("a raw path sends the body byte for byte", async () => {
  const text = '{ "organizationId" : "org-1", "n": 1.0 }';
  assert.equal((await keystead(["request", "/public/v1/query/anything", text])).code, 0);
  assert.deepEqual(received, [{ url: "/public/v1/query/anything", body: text, key: publicKey }]);
});

test("a refusal of the server is one line and exit code 1", async () => {
  const run = await keystead(["request", "whoami", '{"organizationId":"refuse me"}']);
  assertRefused(run, 1, /could not verify \(HTTP 401, SIGNATURE_INVALID\)/);
});

test("a server that is not there is named", async () => {
  const run = await keystead(["whoami", "--url", "http://127.0.0.1:9"]);
  assertRefused(
    run,
    1,
    /cannot reach http:\/\/127\.0\.0\.1:9: .+; if the server is not running, start it with `npm start`$/m,
  );
});

test("a missing or broken profile is named, and its contents are not", async () => {
  assertRefused(await keystead(["whoami", "--profile", "nowhere.json"]), 1, /there is no profile nowhere\.json/);
  const noData = await keystead(["whoami"], { env: { KEYSTEAD_DATA: "nowhere" } });
  assertRefused(
    noData,
    1,
    /there is no profile nowhere\/bootstrap\.json; start the server first \(`npm start`\), or set KEYSTEAD_DATA/,
  );
  writeFileSync(join(folder, "broken.json"), '{"apiPrivateKey": "secret-text');
  const broken = await keystead(["whoami", "--profile", "broken.json"]);
  assertRefused(broken, 1, /broken\.json is not a JSON object/);
  assert.ok(!broken.stderr.includes("secret-text"));
});

test("a profile without a private key says how to pass one, and --api-key-file is that way", async () => {
  const { apiPrivateKey, ...rest } = profile;
  writeFileSync(join(folder, "bootstrap.json"), JSON.stringify(rest));
  assertRefused(await keystead(["whoami"]), 1, /no apiPrivateKey; pass --api-key-file FILE/);
  writeFileSync(join(folder, "api.key"), `${apiPrivateKey}\n`);
  assert.equal((await keystead(["whoami", "--api-key-file", "api.key"])).code, 0);
  assert.equal(received[0]?.key, publicKey);
});

test("a key file that holds no key is named, and its contents are not", async () => {
  const whoami = (name: string) => keystead(["whoami", "--api-key-file", name]);
  writeFileSync(join(folder, "bad.key"), "secret-text\n");
  const bad = await whoami("bad.key");
  assertRefused(bad, 1, /^keystead: bad\.key: the API private key is not hex$/m);
  assert.ok(!bad.stderr.includes("secret-text"));
  writeFileSync(join(folder, "short.key"), "08".repeat(31));
  assertRefused(
    await whoami("short.key"),
    1,
    /^keystead: short\.key: the API private key has 31 bytes instead of 32$/m,
  );
  assertRefused(
    await whoami("bootstrap.json"),
    2,
    /^keystead: bootstrap\.json is a profile; use --profile bootstrap\.json$/m,
  );
});

test("flags can stand in for the whole profile", async () => {
  writeFileSync(join(folder, "api.key"), "08".repeat(32));
  const args = ["whoami", "--url", profile.baseUrl ?? "", "--organization", "org-7", "--api-key-file", "api.key"];
  const { code, stderr } = await keystead(args, { env: { KEYSTEAD_DATA: join(folder, "nowhere") } });
  assert.equal(code, 0, stderr);
  assert.equal(received[0]?.body, '{"organizationId":"org-7"}');
  assert.notEqual(received[0]?.key, publicKey);
});

test("the public keys are shown as the server's data folder has them", async () => {
  const data = join(folder, "shown");
  const show = () => keystead(["keys", "show"], { env: { KEYSTEAD_DATA: data } });
  assertRefused(
    await show(),
    1,
    /there is no .*public_keys\.json: the server writes it when it starts; set KEYSTEAD_DATA/,
  );
  mkdirSync(data);
  writeFileSync(join(data, "public_keys.json"), '{"publicKeys":{"signer":"04"}}\n');
  assert.deepEqual(await show(), { code: 0, stdout: '{"publicKeys":{"signer":"04"}}\n', stderr: "" });
});

test("a key is made in a file of its own, and never over another", async () => {
  const made = await keystead(["generate-key", "new.key"]);
  assert.equal(made.code, 0, made.stderr);
  const path = join(folder, "new.key");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.match(readFileSync(path, "utf8"), /^[0-9a-f]{64}\n$/);
  assert.equal((await keystead(["whoami", "--api-key-file", "new.key"])).code, 0);
  assert.equal(received[0]?.key, made.stdout.trim());
  assertRefused(
    await keystead(["generate-key", "new.key"]),
    1,
    /new\.key exists and may be a key in use: name another/,
  );
  assertRefused(await keystead(["generate-key", "no/where.key"]), 1, /cannot write no\/where\.key \(ENOENT\)/);
  assertRefused(await keystead(["whoami", "--api-key-file", "no.key"]), 1, /there is no API key file no\.key/);
});

test("an activity that was not done fails the request that asked for it, and not the one that looks at it", async () => {
  const parameters = '{"activityId":"rejected"}';
  assert.equal((await keystead(["request", "get_activity", parameters])).code, 0);
  const asked = await keystead(["request", "/public/v1/submit/anything", parameters]);
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /^keystead: the activity was not done: rejected\n$/);
});

test("an activity that waits says so, for what, and how to approve it, and has an exit code of its own", async () => {
  const parameters = '{"userTagName":"waits","userIds":[]}';
  const asked = await keystead(["request", "create_user_tag", parameters, "--organization", "org-9"]);
  assert.equal(asked.code, 4);
  assert.equal(
    asked.stderr,
    `keystead: the activity waits for approvals: sha256:00
  it needs the approvals that its policy asks for: "Two treasurers"
  another user approves it, with a key of their own: npx keystead request approve_activity '{"fingerprint":"sha256:00"}' --organization org-9 --api-key-file FILE
`,
  );
});

test("a request that writes a policy warns when it would allow or deny everything", async () => {
  const warning = (name: string, what: string) => `keystead: warning: "${name}" ${what}\n`;
  const everything = "allows every user every activity";
  const open = '{"policyName":"open","effect":"EFFECT_ALLOW","condition":"true || activity.kind == \'X\'"}';
  const shut = '{"policyName":"shut","effect":"EFFECT_DENY"}';
  const stderrOf = async (...args: string[]) => (await keystead(["request", ...args])).stderr;
  assert.equal(await stderrOf("create_policy", open), warning("open", everything));
  const nothing = "denies every activity that the root quorum does not approve";
  const both = warning("open", everything) + warning("shut", nothing);
  assert.equal(await stderrOf("create_policies", `{"policies":[${open},${shut}]}`), both);
  const change = '{"policyId":"p-1","policyCondition":""}';
  assert.equal(await stderrOf("update_policy", change), warning("old", everything));
  assert.equal(await stderrOf("update_policy", '{"policyId":"p-1","policyNotes":""}'), "");
  assert.equal(
    await stderrOf("/public/v1/submit/create_policy", `{"parameters":${open}}`),
    warning("open", everything),
  );
});

test("a published text that says nothing of what to do gets a line of ours below", async () => {
  const { code, stderr } = await keystead(["request", "whoami", '{"organizationId":"late"}']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^keystead: request timestamp is [^\n]*\n {2}the clocks of this machine and of the server differ[^\n]*\n$/,
  );
});

test("a body that does not fit its endpoint gets a line that names the help", async () => {
  const { code, stderr } = await keystead(["request", "create_user_tag", '{"userTagName":"misfit"}']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /: missing field `userIds` [^\n]*\n {2}npx keystead request create_user_tag --help shows what it takes\n$/,
  );
  const raw = await keystead(["request", "/public/v1/submit/create_user_tag", '{"userTagName":"misfit"}']);
  assertRefused(raw, 1, /missing field/);
});

test("the commands on the data are run by the server's own program, and its exit code is passed on", async () => {
  const env = { PORT: "not a port" };
  for (const command of [
    ["accept-database"],
    ["accept-clock"],
    ["check-log"],
    ["check-database"],
    ["check-database", "--repair"],
    ["keys", "rotate"],
  ]) {
    const { code, stderr } = await keystead(command, { env });
    assert.equal(code, 2);
    assert.match(stderr, /^keystead: PORT must be a whole number[^\n]*\n$/);
  }
  const init = await keystead(["init", "--root-public-key", "0123"]);
  assert.equal(init.code, 2);
  assert.match(init.stderr, /root public key must be a P-256 point/);
});
