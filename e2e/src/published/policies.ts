/** Policies by the published clients: written, read, decided by, and shown in their own errors. Transactions are viem's. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { TurnkeyRequestError } from "@turnkey/sdk-server";
import {
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseEther,
  parseGwei,
  parseTransaction,
  serializeTransaction,
} from "viem";
import type { KeysteadServer } from "../keystead_server.ts";
import { assertTimestamp, at, createMember, foundOrganization, type Person, refusalOf, wording } from "./clients.ts";

const supplier = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const stranger = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

type Call = { to: Hex; value?: bigint; data?: Hex };

function transaction({ to, value = 0n, data }: Call): Hex {
  const fees = { gas: 100_000n, maxFeePerGas: parseGwei("30"), maxPriorityFeePerGas: parseGwei("1") };
  return serializeTransaction({ type: "eip1559", chainId: 1, nonce: 0, to, value, ...fees, ...(data && { data }) });
}

function transfer(amount: bigint, to: Hex = supplier): Hex {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
  return transaction({ to: token, data });
}

function sign({ sdk }: Person, signWith: string, unsigned: Hex) {
  return sdk.signTransaction({ signWith, unsignedTransaction: unsigned, type: "TRANSACTION_TYPE_ETHEREUM" });
}

/** An organization of one root user and three others, with an account. */
async function settle(server: KeysteadServer, root: Person) {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { addresses, walletId } = await owner.sdk.createWallet({
    walletName: "Treasury",
    accounts: [
      {
        ...{ curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32" },
        ...{ path: "m/44'/60'/0'/0/0", addressFormat: "ADDRESS_FORMAT_ETHEREUM" },
      },
    ],
  });
  const member = (name: string) => createMember(server, owner, name);
  return {
    owner,
    bot: await member("Bot"),
    ann: await member("Ann"),
    bob: await member("Bob"),
    walletId,
    address: at(addresses, 0),
  };
}

export async function policies(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const { owner, bot, ann, bob, walletId, address } = await settle(server, root);
  const { sdk, organizationId } = owner;

  await t.test("createPolicy, createPolicies, updatePolicy, deletePolicy, getPolicy and getPolicies", async () => {
    const condition = `activity.kind == 'SIGN_TRANSACTION' && eth.tx.to in ["${supplier}"]`;
    const written = {
      policyName: "First",
      effect: "EFFECT_ALLOW",
      condition,
      consensus: "true",
      notes: "Ours.",
    } as const;
    const { policyId, activity } = await sdk.createPolicy(written);
    assert.equal(activity.type, "ACTIVITY_TYPE_CREATE_POLICY_V3");
    const { policy } = await sdk.getPolicy({ policyId });
    const { createdAt, updatedAt, ...shown } = policy;
    assert.deepEqual(shown, { policyId, ...written, time: "" });
    for (const time of [createdAt, updatedAt]) assertTimestamp(time);
    const many = ["Second", "Third"].map(
      (policyName) => ({ policyName, effect: "EFFECT_DENY", condition: "false", notes: "" }) as const,
    );
    const { policyIds } = await sdk.createPolicies({ policies: many });
    const names = async () => (await sdk.getPolicies()).policies.map(({ policyName }) => policyName).toSorted();
    assert.deepEqual(await names(), ["First", "Second", "Third"]);
    await sdk.updatePolicy({ policyId, policyName: "Renamed", policyCondition: "false", policyNotes: "" });
    const { policy: changed } = await sdk.getPolicy({ policyId });
    const { updatedAt: _, ...rest } = changed;
    assert.deepEqual(rest, { ...shown, policyName: "Renamed", condition: "false", notes: "", createdAt });
    const taken = await refusalOf(sdk.createPolicy({ ...written, policyName: "second" }));
    assert.equal(taken.message, wording(3, "policy label must be unique: `Second` exists"));
    const bad = await refusalOf(sdk.createPolicy({ ...written, policyName: "Bad", condition: "eth.tx.whereto == ''" }));
    assert.match(bad.message, /^Turnkey error 3: invalid policy condition: .*whereto.* at position/);
    for (const each of [policyId, ...policyIds]) await sdk.deletePolicy({ policyId: each });
    assert.deepEqual(await names(), []);
    const gone = await refusalOf(sdk.getPolicy({ policyId }));
    assert.equal(gone.code, 5);
  });

  await t.test(
    "a member signs viem's transactions inside its policy; outside, the client's error says which policy and why",
    async () => {
      const { policyId } = await sdk.createPolicy({
        policyName: "Small payments",
        effect: "EFFECT_ALLOW",
        condition: `wallet.id == '${walletId}' && eth.tx.to == '${supplier}' && eth.tx.value <= ${parseEther("1")}`,
        consensus: `approvers.any(user, user.id == '${bot.userId}')`,
        notes: "",
      });
      const inside = transaction({ to: supplier, value: parseEther("1") });
      const { signedTransaction } = await sign(bot, address, inside);
      const { to, value, r } = parseTransaction(`0x${signedTransaction}`);
      assert.deepEqual([to, value], [supplier.toLowerCase(), parseEther("1")]);
      assert.ok(r);

      const outside: readonly (readonly [Person, Hex, clause: string, observed: object])[] = [
        [
          bot,
          transaction({ to: supplier, value: parseEther("1") + 1n }),
          `eth.tx.value <= ${parseEther("1")}`,
          { "eth.tx.value": `${parseEther("1") + 1n}` },
        ],
        [bot, transaction({ to: stranger }), `eth.tx.to == '${supplier}'`, { "eth.tx.to": stranger.toLowerCase() }],
        [ann, inside, `approvers.any(user, user.id == '${bot.userId}')`, {}],
      ];
      for (const [person, unsigned, clause, observed] of outside) {
        const refusal = await refusalOf(sign(person, address, unsigned));
        assert.ok(refusal instanceof TurnkeyRequestError);
        assert.equal(refusal.code, 7);
        const [detail, ...more] = refusal.details ?? [];
        assert.deepEqual(more, []);
        const { explanations, ...published } = detail;
        assert.deepEqual(published, {
          "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
          message: "No policies evaluated to outcome: Allow",
          policyEvaluations: [{ policyId, outcome: "OUTCOME_DENY_IMPLICIT" }],
        });
        const prefix = "You don't have sufficient permissions to take this action.";
        assert.equal(refusal.message, wording(7, prefix, [detail]));
        assert.equal(explanations[0].clause, clause);
        for (const [name, seen] of Object.entries(observed))
          assert.equal(explanations[0].observed[name].toLowerCase(), seen);
      }
      const { activities } = await sdk.getActivities({ filterByStatus: ["ACTIVITY_STATUS_REJECTED"] });
      assert.equal(activities.length, outside.length);
      for (const { id, votes } of activities) {
        const { policyEvaluations } = await ann.sdk.getPolicyEvaluations({ activityId: id });
        const [entry, ...more] = policyEvaluations;
        assert.deepEqual(more, []);
        assert.deepEqual([entry?.voteId, entry?.activityId, entry?.organizationId], [votes[0]?.id, id, organizationId]);
        assert.deepEqual(entry?.policyEvaluations, [{ policyId, outcome: "OUTCOME_DENY_IMPLICIT" }]);
        assertTimestamp(entry?.createdAt);
      }
      await sdk.createPolicy({
        policyName: "Frozen",
        effect: "EFFECT_DENY",
        condition: "activity.action == 'SIGN'",
        notes: "",
      });
      const denied = await refusalOf(sign(bot, address, inside));
      assert.match(JSON.stringify(denied.details), /The following policies denied this action: [0-9a-f-]{36}"/);
      assert.ok((await sign(owner, address, inside)).signedTransaction, "the root user is not held by it");
      const { policies: all } = await sdk.getPolicies();
      for (const { policyId } of all) await sdk.deletePolicy({ policyId });
    },
  );

  await t.test("two whom a policy names sign together, by approveActivity or by sending the same bytes", async () => {
    const named = [ann, bob].map(({ userId }) => `'${userId}'`).join(", ");
    const { policyId } = await sdk.createPolicy({
      policyName: "Together",
      effect: "EFFECT_ALLOW",
      condition: "activity.kind == 'SIGN_TRANSACTION'",
      consensus: `approvers.filter(user, user.id in [${named}]).count() >= 2`,
      notes: "",
    });
    const unsignedTransaction = transaction({ to: stranger, value: 1n });
    const body = {
      type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2" as const,
      timestampMs: String(Date.now()),
      organizationId,
      parameters: { signWith: address, unsignedTransaction, type: "TRANSACTION_TYPE_ETHEREUM" as const },
    };
    const approvals = {
      approveActivity: (fingerprint: string) => bob.sdk.approveActivity({ fingerprint }),
      "the same bytes": () => bob.http.signTransaction(body),
    };
    for (const [name, approve] of Object.entries(approvals)) {
      body.timestampMs = String(Number(body.timestampMs) + 1);
      const { activity: proposed } = await ann.http.signTransaction(body);
      assert.equal(proposed.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
      const outsider = await refusalOf(bot.sdk.approveActivity({ fingerprint: proposed.fingerprint }));
      assert.equal(outsider.code, 7);
      const { activity: shown } = await bob.sdk.getActivity({ activityId: proposed.id });
      assert.deepEqual([shown.canApprove, shown.canReject], [true, true]);
      const { activity } = await approve(proposed.fingerprint);
      assert.deepEqual([activity.id, activity.status], [proposed.id, "ACTIVITY_STATUS_COMPLETED"], name);
      const signed = activity.result.signTransactionResult?.signedTransaction;
      assert.equal(parseTransaction(`0x${signed}`).value, 1n);
      const { policyEvaluations } = await sdk.getPolicyEvaluations({ activityId: proposed.id });
      assert.deepEqual(
        policyEvaluations.map((entry) => entry.policyEvaluations),
        ["OUTCOME_REQUIRES_CONSENSUS", "OUTCOME_ALLOW"].map((outcome) => [{ policyId, outcome }]),
      );
    }
    const alone = await refusalOf(sign(bot, address, unsignedTransaction));
    assert.equal(alone.code, 7, "who is not named does not even begin");
    await sdk.deletePolicy({ policyId });
  });

  await t.test("createSmartContractInterface lets policies read calls", async () => {
    await sdk.createPolicy({
      policyName: "Small transfers",
      effect: "EFFECT_ALLOW",
      condition: "eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['amount'] < 1000",
      notes: "",
    });
    assert.equal((await refusalOf(sign(bot, address, transfer(999n)))).code, 7);
    const created = {
      smartContractAddress: token,
      smartContractInterface: JSON.stringify(erc20Abi),
      type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
      label: "Token",
      notes: "Of viem.",
    } as const;
    const { smartContractInterfaceId } = await sdk.createSmartContractInterface(created);
    const { smartContractInterface: shown } = await sdk.getSmartContractInterface({ smartContractInterfaceId });
    assert.deepEqual(
      [shown.type, shown.label, shown.smartContractInterface],
      ["ETHEREUM", "Token", created.smartContractInterface],
    );
    assert.equal((await sdk.getSmartContractInterfaces({})).smartContractInterfaces.length, 1);
    assert.ok((await sign(bot, address, transfer(999n))).signedTransaction);
    const refusal = await refusalOf(sign(bot, address, transfer(1_000n)));
    assert.match(JSON.stringify(refusal.details), /"eth\.tx\.contract_call_args\['amount'\]":"1000"/);
    await sdk.deleteSmartContractInterface({ smartContractInterfaceId });
    assert.equal((await refusalOf(sign(bot, address, transfer(999n)))).code, 7);
    const unknown = await refusalOf(sdk.deleteSmartContractInterface({ smartContractInterfaceId: randomUUID() }));
    assert.equal(unknown.code, 5);
  });
}
