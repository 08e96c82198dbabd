/** Interfaces of contracts, from the activity that makes one to the arguments that policies decide on. */
import assert from "node:assert/strict";
import { fromBase58 } from "@keystead/core/encoding/base58.ts";
import {
  payee,
  payOf,
  program,
  programInterface,
  token,
  tokenInterface,
  transferOf,
} from "../../../test/contract_calls.ts";
import { type Activity, type GatewayRig, newUser, type Person, Refused } from "../../../test/gateway_rig.ts";
import { accounts, addAccount, addPolicy, done, onBothDatabases, type Where } from "../../../test/policy_rig.ts";
import { activityForms } from "../../generated/activities.ts";
import { readDecisionPages, readSources } from "../../views/decision_sources.ts";

const ethereum = "TRANSACTION_TYPE_ETHEREUM";

const tokenParameters = {
  smartContractAddress: token,
  smartContractInterface: tokenInterface,
  type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
  label: "Token",
};

type Made = { smartContractInterfaceId: string };

async function addInterface(rig: GatewayRig, parameters: object = tokenParameters, root = rig.root, where: Where = {}) {
  const path = "create_smart_contract_interface";
  return (await done<Made>(rig, root, path, parameters, where)).smartContractInterfaceId;
}

/** Whether this person may sign it, in a word. */
async function signs(rig: GatewayRig, person: Person, parameters: object, where: Where = {}): Promise<string> {
  const answer = await rig.submit(person, "sign_transaction", parameters, where).catch((error: unknown) => error);
  if (answer instanceof Refused) return answer.failure.code === 7 ? "refused" : `failed: ${answer.message}`;
  if (answer instanceof Error) return `not decided: ${answer.message}`;
  return (answer as Activity).status.replace("ACTIVITY_STATUS_", "").toLowerCase();
}

onBothDatabases("an interface is read by from the next activity on, and not after it was deleted", async (rig) => {
  const dave = await rig.newPerson("dave");
  const { address: signWith } = await addAccount(rig);
  await addPolicy(rig, {
    condition: `eth.tx.to == '${token}' && eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['amount'] <= 1000 && eth.tx.contract_call_args['to'] == '${payee}'`,
  });
  const does = (amount: bigint, to?: string) =>
    signs(rig, dave, { signWith, type: ethereum, unsignedTransaction: transferOf(amount, to) });
  assert.equal(await does(1_000n), "refused", "nobody has said what is called");
  const smartContractInterfaceId = await addInterface(rig);
  assert.equal(await does(1_000n), "completed");
  assert.equal(await does(1_001n), "refused");
  assert.equal(await does(1n, `0x${"66".repeat(20)}`), "refused");
  await done(rig, rig.root, "delete_smart_contract_interface", { smartContractInterfaceId });
  assert.equal(await does(1_000n), "refused");
  await addInterface(rig);
  assert.equal(await does(1_000n), "completed");
});

onBothDatabases(
  "calls that are not what they seem are not read, and a denial by arguments then denies",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { address: signWith } = await addAccount(rig);
    await addInterface(rig);
    await addPolicy(rig, { condition: "activity.kind == 'SIGN_TRANSACTION'" });
    const does = (unsignedTransaction: string) => signs(rig, dave, { signWith, type: ethereum, unsignedTransaction });
    // A dirty word before the address: it decodes for whoever is careless, and does not re-encode to the same bytes.
    const dirty = transferOf(1n).replace(
      `${"00".repeat(12)}${"5e".repeat(20)}`,
      `${"00".repeat(11)}01${"5e".repeat(20)}`,
    );
    assert.notEqual(dirty, transferOf(1n));
    assert.equal(await does(dirty), "completed", "nothing denies it yet");
    await addPolicy(rig, { effect: "EFFECT_DENY", condition: "eth.tx.contract_call_args['amount'] > 1000" });
    assert.equal(await does(transferOf(1_000n)), "completed");
    assert.equal(await does(transferOf(1_001n)), "refused");
    assert.equal(await does(dirty), "refused", "whether it denies cannot be told");
  },
);

