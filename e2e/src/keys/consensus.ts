/** Two of two: what one proposes to sign, the other's approval signs. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { DEFAULT_ETHEREUM_ACCOUNTS } from "@turnkey/sdk-server";
import { createAccount, isTurnkeyActivityConsensusNeededError, TurnkeyConsensusNeededError } from "@turnkey/viem";
import { getAddress, type Hex, parseEther, recoverMessageAddress, serializeSignature } from "viem";
import { hardhat } from "viem/chains";
import { patienceMs } from "../../../core/test/patience.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person, refusalOf } from "../published/clients.ts";
import type { Chain } from "./chain.ts";

/** The activity behind the error with which a viem account says that it must wait. */
async function waitingActivity(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => assert.fail("one of two has signed"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TurnkeyConsensusNeededError && isTurnkeyActivityConsensusNeededError(error));
  assert.equal(error.activityStatus, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  assert.ok(error.activityId !== undefined);
  return error.activityId;
}

/** An activity that is over. While it is pending the clients' own pollers ask again, and so does this. */
async function outcomeOf({ sdk }: Person, activityId: string) {
  for (const until = Date.now() + patienceMs; Date.now() < until; await setTimeout(20)) {
    const { activity } = await sdk.getActivity({ activityId });
    if (activity.status !== "ACTIVITY_STATUS_PENDING") return activity;
  }
  return assert.fail("it is pending for ever");
}

export async function consensus(t: TestContext, server: KeysteadServer, root: Person, chain: Chain): Promise<void> {
  const [first, second] = await foundOrganization(server, root, ["First", "Second"]);
  assert.ok(first !== undefined && second !== undefined);
  const { organizationId } = first;
  const { addresses } = await first.sdk.createWallet({ walletName: "Joint", accounts: DEFAULT_ETHEREUM_ACCOUNTS });
  const address = getAddress(at(addresses, 0));
  await first.sdk.updateRootQuorum({ threshold: 2, userIds: [first.userId, second.userId] });
  await chain.fund(address);

  for (const client of ["sdk", "http"] as const) {
    // The account was built for another release of the http client, whose types differ in what it does not use.
    const account = await createAccount({ client: first[client] as never, organizationId, signWith: address });

    await t.test(`the ${client} client's transaction is signed by the second approval, and mined`, async () => {
      const activityId = await waitingActivity(
        account.signTransaction({
          type: "eip1559",
          chainId: hardhat.id,
          nonce: await chain.client.getTransactionCount({ address }),
          to: address,
          value: parseEther("0.1"),
          gas: 30_000n,
          maxFeePerGas: 5_000_000_000n,
          maxPriorityFeePerGas: 1n,
        }),
      );
      const { activity } = await first.sdk.getActivity({ activityId });
      assert.deepEqual(activity.result, {});
      const approved = await second.sdk.approveActivity({ fingerprint: activity.fingerprint });
      const signed = approved.activity.result.signTransactionResult?.signedTransaction;
      assert.equal(approved.activity.status, "ACTIVITY_STATUS_COMPLETED");
      const hash = await chain.client.sendRawTransaction({ serializedTransaction: `0x${signed}` });
      const receipt = await chain.client.getTransactionReceipt({ hash });
      assert.deepEqual([receipt.status, getAddress(receipt.from)], ["success", address]);
      // The proposer, who asks for the outcome from time to time, reads the same.
      const read = await outcomeOf(first, activityId);
      assert.equal(read.result.signTransactionResult?.signedTransaction, signed);
    });

    await t.test(`the ${client} client's message is signed by the second approval`, async () => {
      const message = `from ${client}`;
      const activityId = await waitingActivity(account.signMessage({ message }));
      const { fingerprint } = (await second.sdk.getActivity({ activityId })).activity;
      const { activity } = await second.sdk.approveActivity({ fingerprint });
      const { r, s, v } = activity.result.signRawPayloadResult ?? assert.fail("nothing was signed");
      const signature = serializeSignature({ r: `0x${r}`, s: `0x${s}`, yParity: Number(v) });
      assert.equal(await recoverMessageAddress({ message, signature }), address);
    });
  }

  await t.test("what was rejected is never signed", async () => {
    const account = await createAccount({ client: first.sdk, organizationId, signWith: address });
    const activityId = await waitingActivity(account.signMessage({ message: "no" }));
    const { fingerprint } = (await second.sdk.getActivity({ activityId })).activity;
    const { activity } = await second.sdk.rejectActivity({ fingerprint });
    assert.equal(activity.status, "ACTIVITY_STATUS_REJECTED");
    assert.equal((await refusalOf(second.sdk.approveActivity({ fingerprint }))).code, 7);
    assert.deepEqual((await first.sdk.getActivity({ activityId })).activity.result, {});
  });

  await t.test("what cannot be signed fails with its reason when the approval comes", async () => {
    const { activity: proposed } = await first.http.signRawPayload({
      type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
      organizationId,
      timestampMs: String(Date.now()),
      parameters: {
        signWith: address,
        payload: "0x00" satisfies Hex,
        encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
        hashFunction: "HASH_FUNCTION_NO_OP",
      },
    });
    const { activity } = await second.sdk.approveActivity({ fingerprint: proposed.fingerprint });
    assert.equal(activity.status, "ACTIVITY_STATUS_FAILED");
    assert.equal(activity.failure?.code, 3);
    assert.match(activity.failure?.message ?? "", /^expected a 32-bytes-long digest: hash the payload first, /);
  });
}
