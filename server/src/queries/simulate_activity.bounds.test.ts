/** What the simulator refuses to be asked, and that nobody can keep it busy. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { GatewayRig } from "../../test/gateway_rig.ts";
import { createGatewayRig } from "../../test/gateway_rig.ts";
import { addAccount, addPolicy, ask, onBothDatabases } from "../../test/policy_rig.ts";
import { simulateActivity } from "./simulate_activity.ts";

const tag = { type: "ACTIVITY_TYPE_CREATE_USER_TAG", parameters: { userTagName: "Tag", userIds: [] } };
const allowAll = { policyName: "Draft", effect: "EFFECT_ALLOW" };
const nobody = randomUUID();
const transaction = { signWith: "nobody", type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: "c0" };
const typedPayload = {
  signWith: "nobody",
  payload: "{}",
  encoding: "PAYLOAD_ENCODING_EIP712",
  hashFunction: "HASH_FUNCTION_NO_OP",
};
const contract = { type: "ETHEREUM", smartContractAddress: `0x${"11".repeat(20)}`, smartContractInterface: "[]" };

/** Each refused with `invalid_argument` and these words. */
const bad: Readonly<Record<string, { request: object; message: RegExp }>> = {
  "an unknown type": {
    request: { activity: { ...tag, type: "ACTIVITY_TYPE_X" } },
    message: /^Invalid activity type: `ACTIVITY_TYPE_X`$/,
  },
  "a type without its prefix": {
    request: { activity: { ...tag, type: "toString" } },
    message: /^Invalid activity type/,
  },
  "parameters of another kind": {
    request: { activity: { ...tag, parameters: {} } },
    message: /missing field `userTagName`$/,
  },
  "no parameters": { request: { activity: { ...tag, parameters: null } }, message: /^invalid request body/ },
  "a vote": {
    request: {
      activity: { type: "ACTIVITY_TYPE_APPROVE_ACTIVITY", parameters: { fingerprint: `sha256:${"00".repeat(32)}` } },
    },
    message: /^a vote cannot be simulated/,
  },
  "a transaction that cannot be read": {
    request: { activity: { type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", parameters: transaction } },
    message: /^failed to parse transaction/,
  },
  "typed data that cannot be read": {
    request: { activity: { type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", parameters: typedPayload } },
    message: /^invalid EIP-712 typed data/,
  },
  "a stranger who proposes": { request: { proposerId: nobody }, message: new RegExp(`^no user \`${nobody}\``) },
  "a stranger who approves": { request: { approverIds: [nobody] }, message: new RegExp(`^no user \`${nobody}\``) },
  "a draft that does not parse": {
    request: { policies: { add: [{ ...allowAll, condition: "(" }] } },
    message: /^invalid policy condition: .* at position/,
  },
  "a draft of the wrong type": {
    request: { policies: { add: [{ ...allowAll, consensus: "'x'" }] } },
    message: /^invalid policy consensus: /,
  },
  "a draft of no time": {
    request: { policies: { add: [{ ...allowAll, time: "time.now" }] } },
    message: /^invalid policy time: /,
  },
  "two drafts of one name": {
    request: { policies: { add: [allowAll, allowAll] } },
    message: /^policy label must be unique: /,
  },
  "the removal of no policy": { request: { policies: { remove: [nobody] } }, message: /^policies: no policy/ },
  "the change of no policy": {
    request: { policies: { replace: [{ policyId: nobody, effect: "EFFECT_DENY" }] } },
    message: /^policies: no policy/,
  },
  "an interface that is none": {
    request: { scenario: { interfaces: [{ ...contract, smartContractInterface: "{" }] } },
    message: /^invalid smart contract interface: /,
  },
  "a key of nothing": {
    request: { scenario: { keys: [{ curve: "CURVE_ED25519", publicKey: "" }] } },
    message: /^scenario.keys: a key has either/,
  },
};

onBothDatabases(
  "what cannot be asked is refused, to the root user as to others, with or without policies",
  async (rig) => {
    const ann = await rig.newPerson("ann");
    const refuseAll = async () => {
      for (const [name, { request, message }] of Object.entries(bad)) {
        for (const caller of [ann, rig.root]) {
          const asked = ask(rig, caller, simulateActivity, { activity: tag, ...request });
          await assert.rejects(asked, { code: "invalid_argument", message }, name);
        }
      }
    };
    await refuseAll();
    await addPolicy(rig, {});
    await refuseAll();
  },
);

/** As long as one request can be, with as many drafts as it may bring. */
function longest(rig: GatewayRig, signWith: string) {
  const list = "eth.eip_712.message['l']";
  const loops = `${list}.all(a, ${list}.all(b, ${list}.any(c, a == b && b == c)))`;
  const wide = `${list}.all(a, a in [${"1, ".repeat(300)}1] && '${"x".repeat(850)}' != 'y')`;
  const trial = `approvers.all(a, approvers.all(b, a.id == b.id || approvers.count() > 900)) && approvers.count() > 5000`;
  const types = { EIP712Domain: [], M: [{ name: "l", type: "uint8[]" }] };
  const typed = { types, primaryType: "M", domain: {}, message: { l: Array(1_000).fill(1) } };
  const payload = { encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };
  const add = Array.from({ length: 180 }, (_, at) => ({
    ...{ policyName: `Draft ${at}`, effect: "EFFECT_ALLOW" },
    ...(at % 3 === 2 ? { consensus: trial } : { condition: at % 3 === 0 ? loops : wide }),
  }));
  const users = Array.from({ length: 1_000 }, (_, at) => ({ userId: randomUUID(), userName: `User ${at}` }));
  return {
    organizationId: rig.organizationId,
    activity: {
      type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
      parameters: { signWith, payloads: Array(100).fill(JSON.stringify(typed)), ...payload },
    },
    policies: { add: [{ policyName: "Many", effect: "EFFECT_ALLOW", consensus: "approvers.count() >= 800" }, ...add] },
    approverIds: users.slice(0, 500).map(({ userId }) => userId),
    scenario: { users },
  };
}

test("the dearest question there is has a short answer", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  if (rig === undefined) return;
  const ann = await rig.newPerson("ann");
  const { address } = await addAccount(rig);
  const request = longest(rig, address);
  assert.ok(JSON.stringify(request).length < 1024 * 1024);
  for (const policies of [request.policies, { add: request.policies.add.slice(1) }]) {
    const before = process.cpuUsage();
    const answer: { decision: string } = await ask(rig, ann, simulateActivity, { ...request, policies });
    const { user, system } = process.cpuUsage(before);
    const [seconds, length] = [(user + system) / 1e6, JSON.stringify(answer).length];
    t.diagnostic(`${answer.decision} after ${seconds.toFixed(2)} s of CPU, in ${length} characters`);
    assert.ok(length < 4_000_000);
  }
});
