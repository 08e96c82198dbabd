/** The context of a decision that is proven: everything that the rules were asked about, so that anyone can ask them again. */
import { encode } from "@keystead/core/encoding/layout.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { encodeHeader } from "@keystead/core/log/header.ts";
import { evidenceLayout } from "@keystead/core/log/leaf_evidence.ts";
import type { Work } from "@keystead/core/work.ts";
import { rulesVersion } from "../../rules/rules_version.ts";
import { encodeDecisionContext, type KeptPart } from "../../state/decision_context.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import { encodeDirectory } from "../../state/directory.ts";
import { emptyPages, hasPage, keyFactsPageOf, type Pages } from "../../state/pages.ts";
import { type AnyRecord, encodeRecord } from "../../state/records.ts";
import type { Act, Decided } from "./act.ts";
import { evidenceOf, statesOf } from "./act_leaf.ts";
import { readRecord } from "./key_records.ts";
import { hashingPage, type PageBytes, pageBytes } from "./page_bytes.ts";

/** The context's bytes first, then what it names by digest. */
export function contextOf(act: Act, decided: Decided): readonly [KeptPart, ...KeptPart[]] {
  const { signer, state, actingParent, isByAuthProxy, asked, proposerId, nowMs, wasWaiting } = act;
  const { organizationId, known } = state;
  const parts: KeptPart[] = [];
  const keep = (ownerId: string, content: Uint8Array, digest: Uint8Array = sha256(content)): Uint8Array => {
    parts.push({ ownerId, content });
    return digest;
  };
  const directory = encodeDirectory(state.directory);
  // One that an older release wrote has other bytes than we would write.
  const isOwnDirectory = equalBytes(sha256(directory), known.header.directory);
  const pages = pagesOf(act, decided).map(({ ownerId, name, content, digest }) => ({
    organizationId: uuidToBytes(ownerId),
    name,
    digest: keep(ownerId, content, digest),
  }));
  const content = encodeDecisionContext({
    rulesVersion,
    organizationId: known.header.organizationId,
    activityType: asked.form.type,
    fingerprint: asked.fingerprint,
    proposerId,
    approvals: decided.approvals.map(({ userId, credentialId, credentialType, atMs }) => ({
      userId,
      credentialId,
      credentialType,
      atMs,
    })),
    evidence: sha256(encode(evidenceLayout, evidenceOf(act))),
    isWaiting: wasWaiting === true,
    isByParent: actingParent !== undefined,
    isByAuthProxy,
    nowMs,
    acceptedAtMs: signer.memory.acceptedAtMs,
    header: encodeHeader(known.header),
    directory: isOwnDirectory ? keep(organizationId, directory) : undefined,
    states: statesOf(act),
    pages,
    records: recordsOf(act, decided).map((record) => keep(organizationId, encodeRecord(record))),
    parentHeader: actingParent?.header,
  });
  if (actingParent !== undefined) keep(actingParent.organizationId, actingParent.directory);
  return [{ ownerId: organizationId, content }, ...parts];
}

const pagesOfRules = ["members", "policies", "privateKeyTags", "contractInterfaces"] as const;

/** With pauses: they have up to 4 MiB. `contextOf` names them by digest. */
export function* hashingDecidedPages(act: Act): Work<void> {
  const pages = decidingPages(act);
  for (const name of pagesOfRules) if (pages[name] !== emptyPages[name]) yield* hashingPage(pages, name);
}

/** A page that is empty is left out, as states leave it out that were never written it. */
function pagesOf(act: Act, { keyIds }: Decided): (PageBytes & { ownerId: string })[] {
  const { state, actingParent } = act;
  const pages = decidingPages(act);
  const ownerId = actingParent?.organizationId ?? state.organizationId;
  const asked = pagesOfRules.flatMap((name) =>
    pages[name] === emptyPages[name] ? [] : [{ ownerId, ...pageBytes(pages, name) }],
  );
  const facts = [...new Set([...keyIds].map(keyFactsPageOf))].filter((name) => hasPage(state.pages, name)).sort();
  return [...asked, ...facts.map((name) => ({ ownerId: state.organizationId, ...pageBytes(state.pages, name) }))];
}

function decidingPages({ state, actingParent }: Act): Pages {
  const pages = actingParent?.pages ?? state.pages;
  return { ...emptyPages, ...pages, members: readable(pages.members) };
}

/** Which keys are proven decides nothing here; a page that does not say so yet is kept without it. */
function readable(page: Pages["members"]): Pages["members"] {
  if (page.isUnmarked !== true) return page;
  const { isUnmarked: _, ...members } = page;
  return members;
}

function recordsOf({ signer, state, supplied }: Act, { records, interfaceIds }: Decided): AnyRecord[] {
  if (interfaceIds.size === 0) return [...records];
  const texts = supplied.records
    .map(({ content }) => readRecord(signer, state.organizationId, content))
    .filter((record) => record.kind === "contractInterface" && interfaceIds.has(record.interfaceId));
  return [...records, ...texts];
}

/** The digest of the parent's state, if any of it was read. */
export function parentDigestOf({ state, others }: Act): Uint8Array | undefined {
  const { parentId } = state.known.header;
  if (parentId === undefined) return undefined;
  return others.read.find(({ header }) => uuidFromBytes(header.organizationId) === uuidFromBytes(parentId))?.digest;
}
