/** Ways around a denial that were found by trying. */
import assert from "node:assert/strict";
import { fromBase58 } from "@keystead/core/encoding/base58.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { toRlp, toRlpInteger } from "@keystead/core/encoding/rlp.ts";
import { payOf, program, programInterface, token, tokenInterface } from "../../test/contract_calls.ts";
import { type GatewayRig, type Person, Refused } from "../../test/gateway_rig.ts";
import { accounts, addAccount, addPolicy, ask, done, onBothDatabases } from "../../test/policy_rig.ts";
import { getPolicyEvaluations } from "../queries/get_policy_evaluations.ts";

const word = (value: bigint) => value.toString(16).padStart(64, "0");

function callOf(data: string): string {
  const fees = [1n, 0n, 1n, 2n, 100_000n].map((value) => toRlpInteger(value));
  return `02${toHex(toRlp([...fees, fromHex(token.slice(2).toLowerCase()), toRlpInteger(0n), fromHex(data), []]))}`;
}

async function signs(rig: GatewayRig, person: Person, parameters: object): Promise<string> {
  const answer = await rig.submit(person, "sign_transaction", parameters).catch((error: unknown) => error);
  if (answer instanceof Refused) return answer.failure.code === 7 ? "refused" : answer.message;
  return (answer as { status: string }).status;
}

onBothDatabases(
  "a denial by a function's name is not evaded with a byte more, nor is an allowance of the others",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { address: signWith } = await addAccount(rig);
    const type = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM";
    const own = { smartContractAddress: token, smartContractInterface: tokenInterface, type, label: "Token" };
    await done(rig, rig.root, "create_smart_contract_interface", own);
    await addPolicy(rig, { condition: `eth.tx.to == '${token}'` });
    const does = (data: string) =>
      signs(rig, dave, { signWith, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: callOf(data) });
    const transfer = `a9059cbb${word(0x5en)}${word(1n)}`;
    assert.equal(await does(`${transfer}00`), "ACTIVITY_STATUS_COMPLETED", "nothing denies it yet");
    await addPolicy(rig, { effect: "EFFECT_DENY", condition: "eth.tx.function_name == 'transfer'" });
    for (const data of [transfer, `${transfer}00`, `${transfer}${word(0n)}`, transfer.slice(0, -2), "a9059cbb"]) {
      assert.equal(await does(data), "refused", data);
    }
    // Of what the interface does not have, the name is empty: it is known not to be this function.
    assert.equal(await does(`095ea7b3${word(1n)}${word(1n)}`), "ACTIVITY_STATUS_COMPLETED");
    assert.equal(await does(""), "ACTIVITY_STATUS_COMPLETED");
  },
);

onBothDatabases("a denial by an instruction's name is not evaded with a byte more", async (rig) => {
  const dave = await rig.newPerson("dave");
  const { address: signWith } = await addAccount(rig, { account: accounts.solana });
  const type = "SMART_CONTRACT_INTERFACE_TYPE_SOLANA";
  const own = { smartContractAddress: program, smartContractInterface: programInterface, type, label: "Program" };
  await done(rig, rig.root, "create_smart_contract_interface", own);
  await addPolicy(rig, { condition: "activity.kind == 'SIGN_TRANSACTION'" });
  await addPolicy(rig, {
    effect: "EFFECT_DENY",
    condition: "solana.tx.instructions.any(i, i.parsed_instruction_data.instruction_name == 'pay')",
  });
  const plain = payOf(1n, fromBase58(signWith), fromBase58(program));
  const longer = `${plain.replace(/01010009(?=.{18}$)/, "0101000a")}00`;
  assert.equal(longer.length, plain.length + 2);
  for (const unsignedTransaction of [plain, longer]) {
    assert.equal(await signs(rig, dave, { signWith, type: "TRANSACTION_TYPE_SOLANA", unsignedTransaction }), "refused");
  }
});

onBothDatabases("why a submission was refused is kept once, and told by both who ask", async (rig) => {
  const dave = await rig.newPerson("dave");
  const { address: signWith } = await addAccount(rig);
  await addPolicy(rig, { condition: `eth.tx.to == '0x${"11".repeat(20)}'` });
  const parameters = { signWith, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: callOf("") };
  assert.equal(await signs(rig, dave, parameters), "refused");
  const row = await rig.store.db
    .selectFrom("activities")
    .select(["activity_id", "explanation", "failure"])
    .where("status", "=", "ACTIVITY_STATUS_REJECTED")
    .executeTakeFirstOrThrow();
  assert.equal(row.explanation, null);
  const { details } = JSON.parse(row.failure ?? "") as { details: [{ explanations: object[] }] };
  assert.equal(details[0].explanations.length, 1);
  const { policyEvaluations } = await ask(rig, dave, getPolicyEvaluations, { activityId: row.activity_id });
  assert.deepEqual(policyEvaluations[0]?.details, details[0].explanations);
});
