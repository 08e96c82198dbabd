/**
 * Interfaces of contracts, read from their texts. An id has one text for good, so what was read once stays right for as long as
 * the state lists the id. Only what is not at hand is asked for, and all of it at once.
 */
import { Fault } from "@keystead/core/fault.ts";
import {
  functionCount,
  type ParsedInterface,
  parsingInterface,
} from "@keystead/core/policy/interfaces/contract_interface.ts";
import { finish, type Work } from "@keystead/core/work.ts";
import type { FactSources } from "../../rules/activity_facts.ts";
import { createLru, type Lru } from "../../state/lru.ts";
import { type RecordWish, wishKey } from "../../state/record_wish.ts";
import { readRecord, type Supplied } from "./key_records.ts";
import { changedRows } from "./line.ts";
import { needsRecords } from "./needs_more.ts";
import type { OpenState } from "./open_state.ts";
import type { Signer } from "./signer.ts";

/**
 * In bytes of text, and so many more for each function; what is read from it takes a few times as much. All interfaces that one
 * request may need (rules/contract_interfaces.ts) are less than half of it, which is what is kept at least.
 */
const maxWeight = 16 * 1024 * 1024;
const functionWeight = 128;

export function createInterfaceCache(): Lru<ParsedInterface> {
  return createLru<ParsedInterface>(maxWeight);
}

/** Opens interfaces that the state lists, by their ids. `fromTexts`: none from the cache, for who must show the texts, too. */
export function openInterfaces(
  signer: Signer,
  { organizationId, pages }: Pick<OpenState, "organizationId" | "pages">,
  supplied: Supplied,
  fromTexts = false,
): Required<Pick<FactSources, "openInterface" | "expectInterfaces">> & {
  openingInterface(interfaceId: string): Work<ParsedInterface>;
} {
  // Held for as long as the question is, whatever the cache forgets meanwhile.
  const opened = new Map<string, ParsedInterface>();
  let texts: ReadonlyMap<string, string> | undefined;

  function findOpened(interfaceId: string): ParsedInterface | undefined {
    const atHand = () => (fromTexts ? undefined : signer.interfaces.get(keyOf(organizationId, interfaceId)));
    const known = opened.get(interfaceId) ?? atHand();
    if (known !== undefined) opened.set(interfaceId, known);
    return known;
  }

  function findText(interfaceId: string): string | undefined {
    texts ??= textsIn(signer, organizationId, supplied);
    return texts.get(interfaceId);
  }

  return {
    expectInterfaces(interfaceIds) {
      const absent = interfaceIds.filter((id) => findOpened(id) === undefined && findText(id) === undefined);
      const wishes = absent.map(wishFor).filter((wish) => !supplied.wishes.includes(wishKey(wish)));
      if (wishes.length > 0) throw needsRecords(wishes);
    },
    openInterface: (interfaceId) => finish(openingInterface(interfaceId)),
    openingInterface,
  };

  function* openingInterface(interfaceId: string): Work<ParsedInterface> {
    const listed = pages.contractInterfaces.get(interfaceId);
    if (listed === undefined) throw new Fault("internal", "an interface that the state does not list is asked for");
    const known = findOpened(interfaceId);
    if (known !== undefined) return known;
    const text = findText(interfaceId);
    if (text === undefined) throw missing(organizationId, interfaceId, supplied);
    const parsed = yield* parsingInterface(listed.type, text);
    opened.set(interfaceId, parsed);
    const weight = listed.length + functionWeight * functionCount(parsed);
    signer.interfaces.set(keyOf(organizationId, interfaceId), parsed, weight);
    return parsed;
  }
}

/** Reads the texts that came with the frame, with pauses: together they may take a quarter of a second. */
export function* readingInterfaces(signer: Signer, state: OpenState, supplied: Supplied): Work<void> {
  if (supplied.wishes.length === 0) return;
  const { openingInterface } = openInterfaces(signer, state, supplied);
  try {
    for (const interfaceId of textsIn(signer, state.organizationId, supplied).keys()) {
      if (!state.pages.contractInterfaces.has(interfaceId)) continue;
      yield* openingInterface(interfaceId);
      yield;
    }
  } catch {
    // What cannot be read is met, and told, by whoever needs it.
  }
}

function keyOf(organizationId: string, interfaceId: string): string {
  return `${organizationId} ${interfaceId}`;
}

function wishFor(id: string): RecordWish {
  return { by: "id", kind: "contractInterface", id };
}

/** The texts that came with the frame. Each is checked once, however many are looked for. */
function textsIn(signer: Signer, organizationId: string, supplied: Supplied): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { content } of supplied.records) {
    const record = readRecord(signer, organizationId, content);
    if (record.kind !== "contractInterface") continue;
    texts.set(record.interfaceId, record.text);
  }
  return texts;
}

/**
 * What the state lists and the frame lacks is an error, never an absence: a call that could not be read would slip past whoever
 * denies it by its arguments. It may be about to be committed, so the gateway looks once more before it gives up.
 */
function missing(organizationId: string, interfaceId: string, supplied: Supplied): Error {
  const wish = wishFor(interfaceId);
  if (!supplied.wishes.includes(wishKey(wish))) return needsRecords([wish]);
  return changedRows(organizationId, `the text of smart contract interface ${interfaceId} is missing`);
}
