/**
 * What the decision point is asked about, as readers see it: from tables and pages whose MACs nobody has checked. Whoever writes
 * the database can lie to readers; nothing follows from these answers but what is shown.
 */
import { hash } from "node:crypto";
import { Fault } from "@keystead/core/fault.ts";
import { type ActivityFacts, interfacesOf } from "@keystead/core/policy/facts/condition_views.ts";
import { type ParsedInterface, parseInterface } from "@keystead/core/policy/interfaces/contract_interface.ts";
import type { ActivityForm } from "../endpoints/define_activity.ts";
import { activityFacts, type FactSources } from "../rules/activity_facts.ts";
import { interfacesAt } from "../rules/contract_interfaces.ts";
import { withoutMac } from "../state/authenticity.ts";
import type { ContractInterface as Listed } from "../state/entities.ts";
import { createLru } from "../state/lru.ts";
import {
  decodePage,
  emptyPages,
  findKeyFacts,
  keyFactsPageOf,
  type PageName,
  type Pages,
  withPage,
} from "../state/pages.ts";
import { type AnyRecord, decodeRecord, isKeyRecord, type KeyRecord, recordIdOf } from "../state/records.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { findPage, findPages } from "../store/organizations.ts";
import { loadRecords } from "../store/record_batches.ts";
import { findRecords } from "../store/records.ts";
import type { Store } from "../store/store.ts";

const pageNames = ["members", "policies", "privateKeyTags", "contractInterfaces"] as const;

/** The pages that decisions are taken on. */
export type DecisionPages = Pick<Pages, (typeof pageNames)[number]>;

/** Undefined for an organization without a state. */
export async function readDecisionPages(store: Store, organizationId: string): Promise<DecisionPages | undefined> {
  const found = await Promise.all(pageNames.map((name) => findPage(store, organizationId, name)));
  if (found[0] === undefined) return undefined;
  const pages = pageNames.map((name, index) => {
    const bytes = found[index];
    return [name, bytes === undefined ? emptyPages[name] : decodeKept(name, bytes)];
  });
  return Object.fromEntries(pages) as DecisionPages;
}

/**
 * What queries ask about again and again is read and compiled once: policies by the digest of their page, interfaces by their ids,
 * which have one text for good. In bytes of what they were read from, which is a fraction of what they take.
 */
const policiesPages = createLru<Pages["policies"]>(8 * 1024 * 1024);
const openedInterfaces = createLru<ParsedInterface>(8 * 1024 * 1024);

function decodeKept(name: (typeof pageNames)[number], bytes: Uint8Array): DecisionPages[typeof name] {
  if (name !== "policies") return decodePage(name, bytes);
  const digest = hash("sha256", bytes, "latin1");
  let page = policiesPages.get(digest);
  if (page === undefined) {
    page = decodePage("policies", bytes);
    policiesPages.set(digest, page, bytes.length);
  }
  return page;
}

/** The keys and interfaces that an activity would be judged by. */
export async function readSources(
  store: Store,
  organizationId: string,
  pages: DecisionPages,
  form: ActivityForm,
  params: unknown,
): Promise<FactSources> {
  const wishes = form.activity.records?.(params as never) ?? [];
  const found = await loadRecords(store, organizationId, wishes);
  const records = await mapWithBreaths(found, ({ content }) => decodeRecord(withoutMac(content)));
  const keyRecords = records.filter(isKeyRecord);
  const known = await readKeyPages(store, organizationId, keyRecords);
  const keys = { records: keyRecords, factsOf: (id: string) => findKeyFacts(known, id) };
  const unread = { pages, keys: () => keys, openInterface: notRead };
  const interfaces = new Map<string, ParsedInterface>();
  for (const listed of interfacesFor(pages, activityFacts(unread, form, params))) {
    const opened = await openInterface(store, organizationId, listed);
    if (opened !== undefined) interfaces.set(listed.interfaceId, opened);
  }
  return { ...unread, openInterface: (interfaceId) => interfaces.get(interfaceId) ?? notRead(interfaceId) };
}

/**
 * A payload that cannot be read, or calls for too much, has none. What is wrong with it is the decision's to say: a reader of a list is
 * not to blame.
 */
function interfacesFor({ contractInterfaces }: DecisionPages, facts: ActivityFacts): readonly Listed[] {
  try {
    return interfacesAt(contractInterfaces, interfacesOf(facts));
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return [];
    throw error;
  }
}

/** For decisions that no key and no interface has a part in. */
export function noSources(pages: DecisionPages): FactSources {
  return {
    pages,
    keys: () => ({ records: [], factsOf: () => undefined }),
    openInterface: notRead,
  };
}

/** What became of these keys. */
async function readKeyPages(store: Store, organizationId: string, records: readonly KeyRecord[]): Promise<Pages> {
  if (records.length === 0) return emptyPages;
  const ids = records.flatMap((record) => [
    recordIdOf(record),
    ...(record.kind === "walletAccount" ? [record.walletId] : []),
  ]);
  const found = await findPages(store, organizationId, [...new Set(ids.map(keyFactsPageOf))]);
  return found.reduce((pages, { name, content }) => withPage(pages, name as PageName, content), emptyPages);
}

async function openInterface(
  store: Store,
  organizationId: string,
  { interfaceId, type, length }: Listed,
): Promise<ParsedInterface | undefined> {
  const key = `${organizationId} ${interfaceId}`;
  const known = openedInterfaces.get(key);
  if (known !== undefined) return known;
  const text = await readText(store, organizationId, interfaceId);
  if (text === undefined) return undefined;
  const opened = parseInterface(type, text);
  openedInterfaces.set(key, opened, length);
  return opened;
}

async function readText(store: Store, organizationId: string, id: string): Promise<string | undefined> {
  const [found] = await findRecords(store, organizationId, { by: "id", kind: "contractInterface", id });
  const record: AnyRecord | undefined = found && decodeRecord(withoutMac(found.content));
  return record?.kind === "contractInterface" ? record.text : undefined;
}

/** Page and text are read one after the other, and somebody may delete the interface in between. */
function notRead(interfaceId: string): never {
  throw new Fault("aborted", `smart contract interface ${interfaceId} was deleted while it was read; try again`);
}
