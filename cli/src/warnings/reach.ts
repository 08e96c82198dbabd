/** Policies that reach further, or less far, than they read. */
import type { WrittenPolicy } from "@keystead/core/policy/cases/case_file.ts";
import { allowsEverything } from "@keystead/core/policy/decision/open_policy.ts";
import type { CheckedExpression } from "@keystead/core/policy/language/check.ts";
import type { ExpressionKind } from "@keystead/core/policy/vocabulary/vocabulary.ts";
import { neverWarnings } from "./never.ts";
import { deniesEverything, isOpen, isShut, restrictsNothing } from "./open_texts.ts";
import { textsBeside, visitedNodes } from "./paths.ts";

/** A policy with those of its expressions that are written and can be evaluated. */
export type CheckedPolicy = { policy: WrittenPolicy; checked: Partial<Record<ExpressionKind, CheckedExpression>> };

/** About the policy, or about a place in its condition. */
export type Finding = { position?: number; message: string };

export function reachWarnings(one: CheckedPolicy, all: readonly CheckedPolicy[]): Finding[] {
  const { policy, checked } = one;
  const ofEffect =
    policy.effect === "EFFECT_ALLOW"
      ? allowsTooMuch(policy)
      : [...deniesTooMuch(policy), ...deniesTooLittle(checked.condition, all)];
  return [...neverApplies(one), ...ofEffect, ...looseTransfers(checked.condition)];
}

function neverApplies({ policy, checked: { condition } }: CheckedPolicy): Finding[] {
  if (condition === undefined) return [];
  const places = placesOf(condition);
  const verb = policy.effect === "EFFECT_ALLOW" ? "allows" : "denies";
  return neverWarnings(condition, verb).map(({ need = "", position = places.get(need), message }) => ({
    position: position ?? condition.root.start,
    message,
  }));
}

/** Left out is not the same as meant: an author who means everybody or everything can write `true`. */
function allowsTooMuch(policy: WrittenPolicy): Finding[] {
  const { consensus = "", condition = "" } = policy;
  if (isOpen(policy)) {
    return [{ message: `it ${allowsEverything}: neither its condition nor its consensus restricts anything` }];
  }
  const everybody = "it allows this to every user, alone; write `true` if that is meant";
  const everything = "it allows everything, new policies too; write `true` if that is meant";
  return [...unmeant("consensus", consensus, everybody), ...unmeant("condition", condition, everything)];
}

function unmeant(kind: "consensus" | "condition", text: string, message: string): Finding[] {
  if (text === "") return [{ message: `without a ${kind} ${message}` }];
  if (text.trim() === "true" || !restrictsNothing(kind, text)) return [];
  return [{ message: `its ${kind} is always true, so ${message}` }];
}

/** A denial of everything stops all users but the root quorum. One that says `true` is meant. */
function deniesTooMuch(policy: WrittenPolicy): Finding[] {
  const isSaid = [policy.condition, policy.consensus].some((text) => text?.trim() === "true");
  if (isSaid || !isShut(policy)) return [];
  return [{ message: `it ${deniesEverything}; write the condition \`true\` if that is meant` }];
}

/** Denials that a request can be written around, by where they name what it can be written around with. */
const evadable: Readonly<Record<string, string>> = {
  "bitcoin.tx.outputs[].address":
    "an output's address is written for the network of the signing address, and the same key has addresses on several; deny by script_pubkey",
  "wallet_account.address":
    "the same key has other addresses in other formats; deny by wallet.id and wallet_account.path_indexes, or by eth.tx.from",
};

function deniesTooLittle(condition: CheckedExpression | undefined, all: readonly CheckedPolicy[]): Finding[] {
  const places = placesOf(condition);
  const evaded = Object.entries(evadable).flatMap(([path, message]) => {
    const position = places.get(path);
    return position === undefined ? [] : [{ position, message }];
  });
  return [...evaded, ...unreadCalls(places, all)];
}

