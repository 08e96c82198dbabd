/** Policies that let everybody do everything, or nobody anything. They are valid; their authors should know. */
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { checkExpression } from "@keystead/core/policy/language/check.ts";
import { isPlainlyTrue } from "./always_true.ts";

type Texts = Pick<WrittenPolicy, "effect" | "condition" | "consensus" | "time">;
type Kind = "condition" | "consensus";

/** Whether the expression restricts nothing; what is left out is true. Throws for an expression that is not one. */
export function restrictsNothing(kind: Kind, text = ""): boolean {
  return text === "" || isPlainlyTrue(checkExpression(kind, text));
}

/** Whether it allows every user every activity. Throws for an expression that is not one. */
export function isOpen({ effect, condition, consensus }: Texts): boolean {
  return (
    effect === "EFFECT_ALLOW" && restrictsNothing("condition", condition) && restrictsNothing("consensus", consensus)
  );
}

/** Whether it denies every activity of every user. Throws for an expression that is not one. */
export function isShut({ effect, condition, consensus, time = "" }: Texts): boolean {
  const isAlways = restrictsNothing("condition", condition) && restrictsNothing("consensus", consensus);
  return effect === "EFFECT_DENY" && isAlways && time === "";
}

export const deniesEverything = "denies every activity that the root quorum does not approve";
