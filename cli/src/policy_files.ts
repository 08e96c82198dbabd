/** Policies and their test cases, as files. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readJson } from "@keystead/core/encoding/json.ts";
import { Fault } from "@keystead/core/fault.ts";
import {
  type PolicyCaseFile,
  parseCases,
  parsePolicies,
  type WrittenPolicy,
} from "@keystead/core/policy/cases/case_file.ts";
import { printable } from "./printable.ts";
import { whyUnread } from "./profile.ts";

const maxBytes = 64 * 1024 * 1024;
const policyFileShape =
  'a policy file is a list of policies, [{"policyName": "…", "effect": "EFFECT_ALLOW", "consensus": "…", "condition": "…"}], or an object with such a list as `policies`';

/** The policies of a file: a list of them, or an object that has one as `policies`. */
export async function readPolicyFile(path: string): Promise<readonly WrittenPolicy[]> {
  return inFile(path, parsePolicies, await readPolicyJson(path));
}

/** The same with every mistake: entries that are not policies are left out, and described in `misshapen`. */
export async function readPolicyEntries(
  path: string,
): Promise<{ policies: readonly WrittenPolicy[]; misshapen: readonly string[] }> {
  const json = await readPolicyJson(path);
  const entries = isObject(json) && Object.keys(json).length === 1 ? json.policies : json;
  if (!Array.isArray(entries)) return { policies: inFile(path, parsePolicies, json), misshapen: [] };
  const way = entries === json ? "" : "policies";
  const policies: WrittenPolicy[] = [];
  const names = new Set<string>();
  const misshapen: string[] = [];
  for (const [i, entry] of entries.entries()) {
    try {
      const [policy] = parsePolicies([entry]) as [WrittenPolicy];
      if (names.has(policy.policyName))
        throw new Fault("invalid_argument", `[0].policyName: \`${policy.policyName}\` a second time`);
      names.add(policy.policyName);
      policies.push(policy);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      misshapen.push(`${path}: ${printable(error.message.replace("[0]", `${way}[${i}]`))}`);
    }
  }
  return { policies, misshapen };
}

async function readPolicyJson(path: string): Promise<unknown> {
  const json = await readJsonFile(path);
  if (isObject(json) && Object.hasOwn(json, "cases"))
    throw new Error(`${path} is a file of test cases, not of policies: run policy test ${path}`);
  if (!Array.isArray(json) && !(isObject(json) && Object.hasOwn(json, "policies")))
    throw new Error(`${path}: ${policyFileShape}`);
  return json;
}

/** A case file. Its policies may be the name of a policy file beside it, so that what is tested is what is applied. */
export async function readCaseFile(path: string): Promise<PolicyCaseFile> {
  const json = await readJsonFile(path);
  if (Array.isArray(json) || (isObject(json) && Object.hasOwn(json, "policies") && Object.keys(json).length === 1))
    throw new Error(
      `${path} is a file of policies, not of test cases: policy test takes cases; run policy check ${path}`,
    );
  if (!isObject(json) || typeof json.policies !== "string") return inFile(path, parseCases, json);
  return inFile(path, parseCases, { ...json, policies: await readPolicyFile(join(dirname(path), json.policies)) });
}

async function readJsonFile(path: string): Promise<unknown> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new Error(whyUnread(cause, "file", path));
  }
  try {
    // Strict about keys that stand twice: the rule that is passed over may be the one that matters.
    return readJson(bytes, maxBytes);
  } catch (error) {
    throw new Error(`${path}: ${whyNotJson(bytes, error)}`);
  }
}

/** The platform's parser says where; ours only says that it is not JSON. */
function whyNotJson(bytes: Uint8Array, refusal: unknown): string {
  try {
    JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return `not JSON: ${error.message}`;
  }
  return refusal instanceof Fault ? (refusal.detail ?? refusal.message) : String(refusal);
}

/** Refusals with the file's name before them. */
function inFile<T>(path: string, parse: (json: unknown) => T, json: unknown): T {
  try {
    return parse(json);
  } catch (error) {
    if (error instanceof Fault) throw new Error(`${path}: ${error.message}`);
    throw error;
  }
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
