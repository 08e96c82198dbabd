import assert from "node:assert/strict";
import { test } from "node:test";
import { activityContext, nowMs, runActivity } from "../../test/activity_context.ts";
import { after, apiKey, organization, person } from "../../test/members.ts";
import { isOtherAddress, refuseOtherAddresses } from "../rules/ip_allowlists.ts";
import type { Pages } from "../state/pages.ts";
import { removeIpAllowlist } from "./remove_ip_allowlist.ts";
import { setIpAllowlist } from "./set_ip_allowlist.ts";

const [first, second] = [apiKey(0), apiKey(1)];
const acme = organization({ users: [person("ann", { apiKeys: [first, second] })] });

type Params = Parameters<typeof setIpAllowlist.run>[1];

function set(params: Params, pages: Pages = acme, context = {}): Pages {
  const outcome = runActivity(setIpAllowlist, pages, params, context);
  assert.deepEqual(outcome.result, {});
  return after(pages, outcome);
}

const rulesOf = ({ ipAllowlists }: Pages, publicKey = "") => ipAllowlists.get(publicKey)?.rules.map(({ cidr }) => cidr);
const block = (cidr: string, label?: string) => (label === undefined ? { cidr } : { cidr, label });

test("rules are normalised, and of the same block the first label is kept", () => {
  const rules = [block("192.0.2.77/24", "Office"), block("192.0.2.0/24", "Again"), block("2001:DB8::1/48")];
  const { ipAllowlists } = set({ rules });
  assert.deepEqual(
    [...ipAllowlists.values()],
    [
      {
        publicKey: "",
        enabled: true,
        rules: [
          { cidr: "192.0.2.0/24", label: "Office", createdAtMs: nowMs },
          { cidr: "2001:db8::/48", createdAtMs: nowMs },
        ],
        onEvaluationError: "DENY",
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      },
    ],
  );
});

test("a list replaces the one before it, of the organization or of the key", () => {
  let pages = set({ rules: [block("192.0.2.0/24")], onEvaluationError: "ALLOW" });
  pages = set({ publicKey: first.publicKey.toUpperCase(), rules: [block("198.51.100.1/32")] }, pages);
  pages = set({ enabled: false, rules: [block("203.0.113.0/24")] }, pages, { nowMs: nowMs + 1 });
  assert.deepEqual(rulesOf(pages), ["203.0.113.0/24"]);
  assert.deepEqual(rulesOf(pages, first.publicKey), ["198.51.100.1/32"]);
  const { enabled, onEvaluationError, createdAtMs, updatedAtMs } = pages.ipAllowlists.get("") ?? assert.fail();
  assert.deepEqual([enabled, onEvaluationError, createdAtMs, updatedAtMs], [undefined, "DENY", nowMs, nowMs + 1]);
});

test("blocks that are too wide, too many or none are refused", () => {
  const refused = (rules: { cidr: string }[], message: string | RegExp) =>
    assert.throws(() => set({ rules }), { code: "invalid_argument", message }, JSON.stringify(rules));
  refused([block("10.0.0.0/19")], "`10.0.0.0/19` is too wide: a block of IPv4 has at least /20");
  refused([block("2001:db8::/47")], "`2001:db8::/47` is too wide: a block of IPv6 has at least /48");
  refused([block("::ffff:10.0.0.0/115")], /is too wide: a block of IPv4/);
  refused([block("192.0.2.1")], "`192.0.2.1` is not a CIDR block: write it as `192.0.2.1/32`");
  refused([block("localhost/8")], /is not a CIDR block/);
  const many = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => block(of(at)));
  const v4 = (at: number) => `192.0.2.${at}/32`;
  const v6 = (at: number) => `2001:db8:${at}::/48`;
  refused(many(11, v4), "an IP allowlist has at most 10 blocks of IPv4");
  refused(many(11, v6), "an IP allowlist has at most 10 blocks of IPv6");
  assert.equal(rulesOf(set({ rules: [...many(10, v4), ...many(10, v6), ...many(10, v4)] }))?.length, 20);
});

test("what shuts everybody out must be meant", () => {
  assert.throws(() => set({}), { code: "invalid_argument", message: /blocks every request: set enabled to true/ });
  assert.throws(() => set({ rules: [] }), { code: "invalid_argument" });
  assert.deepEqual(rulesOf(set({ enabled: true })), []);
  assert.equal(set({ enabled: false }).ipAllowlists.get("")?.enabled, undefined);
});

