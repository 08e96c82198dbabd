/** set_ip_allowlist, remove_ip_allowlist, get_ip_allowlist. Addresses other than this machine's are in the server's own tests. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createKey } from "../key_pairs.ts";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused, type Refusal } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";

type Rule = { cidr: string; label?: string };
type ListParams = { publicKey?: string; enabled?: boolean; rules?: Rule[]; onEvaluationError?: string };

/** Where all requests of the matrix come from: other cases in the same organization go on. */
const here: Rule[] = [{ cidr: "127.0.0.0/20" }, { cidr: "::1/128" }];
const listed = (): ListParams => ({ enabled: true, rules: [...here, { cidr: "192.0.2.0/24", label: randomUUID() }] });

const onlyParents = ({ parent }: Fixture): Refusal => ({
  status: 403,
  code: 7,
  message: `IP allowlists cannot be set by sub-organizations: set one in organization ${parent.organizationId}`,
  errorCode: "INVALID_ACTIVITY_CALLER",
});

const sourceRefused: Refusal = {
  status: 403,
  code: 7,
  message: "request not authorized: source IP not allowed",
  errorCode: "REQUEST_NOT_AUTHORIZED",
};

/** The rules as they are shown, without their times. */
const rulesOf = ({ rules }: Json): Rule[] => rules.map(({ createdAt: _, ...rule }: Json) => rule);

const badLists: readonly [name: string, bent: ListParams, message: string][] = [
  [
    "no block",
    { rules: [{ cidr: "example.com/24" }] },
    "`example.com/24` is not a CIDR block: write it as `192.0.2.0/24` or `2001:db8::/48`",
  ],
  [
    "an address without a length",
    { rules: [{ cidr: "192.0.2.1" }] },
    "`192.0.2.1` is not a CIDR block: write it as `192.0.2.1/32`",
  ],
  [
    "half the internet",
    { rules: [{ cidr: "0.0.0.0/1" }] },
    "`0.0.0.0/1` is too wide: a block of IPv4 has at least /20",
  ],
  [
    "a wide block of IPv6",
    { rules: [{ cidr: "2001:db8::/32" }] },
    "`2001:db8::/32` is too wide: a block of IPv6 has at least /48",
  ],
  [
    "eleven blocks",
    { rules: Array.from({ length: 11 }, (_, at) => ({ cidr: `192.0.2.${at}/32` })) },
    "an IP allowlist has at most 10 blocks of IPv4",
  ],
  ["nothing at all", {}, "a list without rules blocks every request: set enabled to true if you mean it"],
  ["a key that is none", { publicKey: "key", rules: here }, "malformed public key: not hex"],
];

export const setIpAllowlist = activityEntry<ListParams>({
  good: listed,
  required: ["rules.0.cidr"],
  result: () => ({}),
  shows({ rules }, { before, after }) {
    const { rules: shown, ...list } = after.ipAllowlist;
    assert.deepEqual(rulesOf({ rules: shown }), rules);
    assert.partialDeepStrictEqual(list, { enabled: true, onEvaluationError: "DENY" });
    assert.deepEqual({ ...after, ipAllowlist: {} }, { ...before, ipAllowlist: {} });
  },
  bad: [
    ...badLists.map(
      ([name, bent, message]): BadInput<ListParams> => ({
        name,
        bend: () => bent,
        refusal: invalid(message),
        kept: "FAILED",
      }),
    ),
    {
      name: "another word for errors",
      bend: (good) => ({ ...good, onEvaluationError: "ASK" }),
      refusal: invalid(/^invalid request body: field `parameters.onEvaluationError`/),
    },
    {
      name: "a key of nobody's",
      bend: () => ({ publicKey: createKey().publicKey, rules: here }),
      refusal: ({ publicKey }, { parent }) =>
        notFound(`unable to find API key ${publicKey} in organization ${parent.organizationId}`),
      kept: "FAILED",
    },
    {
      name: "in a sub-organization",
      bend: (good) => good,
      refusal: (_, fixture) => onlyParents(fixture),
      kept: "FAILED",
      at: "sub",
    },
  ],
  foreign: [],
  also: {
    "a key whose own list does not name this machine is shut out, and no other": async (fixture) => {
      const { member, root } = fixture.parent;
      const { publicKey } = member.p256;
      await fixture.done("set_ip_allowlist", { enabled: true, rules: here });
      await fixture.done("set_ip_allowlist", { publicKey, rules: [{ cidr: "192.0.2.0/24" }] });
      const { organizationId } = fixture.parent;
      const asked = { kind: "query", path: "whoami", body: { organizationId }, key: member.p256 } as const;
      assertRefused(await fixture.send(asked), sourceRefused);
      const tag = { userTagName: randomUUID(), userIds: [] };
      assertRefused(await fixture.submit("create_user_tag", tag, member), sourceRefused);
      assert.equal((await fixture.ask("whoami", {}, root)).userId, root.userId);
      const { allowlist } = await fixture.ask("get_ip_allowlist", { publicKey });
      assert.deepEqual(rulesOf(allowlist), [{ cidr: "192.0.2.0/24" }]);
      await fixture.done("remove_ip_allowlist", { publicKey });
      assert.equal((await fixture.ask("whoami", {}, member)).userId, member.userId);
    },
    "nobody gets in by a header that anyone can write": async (fixture) => {
      const { publicKey } = fixture.parent.member.p256;
      await fixture.done("set_ip_allowlist", { enabled: true, rules: here });
      await fixture.done("set_ip_allowlist", { publicKey, rules: [{ cidr: "192.0.2.0/24" }] });
      const { organizationId, member } = fixture.parent;
      const forwardedFor = "192.0.2.1";
      const asked = {
        kind: "query",
        path: "whoami",
        body: { organizationId },
        key: member.p256,
        forwardedFor,
      } as const;
      assertRefused(await fixture.send(asked), sourceRefused);
      await fixture.done("remove_ip_allowlist", { publicKey });
    },
  },
});

export const removeIpAllowlist = activityEntry<{ publicKey?: string }>({
  good: async (fixture) => {
    await fixture.done("set_ip_allowlist", listed(), fixture.parent.root, fixture.parent);
    return {};
  },
  required: [],
  result: () => ({}),
  shows(_, { before, after }) {
    const { organizationId } = before.ipAllowlist;
    assert.deepEqual(after.ipAllowlist, { organizationId, rules: [], enabled: false });
    assert.deepEqual({ ...after, ipAllowlist: {} }, { ...before, ipAllowlist: {} });
  },
  bad: [
    {
      name: "a key without a list",
      bend: () => ({ publicKey: createKey().publicKey }),
      refusal: ({ publicKey }) => notFound(`unable to find an IP allowlist of API key ${publicKey}`),
      kept: "FAILED",
    },
    {
      name: "in a sub-organization",
      bend: () => ({}),
      refusal: (_, fixture) => onlyParents(fixture),
      kept: "FAILED",
      at: "sub",
    },
  ],
  foreign: [],
});

export const getIpAllowlist = queryEntry<object>({
  good: () => ({}),
  required: [],
  answer: (_, { allowlist, ...nothing }, { parent, sub }) => {
    assert.deepEqual(nothing, {});
    const { organizationId, ...list } = allowlist;
    assert.ok([parent, sub].some((place) => place.organizationId === organizationId));
    assert.deepEqual(list, { rules: [], enabled: false });
  },
  bad: [
    {
      name: "a key that is none",
      bend: () => ({ publicKey: "key" }),
      refusal: invalid("malformed public key: not hex"),
    },
  ],
  foreign: [],
});
