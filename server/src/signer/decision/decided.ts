/** Deciding an act, and what the decision looked at where it is to be proven. */
import type { Work } from "@keystead/core/work.ts";
import { authorising, type Decision, type Question } from "../../rules/authorise.ts";
import type { KnownKeys } from "../../rules/keys.ts";
import { outcomeOf } from "../../rules/policy_outcome.ts";
import type { Approval } from "../../state/entities.ts";
import type { KeyRecord } from "../../state/records.ts";
import type { Act, Decided } from "./act.ts";
import { questionOf } from "./question.ts";

/** Without the flag in its body, an act is decided as if there were no proofs. */
export function* decidingAct(
  act: Act,
  approvals: readonly Approval[],
): Work<{ decision: Decision; decided?: Decided }> {
  const question = questionOf(act, approvals);
  if (!act.asked.envelope.generateAppProofs) return { decision: yield* authorising(question) };
  const looked = { records: [] as readonly KeyRecord[], keyIds: new Set<string>(), interfaceIds: new Set<string>() };
  const decision = yield* authorising(watched(question, looked));
  return { decision, decided: { outcome: outcomeOf(decision), approvals, ...looked } };
}

type Looked = { records: readonly KeyRecord[]; keyIds: Set<string>; interfaceIds: Set<string> };

function watched(question: Question, looked: Looked): Question {
  return {
    ...question,
    keys(): KnownKeys {
      const keys = question.keys();
      looked.records = keys.records;
      return {
        records: keys.records,
        factsOf(id) {
          looked.keyIds.add(id);
          return keys.factsOf(id);
        },
      };
    },
    openInterface(interfaceId) {
      looked.interfaceIds.add(interfaceId);
      return question.openInterface(interfaceId);
    },
  };
}
