/** Bodies: what they say, how they say it, and in which bytes; stamped as they are, or changed behind the stamp's back. */
import { randomUUID } from "node:crypto";
import type { Random } from "../../../../core/test/seeded_random.ts";
import { flipBit, placesIn, putIn, putInText, slotsOf } from "../bend.ts";
import type { Draft, Mutator } from "../draft.ts";

const hourMs = 3_600_000;

/** Says something else, and is stamped so. */
function said(name: string, bend: (draft: Draft, random: Random) => unknown): Mutator {
  return { name, at: "value", bend };
}

/** Gives one of the body's fields another value. */
function changed(name: string, make: (random: Random, old: unknown) => unknown): Mutator {
  return said(name, ({ value }, random) => {
    const [holder, key] = random.pick(slotsOf(value));
    holder[key] = make(random, holder[key]);
  });
}

function timed(name: string, make: (nowMs: number) => unknown): Mutator {
  return said(name, ({ value }) => {
    if (value.timestampMs === undefined) return false;
    value.timestampMs = make(Date.now());
  });
}

const sayings: readonly Mutator[] = [
  said("a key we do not know", ({ value }, { below, pick }) => {
    const holder = pick([value, ...slotsOf(value).map(([holder, key]) => holder[key])].filter(isObject));
    holder[`x${below(1000)}`] = pick<unknown>([null, 0, "", [1, { y: [true] }], randomUUID()]);
  }),
  said("keys in another order", (draft) => {
    draft.value = reversed(draft.value);
  }),
  said("a constructor", ({ value }, { pick }) => {
    value[pick(["constructor", "prototype", "toString", "hasOwnProperty"])] = { prototype: { isAdmin: true } };
  }),
  changed("nothing for a field", () => null),
  changed("another type for a field", ({ pick }) => pick<unknown>([0, -1, 1.5, true, "", [], {}, [[]], "x"])),
  changed("a long text for a field", () => "x".repeat(20_000)),
  changed("another text for a field", (_, old) => (typeof old === "string" ? `${old}ä` : "ä")),
  changed("a number for a text", (_, old) => (typeof old === "string" && Number(old) >= 0 ? Number(old) : 1e3)),
  said("a field left out", ({ value }, { pick }) => {
    const [holder, key] = pick(slotsOf(value));
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  }),
  said("a list twice as long", ({ value }, { pick }) => {
    const lists = slotsOf(value).flatMap(([holder, key]) => (Array.isArray(holder[key]) ? [holder[key]] : []));
    if (lists.length === 0) return false;
    const list = pick(lists);
    list.push(...list);
  }),
  timed("the time as a number", (nowMs) => nowMs),
  timed("the time with a fraction", (nowMs) => nowMs + 0.5),
  timed("a time of yesterday", (nowMs) => String(nowMs - 24 * hourMs)),
  timed("a time of tomorrow", (nowMs) => String(nowMs + 24 * hourMs)),
  timed("a time half an hour ago", (nowMs) => String(nowMs - hourMs / 2)),
  timed("a time with spaces", (nowMs) => ` ${nowMs} `),
  timed("a time in hexadecimal", (nowMs) => `0x${nowMs.toString(16)}`),
  timed("a time without end", () => "9".repeat(40)),
  timed("a negative time", (nowMs) => -nowMs),
  said("the organization in capitals", ({ value }) => {
    value.organizationId = value.organizationId.toUpperCase();
  }),
  said("a relative's organization", ({ value, seed: { places } }, { pick }) => {
    value.organizationId = pick([places.parent, places.sub]).organizationId;
  }),
  said("a stranger's organization", ({ value, seed: { places } }) => {
    value.organizationId = places.other.organizationId;
  }),
  said("an organization that is not there", ({ value }) => {
    value.organizationId = randomUUID();
  }),
  said("an organization in braces", ({ value }) => {
    value.organizationId = `{${value.organizationId}}`;
  }),
  said("the type of another endpoint", ({ value }, { pick }) => {
    if (value.type === undefined) return false;
    value.type = pick([
      "ACTIVITY_TYPE_CREATE_USER_TAG",
      "ACTIVITY_TYPE_DELETE_USERS",
      "",
      "toString",
      "ACTIVITY_TYPE_X",
    ]);
  }),
  said("an activity as a query, or the other way round", ({ value, seed }) => {
    if (seed.kind === "query") Object.assign(value, { parameters: {}, timestampMs: String(Date.now()) });
    else Object.assign(value, value.parameters);
  }),
];

/** Writes the same or almost the same, and is stamped so. */
function written(name: string, bend: (text: string, random: Random) => string | false): Mutator {
  return {
    name,
    at: "text",
    bend(draft, random) {
      const text = bend(draft.text, random);
      if (text === false) return false;
      draft.text = text;
    },
  };
}

/** Puts something in front of a member of some object, at any depth. */
function member(name: string, what: string): Mutator {
  return written(name, (text, { pick }) => {
    const at = pick(placesIn(text, "{"));
    return putInText(text, at, text[at] === "}" ? what : `${what},`);
  });
}

