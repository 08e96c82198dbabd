/** `policy apply` and `policy explain` against a stand-in that keeps what it was told. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { type Run, runKeystead } from "../test/run_keystead.ts";
import type { StoredPolicy } from "./policy_diff.ts";

const folder = mkdtempSync(join(tmpdir(), "keystead-apply-"));
const allowed = stored("kept", { condition: "1 == 1" });
const surplusAllow = stored("old allow");
const surplusDeny = stored("old deny", { effect: "EFFECT_DENY" });

function stored(policyName: string, changes: Partial<StoredPolicy> = {}): StoredPolicy {
  const rest = { consensus: "", condition: "", time: "", notes: "" };
  return { policyId: `id of ${policyName}`, policyName, effect: "EFFECT_ALLOW", ...rest, ...changes };
}

/** Names and parameters of the activities that came, and what the one at this place, and all after it, come to. */
const submitted: [string, unknown][] = [];
let status = "ACTIVITY_STATUS_COMPLETED";
let from = 0;
let answers: Record<string, unknown> = {};
let lastFingerprint = "";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const name = request.url?.split("/").at(-1) ?? "";
    const bytes = Buffer.concat(chunks);
    const body = JSON.parse(bytes.toString());
    const isActivity = request.url?.includes("/submit/");
    if (isActivity) lastFingerprint = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const now = isActivity && submitted.length >= from ? status : "ACTIVITY_STATUS_COMPLETED";
    if (isActivity) submitted.push([name, body.parameters]);
    const activity = { id: "a", status: now, fingerprint: "sha256:00", result: {}, votes: [], canApprove: false };
    response.writeHead(now === "refused" ? 403 : 200, { "content-type": "application/json" });
    // A list has one page.
    const set = body.paginationOptions?.before === undefined ? answers[name] : { activities: [] };
    const answer = typeof set === "function" ? set() : set;
    response.end(JSON.stringify(now === "refused" ? refused : (answer ?? { activity })));
  });
});

const refused = {
  code: 7,
  message: "You don't have sufficient permissions to take this action.",
  errorCode: "",
  details: [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "No policies evaluated to outcome: Allow",
      policyEvaluations: [
        { policyId: allowed.policyId, outcome: "OUTCOME_DENY_IMPLICIT" },
        { policyId: "p2", outcome: "OUTCOME_NEW" },
      ],
      explanations: [
        {
          policyId: allowed.policyId,
          outcome: "OUTCOME_DENY_IMPLICIT",
          expression: "condition",
          clause: "activity.kind == 'X'",
          observed: { "activity.kind": "CREATE_POLICIES" },
        },
      ],
    },
  ],
};

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const profile = { baseUrl, organizationId: "org-1", apiPrivateKey: "07".repeat(32) };
  writeFileSync(join(folder, "bootstrap.json"), JSON.stringify(profile));
});

beforeEach(() => {
  submitted.length = 0;
  status = "ACTIVITY_STATUS_COMPLETED";
  from = 0;
  answers = {
    list_policies: { policies: [surplusDeny, allowed, surplusAllow] },
    list_activities: { activities: [] },
  };
});

after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function keystead(...args: string[]): Promise<Run> {
  return runKeystead(args, { cwd: folder, env: { KEYSTEAD_DATA: folder } });
}

function apply(policies: unknown, ...flags: string[]): Promise<Run> {
  writeFileSync(join(folder, "policies.json"), JSON.stringify(policies));
  return keystead("policy", "apply", "policies.json", ...flags);
}

const kept = { policyName: "kept", effect: "EFFECT_ALLOW", condition: "1 == 1" };
const fresh = [1, 2].map((n) => ({ policyName: `new ${n}`, effect: "EFFECT_ALLOW", condition: "2 == 2" }));

test("nothing is changed before somebody agrees, and the exit code says that something would be", async () => {
  const { code, stdout, stderr } = await apply([kept, ...fresh]);
  assert.equal(code, 1);
  assert.match(stdout, /^\+ ALLOW "new 1"\n/);
  assert.match(stderr, /nothing was changed; --yes changes without asking/);
  assert.deepEqual(submitted, []);
});

test("a file that says what is there changes nothing", async () => {
  const { code, stdout } = await apply([kept]);
  assert.equal(code, 0);
  assert.match(stdout, /0 to create, 0 to change, 0 to delete, 1 as they are\n$/);
  assert.deepEqual(submitted, []);
});

