import assert from "node:assert/strict";
import { test } from "node:test";
import { applyChanges } from "./apply_changes.ts";
import { type Change, put, remove } from "./entities.ts";
import { countLimits } from "./entity_kinds.ts";
import { emptyPages, encodePageOf, entitiesIn, type PageName, withPage } from "./pages.ts";

const times = { createdAtMs: 1, updatedAtMs: 2 };
const user = { userId: "u", userName: "Ann", userTags: ["t"], apiKeys: [], ...times };
const tag = { tagId: "t", tagName: "ops", ...times };
const policy = {
  policyId: "p",
  policyName: "all",
  effect: "EFFECT_ALLOW",
  consensus: "",
  condition: "true",
  time: "",
  notes: "",
  ...times,
} as const;
const listed = {
  interfaceId: "i",
  type: "ETHEREUM",
  address: "0x00",
  label: "a",
  notes: "",
  length: 2,
  ...times,
} as const;
const target = { targetId: "g", userId: "u", kind: "wallet", publicKey: "04", sealed: "AA", createdAtMs: 1 } as const;
const approval = { userId: "u", credentialId: "c", credentialType: "CREDENTIAL_TYPE_LOGIN", atMs: 1 };
const waiting = { fingerprint: "f", activityId: "a", proposerId: "u", createdAtMs: 1, approvals: [approval] };

const profile = { sessionProfileId: "s", sessionProfileName: "Sign", scope: "true", notes: "", ...times };

const settings = {
  allowedOrigins: ["*"],
  allowedAuthMethods: ["email"],
  enabledSocialProviders: [],
  oauthClientIds: {},
  otpExpirationSeconds: 300,
  verificationTokenExpirationSeconds: 3600,
  sessionExpirationSeconds: 900,
  otpAlphanumeric: true,
  otpLength: 9,
  verificationTokenRequiredForGetAccountPii: false,
  socialLinkingClientIds: [],
  captchaEnabled: false,
} as const;

const timesText = '"createdAtMs":1,"updatedAtMs":2';
const tagText = `{"tagId":"t","tagName":"ops",${timesText}}`;

/** The pages are under digests and on disk: their bytes must not change with the code that writes them. */
const written: { changes: Change[]; texts: { [N in PageName]?: string } }[] = [
  {
    changes: [put("user", user), put("userTag", tag), put("rootQuorum", { threshold: 1, userIds: ["u"] })],
    texts: {
      members:
        `{"format":2,"users":[{"userId":"u","userName":"Ann","userTags":["t"],"apiKeys":[],${timesText}}],` +
        `"userTags":[${tagText}],"rootQuorum":{"threshold":1,"userIds":["u"]}}`,
    },
  },
  {
    changes: [put("settings", { organizationName: "Acme", features: [], ...times })],
    texts: { settings: `{"format":1,"settings":{"organizationName":"Acme","features":[],${timesText}}}` },
  },
  {
    changes: [put("pendingActivity", waiting)],
    texts: {
      pending:
        '{"format":1,"activities":[{"fingerprint":"f","activityId":"a","proposerId":"u","createdAtMs":1,' +
        '"approvals":[{"userId":"u","credentialId":"c","credentialType":"CREDENTIAL_TYPE_LOGIN","atMs":1}]}]}',
    },
  },
  {
    changes: [put("privateKeyTag", tag), put("taggedPrivateKeys", { tagIds: ["t"], keys: [["k", 0]], updatedAtMs: 3 })],
    texts: { privateKeyTags: `{"format":1,"tags":[${tagText}],"keys":[["k",0]]}` },
  },
  {
    changes: [put("importTarget", target)],
    texts: {
      importTargets:
        '{"format":1,"targets":[{"targetId":"g","userId":"u","kind":"wallet","publicKey":"04","sealed":"AA","createdAtMs":1}]}',
    },
  },
  {
    changes: [put("usedToken", { tokenId: "t", expiresAtMs: 5 })],
    texts: { usedTokens: '{"format":1,"tokens":[{"tokenId":"t","expiresAtMs":5}]}' },
  },
  {
    changes: [
      put("ipAllowlist", {
        publicKey: "",
        enabled: true,
        rules: [{ cidr: "192.0.2.0/24", label: "Office", createdAtMs: 1 }],
        onEvaluationError: "DENY",
        ...times,
      }),
    ],
    texts: {
      ipAllowlists:
        '{"format":1,"lists":[{"publicKey":"","enabled":true,"rules":[{"cidr":"192.0.2.0/24","label":"Office","createdAtMs":1}],' +
        `"onEvaluationError":"DENY",${timesText}}]}`,
    },
  },
  {
    changes: [
      put("oauth2Credential", {
        oauth2CredentialId: "o",
        provider: "OAUTH2_PROVIDER_ALPHA",
        clientId: "client",
        encryptedClientSecret: "00",
        ...times,
      }),
    ],
    texts: {
      oauth2Credentials:
        '{"format":1,"credentials":[{"oauth2CredentialId":"o","provider":"OAUTH2_PROVIDER_ALPHA","clientId":"client",' +
        `"encryptedClientSecret":"00",${timesText}}]}`,
    },
  },
  {
    changes: [put("keyCounts", { wallets: 2, privateKeys: 1 })],
    texts: { keyCounts: '{"format":1,"counts":{"wallets":2,"privateKeys":1}}' },
  },
  {
    changes: [put("policy", policy)],
    texts: {
      policies:
        '{"format":1,"policies":[{"policyId":"p","policyName":"all","effect":"EFFECT_ALLOW","consensus":"",' +
        `"condition":"true","time":"","notes":"",${timesText}}]}`,
    },
  },
  {
    changes: [put("contractInterface", listed)],
    texts: {
      contractInterfaces:
        '{"format":1,"interfaces":[{"interfaceId":"i","type":"ETHEREUM","address":"0x00","label":"a","notes":"",' +
        `"length":2,${timesText}}]}`,
    },
  },
  {
    changes: [put("sessionProfile", { ...profile, expirationSeconds: 60 })],
    texts: {
      sessionProfiles:
        '{"format":1,"profiles":[{"sessionProfileId":"s","sessionProfileName":"Sign","scope":"true","notes":"",' +
        `${timesText},"expirationSeconds":60}]}`,
    },
  },
  {
    changes: [put("authProxy", { configId: "c", userId: "u", settings, ...times })],
    texts: {
      authProxies:
        '{"format":1,"proxies":[{"configId":"c","userId":"u","settings":{"allowedOrigins":["*"],' +
        '"allowedAuthMethods":["email"],"enabledSocialProviders":[],"oauthClientIds":{},"otpExpirationSeconds":300,' +
        '"verificationTokenExpirationSeconds":3600,"sessionExpirationSeconds":900,"otpAlphanumeric":true,"otpLength":9,' +
        '"verificationTokenRequiredForGetAccountPii":false,"socialLinkingClientIds":[],"captchaEnabled":false},' +
        `${timesText}}]}`,
    },
  },
  {
    changes: [
      put("log", { logId: "l", openedAtMs: 1 }),
      put("log", { logId: "m", openedAtMs: 2, previous: { logId: "l", size: 3, root: "r" } }),
    ],
    texts: {
      logs:
        '{"format":1,"logs":[{"logId":"l","openedAtMs":1},' +
        '{"logId":"m","openedAtMs":2,"previous":{"logId":"l","size":3,"root":"r"}}]}',
    },
  },
  {
    changes: [
      put("keyFacts", { id: "ab000000-0000-4000-8000-000000000000", kind: "wallet", exported: true, updatedAtMs: 2 }),
      put("keyFacts", { id: "abffffff-ffff-4fff-bfff-ffffffffffff", kind: "wallet", deleted: true, updatedAtMs: 2 }),
    ],
    texts: {
      "keyFacts/ab":
        '{"format":2,"facts":[{"id":"ab000000-0000-4000-8000-000000000000","kind":"wallet","exported":true,"updatedAtMs":2}],' +
        '"gone":"q_______T_-__________w"}',
    },
  },
];