/** Replaces a value somewhere by this text. */
function valued(name: string, ...texts: string[]): Mutator {
  return written(name, (text, { pick }) =>
    putInText(text, pick(placesIn(text, "{")), `"x${texts.length}":${pick(texts)},`).replace(",}", "}"),
  );
}

const writings: readonly Mutator[] = [
  written("a key twice", (text, { pick }) => {
    const at = pick(placesIn(text, "{"));
    const [pair] = /"[^"\\]*":(?:"[^"\\]*"|[0-9]+|true|false|null)(?=[,}])/.exec(text.slice(at)) ?? [];
    return pair === undefined ? false : putInText(text, at, `${pair},`);
  }),
  written("a key twice with two values", (text, { pick }) => {
    const keys = [...text.matchAll(/"([A-Za-z]+)":/g)].map(([, key = ""]) => key);
    return putInText(text, 1, `"${pick(keys)}":"x",`);
  }),
  written("the organization twice", (text, { pick }) => {
    const twice = `"organizationId":"${pick(["x", "00000000-0000-4000-8000-000000000000"])}"`;
    return pick([putInText(text, 1, `${twice},`), `${text.slice(0, -1)},${twice}}`]);
  }),
  written("a key with an escape", (text, { pick }) => {
    const at = pick([...text.matchAll(/[{,]"([a-z])[A-Za-z]*":/g)]);
    const letter = at[1] ?? "";
    const code = letter.charCodeAt(0).toString(16).padStart(4, "0");
    return `${text.slice(0, at.index + 2)}\\u${code}${text.slice(at.index + 3)}`;
  }),
  written("a value with an escape", (text, { pick }) => {
    const values = [...text.matchAll(/:"([0-9A-Za-z])/g)];
    if (values.length === 0) return false;
    const at = pick(values);
    const code = (at[1] ?? "").charCodeAt(0).toString(16).padStart(4, "0");
    return `${text.slice(0, at.index + 2)}\\u${code}${text.slice(at.index + 3)}`;
  }),
  member("a __proto__", '"__proto__":{"isAdmin":true}'),
  member("an escaped __proto__", '"\\u005f_proto__":{}'),
  valued("a number with an exponent", "1e3", "1E+2", "1e-3", "-1e0"),
  valued("a zero with a sign", "-0", "-0.0", "-0e0"),
  valued("a whole number with a point", "1.0", "100.00"),
  valued("a number that no double holds", "9007199254740993", "1e400", "-1e999", "10000000000000000000000"),
  valued("a number that is none", "01", "+1", ".5", "1.", "0x10", "NaN", "Infinity", "1_000", "--1"),
  valued("a word that is none", "True", "undefined", "nul", "'x'", "`x`", "x"),
  valued("a NUL", '"\\u0000"', '"a\\u0000b"'),
  valued("a lone surrogate", '"\\ud800"', '"\\udc00"', '"\\ud800x"', '"\\udc00\\ud800"'),
  valued("a pair of surrogates", '"\\ud83d\\ude00"', '"😀"'),
  valued("a bare control character", '"\t"', '"\n"', '"\u0001"', '"\u007f"'),
  valued("an escape that is none", '"\\x41"', '"\\u12"', '"\\"', '"\\a"'),
  valued("brackets, 30 deep", `${"[".repeat(30)}${"]".repeat(30)}`),
  valued("brackets, 33 deep", `${"[".repeat(33)}${"]".repeat(33)}`, `${'{"a":'.repeat(33)}1${"}".repeat(33)}`),
  valued("brackets without end", "[".repeat(10_000), '{"a":'.repeat(10_000)),
  written("as long as a body may be", (text) => padded(text, 1024 * 1024)),
  written("one byte longer than a body may be", (text) => padded(text, 1024 * 1024 + 1)),
  written("white space everywhere", (text) => JSON.stringify(JSON.parse(text), null, "\t")),
  written("white space around", (text, { pick }) => pick([" ", "\n", "\r\n", "\t"]) + text + pick(["", " ", "\n\n"])),
  written("other white space", (text, { pick }) => {
    const space = pick(["\u00a0", "\u2028", "\u000b", "\u000c", "\u3000", "\u0000"]);
    return pick([space + text, text + space, putInText(text, pick(placesIn(text, "{,:")), space)]);
  }),
  written("a comment", (text, { pick }) =>
    putInText(text, pick(placesIn(text, "{,:")), pick(["/**/", "//\n", "#\n", "<!-- -->"])),
  ),
  written("a comma too many", (text) => text.replace(/}$/, ",}")),
  written("a bracket too many", (text, { pick }) => text + pick(["}", "]", ",", ":", "null", "{}"])),
  written("two documents", (text) => `${text}\n${text}`),
  written("in a list", (text) => `[${text}]`),
  written("in a text", (text) => JSON.stringify(text)),
  written("single quotes", (text) => text.replaceAll('"', "'")),
  written("keys without quotes", (text) => text.replace(/"([A-Za-z]+)":/g, "$1:")),
];

/** A key that no endpoint knows. */
export const filling = "pad";

/** With that key, long enough to make it so many bytes. */
function padded(text: string, bytes: number): string {
  const pad = (length: number) => putInText(text, 1, `"${filling}":"${"x".repeat(length)}",`);
  return pad(bytes - Buffer.byteLength(pad(0)));
}

/** Other bytes, and stamped so. */
function spelled(name: string, bend: (body: Buffer, random: Random) => Buffer): Mutator {
  return {
    name,
    at: "bytes",
    bend(draft, random) {
      draft.body = bend(draft.body, random);
    },
  };
}

const spellings: readonly Mutator[] = [
  spelled("a byte order mark", (body) => putIn(body, 0, Buffer.from([0xef, 0xbb, 0xbf]))),
  spelled("UTF-16", (body, { pick }) => {
    const wide = Buffer.from(body.toString("utf8"), "utf16le");
    return pick([wide, wide.swap16(), Buffer.concat([Buffer.from([0xff, 0xfe]), wide])]);
  }),
  spelled("UTF-32", (body) => Buffer.from([...body].flatMap((byte) => [byte, 0, 0, 0]))),
  spelled("an overlong character", (body, { pick }) => {
    const at = body.indexOf('"') + 1;
    return putIn(
      body,
      at,
      Buffer.from(
        pick([
          [0xc1, 0xbf],
          [0xc0, 0x80],
          [0xe0, 0x81, 0xbf],
          [0xf0, 0x80, 0x81, 0xbf],
        ]),
      ),
    );
  }),
  spelled("a surrogate in UTF-8", (body) => putIn(body, body.indexOf('"') + 1, Buffer.from([0xed, 0xa0, 0x80]))),
  spelled("a character cut in two", (body) => putIn(body, body.lastIndexOf('"'), Buffer.from([0xe2, 0x82]))),
  spelled("a byte beyond Unicode", (body, { pick }) => {
    return putIn(body, body.lastIndexOf('"'), Buffer.from(pick([[0xff], [0xfe], [0x80], [0xf5, 0x80, 0x80, 0x80]])));
  }),
  spelled("one bit", (body, random) => flipBit(body, random)),
  spelled("one byte more", (body, { below }) => putIn(body, below(body.length), Buffer.from([below(256)]))),
  spelled("one byte less", (body, { below }) => {
    const at = below(body.length);
    return Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
  }),
  spelled("some bytes", (body, { below }) => {
    const bent = Buffer.from(body);
    for (let i = 0; i < 4; i++) bent[below(bent.length)] = below(256);
    return bent;
  }),
  spelled("a part of it", (body, { below }) => body.subarray(0, below(body.length))),
  spelled("nothing at all", () => Buffer.alloc(0)),
];

/** Changed after it was stamped. */
function tampered(name: string, bend: (draft: Draft, random: Random) => Buffer | false): Mutator {
  return {
    name: `unstamped: ${name}`,
    at: "tampered",
    bend(draft, random) {
      const body = bend(draft, random);
      if (body === false || body.equals(draft.body)) return false;
      draft.body = body;
    },
  };
}

const tamperings: readonly Mutator[] = [
  tampered("one bit", ({ body }, random) => (body.length === 0 ? false : flipBit(body, random))),
  tampered("a space behind", ({ body }, { pick }) =>
    Buffer.concat([body, Buffer.from(pick([" ", "\n", "\t", "\r\n"]))]),
  ),
  tampered("a space in front", ({ body }) => putIn(body, 0, Buffer.from(" "))),
  tampered("a space inside", ({ body }, { pick }) => {
    const places = placesIn(body.toString("latin1"), "{,:");
    return places.length === 0 ? false : putIn(body, pick(places), Buffer.from(" "));
  }),
  tampered("a NUL behind", ({ body }) => Buffer.concat([body, Buffer.alloc(1)])),
  tampered("keys in another order", ({ body }) => rewritten(body, (value) => JSON.stringify(reversed(value)))),
  tampered("written anew", ({ body }) => rewritten(body, (value) => JSON.stringify(value, null, 1))),
  tampered("another time", ({ body, value }) => {
    if (value.timestampMs === undefined) return false;
    return rewritten(body, (read) => JSON.stringify({ ...(read as object), timestampMs: String(Date.now() + 1) }));
  }),
  tampered("another organization", ({ body, seed: { places } }) =>
    rewritten(body, (read) => JSON.stringify({ ...(read as object), organizationId: places.other.organizationId })),
  ),
  tampered("a part of it", ({ body }, { below }) => body.subarray(0, below(body.length + 1))),
  tampered("another request", ({ seed }, { pick }) => pick(seed.others).body),
  tampered("nothing at all", () => Buffer.alloc(0)),
  tampered("a byte order mark", ({ body }) => putIn(body, 0, Buffer.from([0xef, 0xbb, 0xbf]))),
];

export const bodyMutators: readonly Mutator[] = [...sayings, ...writings, ...spellings, ...tamperings];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

/** False for what an earlier mutator has made unreadable. */
function rewritten(body: Buffer, write: (value: unknown) => string): Buffer | false {
  try {
    return Buffer.from(write(JSON.parse(body.toString("utf8"))));
  } catch {
    return false;
  }
}