test("with --yes new policies come in one activity and changes in one each; what is not in the file stays", async () => {
  const { code, stdout } = await apply([{ ...kept, condition: "3 == 3", consensus: "" }, ...fresh], "--yes");
  assert.equal(code, 0);
  assert.deepEqual(submitted, [
    ["create_policies", { policies: fresh }],
    ["update_policy", { policyId: allowed.policyId, policyCondition: "3 == 3" }],
  ]);
  assert.match(stdout, /\ncreated 2 ALLOW policies\nchanged "kept"\n$/);
});

const denial = { policyName: "never", effect: "EFFECT_DENY", condition: "4 == 4" };
const deniedBefore = stored("denied", { effect: "EFFECT_DENY", condition: "5 == 5" });
const denied = { policyName: "denied", effect: "EFFECT_DENY", condition: "6 == 6" };
/** A file that needs a step of each sort. */
const whole = [...fresh, { ...kept, condition: "3 == 3" }, denial, denied];

test("denials come first, then what permits goes, then what permits comes, and old denials go last", async () => {
  answers.list_policies = { policies: [surplusDeny, allowed, surplusAllow, deniedBefore] };
  const { code, stdout } = await apply(whole, "--yes", "--prune");
  assert.equal(code, 0);
  assert.deepEqual(submitted, [
    ["create_policies", { policies: [denial] }],
    ["update_policy", { policyId: deniedBefore.policyId, policyCondition: "6 == 6" }],
    ["delete_policies", { policyIds: [surplusAllow.policyId] }],
    ["create_policies", { policies: fresh }],
    ["update_policy", { policyId: allowed.policyId, policyCondition: "3 == 3" }],
    ["delete_policies", { policyIds: [surplusDeny.policyId] }],
  ]);
  assert.match(stdout, /\ncreated 1 DENY policy\nchanged "denied"\ndeleted 1 ALLOW policy\ncreated 2 ALLOW policies\n/);
});

test("the first step that waits ends it: what is done, what waits and what is not begun is said, and the exit code is 1", async () => {
  answers.list_policies = { policies: [surplusDeny, allowed, surplusAllow, deniedBefore] };
  status = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
  from = 1;
  const { code, stdout, stderr } = await apply(whole, "--yes", "--prune");
  assert.equal(code, 1);
  assert.equal(submitted.length, 2);
  assert.ok(
    stdout.endsWith(`
created 1 DENY policy
waits for approvals: change "denied"
not begun: delete 1 ALLOW policy
not begun: create 2 ALLOW policies
not begun: change "kept"
not begun: delete 1 DENY policy
`),
    stdout,
  );
  assert.match(
    stderr,
    /\nkeystead: stopped after 1 of 6 steps; another user approves it with: npx keystead request approve_activity '\{"fingerprint":"sha256:00"\}' --api-key-file FILE \(or reject_activity\); then run this again\n$/,
  );
});

function waiting(changes: object) {
  const type = "ACTIVITY_TYPE_UPDATE_POLICY_V2";
  const createdAt = "2026-01-01T00:00:00Z";
  return { id: "w-1", type, status: "", fingerprint: "sha256:11", createdAt, canApprove: true, ...changes };
}

