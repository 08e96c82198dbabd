/** Client data as browsers do not write it, and some as they might. */
import { type Random, shuffled } from "../seeded_random.ts";

/** Keys without quotes, values as JSON texts. */
export type ClientFields = readonly (readonly [key: string, value: string])[];

export function clientFields(bytes: Uint8Array): ClientFields {
  return Object.entries(JSON.parse(Buffer.from(bytes).toString()) as object).map(
    ([key, value]) => [key, JSON.stringify(value)] as const,
  );
}

const joined = (fields: ClientFields) => `{${fields.map(([key, value]) => `"${key}":${value}`).join(",")}}`;
const escaped = (text: string, at: number) =>
  `${text.slice(0, at)}\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}${text.slice(at + 1)}`;

function withValue(fields: ClientFields, key: string, change: (value: string) => string): ClientFields {
  return fields.map(([name, value]) => [name, name === key ? change(value) : value] as const);
}

function inserted(fields: ClientFields, random: Random, field: readonly [string, string]): ClientFields {
  return fields.toSpliced(random.below(fields.length + 1), 0, field);
}

const extraValues = [
  ...["1", "-0", "1e999", "9007199254740993", "9007199254740991", "null", "true", '""', '"\\u0000"', '"\\ud800"'],
  ...['"\\ud834\\udd1e"', "{}", "[]", '{"a":1,"a":1}', '{"a":{"b":[1,2,{"c":null}]}}', '{"__proto__":1}', "01", "tru"],
  ...[`[${"0,".repeat(80)}0]`, `[${"0,".repeat(300)}0]`, `"${"x".repeat(4000)}"`],
  ...['"https://example.com"', '"https://evil.org"', "false"],
  ...[28, 30, 31, 32, 33].map((depth) => "[".repeat(depth) + "]".repeat(depth)),
];
const extraKeys = [
  "crossOrigin",
  "topOrigin",
  "other_keys_can_be_added_here",
  "tokenBinding",
  "__proto__",
  "",
  "é",
  "a\\nb",
];

const types = [
  "webauthn.create",
  "webauthn.get",
  "payment.get",
  "",
  "webauthn.GET",
  "webauthn.get ",
  "WEBAUTHN.CREATE",
];

/** Longer than any domain. */
const manyLabels = 150;

/** What may become of an origin. */
const origins: readonly ((origin: string, random: Random) => string)[] = [
  (origin) => origin.replace("https:", "http:"),
  (origin) => origin.replace("://", "://www."),
  (origin) => origin.replace("://", "://a.b.c."),
  (origin) => origin.replace("://", "://evil"),
  (origin) => `${origin}.evil.org`,
  (origin) => origin.replace(/^(https?:\/\/)[^.]*\./, "$1"),
  (origin) => `${origin}/`,
  (origin) => `${origin.replace(/:\d+$/, "")}:8443`,
  (origin) => origin.replace("://", "://user@"),
  (origin) => origin.toUpperCase(),
  (origin) => `${origin.replace(/:\d+$/, "")}.`,
  (origin) => ` ${origin}`,
  (origin) => origin.replace("://", "://."),
  () => "https://evil.org",
  () => "http://localhost:3000",
  () => "http://app.localhost",
  () => "null",
  () => "",
  () => "android:apk-key-hash:7d1043473d55bfa90e8530d35801d4e381bc69f0",
  () => "android:apk-key-hash:",
  () => "ios:bundle-id:com.example",
  (origin) => origin.replace("://", `://${"a.".repeat(manyLabels)}`),
];

const challenges: readonly ((text: string, random: Random) => string)[] = [
  (text) => `${text}=`,
  (text) => `${text}==`,
  (text) => `${text}===`,
  (text) => text.replaceAll("-", "+").replaceAll("_", "/"),
  (text) => text.toLowerCase(),
  (text) => text.slice(1),
  (text) => `${text}A`,
  (text) => `${text}\\n`,
  () => "",
  (text, random) => {
    const at = random.below(text.length);
    return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`;
  },
];

const inner = (value: string, change: (text: string) => string) =>
  value.startsWith('"') ? `"${change(value.slice(1, -1))}"` : value;

/** One row per way of bending; each gives a document, as text or as bytes. */
export const clientDataBends: Readonly<Record<string, (fields: ClientFields, random: Random) => string | Uint8Array>> =
  {
    "a key twice with its value": (fields, random) => joined(inserted(fields, random, random.pick(fields))),
    "a key twice with another value": (fields, random) => {
      const [key] = random.pick(fields);
      return joined(inserted(fields, random, [key, random.pick(fields)[1]]));
    },
    "other order": (fields, random) => joined(shuffled(fields, random)),
    "other space": (fields, random) =>
      joined(fields).replaceAll(
        /(?<=")[:,]|[{}]/g,
        (mark) => `${random.pick(["", " ", "\n"])}${mark}${random.pick(["", "\t", "\r\n"])}`,
      ),
    "an escape in a value": (fields, random) => {
      const [key] = random.pick(fields);
      return joined(
        withValue(fields, key, (value) => inner(value, (text) => escaped(text, random.below(text.length)))),
      );
    },
    "an escape in a key": (fields, random) => {
      const at = random.below(fields.length);
      return joined(
        fields.map(([key, value], i) => [i === at ? escaped(key, random.below(key.length)) : key, value] as const),
      );
    },
    "one key more": (fields, random) =>
      joined(inserted(fields, random, [random.pick(extraKeys), random.pick(extraValues)])),
    "one key less": (fields, random) => joined(fields.toSpliced(random.below(fields.length), 1)),
    "a value of another kind": (fields, random) =>
      joined(withValue(fields, random.pick(fields)[0], () => random.pick(extraValues))),
    "another type": (fields, random) => joined(withValue(fields, "type", () => `"${random.pick(types)}"`)),
    "another challenge": (fields, random) =>
      joined(withValue(fields, "challenge", (value) => inner(value, (text) => random.pick(challenges)(text, random)))),
    "another origin": (fields, random) =>
      joined(withValue(fields, "origin", (value) => inner(value, (text) => random.pick(origins)(text, random)))),
    "other bytes around it": (fields, random) =>
      random.pick(["\ufeff", "", " ", "\n", "x"]) + joined(fields) + random.pick(["", " ", ",", "}", "\u0000", "{}"]),
    "not an object": (fields, random) => random.pick([`[${joined(fields)}]`, "null", '""', "", "0"]),
    "bytes that are not UTF-8": (fields, random) => {
      const bytes = Buffer.from(joined(inserted(fields, random, ["x", '"ab"'])));
      bytes[bytes.indexOf('"ab"') + 1] = random.pick([0xc3, 0x80, 0xff, 0xed]);
      return new Uint8Array(bytes);
    },
  };
