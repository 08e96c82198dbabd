/** What it costs to ask policies about a transfer of a token, from the hex of the transaction to the verdict, in this process. */
import { randomUUID } from "node:crypto";
import { compilePolicy } from "@keystead/core/policy/decision/compiled_policy.ts";
import { decidePolicies, type PolicyDecision, type PolicyQuestion } from "@keystead/core/policy/decision/decide.ts";
import { explain } from "@keystead/core/policy/decision/explain.ts";
import { type ActivityFacts, viewsOf } from "@keystead/core/policy/facts/condition_views.ts";
import { parseInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import { type Computation, measureUs, prepareSignature } from "./baselines.ts";
import { abiText, unsignedTransfer } from "./erc20.ts";
import { policyTexts, transfers } from "./policy_texts.ts";
import { median } from "./statistics.ts";

export type DecisionCost = {
  policies: number;
  /** With the reasons of every policy, which the signer adds for whoever asks why. */
  isExplained: boolean;
  us: number;
};

export type DecisionReport = { signatureUs: number; decisions: DecisionCost[] };

export type DecisionPlan = { rounds: number; seconds: number };

const policyCounts = [10, 100] as const;

/** Until the compilers have settled. */
const warmUpRounds = 40;

/** Signature and decisions in short turns, so that a host that slows down slows all of them. */
export function measureDecisions({ rounds, seconds }: DecisionPlan): DecisionReport {
  const signature = { computation: prepareSignature(seconds), measured: [] as number[] };
  const decisions = [false, true].flatMap((isExplained) =>
    policyCounts.map((policies) => {
      const computation = prepareDecision(seconds, policies, isExplained);
      return { policies, isExplained, computation, measured: [] as number[] };
    }),
  );
  const all = [signature, ...decisions];
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const { computation, measured } of all) {
      const us = computation.measureUs();
      if (round >= 0) measured.push(us);
    }
  }
  return {
    signatureUs: median(signature.measured),
    decisions: decisions.map(({ policies, isExplained, measured }) => ({
      policies,
      isExplained,
      us: median(measured),
    })),
  };
}

/** Everything that depends on the request is done anew each time; policies and the contract's interface are at hand. */
function prepareDecision(seconds: number, count: number, isExplained: boolean): Computation {
  const userId = randomUUID();
  const credential = { id: randomUUID(), type: "CREDENTIAL_TYPE_API_KEY_P256", publicKey: "02".padEnd(66, "a") };
  const user = { userId, userName: "Bench", userTags: [], credentials: [credential] };
  const policies = policyTexts(count, transfers, userId).map((text) => ({
    policyId: randomUUID(),
    policy: compilePolicy(text),
  }));
  const abi = parseInterface("ETHEREUM", abiText);
  const activities = Array.from({ length: 64 }, (): ActivityFacts => {
    const unsignedTransaction = unsignedTransfer();
    const sent = { signWith: account.address, unsignedTransaction, type: "TRANSACTION_TYPE_ETHEREUM" };
    // As they come out of a body: texts that were put together of parts would be slower to read.
    const params = JSON.parse(JSON.stringify(sent)) as typeof sent;
    return { type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", params, key: account, findInterface: () => abi };
  });
  let next = 0;
  function decide(): void {
    const activity = activities[next++ % activities.length] as ActivityFacts;
    // A request's parameters are an object of its own. What was read of one is remembered with it, and must not be here.
    const params = { ...activity.params };
    const question: PolicyQuestion = {
      policies,
      views: viewsOf({ ...activity, params }),
      proposerId: userId,
      approvers: [{ user, credential }],
      members: () => [user],
      nowMs: Date.now(),
    };
    const decision: PolicyDecision = decidePolicies(question);
    if (decision.verdict !== "allow") throw new Error(`decided otherwise: ${decision.verdict}`);
    if (isExplained && explain(question, decision).length !== count) throw new Error("a policy without a reason");
  }
  return { measureUs: () => measureUs(seconds, decide) };
}

const account = {
  kind: "walletAccount",
  wallet: { walletId: randomUUID(), walletName: "Treasury", imported: false, exported: false },
  address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  path: "m/44'/60'/0'/0/0",
  curve: "CURVE_SECP256K1",
  publicKey: "038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75",
} as const;