test("the list of a key is for a key of the organization, and cannot be disabled", () => {
  const other = apiKey(2).publicKey;
  assert.throws(() => set({ publicKey: other, rules: [] }), { code: "not_found" });
  assert.throws(() => set({ publicKey: "xyz" }), { code: "invalid_argument" });
  assert.throws(() => set({ publicKey: first.publicKey, enabled: false }), { code: "invalid_argument" });
  assert.deepEqual(rulesOf(set({ publicKey: first.publicKey, enabled: true }), first.publicKey), []);
});

test("an organization has a limited number of lists, and those of keys that are gone do not count", () => {
  const limits = { ipAllowlistsPerOrganization: 2 };
  const rules = [block("192.0.2.0/24")];
  const full = set({ publicKey: second.publicKey, rules }, set({ rules }), { limits });
  assert.throws(() => set({ publicKey: first.publicKey, rules }, full, { limits }), { code: "resource_exhausted" });
  const { members } = organization({ users: [person("ann", { apiKeys: [first] })] });
  const next = set({ publicKey: first.publicKey, rules }, { ...full, members }, { limits });
  assert.deepEqual([...next.ipAllowlists.keys()], ["", first.publicKey]);
});

test("sub-organizations set and remove none", () => {
  const refusal = { code: "permission_denied", errorCode: "INVALID_ACTIVITY_CALLER" };
  assert.throws(() => set({ enabled: true }, acme, { parentId: "parent" }), refusal);
  assert.throws(() => runActivity(removeIpAllowlist, acme, {}, { parentId: "parent" }), refusal);
});

test("a list is removed by itself, and one that is not there is not found", () => {
  const rules = [block("192.0.2.0/24")];
  const pages = set({ publicKey: first.publicKey, rules }, set({ rules }));
  const without = after(pages, runActivity(removeIpAllowlist, pages, {}));
  assert.deepEqual([...without.ipAllowlists.keys()], [first.publicKey]);
  const { publicKey } = first;
  const empty = after(without, runActivity(removeIpAllowlist, without, { publicKey }));
  assert.equal(empty.ipAllowlists.size, 0);
  for (const params of [{}, { publicKey }]) {
    assert.throws(() => runActivity(removeIpAllowlist, empty, params, activityContext()), { code: "not_found" });
  }
});

test("which list counts for whom", () => {
  const inside = { address: "192.0.2.9" };
  const outside = { address: "203.0.113.9" };
  const unknown = { address: undefined };
  const ofKey = { publicKey: first.publicKey, rules: [block("203.0.113.0/24")] };
  const judge = ({ ipAllowlists }: Pages, source: { address: string | undefined }, publicKey?: string) => {
    try {
      refuseOtherAddresses(ipAllowlists, publicKey, source);
      return true;
    } catch (error) {
      assert.ok(isOtherAddress(error));
      return false;
    }
  };
  const rules = [block("192.0.2.0/24")];
  const all = (pages: Pages, publicKey?: string) =>
    [inside, outside, unknown].map((from) => judge(pages, from, publicKey));
  assert.deepEqual(all(acme), [true, true, true], "no list");
  assert.deepEqual(all(set({ rules })), [true, false, false]);
  assert.deepEqual(all(set({ rules, onEvaluationError: "ALLOW" })), [true, false, true]);
  assert.deepEqual(all(set({ rules, enabled: false })), [true, true, true]);
  assert.deepEqual(all(set({ enabled: true })), [false, false, false], "without rules");
  const both = set(ofKey, set({ rules }));
  assert.deepEqual(
    all(both, first.publicKey),
    [false, true, false],
    "the key's list in the place of the organization's",
  );
  assert.deepEqual(all(both, second.publicKey), [true, false, false]);
  assert.deepEqual(all(both), [true, false, false], "a passkey");
  assert.deepEqual(all(set({ ...ofKey, rules: [] }, both), first.publicKey), [true, false, false], "falls back");
  assert.deepEqual(all(set(ofKey), first.publicKey), [true, true, true], "the organization has no list");
  assert.deepEqual(all(set({ rules, enabled: false }, both), first.publicKey), [true, true, true]);
});
