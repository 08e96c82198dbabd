/** What the rules were asked, put together again from a decision's context. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type ParsedInterface, parseInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import { type Envelope, readBody, readEnvelope } from "../endpoints/envelope.ts";
import { activityForms } from "../generated/activities.ts";
import type { Question } from "../rules/authorise.ts";
import type { DecisionContextContent } from "../state/decision_context.ts";
import { sha256 } from "../state/digest.ts";
import { emptyPages, findKeyFacts, isPageName, type Pages, withPage } from "../state/pages.ts";
import { type AnyRecord, decodeRecord, isKeyRecord } from "../state/records.ts";
import { CannotTell, type ProofFile } from "./proof_file.ts";

/** The pages that every decision is taken on. */
export const questionPages = ["members", "policies", "privateKeyTags", "contractInterfaces"] as const;

/** Those of a parent that decides in its sub-organization: nothing that it may do is about keys. */
export const parentPages = ["members", "policies"] as const;

export function questionIn(
  context: DecisionContextContent,
  { parts, body }: Pick<ProofFile, "parts" | "body">,
): Question {
  const partOf = (digest: Uint8Array, what: string): Uint8Array => {
    const part = parts.get(toHex(digest));
    if (part === undefined) throw new CannotTell(`${what} is missing: ${toHex(digest)}`);
    return part;
  };
  const pages = context.pages.reduce((read: Pages, { name, digest }) => {
    if (!isPageName(name)) throw new CannotTell(`page \`${name}\` is of a newer release`);
    return withPage(read, name, partOf(digest, `page \`${name}\``));
  }, emptyPages);
  const records = context.records.map((digest) => decodeRecord(partOf(digest, "a record")));
  const keys = { records: records.filter(isKeyRecord), factsOf: (id: string) => findKeyFacts(pages, id) };
  return {
    pages,
    keys: () => keys,
    openInterface: (interfaceId) => openInterface(pages, records, interfaceId),
    ...askedIn(context, body),
    proposerId: context.proposerId,
    approvals: context.approvals.map(({ credentialType, ...approval }) => ({
      ...approval,
      ...(credentialType !== undefined && { credentialType }),
    })),
    isWaiting: context.isWaiting,
    ...(context.isByParent && { isByParent: true }),
    ...(context.isByAuthProxy && { isByAuthProxy: true }),
    nowMs: context.nowMs,
    acceptedAtMs: context.acceptedAtMs,
  };
}

/** The request that was decided. */
export function requestIn(
  { fingerprint }: Pick<DecisionContextContent, "fingerprint">,
  body: Uint8Array | undefined,
): Envelope {
  if (body === undefined) {
    throw new CannotTell("the request is missing: it is shown once the bearer values in it have expired");
  }
  if (toHex(sha256(body)) !== toHex(fingerprint)) throw new CannotTell("the request is another than the decided one");
  return readEnvelope(readBody(body));
}

function askedIn(context: DecisionContextContent, body: Uint8Array | undefined): Pick<Question, "form" | "params"> {
  const { type, parameters } = requestIn(context, body);
  const form = activityForms.get(type);
  if (form === undefined) throw new CannotTell(`activities of type ${type} are of another release`);
  return { form, params: form.translate(parameters) };
}

function openInterface({ contractInterfaces }: Pages, records: readonly AnyRecord[], id: string): ParsedInterface {
  const listed = contractInterfaces.get(id);
  const record = records.find((each) => each.kind === "contractInterface" && each.interfaceId === id);
  if (listed === undefined || record?.kind !== "contractInterface") {
    throw new CannotTell(`the text of smart contract interface ${id} is missing`);
  }
  return parseInterface(listed.type, record.text);
}
