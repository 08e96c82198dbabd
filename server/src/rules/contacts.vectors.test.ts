/** E-mail addresses against isemail's test set, which says for each what the standards and the name system make of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors } from "../../../core/test/vectors.ts";
import { parseEmail } from "./contacts.ts";

/** Valid by the set, or valid but for the name system's answer: all others are to be refused. */
const deliverable = new Set(["ISEMAIL_VALID_CATEGORY", "ISEMAIL_DNSWARN"]);

/** By the number of the test. Exact: one that turns fails the run. */
const stricter: Record<string, string> = {
  5: "a domain of one label",
  13: "a last label of one letter",
  37: "a last label of one letter",
};
const entities: Record<string, string> = { quot: '"', lt: "<", gt: ">", amp: "&" };

/** XML cannot hold control characters, so the set has their pictures, from U+2400 on, in their place. */
function plainText(text: string): string {
  return text
    .replace(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/&(quot|lt|gt|amp);/g, (_, name: string) => entities[name] ?? "")
    .replace(/[\u2400-\u241f]/g, (picture) => String.fromCharCode(picture.charCodeAt(0) - 0x2400));
}

function isTaken(address: string): boolean {
  try {
    return parseEmail(address) !== undefined;
  } catch (error) {
    assert.equal((error as { errorCode?: string }).errorCode, "INVALID_EMAIL", address);
    return false;
  }
}

test("isemail: what is deliverable is taken, but for the listed ones, and all the rest refused", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const text = new TextDecoder().decode(vectors.bytes("email/tests.xml"));
  const cases = [...text.matchAll(/<test id="(\d+)">(.*?)<\/test>/gs)];
  const counts = { taken: 0, refused: 0 };
  const found = { stricter: [] as string[], laxer: [] as string[] };
  for (const [, id = "", body = ""] of cases) {
    const address = plainText(/<address>(.*?)<\/address>/s.exec(body)?.[1] ?? "");
    const isDeliverable = deliverable.has(/<category>(\w+)/.exec(body)?.[1] ?? assert.fail(id));
    const taken = isTaken(address);
    if (taken !== isDeliverable) found[taken ? "laxer" : "stricter"].push(id);
    counts[taken ? "taken" : "refused"]++;
  }
  assert.deepEqual(found, { stricter: Object.keys(stricter), laxer: [] });
  assert.deepEqual(counts, { taken: 19, refused: 145 });
});