test("a step that waits already is not sent again, whoever sent it", async () => {
  // The order of keys is the server's.
  const intent = { updatePolicyIntentV2: { policyCondition: "3 == 3", policyId: allowed.policyId } };
  answers.list_activities = { activities: [waiting({ intent })] };
  const { code, stdout, stderr } = await apply([{ ...kept, condition: "3 == 3" }], "--yes");
  assert.equal(code, 1);
  assert.deepEqual(submitted, []);
  assert.match(stdout, /\nwaits since 2026-01-01T00:00:00Z, not sent again: change "kept"\n$/);
  assert.match(
    stderr,
    /stopped after 0 of 1 step; you can approve it with: npx keystead request approve_activity '\{"fingerprint":"sha256:11"\}' \(or/,
  );
  assert.doesNotMatch(stdout, /not part of this apply/);
});

test("a change that waits and is another one is said, and hinders nothing", async () => {
  const intent = { updatePolicyIntentV2: { policyId: allowed.policyId, policyCondition: "7 == 7" } };
  answers.list_activities = { activities: [waiting({ intent })] };
  const { code, stdout } = await apply([{ ...kept, condition: "3 == 3" }], "--yes");
  assert.equal(code, 0);
  assert.equal(submitted.length, 1);
  assert.match(stdout, /\n! ACTIVITY_TYPE_UPDATE_POLICY_V2 w-1 waits for approvals and is not part of this apply\n/);
});

test("a refusal ends it and says what is not done and what each policy found", async () => {
  status = "refused";
  const { code, stdout, stderr } = await apply([kept, ...fresh], "--yes", "--prune");
  assert.equal(code, 1);
  assert.equal(submitted.length, 1);
  assert.match(
    stdout,
    /\nnot done: delete 1 ALLOW policy\nnot begun: create 2 ALLOW policies\nnot begun: delete 1 DENY policy\n$/,
  );
  assert.match(
    stderr,
    /keystead: stopped after 0 of 3 steps; fix the cause and run this again\nkeystead: You don't have sufficient permissions[^\n]*\nrefused: no policy allows it\n {2}ALLOW "kept" does not apply \(DENY_IMPLICIT\)\n/,
  );
  assert.match(
    stderr,
    /condition is not met: activity\.kind == 'X'\n {6}activity\.kind = CREATE_POLICIES\n {2}and 1 more policy\n$/,
  );
  // With the activity found by its fingerprint, it can be asked for again.
  answers.list_activities = () => ({ activities: [{ id: "a-7", fingerprint: lastFingerprint }] });
  const found = await apply([kept, ...fresh], "--yes", "--prune");
  assert.match(found.stderr, /\nwhy, later: npx keystead policy explain a-7\n$/);
});

test("what is probably not meant is counted before anything is sent", async () => {
  const { stderr } = await apply([{ ...kept, consensus: "approvers.any(u, u.id == 'Bob')" }]);
  assert.match(stderr, /^keystead: 2 warnings; see: policy check policies\.json\n/);
});

test("a policy that allows everybody everything is named, of the file and of the organization", async () => {
  const open = { ...allowed, policyId: "p9", policyName: "stays", condition: "true", consensus: "" };
  answers.list_policies = { policies: [allowed, open] };
  const warning = (name: string) => `keystead: warning: "${name}" allows every user every activity\n`;
  const { stderr } = await apply([kept, { policyName: "wide", effect: "EFFECT_ALLOW" }]);
  assert.ok(stderr.includes(warning("wide")) && stderr.includes(warning("stays")), stderr);
  const pruned = await apply([kept], "--prune");
  assert.ok(pruned.stderr.includes(warning("kept")) && !pruned.stderr.includes(warning("stays")), pruned.stderr);
});

test("an id that nobody has in this organization is said before anything is sent, and hinders nothing", async () => {
  const [tessa, nobody] = ["11111111-1111-4111-8111-111111111111", "99999999-9999-4999-8999-999999999999"];
  answers.list_users = { users: [{ userId: tessa, apiKeys: [], authenticators: [] }] };
  answers.list_user_tags = { userTags: [] };
  answers.list_wallets = { wallets: [] };
  const policy = {
    ...kept,
    consensus: `approvers.any(u, u.id in ['${tessa}', '${nobody}'] || u.tags.contains('${tessa}'))`,
    // Whoever may not list private keys is not warned of them.
    condition: `wallet.id == '${nobody}' && private_key.id == '${nobody}'`,
  };
  const other = { ...denial, consensus: `approvers.any(u, u.tags.contains('${tessa}'))` };
  const { code, stderr } = await apply([policy, other], "--yes");
  assert.equal(code, 0, stderr);
  assert.deepEqual(stderr.match(/(?<=^keystead: warning: this organization has ).*$/gm)?.toSorted(), [
    `no user \`${nobody}\`, which "kept" names`,
    `no user tag \`${tessa}\`, which "kept" and 1 more name`,
    `no wallet \`${nobody}\`, which "kept" names`,
  ]);
  assert.equal(submitted.length, 2);
});

test("--check changes nothing, and its exit code is 1 as soon as anything differs", async () => {
  answers.list_policies = { policies: [allowed] };
  assert.equal((await apply([kept], "--check")).code, 0);
  const differences: [object[], StoredPolicy[], object[]][] = [
    [[kept, ...fresh], [allowed], []],
    [[{ ...kept, condition: "3 == 3" }], [allowed], []],
    [[kept], [allowed, surplusAllow], []],
    [[kept], [allowed], [waiting({ intent: { createPolicyIntentV3: {} } })]],
  ];
  for (const [written, policies, activities] of differences) {
    answers.list_policies = { policies };
    answers.list_activities = { activities };
    const { code, stdout } = await apply(written, "--check");
    assert.equal(code, 1, stdout);
  }
  assert.deepEqual(submitted, []);
});

test("a file with an error changes nothing", async () => {
  const { code, stdout, stderr } = await apply([{ ...kept, condition: "nonsense" }], "--yes");
  assert.equal(code, 1);
  assert.match(stdout, /^policies\.json: "kept": condition 1:1: /);
  assert.match(stderr, /1 error in policies\.json; nothing was changed/);
  assert.deepEqual(submitted, []);
});

test("the policies of several files are applied together, and a name that two of them have is refused with both", async () => {
  writeFileSync(join(folder, "more.json"), JSON.stringify([denial]));
  writeFileSync(join(folder, "policies.json"), JSON.stringify([kept]));
  const both = await keystead("policy", "apply", "policies.json", "more.json", "--yes", "--prune");
  assert.equal(both.code, 0, both.stderr);
  assert.deepEqual(submitted, [
    ["create_policies", { policies: [denial] }],
    ["delete_policies", { policyIds: [surplusAllow.policyId] }],
    ["delete_policies", { policyIds: [surplusDeny.policyId] }],
  ]);
  submitted.length = 0;
  writeFileSync(join(folder, "more.json"), JSON.stringify([denial, kept]));
  const twice = await keystead("policy", "apply", "policies.json", "more.json", "--yes");
  assert.equal(twice.code, 1);
  assert.match(twice.stderr, /"kept" is in policies\.json and in more\.json/);
  assert.deepEqual(submitted, []);
});

test("explain prints every vote with every policy, by name where it still has one", async () => {
  const vote = { id: "v1", user: { userName: "Bob\u001b[1m", apiKeys: [] }, selection: "VOTE_SELECTION_APPROVED" };
  answers = {
    list_policies: { policies: [allowed] },
    get_activity: {
      activity: {
        id: "a-1",
        type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
        status: "ACTIVITY_STATUS_REJECTED",
        votes: [
          vote,
          { id: "v3", user: { userName: "Eve", apiKeys: [] }, selection: "VOTE_SELECTION_REJECTED" },
          { id: "v4", user: { userName: "Ann", apiKeys: [] }, selection: "VOTE_SELECTION_APPROVED" },
        ],
      },
    },
    get_policy_evaluations: {
      policyEvaluations: [
        {
          voteId: "v1",
          createdAt: { seconds: "1767225600", nanos: "0" },
          policyEvaluations: [
            { policyId: allowed.policyId, outcome: "OUTCOME_DENY_IMPLICIT" },
            { policyId: "gone", outcome: "OUTCOME_ERROR" },
          ],
          details: [
            {
              policyId: allowed.policyId,
              outcome: "OUTCOME_DENY_IMPLICIT",
              expression: "condition",
              clause: "eth.tx.value < 5",
              observed: { "eth.tx.value": "7" },
            },
            {
              policyId: "gone",
              outcome: "OUTCOME_ERROR",
              observed: {},
              reason: "not applicable: this activity has no `solana.tx`",
            },
          ],
        },
        ...["v2", "v3", "v4"].map((voteId) => ({
          voteId,
          createdAt: { seconds: "1767225601", nanos: "0" },
          policyEvaluations: [],
          details: [],
        })),
      ],
    },
  };
  const { code, stdout } = await keystead("policy", "explain", "a-1");
  assert.equal(code, 0);
  assert.equal(
    stdout,
    `ACTIVITY_TYPE_SIGN_TRANSACTION_V2 a-1: rejected
approved by Bob\\u{1b}[1m at 2026-01-01T00:00:00Z: 2 policies
  no policy allows it
    ALLOW "kept" does not apply (DENY_IMPLICIT)
      condition is not met: eth.tx.value < 5
        eth.tx.value = 7
    policy "gone" is about something else (ERROR)
      not applicable: this activity has no \`solana.tx\`
voted on by somebody at 2026-01-01T00:00:01Z: 0 policies
  no policy was asked
rejected by Eve at 2026-01-01T00:00:01Z: 0 policies
  a rejection asks no policy
approved by Ann at 2026-01-01T00:00:01Z: 0 policies
  no policy was asked: it is for the root quorum, there was no policy, or a right of the user decided
`,
  );
});
