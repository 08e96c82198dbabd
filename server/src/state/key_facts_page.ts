/** A page of key facts: what became of the keys whose ids begin with the same two digits. */
import { fromBase64url, toBase64url } from "@keystead/core/encoding/base64url.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { createAside } from "./aside.ts";
import type { DeletedKey, KeyFacts, KnownFacts } from "./entities.ts";
import { entityJson, type PageCodec } from "./page_codec.ts";

/** Of a deleted key only its id is kept: `gone` has all of them as one text, so that a page holds as many as it can. */
export const keyFactsCodec: PageCodec<ReadonlyMap<string, KnownFacts>> = {
  // Format 1 had deleted keys among the facts.
  format: 2,
  empty: new Map(),
  encode(facts) {
    const [gone, others]: [KnownFacts[], KnownFacts[]] = [[], []];
    for (const each of facts.values()) (each.deleted === true ? gone : others).push(each);
    return `"facts":[${others.map(entityJson).join()}],"gone":"${gone.map(goneText).join("")}"}`;
  },
  decode(json: { facts: KeyFacts[]; gone?: string }) {
    const all: KnownFacts[] = [...json.facts, ...readGone(json.gone ?? "")];
    return new Map(all.map((each) => [each.id, each]));
  },
};

const goneTexts = createAside<KnownFacts, string>();

/** An id as base64url: 22 characters, whatever the id. */
const goneLength = 22;

function goneText(facts: KnownFacts): string {
  const known = goneTexts.get(facts);
  if (known !== undefined) return known;
  const text = toBase64url(uuidToBytes(facts.id));
  goneTexts.set(facts, text);
  return text;
}

function readGone(texts: string): DeletedKey[] {
  if (texts.length % goneLength !== 0) throw new Fault("failed_precondition", "a page of key facts is cut off");
  return Array.from({ length: texts.length / goneLength }, (_, at) => {
    const text = texts.slice(at * goneLength, (at + 1) * goneLength);
    const facts: DeletedKey = { id: uuidFromBytes(fromBase64url(text)), deleted: true };
    goneTexts.set(facts, text);
    return facts;
  });
}
