/** What the signer's memory and secrets said in one decision, and what it drew for pages: as its leaf names them. */
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { NewLeaf } from "@keystead/core/log/leaf.ts";
import { encodeMemoryVerdict, type VerdictSubject } from "@keystead/core/log/outside_values.ts";
import type { Told, VerdictAccess } from "../../endpoints/verdict_access.ts";

export type Verdicts = VerdictAccess & {
  /** What was found without a question. */
  note(subject: VerdictSubject, isAllowed: boolean, told?: Partial<Told>): void;
  /** The public half of a key that was drawn for an import. */
  noteTarget(publicKey: Uint8Array): void;
  readonly target: Uint8Array | undefined;
  /** The act has failed. A secret that was opened in it is what failed it: everything else is looked at before. */
  fail(): void;
  readonly taken: NewLeaf["outside"];
};

type Entry = { subject: VerdictSubject; isAllowed: boolean; told: Partial<Told> };

/** Nearly every act asks whether a key is a service key, and every look at a key whether it was released: only the other answer is kept. */
const refusalsOnly: readonly VerdictSubject[] = ["serviceKey", "unreleased"];

export function createVerdicts(): Verdicts {
  const entries: Entry[] = [];
  let target: Uint8Array | undefined;

  function note(subject: VerdictSubject, isAllowed: boolean, told: Partial<Told> = {}): void {
    if (isAllowed && refusalsOnly.includes(subject)) return;
    // A body may bring a hundred tokens, and a leaf has place for few values: the same answer is noted once.
    const last = entries.findLast((entry) => entry.subject === subject);
    const name = JSON.stringify([isAllowed, told]);
    if (last === undefined || JSON.stringify([last.isAllowed, last.told]) !== name)
      entries.push({ subject, isAllowed, told });
  }

  return {
    note,
    get target() {
      return target;
    },
    noteTarget(publicKey) {
      target = publicKey;
    },
    judge({ subject, ask, tell }) {
      try {
        const answer = ask();
        note(subject, true, tell?.(answer));
        return answer;
      } catch (error) {
        if (error instanceof Fault) note(subject, false);
        throw error;
      }
    },
    confirm(subject, ask) {
      const isAllowed = ask();
      note(subject, isAllowed);
      return isAllowed;
    },
    fail() {
      for (const entry of entries) if (entry.subject === "import") entry.isAllowed = false;
    },
    get taken() {
      return entries.map(({ subject, isAllowed, told: { times = [], ids = [] } }) => {
        const value = encodeMemoryVerdict({ subject, isAllowed, times, ids: ids.map(uuidToBytes) });
        return { kind: "memoryVerdict", value: { kind: "bytes", value } } as const;
      });
    },
  };
}
