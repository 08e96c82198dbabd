/** The stamp as JSON, and the JSON as a header. */
import type { Random } from "../../../../core/test/seeded_random.ts";
import { putInText } from "../bend.ts";
import type { Draft, Mutator } from "../draft.ts";

function written(name: string, bend: (text: string, random: Random, draft: Draft) => string): Mutator {
  return {
    name: `stamp: ${name}`,
    at: "stamp text",
    bend(draft, random) {
      draft.stampText = bend(draft.stampText, random, draft);
    },
  };
}

const texts: readonly Mutator[] = [
  written("keys in another order", (text) =>
    JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())),
  ),
  written("a key we do not know", (text) => putInText(text, 1, '"hint":{"x":[1,"two",null]},')),
  written("many keys we do not know", (text) =>
    putInText(text, 1, Array.from({ length: 100 }, (_, i) => `"x${i}":0,`).join("")),
  ),
  written("far too many keys", (text) =>
    putInText(text, 1, Array.from({ length: 700 }, (_, i) => `"x${i}":0,`).join("")),
  ),
  written("a key twice", (text, { pick }, { stamp }) => {
    const key = pick(["publicKey", "scheme", "signature"] as const);
    return pick([putInText(text, 1, `"${key}":"${stamp[key]}",`), text.replace(/}$/, `,"${key}":"${stamp[key]}"}`)]);
  }),
  written("a key twice with two values", (text, { pick }) =>
    putInText(text, 1, `"${pick(["publicKey", "scheme", "signature"])}":"x",`),
  ),
  written("a key with an escape", (text) => text.replace('"scheme"', '"\\u0073cheme"')),
  written("a value with an escape", (text) => text.replace('"SIGNATURE', '"\\u0053IGNATURE')),
  written("a __proto__", (text) => putInText(text, 1, '"__proto__":{"scheme":"x"},')),
  written("only a __proto__", (text) => `{"__proto__":${text}}`),
  written("a constructor", (text) => putInText(text, 1, '"constructor":{"prototype":{}},')),
  written("white space", (text) => JSON.stringify(JSON.parse(text), null, 3)),
  written("white space behind", (text) => `${text} \n`),
  written("a byte order mark", (text) => `\ufeff${text}`),
  written("a NUL behind", (text) => `${text}\0`),
  written("bytes behind", (text, { pick }) => text + pick(["x", "{}", ",", "}"])),
  written("in a list", (text) => `[${text}]`),
  written("in a text", (text) => JSON.stringify(text)),
  written("another type for a field", (text, { pick }) => {
    const key = pick(["publicKey", "scheme", "signature"]);
    return JSON.stringify({ ...JSON.parse(text), [key]: pick<unknown>([null, 7, [], {}, true, [""]]) });
  }),
  written("a field less", (text, { pick }) => {
    const { [pick(["publicKey", "scheme", "signature"])]: _, ...rest } = JSON.parse(text);
    return JSON.stringify(rest);
  }),
  written("a field in other letters", (text) => text.replace('"publicKey"', '"PublicKey"')),
  written("brackets without end", (text) => putInText(text, 1, `"x":${"[".repeat(5_000)},`)),
  written("brackets, 30 deep", (text) => putInText(text, 1, `"x":${"[".repeat(30)}${"]".repeat(30)},`)),
  written("no JSON", (text) => text.slice(0, -1)),
  written("nothing", () => ""),
];

function encoded(name: string, bend: (draft: Draft, random: Random) => string): Mutator {
  return {
    name: `stamp header: ${name}`,
    at: "encoding",
    bend(draft, random) {
      draft.stampHeader = bend(draft, random);
    },
  };
}

const plain = ({ stampText }: Pick<Draft, "stampText">) => Buffer.from(stampText, "utf8").toString("base64");
/** What a stamp says gives none of the characters by which the two alphabets differ; this does, wherever it stands. */
const withBoth = ({ stampText }: Draft) => ({
  stampText: putInText(stampText, 1, '"x":"\u00fb\u00ff\u00be????>>>>~~~~",'),
});
/** Latin-1 keeps the bytes of a header what they are. */
const raw = (text: string) =>
  Buffer.from(text, "utf8")
    .toString("latin1")
    .replace(/[\r\n\0]/g, " ");

const encodings: readonly Mutator[] = [
  encoded("plain base64", plain),
  encoded("plain base64 without padding, with its own characters", (draft) =>
    plain(withBoth(draft)).replace(/=+$/, ""),
  ),
  encoded("base64url, with its own characters", (draft) =>
    Buffer.from(withBoth(draft).stampText, "utf8").toString("base64url"),
  ),
  encoded("base64url with padding", (draft) => plain(draft).replaceAll("+", "-").replaceAll("/", "_")),
  encoded("padding too much", ({ stampHeader }, { pick }) => stampHeader + pick(["=", "==", "===", "===="])),
  encoded("padding inside", ({ stampHeader }) => putInText(stampHeader, 8, "==")),
  encoded("two alphabets", ({ stampHeader }) => `${stampHeader.slice(0, -4)}+-/_`),
  encoded("white space inside", ({ stampHeader }, { pick, below }) =>
    putInText(stampHeader, 1 + below(stampHeader.length), pick([" ", "\t", "  "])).trim(),
  ),
  encoded("another character", ({ stampHeader }, { below }) => {
    const at = below(stampHeader.length);
    return stampHeader.slice(0, at) + String.fromCharCode(33 + below(94)) + stampHeader.slice(at + 1);
  }),
  encoded("bits left over", ({ stampHeader }) => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = alphabet.indexOf(stampHeader.at(-1) ?? "A");
    return stampHeader.slice(0, -1) + (alphabet[last ^ 1] ?? "B");
  }),
  encoded("cut", ({ stampHeader }, { below }) => stampHeader.slice(0, below(stampHeader.length))),
  encoded("twice encoded", ({ stampHeader }) => Buffer.from(stampHeader).toString("base64url")),
  encoded("hexadecimal", ({ stampText }) => Buffer.from(stampText).toString("hex")),
  encoded("the JSON itself", ({ stampText }) => raw(stampText)),
  encoded("in percent signs", ({ stampText }) => encodeURIComponent(stampText.toWellFormed())),
  encoded("in quotes", ({ stampHeader }) => `"${stampHeader}"`),
  encoded(
    "with a scheme in front",
    ({ stampHeader }, { pick }) => pick(["Bearer ", "Stamp ", "base64:"]) + stampHeader,
  ),
  encoded("another alphabet's look-alikes", ({ stampHeader }) => raw(stampHeader.replace("A", "\u0410"))),
  encoded("longer than 32 KiB", ({ stampText }) =>
    Buffer.from(putInText(stampText, 1, `"x":"${"x".repeat(25_000)}",`)).toString("base64url"),
  ),
  encoded("empty", () => ""),
];

export const stampMutators: readonly Mutator[] = [...texts, ...encodings];