test("each kind is written to its page, with the same bytes as ever, and read again", () => {
  for (const { changes, texts } of written) {
    const { pages, touched } = applyChanges(emptyPages, changes);
    assert.deepEqual([...touched], Object.keys(texts));
    for (const [name, text] of Object.entries(texts) as [PageName, string][]) {
      const bytes = encodePageOf(pages, name);
      assert.equal(Buffer.from(bytes).toString("utf8"), text);
      assert.deepEqual(withPage(emptyPages, name, bytes), pages);
    }
  }
});

test("approvals without a credential type are read as they are, and none is made up", () => {
  const text =
    '{"format":1,"activities":[{"fingerprint":"f","activityId":"a","proposerId":"u","createdAtMs":1,' +
    '"approvals":[{"userId":"u","credentialId":"c","atMs":1}]}]}';
  const { pending } = withPage(emptyPages, "pending", Buffer.from(text));
  assert.deepEqual(pending.get("f")?.approvals, [{ userId: "u", credentialId: "c", atMs: 1 }]);
});

test("an entity is listed by its id, replaced by it and removed by it", () => {
  const { pages } = applyChanges(emptyPages, [put("userTag", tag), put("policy", policy)]);
  assert.deepEqual([...entitiesIn(pages, "userTag")], [["t", tag]]);
  assert.deepEqual([...entitiesIn(pages, "policy")], [["p", policy]]);
  const renamed = { ...tag, tagName: "finance" };
  const { pages: next } = applyChanges(pages, [put("userTag", renamed), remove("policy", "p")]);
  assert.deepEqual([...entitiesIn(next, "userTag").values()], [renamed]);
  assert.equal(entitiesIn(next, "policy").size, 0);
  assert.deepEqual([...entitiesIn(pages, "policy").keys()], ["p"], "the state before is as it was");
});

test("what an organization has one of cannot be removed", () => {
  for (const kind of ["rootQuorum", "settings", "keyCounts", "keyFacts", "taggedPrivateKeys"] as const) {
    assert.throws(() => applyChanges(emptyPages, [remove(kind, "x")]), { code: "internal" }, kind);
  }
});

test("no two kinds count against a limit of the same name", () => {
  assert.deepEqual(Object.keys(countLimits).sort(), [
    "contractInterfaceBytes",
    "contractInterfaces",
    "ipAllowlists",
    "oauth2Credentials",
    "policies",
    "policyBytes",
    "privateKeyTags",
    "privateKeys",
    "sessionProfiles",
    "userTags",
    "users",
    "wallets",
  ]);
});
