/** Bodies that do not fit an endpoint, made from one that does: each with the field it must be refused for. */
import { activityForms } from "../generated/endpoints.ts";
import { invalid, stale } from "../refusals.ts";
import type { Refusal } from "../wire.ts";
import type { Json, Kind } from "./fixture.ts";

export type Malformed = {
  name: string;
  body: unknown;
  refusal: Refusal;
  /** Whether the published document must find fault with it too. */
  isFaulty?: true;
};

const hourMs = 3_600_000;
/** More than a busy machine takes from here to the server. */
const marginMs = 120_000;

export function malformedBodies(kind: Kind, path: string, good: Json, required: readonly string[]): Malformed[] {
  const holder = kind === "submit" ? "parameters" : "";
  return [
    ...unreadable(good),
    ...(kind === "submit" ? envelopes(path, good) : []),
    ...required.map((field) => without(good, joined(holder, field))),
    ...fieldsOf(holder === "" ? withoutOrganization(good) : good.parameters).map((field) =>
      mistyped(good, joined(holder, field)),
    ),
  ];
}

function unreadable(good: Json): Malformed[] {
  const malformedId = invalid("malformed organization ID provided", "INVALID_ORGANIZATION_ID");
  return [
    { name: "empty", body: "", refusal: invalid(/^bad request body: /) },
    { name: "not JSON", body: JSON.stringify(good).slice(0, -1), refusal: invalid("bad request body: not JSON") },
    { name: "an array", body: [good], refusal: invalid("bad request body: not a JSON object") },
    {
      name: "no organization",
      body: { ...good, organizationId: undefined },
      refusal: invalid("invalid request body: missing field `organizationId`"),
      isFaulty: true,
    },
    { name: "an organization that is no UUID", body: { ...good, organizationId: "x" }, refusal: malformedId },
    { name: "a number for it", body: { ...good, organizationId: 7 }, refusal: malformedId, isFaulty: true },
  ];
}

/** Published for these. */
const wordsOfMissing: Readonly<Record<string, string>> = {
  curve: "curve required",
  walletName: "missing wallet params",
  accounts: "missing wallet params",
  attestation: "missing parameter: user authenticator attestation",
};

function missing(name: string): Refusal {
  return invalid(`${wordsOfMissing[name] ?? "invalid request body"}: missing field \`${name}\``);
}

/** What surrounds the parameters of every activity. */
function envelopes(path: string, good: Json): Malformed[] {
  const foreign = [...activityForms.keys()].find((type) => activityForms.get(type)?.path !== path);
  const notOfPath = (type: unknown) => invalid(`Invalid activity type: \`${type}\` does not belong to ${path}`);
  const noType = invalid("Invalid activity type: `type` is missing or not a string");
  const noTime = invalid("invalid request body: field `timestampMs` must be a decimal string of milliseconds");
  const noObject = invalid("invalid request body: field `parameters` must be object");
  const noFlag = invalid("invalid request body: field `generateAppProofs` must be boolean");
  const faulty = (name: string, change: object, refusal: Refusal): Malformed => {
    return { name, body: { ...good, ...change }, refusal, isFaulty: true };
  };
  return [
    faulty("no type", { type: undefined }, noType),
    faulty("a number for a type", { type: 7 }, noType),
    faulty("no known type", { type: "ACTIVITY_TYPE_NOTHING" }, notOfPath("ACTIVITY_TYPE_NOTHING")),
    { name: "another path's type", body: { ...good, type: foreign }, refusal: notOfPath(foreign) },
    faulty("no time", { timestampMs: undefined }, missing("timestampMs")),
    ...["", "now", "1.5", "-1", "1".repeat(16)].map(
      (timestampMs): Malformed => ({
        name: `the time ${timestampMs}`,
        body: { ...good, timestampMs },
        refusal: noTime,
      }),
    ),
    { name: "too old", body: { ...good, timestampMs: String(Date.now() - hourMs - marginMs) }, refusal: stale },
    {
      name: "of the future",
      body: { ...good, timestampMs: String(Date.now() + hourMs / 12 + marginMs) },
      refusal: stale,
    },
    faulty("no parameters", { parameters: undefined }, missing("parameters")),
    ...[null, [], "x"].map((parameters) =>
      faulty(`parameters ${JSON.stringify(parameters)}`, { parameters }, noObject),
    ),
    faulty("a text for a flag", { generateAppProofs: "yes" }, noFlag),
  ];
}

function without(good: Json, field: string): Malformed {
  return {
    name: `no ${field}`,
    body: changed(good, field, undefined),
    refusal: missing(field.split(".").at(-1) ?? ""),
    isFaulty: true,
  };
}

function mistyped(good: Json, field: string): Malformed {
  const value = valueAt(good, field);
  const [wrong, must] = field.endsWith(".mnemonicLength") ? ["12", "one of "] : wrongFor(value);
  const text = `${beginningOf(field)}: field \`${field}\` must be ${must}`;
  return {
    name: `${JSON.stringify(wrong)} for ${field}`,
    body: changed(good, field, wrong),
    refusal: invalid(must === "one of " ? RegExp(`^${RegExp.escape(text)}[A-Z0-9_, ]+$`) : text),
    isFaulty: true,
  };
}

/** The published words, where there are some for an enumeration. */
const enumWords: Readonly<Record<string, string>> = {
  curve: "invalid curve",
  pathFormat: "invalid path format",
  addressFormat: "invalid address format",
  addressFormats: "invalid address format",
  encoding: "invalid payload encoding",
  hashFunction: "invalid hash function",
};

function beginningOf(field: string): string {
  const parts = field.split(".");
  const name = parts.findLast((part) => !/^\d+$/.test(part)) ?? "";
  // A whole list in the wrong type is no value of an enumeration.
  const isList = name === "addressFormats" && name === parts.at(-1);
  return isList ? "invalid request body" : (enumWords[name] ?? "invalid request body");
}

function wrongFor(value: unknown): [wrong: unknown, must: string] {
  if (Array.isArray(value)) return ["x", "array"];
  if (typeof value === "object") return ["x", "object"];
  if (typeof value === "boolean") return ["yes", "boolean"];
  if (typeof value === "number") return ["1", "integer"];
  return isConstant.test(String(value)) ? [7, "one of "] : [7, "string"];
}

/** The value of an enumeration; a refusal goes on to list them. Of types there are more than we know. */
const isConstant = /^(?!ACTIVITY_TYPE_)[A-Z0-9]+(_[A-Z0-9]+)+$/;

/** Every place inside a value, by path. */
export function fieldsOf(value: Json, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const here = joined(path, name);
    return [here, ...fieldsOf(member, here)];
  });
}

export function changed(value: Json, path: string, to: unknown): Json {
  const copy = structuredClone(value);
  const names = path.split(".");
  const last = names.pop() ?? "";
  const holder = names.reduce((inner, name) => inner[name], copy);
  if (to === undefined) delete holder[last];
  else holder[last] = to;
  return copy;
}

function valueAt(value: Json, path: string): Json {
  return path.split(".").reduce((inner, name) => inner[name], value);
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function withoutOrganization({ organizationId: _, ...rest }: Json): Json {
  return rest;
}