onBothDatabases("a program's instructions are read by its interface", async (rig) => {
  const dave = await rig.newPerson("dave");
  const { address: signWith } = await addAccount(rig, { account: accounts.solana });
  const condition =
    "solana.tx.instructions.all(each, each.parsed_instruction_data.instruction_name == 'pay' && " +
    "each.parsed_instruction_data.program_call_args['amount'] < 100)";
  await addPolicy(rig, { condition });
  const does = (amount: bigint) => {
    const unsignedTransaction = payOf(amount, fromBase58(signWith), fromBase58(program));
    return signs(rig, dave, { signWith, type: "TRANSACTION_TYPE_SOLANA", unsignedTransaction });
  };
  assert.equal(await does(99n), "refused");
  await addInterface(rig, {
    smartContractAddress: program,
    smartContractInterface: programInterface,
    type: "SMART_CONTRACT_INTERFACE_TYPE_SOLANA",
    label: "Program",
  });
  assert.equal(await does(99n), "completed");
  assert.equal(await does(100n), "refused");
});

onBothDatabases("a sub-organization sees neither its parent's interfaces nor those of another", async (rig) => {
  const { organizationId, people } = await rig.newSubOrganization(1, ["boss"]);
  const [boss] = people as [Person];
  const where = { organizationId };
  const { user, privateKey } = newUser("dave");
  const { userIds } = await done<{ userIds: [string] }>(
    rig,
    boss,
    "create_users",
    { users: [{ ...user, userTags: [] }] },
    where,
  );
  const dave: Person = { userId: userIds[0], userName: "dave", privateKey };
  const { address: signWith } = await addAccount(rig, { root: boss }, where);
  const byName = { condition: "eth.tx.function_name == 'transfer'" };
  await addPolicy(rig, byName, boss, where);
  await addInterface(rig);
  const parameters = { signWith, type: ethereum, unsignedTransaction: transferOf(1n) };
  assert.equal(await signs(rig, dave, parameters, where), "refused");
  await addInterface(rig, tokenParameters, boss, where);
  assert.equal(await signs(rig, dave, parameters, where), "completed");

  const other = await rig.newSubOrganization(1, ["other"]);
  const [otherBoss] = other.people as [Person];
  const beside = { organizationId: other.organizationId };
  const account = await addAccount(rig, { root: otherBoss }, beside);
  await addPolicy(rig, byName, otherBoss, beside);
  const { user: sue, privateKey: suesKey } = newUser("sue");
  const added = await done<{ userIds: [string] }>(
    rig,
    otherBoss,
    "create_users",
    { users: [{ ...sue, userTags: [] }] },
    beside,
  );
  const person: Person = { userId: added.userIds[0], userName: "sue", privateKey: suesKey };
  assert.equal(await signs(rig, person, { ...parameters, signWith: account.address }, beside), "refused");
});

onBothDatabases(
  "an interface that is deleted while somebody reads is asked for again, and not passed over",
  async (rig) => {
    const { address: signWith } = await addAccount(rig);
    const smartContractInterfaceId = await addInterface(rig);
    const pages = await readDecisionPages(rig.store, rig.organizationId);
    const form = activityForms.get("ACTIVITY_TYPE_SIGN_TRANSACTION_V2");
    assert.ok(pages && form);
    await done(rig, rig.root, "delete_smart_contract_interface", { smartContractInterfaceId });
    const params = { signWith, type: ethereum, unsignedTransaction: transferOf(1n) };
    const sources = await readSources(rig.store, rig.organizationId, pages, form, params);
    assert.throws(() => sources.openInterface(smartContractInterfaceId), { code: "aborted", message: /try again$/ });
  },
);

onBothDatabases(
  "what calls a contract is decided while its interface is being made: with it or without, and never not at all",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { address: signWith } = await addAccount(rig);
    await addPolicy(rig, { condition: "activity.kind == 'SIGN_TRANSACTION'" });
    await addPolicy(rig, { effect: "EFFECT_DENY", condition: "eth.tx.function_name == 'transfer'" });
    const parameters = { signWith, type: ethereum, unsignedTransaction: transferOf(1n) };
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < 5; round++) {
      const made = addInterface(rig);
      const asked = Array.from({ length: 5 }, () => signs(rig, dave, parameters));
      const smartContractInterfaceId = await made;
      for (const word of await Promise.all(asked)) outcomes[word] = (outcomes[word] ?? 0) + 1;
      assert.equal(await signs(rig, dave, parameters), "refused");
      await done(rig, rig.root, "delete_smart_contract_interface", { smartContractInterfaceId });
    }
    assert.deepEqual(
      Object.keys(outcomes).filter((word) => word !== "refused" && word !== "completed"),
      [],
    );
  },
);