/**
 * Where no interface has the function, its name is empty and a denial by name passes; arguments have no value, and a
 * denial by arguments denies all that is like it. (A function that the interface has and cannot read has no name at all:
 * that denies.)
 */
function unreadCalls(places: ReadonlyMap<string, number>, all: readonly CheckedPolicy[]): Finding[] {
  const permits = all.filter(
    ({ policy, checked }) => policy.effect === "EFFECT_ALLOW" && maySignCalls(checked.condition),
  );
  const loose = permits.find(({ checked }) => !restrictsCalls(checked.condition));
  if (permits.length > 0 && loose === undefined) return [];
  const where = loose === undefined ? "what is allowed" : `"${loose.policy.policyName}"`;
  const name = places.get("eth.tx.function_name");
  const args = places.get("eth.tx.contract_call_args");
  return [
    ...(name === undefined
      ? []
      : [
          {
            position: name,
            message: `a call of a contract without an interface, or of a function that its interface lacks, has the function_name '' and evades this; deny by eth.tx.function_signature, or restrict ${where} to functions by name`,
          },
        ]),
    ...(args === undefined
      ? []
      : [
          {
            position: args,
            message: `where no interface reads the call there are no arguments, and this denies whatever it is, plain payments too; restrict ${where} to arguments instead`,
          },
        ]),
  ];
}

const callNeeds: ReadonlySet<string> = new Set([
  "wallet",
  "wallet_account",
  "private_key",
  "eth.tx",
  "activity.params.type",
]);
const callWords: Readonly<Record<string, readonly string[]>> = {
  "activity.kind": ["SIGN_TRANSACTION", "ETH_SEND_TRANSACTION", "ETH_SEND_RAW_TRANSACTION"],
  "activity.resource": ["PRIVATE_KEY"],
  "activity.action": ["SIGN"],
};

/** Whether a condition can be true of a transaction that calls a contract, as far as its outermost operands say. */
function maySignCalls(condition: CheckedExpression | undefined): boolean {
  if (condition === undefined) return true;
  if (condition.needs.some((name) => !callNeeds.has(name))) return false;
  const operands = condition.root.kind === "and" ? condition.root.items : [condition.root];
  return operands.every((operand) => {
    if (operand.kind !== "compare" && operand.kind !== "contains") return true;
    const texts = textsBeside(operand).filter(({ path, operator }) => operator === "equal" && path in callWords);
    return texts.length === 0 || texts.some(({ path, text }) => callWords[path]?.includes(text));
  });
}

const callNames = ["function_name", "function_signature", "contract_call_args", "data"].map((name) => `eth.tx.${name}`);

function restrictsCalls(condition: CheckedExpression | undefined): boolean {
  const places = placesOf(condition);
  return callNames.some((name) => places.has(name));
}

/** Money also moves in instructions that are in neither list, and a list without an entry is no hindrance. */
function looseTransfers(condition: CheckedExpression | undefined): Finding[] {
  if (condition === undefined) return [];
  const nodes = visitedNodes(condition.root);
  const counted = new Set(nodes.flatMap(({ node }) => (node.kind === "count" ? [node.of] : [])));
  const isBound = nodes.some(({ node, path }) => path === "solana.tx.instructions" && counted.has(node));
  if (isBound) return [];
  const places = placesOf(condition);
  return ["transfers", "spl_transfers"].flatMap((list) => {
    const position = places.get(`solana.tx.${list}`);
    const message = `other instructions than ${list} can stand beside them; compare solana.tx.instructions.count() with the number of ${list}`;
    return position === undefined ? [] : [{ position, message }];
  });
}

/** Where each name stands first. */
function placesOf(condition: CheckedExpression | undefined): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { node, path } of condition === undefined ? [] : visitedNodes(condition.root))
    if (path !== undefined && !places.has(path)) places.set(path, node.start);
  return places;
}
