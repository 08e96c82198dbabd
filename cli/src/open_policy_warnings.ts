/** Warns before a request writes a policy that allows everybody everything, or denies everything. */
import { allowsEverything } from "@keystead/core/policy/decision/open_policy.ts";
import type { Client } from "@keystead/sdk";
import { printable } from "./printable.ts";
import { deniesEverything, isOpen, isShut } from "./warnings/open_texts.ts";

type Written = Record<string, unknown>;

/** Lines for the terminal. `path` is the last part of the endpoint's address. */
export async function openPolicyWarnings(client: Client, path: string, parameters: Written): Promise<string[]> {
  const read = readers.get(path);
  if (read === undefined) return [];
  try {
    return (await read(client, parameters)).flatMap(warningOf);
  } catch {
    // Whatever cannot be read here is refused by the server, with its reason.
    return [];
  }
}

/** The policies as they will be, for each endpoint that writes some. */
const readers = new Map<string, (client: Client, parameters: Written) => Promise<Written[]>>([
  ["create_policy", async (_, parameters) => [parameters]],
  ["create_policies", async (_, { policies }) => (Array.isArray(policies) ? policies : [])],
  ["update_policy", async (client, parameters) => [await policyAfter(client, parameters)]],
]);

/** A field that an update leaves out stays as it is. */
async function policyAfter(client: Client, parameters: Written): Promise<Written> {
  const { policy } = await client.getPolicy({ policyId: String(parameters.policyId) });
  return {
    policyName: parameters.policyName ?? policy.policyName,
    effect: parameters.policyEffect ?? policy.effect,
    condition: parameters.policyCondition ?? policy.condition,
    consensus: parameters.policyConsensus ?? policy.consensus,
    time: parameters.time ?? policy.time,
  };
}

function warningOf({ policyName, effect, condition, consensus, time }: Written): string[] {
  const texts = { condition: textOf(condition), consensus: textOf(consensus), time: textOf(time) };
  const name = printable(String(policyName));
  if (effect === "EFFECT_ALLOW" && isOpen({ effect, ...texts }))
    return [`keystead: warning: "${name}" ${allowsEverything}`];
  if (effect === "EFFECT_DENY" && isShut({ effect, ...texts }))
    return [`keystead: warning: "${name}" ${deniesEverything}`];
  return [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
